package grpcraw

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const (
	retryFirst = 20 * time.Millisecond // after a failed connect; failures are seen in samples, not hidden by waiting
	retryMost  = time.Second
	together   = 64 // connections that are made at a time: a listen queue is finite
	lanesEach  = 64 // streams on one connection unless the plan gives a number; servers allow 100 or more
)

// Pool is the connections to one target.
type Pool struct {
	o Options

	mu      sync.Mutex
	sets    []metadata.MD // by number; see metadataSet
	heads   map[headKey]*http2.Head
	shared  []*conn // of the lanes
	control *conn
	most    int64 // the largest MaxReply of a call
}

// controlMost bounds the reply of a control call.
const controlMost = 16 << 20

// New checks the headers and connects nothing.
func New(o Options) (*Pool, error) {
	p := &Pool{o: o, heads: map[headKey]*http2.Head{}}
	p.admit(0)
	p.o.undo = new(undoers)
	if o.MaxMessage < 0 {
		return nil, fmt.Errorf("max_message is %d", o.MaxMessage)
	}
	_, err := p.metadataSet(nil)
	return p, err
}

// Invoke makes one control call and gives the reply message, which the caller may keep. Control calls only read, so one
// that met a stale connection is made once more.
func (p *Pool) Invoke(ctx context.Context, method string, request []byte) ([]byte, error) {
	c, err := p.controlConn()
	if err != nil {
		return nil, err
	}
	reply, stale, err := p.invoke(ctx, c, method, request)
	if stale {
		reply, _, err = p.invoke(ctx, c, method, request)
	}
	return reply, err
}

func (p *Pool) invoke(ctx context.Context, c *conn, method string, request []byte) (reply []byte, stale bool, err error) {
	if err := c.ready(ctx, &p.o); err != nil {
		return nil, false, err
	}
	k, began := c.latest.Load(), p.o.Clock.Now()
	err = c.cc.Invoke(metadata.NewOutgoingContext(ctx, p.set(0)), method, &request, &reply)
	return reply, status.Code(err) == codes.Unavailable && k.broken.Load() && k.seasoned(began), err
}

func (p *Pool) controlConn() (*conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	if p.control == nil {
		plain := p.o
		plain.Compression, plain.maxReply = "", controlMost // what Invoke sends is not compressed
		p.control, err = newConn(&plain)
	}
	return p.control, err
}

func (p *Pool) set(n int) metadata.MD {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sets[n]
}

// Lanes opens n unary lanes and returns when their connections are ready. If one cannot be made, those of this call are
// closed and the first error is returned. With PerRequest nothing is connected yet. Depth
// is of no concern to them.
func (p *Pool) Lanes(ctx context.Context, n int, o backends.LaneOptions) ([]backends.Lane, backends.Limits, error) {
	if p.o.Connections <= 0 {
		return p.own(ctx, n, o)
	}
	conns, err := p.connected(ctx, n)
	if err != nil {
		return nil, backends.Limits{}, err
	}
	lanes := make([]backends.Lane, n)
	for i, c := range conns {
		lanes[i] = newLane(p, c)
	}
	return lanes, backends.Limits{Depth: 1}, nil
}

// connected gives the connection of each of n new lanes, ready; none with PerRequest.
func (p *Pool) connected(ctx context.Context, n int) ([]*conn, error) {
	conns, err := p.conns(n)
	if err == nil {
		err = connect(ctx, &p.o, conns)
	}
	if err != nil {
		for _, c := range conns {
			p.release(c)
		}
		return nil, err
	}
	return conns, nil
}

// conns gives the connection of each of n new lanes, made or not; none when every request makes its own.
func (p *Pool) conns(n int) ([]*conn, error) {
	if p.o.Connections == backends.PerRequest {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	conns := make([]*conn, 0, n)
	for range n {
		c, err := p.pick()
		if err != nil {
			return conns, err
		}
		c.users++
		conns = append(conns, c)
	}
	return conns, nil
}

// pick gives the connection with the fewest lanes, or a new one while there may be more and each has its share.
func (p *Pool) pick() (*conn, error) {
	share, most := lanesEach, math.MaxInt
	if p.o.Connections > 0 {
		share, most = 1, p.o.Connections
	}
	var best *conn
	fit := 0
	for _, c := range p.shared {
		if c.maxReply < p.most { // grpc-go sets it once for a connection
			continue
		}
		fit++
		if best == nil || c.users < best.users {
			best = c
		}
	}
	if best != nil && (best.users < share || fit == most) {
		return best, nil
	}
	o := p.o
	o.maxReply = p.most
	c, err := newConn(&o)
	if err == nil {
		c.keep()
		p.shared = append(p.shared, c)
	}
	return c, err
}

// alone reports whether only one lane is on c.
func (p *Pool) alone(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return c.users == 1
}

// release takes a closed lane off its connection, which stays for others unless replies have outgrown it.
func (p *Pool) release(c *conn) {
	p.mu.Lock()
	c.users--
	idle := c.users == 0 && c.maxReply < p.most && slices.Contains(p.shared, c)
	if idle {
		p.shared = slices.DeleteFunc(p.shared, func(o *conn) bool { return o == c })
	}
	p.mu.Unlock()
	if idle {
		_ = c.close()
	}
}

// admit gives the limit of a call's replies. Connections that are made from now on take replies that large.
func (p *Pool) admit(maxReply int64) int64 {
	limit := min(cmp.Or(maxReply, p.o.MaxMessage, backends.ReplyLimit), math.MaxInt32)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = max(p.most, limit)
	return limit
}

// forOne gives the options of a connection that belongs to one request or stream.
func (p *Pool) forOne() *Options {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.o
	o.maxReply = p.most
	return &o
}

// connect makes all connections ready, some at a time.
func connect(ctx context.Context, o *Options, conns []*conn) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	free := make(chan struct{}, together)
	for i, c := range conns {
		if slices.Contains(conns[:i], c) {
			continue
		}
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			if err := c.ready(ctx, o); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// Close ends all connections. Lanes must be closed before.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.control != nil {
		p.shared = append(p.shared, p.control)
	}
	err := closeAll(p.shared)
	p.shared, p.control = nil, nil
	return err
}

func closeAll(conns []*conn) error {
	var errs []error
	for _, c := range conns {
		errs = append(errs, c.close())
	}
	return errors.Join(errs...)
}
