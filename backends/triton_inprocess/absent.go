//go:build !inprocess

package inprocess

import (
	"context"

	"github.com/sluice-bench/sluice/backends"
)

// find checks nothing: the plan may be for another machine.
func find(string) error { return nil }

// opener returns why this binary has no Open.
func opener() (func(context.Context, backends.Target, backends.Clock) (backends.Conn, error), string) {
	return nil,
		"it loads Triton's library, which a static binary cannot: build with `go build -tags inprocess " +
			"./cmd/sluice`"
}
