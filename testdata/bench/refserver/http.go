package main

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxConns is the highest descriptor that is served.
const maxConns = 1 << 16

// conn is one connection, served by one loop. buf[:n] holds the bytes that were read and not
// answered yet.
type conn struct {
	fd     int
	buf    []byte
	n      int
	stream *stream // that answers its request; nil: none
}

// loop is a thread that serves its share of the connections.
type loop struct {
	rec   *arrivals
	conns *[maxConns]atomic.Pointer[conn] // by descriptor, of all loops
	epoll int
	reply []byte

	streams *streams // of all loops
	queue   queue    // of the streams that this loop writes
	ready   []*stream
	turn    uint64
	timer   int // descriptor; ends when the next event is due

	header  unix.Msghdr
	vector  unix.Iovec
	control [64]byte
}

func serveHTTP(rec *arrivals, written *streams, loops int) (address string, err error) {
	listener, address, err := listen()
	if err != nil {
		return "", err
	}
	conns := new([maxConns]atomic.Pointer[conn])
	var list []*loop
	for range loops {
		l := &loop{rec: rec, conns: conns, reply: httpReply(), streams: written}
		if err := l.init(); err != nil {
			return "", err
		}
		list = append(list, l)
		go l.run()
	}
	go accept(listener, list)
	return address, nil
}

func listen() (fd int, address string, err error) {
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, "", err
	}
	// Accepted sockets inherit both, so that the first request of a connection is stamped too.
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
		return 0, "", err
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return 0, "", err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, "", err
	}
	if err := unix.Listen(fd, 4096); err != nil {
		return 0, "", err
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return 0, "", err
	}
	return fd, fmt.Sprintf("127.0.0.1:%d", name.(*unix.SockaddrInet4).Port), nil
}

// accept deals connections out in turn.
func accept(listener int, loops []*loop) {
	runtime.LockOSThread()
	for i := 0; ; {
		fd, _, err := unix.Accept4(listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			continue
		}
		if fd >= maxConns {
			_ = unix.Close(fd)
			continue
		}
		l := loops[i%len(loops)]
		i++
		l.conns[fd].Store(&conn{fd: fd, buf: make([]byte, 16<<10)})
		event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP, Fd: int32(fd)}
		if unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, &event) != nil {
			_ = unix.Close(fd)
		}
	}
}

func (l *loop) init() (err error) {
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if l.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK); err != nil {
		return err
	}
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(l.timer)}
	return unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, l.timer, &event)
}

func (l *loop) run() {
	runtime.LockOSThread()
	var events [128]unix.EpollEvent
	var expired [8]byte
	timeout := -1
	for {
		n, err := unix.EpollWait(l.epoll, events[:], timeout)
		if err != nil {
			continue // interrupted
		}
		for _, e := range events[:n] {
			if e.Fd == int32(l.timer) {
				_, _ = unix.Read(l.timer, expired[:])
			} else if c := l.conns[e.Fd].Load(); c != nil && !l.serve(c) {
				l.drop(c)
			}
		}
		timeout = -1
		if l.play() {
			timeout = 0
		}
	}
}

// drop closes a connection.
func (l *loop) drop(c *conn) {
	if c.stream != nil {
		c.stream.c = nil
	}
	l.conns[c.fd].Store(nil)
	_ = unix.Close(c.fd)
}

// serve reads once and answers what is whole. False: the connection is over.
func (l *loop) serve(c *conn) bool {
	if c.n == len(c.buf) {
		c.buf = append(c.buf, make([]byte, len(c.buf))...)
	}
	n, at := l.read(c)
	if n <= 0 {
		return n < 0
	}
	c.n += n
	for {
		size, get, path := request(c.buf[:c.n])
		switch {
		case size == 0:
			return true
		case get:
			if !write(c.fd, httpMetadata(string(path))) {
				return false
			}
		case c.stream != nil:
			return false // a request before the end of the last reply
		case isChat(path):
			l.rec.add(at, c.buf[:size])
			l.open(c, at, c.buf[:size])
		default:
			l.rec.add(at, c.buf[:size])
			if !write(c.fd, l.reply) {
				return false
			}
		}
		c.n = copy(c.buf, c.buf[size:c.n])
	}
}

// read is one recvmsg: how much (0: over, -1: nothing there yet), and when its last byte came by
// the kernel's stamp, which on loopback is taken inside the client's own send: what the server
// waits for its turn is not in it.
func (l *loop) read(c *conn) (n int, at int64) {
	l.vector.Base = &c.buf[c.n]
	l.vector.SetLen(len(c.buf) - c.n)
	l.header = unix.Msghdr{Iov: &l.vector, Iovlen: 1, Control: &l.control[0]}
	l.header.SetControllen(len(l.control))
	got, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(c.fd), uintptr(unsafe.Pointer(&l.header)), 0)
	switch errno {
	case 0:
	case unix.EAGAIN, unix.EINTR:
		return -1, 0
	default:
		return 0, 0
	}
	now := time.Now()
	at = int64(now.Sub(l.rec.origin))
	h := (*unix.Cmsghdr)(unsafe.Pointer(&l.control[0]))
	if l.header.Controllen >= unix.SizeofCmsghdr+16 && h.Level == unix.SOL_SOCKET &&
		h.Type == unix.SO_TIMESTAMPNS {
		stamp := (*unix.Timespec)(unsafe.Pointer(&l.control[unix.SizeofCmsghdr]))
		at -= now.UnixNano() - stamp.Nano()
	}
	return int(got), at
}

// write sends all of b. Replies are small and a connection carries one request at a time, so a full
// socket is rare.
func write(fd int, b []byte) bool {
	for len(b) > 0 {
		n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&b[0])),
			uintptr(len(b)))
		switch errno {
		case 0:
			b = b[n:]
		case unix.EAGAIN, unix.EINTR:
			runtime.Gosched()
		default:
			return false
		}
	}
	return true
}

var (
	headEnd = []byte("\r\n\r\n")
	length  = []byte("content-length:")
)

// request returns the size of the first request in b, 0 when it is not whole yet, whether it is a GET, and
// its path.
func request(b []byte) (size int, get bool, path []byte) {
	head := bytes.Index(b, headEnd)
	if head < 0 {
		return 0, false, nil
	}
	method, rest, _ := bytes.Cut(b[:head], []byte(" "))
	path, _, _ = bytes.Cut(rest, []byte(" "))
	if string(method) == "GET" {
		return head + len(headEnd), true, path
	}
	size = head + len(headEnd) + bodySize(b[:head])
	if size > len(b) {
		return 0, false, nil
	}
	return size, false, path
}

// bodySize reads Content-Length; 0 when there is none.
func bodySize(head []byte) int {
	for {
		i := bytes.IndexByte(head, '\n')
		if i < 0 {
			return 0
		}
		head = head[i+1:]
		if len(head) > len(length) && bytes.EqualFold(head[:len(length)], length) {
			value, _, _ := bytes.Cut(head[len(length):], []byte("\r"))
			n, err := strconv.Atoi(string(bytes.TrimSpace(value)))
			if err != nil || n < 0 {
				return 0
			}
			return n
		}
	}
}
