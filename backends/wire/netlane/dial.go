package netlane

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

// Options configures the connections of lanes.
type Options struct {
	Network                 string      // "tcp" or "unix"
	Address                 string      // host:port, or the path of the socket
	TLS                     *tls.Config // nil: plain; see tlsconf.New
	Clock                   backends.Clock
	ConnectTimeout          time.Duration // for TCP and TLS together; 0: 10 s
	MaxBlocked, LargestCall int           // for plain connections: as in backends.LaneOptions
	// a new connection for every request; Sample.Connect holds its set-up time
	PerRequest bool
	New        func() backends.Wire // returns the wire of a lane
}

// maxHandshakes bounds the concurrent handshakes of Parallel: few enough for a listen backlog.
const maxHandshakes = 64

// Dial opens n lanes and completes every handshake, up to maxHandshakes at a time. If one fails,
// all lanes are closed and the first error is returned. With PerRequest nothing is dialled yet.
func Dial(ctx context.Context, o Options, n int) ([]backends.Lane, backends.Limits, error) {
	if o.ConnectTimeout <= 0 {
		o.ConnectTimeout = 10 * time.Second
	}
	if o.TLS != nil || !canBlock() || o.MaxBlocked < n && (o.PerRequest || o.LargestCall > inlineLimit) {
		o.MaxBlocked = 0
	}
	all := make([]*lane, n)
	for i := range all {
		all[i] = newLane(&o)
		all[i].wire = o.New()
	}
	lanes, depth, err := bundleLanes(all, o.MaxBlocked)
	if err != nil {
		return nil, backends.Limits{}, err
	}
	limits := backends.Limits{Depth: depth, Inline: inlineLimit, BlocksThread: o.MaxBlocked > 0}
	if o.PerRequest {
		return lanes, limits, nil
	}
	err = Parallel(ctx, n, func(ctx context.Context, i int) (err error) {
		ctx, cancel := context.WithTimeout(ctx, o.ConnectTimeout)
		defer cancel()
		l := all[i]
		if l.link, err = connect(ctx, &o, l); err == nil {
			l.dials = 1
			l.word.Store(newWord(0, idle))
		}
		return err
	})
	if err != nil {
		closeAll(lanes)
		return nil, backends.Limits{}, fmt.Errorf("connect to %s: %w", o.Address, err)
	}
	return lanes, limits, nil
}

// bundleLanes returns the lanes that the caller drives: each lane by itself, or all joined into the
// given number of bundles.
func bundleLanes(all []*lane, bundles int) (lanes []backends.Lane, depth int, err error) {
	bundles, depth = min(cmp.Or(bundles, len(all)), len(all)), 1
	for i := range bundles {
		var some []*lane
		for at := i; at < len(all); at += bundles {
			some = append(some, all[at])
		}
		var l backends.Lane = some[0] // by itself it has only its own connection to wait for
		if len(some) > 1 {
			if l, err = newBundle(some); err != nil {
				closeAll(lanes)
				return nil, 0, err
			}
		}
		lanes, depth = append(lanes, l), max(depth, len(some))
	}
	return lanes, depth, nil
}

func closeAll(lanes []backends.Lane) {
	for _, l := range lanes {
		_ = l.Close() // returns no error
	}
}

// Parallel calls connect for 0 to n-1, up to maxHandshakes at a time. The first error ends the
// context of the others and is returned.
func Parallel(ctx context.Context, n int, connect func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	free := make(chan struct{}, maxHandshakes)
	for i := range n {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			if err := connect(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
