package grpcraw

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/netlane"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	// after a failed connect; failures show in samples and are not hidden by waiting
	retryMin     = 20 * time.Millisecond
	retryMax     = time.Second
	lanesPerConn = 64 // streams per connection unless the plan sets a number; servers allow 100 or more
)

// Pool holds the connections to one target.
type Pool struct {
	o         Options
	authority string // of calls without another one
	decoders  decoderPool

	mu           sync.Mutex
	metadataSets []callMetadata // by index; see internMetadata
	shared       []*conn        // used by lanes
	control      *conn
	largestReply int64 // the largest MaxReply of a call
	streamLimit  int64 // concurrent streams that the server allows per connection; 0: unknown
}

// maxControlReply bounds the reply of a control call, in bytes.
const maxControlReply = 16 << 20

// New checks the options and headers. It connects nothing.
func New(o Options) (*Pool, error) {
	if o.ConnectTimeout <= 0 {
		o.ConnectTimeout = defaultConnectTimeout
	}
	p := &Pool{o: o}
	p.admitReplySize(0)
	if o.MaxMessage < 0 {
		return nil, fmt.Errorf("max_message is %d", o.MaxMessage)
	}
	_, err := p.internMetadata(nil)
	if err == nil {
		p.authority = p.metadataSets[0].authority
	}
	return p, err
}

func (p *Pool) now() int64 { return p.o.Clock.Now() }

// Invoke makes one control call and returns the reply message, which the caller may keep. Control
// calls only read, so a call that met a stale connection is repeated once.
func (p *Pool) Invoke(ctx context.Context, method string, request []byte) ([]byte, error) {
	p.mu.Lock()
	var err error
	if p.control == nil {
		p.control, err = p.newConn("", maxControlReply) // it does not compress
	}
	c := p.control
	p.mu.Unlock()
	if err != nil {
		return nil, err
	}
	reply, stale, err := p.invoke(ctx, c, method, request)
	if stale {
		reply, _, err = p.invoke(ctx, c, method, request)
	}
	return reply, err
}

func (p *Pool) invoke(
	ctx context.Context, c *conn, method string, request []byte,
) (reply []byte, stale bool, err error) {
	if err := c.ready(ctx); err != nil {
		return nil, false, err
	}
	k, began := c.latest.Load(), p.now()
	err = c.cc.Invoke(p.metadata(0).context(ctx), method, &request, &reply)
	if text := advice(status.Convert(err)); text != "" {
		return nil, false, fmt.Errorf("%w%s", err, text)
	}
	if err != nil && ctx.Err() != nil && c.streamLimit() == 0 {
		return nil, false, p.streamLimitError(0, 1)
	}
	if ctx.Err() != nil && status.Code(err) == codes.DeadlineExceeded {
		waited := time.Duration(p.now() - began)
		return nil, false, fmt.Errorf("no answer within %v", waited.Round(10*time.Millisecond))
	}
	return reply, status.Code(err) == codes.Unavailable && k.broken.Load() && k.proven(began), err
}

func (p *Pool) metadata(n int) callMetadata {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.metadataSets[n]
}

// Lanes opens n unary lanes and returns when their connections are ready. If one cannot be made,
// the lanes of this call are closed and the first error is returned. With PerRequest nothing is
// connected yet. LaneOptions.Depth has no effect.
func (p *Pool) Lanes(
	ctx context.Context, n int, o backends.LaneOptions,
) ([]backends.Lane, backends.Limits, error) {
	if p.o.Connections <= 0 {
		return p.dedicatedLanes(ctx, n, o)
	}
	conns, err := p.connectLanes(ctx, n)
	if err != nil {
		return nil, backends.Limits{}, err
	}
	lanes := make([]backends.Lane, n)
	for i, c := range conns {
		lanes[i] = newLane(p, c)
	}
	return lanes, backends.Limits{Depth: 1}, nil
}

// connectLanes returns the ready connection of each of n new lanes, or nil with PerRequest. No
// connection gets more lanes than the server allows concurrent streams: further connections are
// made, unless the plan fixes their number; then the server has until the end of the connect
// timeout to raise its limit.
func (p *Pool) connectLanes(ctx context.Context, n int) ([]*conn, error) {
	waiting, cancel := context.WithTimeout(ctx, p.o.ConnectTimeout)
	defer cancel()
	for {
		conns, err := p.assignConns(n)
		if err == nil {
			err = netlane.Parallel(ctx, len(conns), func(ctx context.Context, i int) error {
				if slices.Contains(conns[:i], conns[i]) {
					return nil
				}
				return conns[i].ready(ctx)
			})
		}
		connected := err == nil
		if connected {
			err = p.checkStreamLimit(conns)
		}
		if err == nil {
			return conns, nil
		}
		for _, c := range conns {
			p.release(c)
		}
		if !connected || waiting.Err() != nil {
			return nil, err
		}
		select {
		case <-waiting.Done():
		case <-time.After(failurePoll):
		}
	}
}

