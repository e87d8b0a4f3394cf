package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// connKey is the key of a request's *conn in its context.
type connKey struct{}

// conn is a connection that knows when the bytes that were read last came to the kernel: this program may have
// waited for a CPU since then.
type conn struct {
	*net.TCPConn
	raw  syscall.RawConn
	came atomic.Int64 // ns since 1970
}

// listener makes a conn of each connection.
type listener struct{ net.Listener }

// listen listens on a free port of loopback. Connections inherit the option, so that the first bytes of one are
// stamped too.
func listen() (net.Listener, error) {
	stamped := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var failed error
		err := c.Control(func(fd uintptr) {
			failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
		})
		return errors.Join(err, failed)
	}}
	l, err := stamped.Listen(context.Background(), "tcp4", "127.0.0.1:0")
	return listener{l}, err
}

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	tcp := c.(*net.TCPConn)
	raw, err := tcp.SyscallConn()
	return &conn{TCPConn: tcp, raw: raw}, err
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (n int, err error) {
	var control [64]byte
	stamps := 0
	waited := c.raw.Read(func(fd uintptr) bool {
		n, stamps, _, _, err = unix.Recvmsg(int(fd), b, control[:], 0)
		return !errors.Is(err, unix.EAGAIN)
	})
	switch {
	case waited != nil:
		return 0, waited
	case err != nil:
		return 0, err
	case n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	c.came.Store(stampOf(control[:stamps]))
	return n, nil
}

// stampOf returns the time of the control message of SO_TIMESTAMPNS: a timespec of two 64-bit integers.
func stampOf(control []byte) int64 {
	list, err := unix.ParseSocketControlMessage(control)
	if err == nil && len(list) == 1 && list[0].Header.Type == unix.SCM_TIMESTAMPNS && len(list[0].Data) == 16 {
		at := func(i int) int64 { return int64(binary.NativeEndian.Uint64(list[0].Data[i:])) }
		return at(0)*int64(time.Second) + at(8)
	}
	fmt.Fprintln(os.Stderr, "stampserver: bytes without a stamp of the kernel")
	return time.Now().UnixNano()
}
