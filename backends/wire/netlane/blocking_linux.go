package netlane

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// blockingConn is a connection whose reads and writes block their thread: the scheduler does not
// see that they wait. A reply wakes the right thread directly. Through the runtime's poller it
// costs a read in vain, a wait for events, and often a second thread.
//
// A signal, such as that of a scheduler that wants to stop the goroutine, ends a wait early (see
// signal(7): the socket has time limits), and the goroutine stops at its next function call:
// syscallOnce must stay a call. Shutdown ends a wait for good: a deadline is used only to end waits
// at once, and the connection is not used again.
type blockingConn struct {
	net.Conn // used for its addresses
	file     *os.File
	raw      syscall.RawConn
	in, out  transfer
	writev   transfer // for iovecs
	iovecs   []syscall.Iovec
	lane     *lane // in a bundle: reads yield to the other lanes until bytes arrive; else nil
}

// transfer holds the arguments and result of one system call of a blockingConn.
type transfer struct {
	call  uintptr
	flags uintptr        // of recvfrom and sendto
	from  unsafe.Pointer // the buffer, or the iovecs
	size  int            // bytes, or iovecs
	n     int
	err   syscall.Errno
	do    func(fd uintptr)
}

// canBlock reports whether signals can stop a goroutine in a system call that the scheduler does
// not see; GODEBUG can forbid them. Without signals a single wait would block the garbage
// collector, and with it the program.
func canBlock() bool { return !strings.Contains(os.Getenv("GODEBUG"), "asyncpreemptoff=1") }

// waitLimit bounds one wait.
var waitLimit = syscall.Timeval{Sec: 3600}

// makeBlocking wraps conn in a blockingConn; l is its lane if that is in a bundle, else nil.
// Connections that are neither TCP nor unix sockets are returned unchanged. On an error conn stays
// the caller's.
func makeBlocking(conn net.Conn, l *lane) (net.Conn, error) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return conn, nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	var fd uintptr
	var failed syscall.Errno
	if err = raw.Control(func(old uintptr) {
		fd, _, failed = syscall.Syscall(syscall.SYS_FCNTL, old, syscall.F_DUPFD_CLOEXEC, 0)
	}); err == nil && failed != 0 {
		err = failed
	}
	if err != nil {
		return nil, fmt.Errorf("take the socket: %w", err)
	}
	_ = conn.Close() // the poller does not know it any more
	err = errors.Join(
		syscall.SetNonblock(int(fd), false),
		syscall.SetsockoptTimeval(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &waitLimit),
		syscall.SetsockoptTimeval(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &waitLimit))
	h := &blockingConn{Conn: conn, file: os.NewFile(fd, "socket")}
	if err == nil {
		h.raw, err = h.file.SyscallConn()
	}
	if err == nil && l != nil && l.register != nil {
		h.lane, h.in.flags = l, syscall.MSG_DONTWAIT
		err = l.register(fd)
	}
	if err != nil {
		_ = h.file.Close()
		return nil, fmt.Errorf("take the socket: %w", err)
	}
	h.in.init(syscall.SYS_RECVFROM)
	h.out.init(syscall.SYS_SENDTO) // a write of a file also asks who watches it, which costs a request 1 %
	h.writev.init(syscall.SYS_WRITEV)
	return h, nil
}

func (t *transfer) init(call uintptr) {
	t.call = call
	t.do = func(fd uintptr) {
		for t.syscallOnce(fd) {
		}
	}
}

// syscallOnce makes one system call. True: a signal or the limit ended it, and it has to be
// repeated.
//
//go:noinline
func (t *transfer) syscallOnce(fd uintptr) (again bool) {
	n, _, err := syscall.RawSyscall6(t.call, fd, uintptr(t.from), uintptr(t.size), t.flags, 0, 0)
	t.n, t.err = int(n), err
	if err != 0 {
		t.n = 0
	}
	return err == syscall.EINTR || err == syscall.EAGAIN && t.flags == 0
}

// run makes the transfer. Meanwhile the file cannot be closed and its descriptor reused.
func (t *transfer) run(raw syscall.RawConn, from unsafe.Pointer, size int) (int, error) {
	t.from, t.size, t.n, t.err = from, size, 0, 0
	err := raw.Control(t.do)
	t.from = nil
	if err == nil && t.err != 0 {
		err = t.err
	}
	return t.n, err
}

// Read implements net.Conn.
func (h *blockingConn) Read(b []byte) (int, error) {
	var n int
	var err error
	for again := true; again; again = h.in.err == syscall.EAGAIN { // nothing to read, or the lane was woken
		if h.lane != nil {
			h.lane.awaitBytes()
		}
		n, err = h.in.run(h.raw, unsafe.Pointer(unsafe.SliceData(b)), len(b))
	}
	switch {
	case err != nil:
		return 0, &net.OpError{Op: "read", Net: "socket", Err: err}
	case n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return n, nil
}

// Write implements net.Conn.
func (h *blockingConn) Write(b []byte) (done int, err error) {
	for done < len(b) {
		n, err := h.out.run(h.raw, unsafe.Pointer(&b[done]), len(b)-done)
		if err != nil {
			return done, &net.OpError{Op: "write", Net: "socket", Err: err}
		}
		done += n
	}
	return done, nil
}

// maxIovecs is the largest number of iovecs in one call (IOV_MAX).
const maxIovecs = 1024

// writeVector implements vectorWriter.
func (h *blockingConn) writeVector(pieces [][]byte) (done int64, err error) {
	defer func() { clear(h.iovecs[:cap(h.iovecs)]) }() // do not keep the callers' bodies alive
	for skip := 0; len(pieces) > 0; {                  // skip: bytes of the first piece that are written
		h.fillIovecs(pieces[:min(len(pieces), maxIovecs)], skip)
		n := 0
		if len(h.iovecs) > 0 {
			if n, err = h.writev.run(h.raw, unsafe.Pointer(&h.iovecs[0]), len(h.iovecs)); err != nil {
				return done, &net.OpError{Op: "write", Net: "socket", Err: err}
			}
		}
		done += int64(n)
		for n += skip; len(pieces) > 0 && n >= len(pieces[0]); pieces = pieces[1:] {
			n -= len(pieces[0])
		}
		skip = n
	}
	return done, nil
}

// fillIovecs points the iovecs to pieces, without the first skip bytes.
func (h *blockingConn) fillIovecs(pieces [][]byte, skip int) {
	h.iovecs = h.iovecs[:0]
	for _, p := range pieces {
		if p, skip = p[skip:], 0; len(p) > 0 {
			v := syscall.Iovec{Base: &p[0]}
			v.SetLen(len(p))
			h.iovecs = append(h.iovecs, v)
		}
	}
}

// Close implements net.Conn.
func (h *blockingConn) Close() error {
	h.shutdown(syscall.SHUT_RDWR)
	return h.file.Close()
}

func (h *blockingConn) shutdown(how int) {
	_ = h.raw.Control(func(fd uintptr) { _ = syscall.Shutdown(int(fd), how) })
}

// SetDeadline implements net.Conn, for deadlines in the past only.
func (h *blockingConn) SetDeadline(time.Time) error { h.shutdown(syscall.SHUT_RDWR); return nil }

// SetReadDeadline implements net.Conn; see SetDeadline.
func (h *blockingConn) SetReadDeadline(time.Time) error { h.shutdown(syscall.SHUT_RD); return nil }

// SetWriteDeadline implements net.Conn; see SetDeadline.
func (h *blockingConn) SetWriteDeadline(time.Time) error { h.shutdown(syscall.SHUT_WR); return nil }
