//go:build !linux

package netlane

import "net"

func canHold() bool { return false }

// hold leaves conn as it is: this needs Linux.
func hold(conn net.Conn) (net.Conn, error) { return conn, nil }
