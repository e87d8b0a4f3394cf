//go:build !linux

package netlane

import (
	"errors"
	"net"

	"github.com/sluice-bench/sluice/backends"
)

func canHold() bool { return false }

// hold leaves conn as it is: this needs Linux.
func hold(conn net.Conn, _ *lane) (net.Conn, error) { return conn, nil }

// bundled is of no use where nothing can be held.
func bundled([]*lane) (backends.Lane, error) { return nil, errors.ErrUnsupported }
