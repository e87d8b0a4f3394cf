//go:build !linux

package netlane

import (
	"errors"
	"net"

	"github.com/sluice-bench/sluice/backends"
)

func canBlock() bool { return false }

// makeBlocking returns conn unchanged: blocking connections need Linux.
func makeBlocking(conn net.Conn, _ *lane) (net.Conn, error) { return conn, nil }

// newBundle is unsupported: bundles need blocking connections.
func newBundle([]*lane) (backends.Lane, error) { return nil, errors.ErrUnsupported }