// checkStreamLimit returns an error if one of conns carries more lanes than the server allows
// concurrent streams.
func (p *Pool) checkStreamLimit(conns []*conn) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if most := c.streamLimit(); int64(c.users) > most {
			return fmt.Errorf("connect to %s: %w", p.o.Address, p.streamLimitError(most, c.users))
		}
	}
	return nil
}

// streamLimitError returns the error of a server that allows fewer streams on a connection than
// there are lanes on it; it says what to change.
func (p *Pool) streamLimitError(most int64, lanes int) error {
	text := fmt.Sprintf("the server takes %d streams at once on a connection (MAX_CONCURRENT_STREAMS)", most)
	if most == 1 {
		text = strings.Replace(text, "streams", "stream", 1)
	}
	if p.o.Connections <= 0 || most == 0 {
		return fmt.Errorf("%s: raise its limit", text)
	}
	need := (int64(p.o.Connections)*int64(lanes) + most - 1) / most
	return fmt.Errorf("%s, and `connections: %d` puts %d on one: write `connections: %d` or leave it out",
		text, p.o.Connections, lanes, need)
}

// openTimeoutError returns the reason why a stream could not be opened in time.
func (p *Pool) openTimeoutError(c *conn) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if most := c.streamLimit(); most == 0 || int64(c.users) > most {
		return p.streamLimitError(most, c.users)
	}
	return fmt.Errorf("no stream could be opened within the connect_timeout of %v", p.o.ConnectTimeout)
}

// connForStream returns the connection on which a lane opens its next stream: c, or another one if
// the server now allows fewer concurrent streams.
func (p *Pool) connForStream(c *conn) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if most := c.streamLimit(); p.o.Connections > 0 || most == 0 || int64(c.users) <= most {
		return c
	}
	other, err := p.leastUsedConn()
	if err != nil {
		return c
	}
	c.users--
	other.users++
	return other
}

// assignConns returns the connection of each of n new lanes, connected or not; nil if every request
// makes its own.
func (p *Pool) assignConns(n int) ([]*conn, error) {
	if p.o.Connections == backends.PerRequest {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	conns := make([]*conn, 0, n)
	for range n {
		c, err := p.leastUsedConn()
		if err != nil {
			return conns, err
		}
		c.users++
		conns = append(conns, c)
	}
	return conns, nil
}

// leastUsedConn returns the connection with the fewest lanes, or a new one while more are allowed
// and each has its share of lanes.
func (p *Pool) leastUsedConn() (*conn, error) {
	share, most := lanesPerConn, math.MaxInt
	if p.o.Connections > 0 {
		share, most = 1, p.o.Connections
	}
	var best *conn
	fit := 0
	for _, c := range p.shared {
		if c.maxReply < p.largestReply { // grpc-go sets it once per connection
			continue
		}
		fit++
		if streams := c.streamLimit(); streams > 0 {
			p.streamLimit = streams
		}
		if best == nil || c.users < best.users {
			best = c
		}
	}
	if p.streamLimit > 0 { // the limit of an earlier connection, which later ones will have too
		share = int(min(int64(share), p.streamLimit))
	}
	if best != nil && (best.users < share || fit == most) {
		return best, nil
	}
	c, err := p.newConn(p.o.Compression, p.largestReply)
	if err == nil {
		c.keepConnected()
		p.shared = append(p.shared, c)
	}
	return c, err
}

// isSoleUser reports whether c carries a single lane.
func (p *Pool) isSoleUser(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return c.users == 1
}

// release removes a closed lane from its connection, which stays open for others unless its limit
// of replies is too low by now.
func (p *Pool) release(c *conn) {
	p.mu.Lock()
	c.users--
	idle := c.users == 0 && c.maxReply < p.largestReply && slices.Contains(p.shared, c)
	if idle {
		p.shared = slices.DeleteFunc(p.shared, func(o *conn) bool { return o == c })
	}
	p.mu.Unlock()
	if idle {
		_ = c.close()
	}
}

// admitReplySize returns the limit of a call's replies in bytes. Connections made from now on
// accept replies of that size.
func (p *Pool) admitReplySize(maxReply int64) int64 {
	limit := min(cmp.Or(maxReply, p.o.MaxMessage, backends.ReplyLimit), math.MaxInt32)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.largestReply = max(p.largestReply, limit)
	return limit
}

// singleUse returns a connection for a single request or stream.
func (p *Pool) singleUse() (*conn, error) {
	p.mu.Lock()
	largest := p.largestReply
	p.mu.Unlock()
	return p.newConn(p.o.Compression, largest) // without the lock: it takes longer than a request
}

// Close ends all connections. Lanes must be closed before.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.control != nil {
		p.shared = append(p.shared, p.control)
	}
	var err error
	for _, c := range p.shared {
		err = errors.Join(err, c.close())
	}
	p.shared, p.control = nil, nil
	return err
}
