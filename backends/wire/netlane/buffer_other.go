//go:build !unix

package netlane

import (
	"fmt"
	"net"
)

// sendBuffer sets the send buffer to size bytes, so that an inline write cannot block.
func sendBuffer(conn net.Conn, size int) error {
	c, ok := conn.(interface{ SetWriteBuffer(bytes int) error })
	if !ok {
		return fmt.Errorf("%T has no send buffer", conn)
	}
	if err := c.SetWriteBuffer(size); err != nil {
		return fmt.Errorf("set the send buffer: %w", err)
	}
	return nil
}
