//go:build unix

package netlane

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// sendBuffer makes the send buffer at least size bytes, so that an inline write cannot block. A
// larger buffer is left unchanged: setting it would end the kernel's autotuning. TCP_NODELAY is
// Go's default.
func sendBuffer(conn net.Conn, size int) error {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return fmt.Errorf("%T has no file descriptor", conn)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return fmt.Errorf("read the send buffer size: %w", err)
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		have, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF)
		if err == nil && have < size {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF, size)
		}
		failed = err
	})
	if err = errors.Join(err, failed); err != nil {
		return fmt.Errorf("set the send buffer: %w", err)
	}
	return nil
}
