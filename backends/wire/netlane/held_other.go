//go:build !linux

package netlane

import (
	"errors"
	"net"

	"github.com/sluice-bench/sluice/backends"
)

func canBlock() bool { return false }

// makeBlocking leaves conn as it is: this needs Linux.
func makeBlocking(conn net.Conn, _ *lane) (net.Conn, error) { return conn, nil }

// newBundle is of no use where nothing can be held.
func newBundle([]*lane) (backends.Lane, error) { return nil, errors.ErrUnsupported }
