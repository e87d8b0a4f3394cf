package drive

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"syscall"
)

// stampServer in the environment makes the test binary a server that answers every message with one
// of the same size and, when its standard input ends, writes the kernel's receive time of each (8
// bytes, wall clock ns).
const stampServer = "SLUICE_STAMP_SERVER"

const soTimestampNS = 35

// serveStamps is one thread with epoll, so that it disturbs the client's cores as little as a
// server can.
func serveStamps() int {
	s, err := listenStamps()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for s.wait() {
	}
	out := bufio.NewWriter(os.Stdout)
	for _, at := range s.stamps {
		_ = binary.Write(out, binary.LittleEndian, at)
	}
	if out.Flush() != nil {
		return 1
	}
	return 0
}

type stamper struct {
	epoll, listener int
	stamps          []int64
	buffer          [message]byte
	control         [64]byte
}

func listenStamps() (*stamper, error) {
	s := &stamper{stamps: make([]int64, 0, 1<<20)}
	var err error
	if s.listener, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC,
		0); err != nil {
		return nil, err
	}
	// Accepted sockets inherit it, so that a connection's first message has a time too.
	if err = syscall.SetsockoptInt(s.listener, syscall.SOL_SOCKET, soTimestampNS, 1); err != nil {
		return nil, err
	}
	if err = syscall.Bind(s.listener, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, err
	}
	if err = syscall.Listen(s.listener, 1024); err != nil {
		return nil, err
	}
	name, err := syscall.Getsockname(s.listener)
	if err != nil {
		return nil, err
	}
	if s.epoll, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return nil, err
	}
	if err = s.watch(s.listener); err == nil {
		err = s.watch(int(os.Stdin.Fd()))
	}
	fmt.Printf("127.0.0.1:%d\n", name.(*syscall.SockaddrInet4).Port)
	return s, err
}

func (s *stamper) watch(fd int) error {
	return syscall.EpollCtl(s.epoll, syscall.EPOLL_CTL_ADD, fd,
		&syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)})
}

// wait serves what is ready. False: standard input has ended.
func (s *stamper) wait() bool {
	var events [64]syscall.EpollEvent
	n, err := syscall.EpollWait(s.epoll, events[:], -1)
	if err != nil {
		return err == syscall.EINTR
	}
	for _, e := range events[:n] {
		switch int(e.Fd) {
		case int(os.Stdin.Fd()):
			return false
		case s.listener:
			if fd, _, err := syscall.Accept4(s.listener, syscall.SOCK_CLOEXEC); err == nil {
				_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
				_ = s.watch(fd)
			}
		default:
			s.answer(int(e.Fd))
		}
	}
	return true
}

// answer expects whole messages: they are small and a connection carries one at a time.
func (s *stamper) answer(fd int) {
	n, control, _, _, err := syscall.Recvmsg(fd, s.buffer[:], s.control[:], 0)
	if err != nil || n < message {
		_ = syscall.Close(fd)
		return
	}
	// cmsghdr: length 8 bytes, level 4, type 4; then seconds 8, nanoseconds 8.
	if c := s.control[:control]; len(c) >= 32 && binary.NativeEndian.Uint32(c[12:]) == soTimestampNS {
		s.stamps = append(s.stamps, int64(binary.NativeEndian.Uint64(c[16:])*1e9+
			binary.NativeEndian.Uint64(c[24:])))
	}
	_, _ = syscall.Write(fd, s.buffer[:])
}
