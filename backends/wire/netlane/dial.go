package netlane

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

// Options say where lanes go and how.
type Options struct {
	Network        string      // "tcp" or "unix"
	Address        string      // host:port or the socket's path
	TLS            *tls.Config // nil: plain; see TLSConfig
	Clock          backends.Clock
	ConnectTimeout time.Duration        // for TCP and TLS together; 0: 10 s
	Hold           bool                 // where the connection is plain: as backends.LaneOptions.Hold
	PerRequest     bool                 // a new connection for every request, its set-up counted in Sample.Connect
	New            func() backends.Wire // the wire of a new connection
}

// atOnce is how many handshakes of one Dial are under way at a time: few enough for a listen backlog.
const atOnce = 64

// Dial opens n lanes and completes every handshake, many at a time. If one fails, all are closed and the first error
// is returned. With PerRequest nothing is dialled yet.
func Dial(ctx context.Context, o Options, n int) ([]backends.Lane, backends.Limits, error) {
	if o.ConnectTimeout <= 0 {
		o.ConnectTimeout = 10 * time.Second
	}
	o.Hold = o.Hold && o.TLS == nil && canHold()
	lanes, all := make([]backends.Lane, n), make([]*lane, n)
	for i := range all {
		all[i] = newLane(&o)
		lanes[i] = all[i]
	}
	limits := backends.Limits{Depth: 1, Inline: inline, Holds: o.Hold}
	if o.PerRequest {
		return lanes, limits, nil
	}
	if err := connectAll(ctx, &o, all); err != nil {
		for _, l := range all {
			_ = l.Close()
		}
		return nil, backends.Limits{}, fmt.Errorf("connect to %s: %w", o.Address, err)
	}
	return lanes, limits, nil
}

// connectAll gives every lane its first connection. The first error stops the rest.
func connectAll(ctx context.Context, o *Options, lanes []*lane) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	turn := make(chan struct{}, atOnce)
	for _, l := range lanes {
		turn <- struct{}{}
		wg.Go(func() {
			defer func() { <-turn }()
			limit, done := context.WithTimeout(ctx, o.ConnectTimeout)
			defer done()
			k, err := connect(limit, o)
			if err != nil {
				cancel(err)
				return
			}
			l.link, l.links = k, 1
			l.word.Store(newWord(0, idle))
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
