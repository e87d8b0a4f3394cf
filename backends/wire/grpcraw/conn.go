package grpcraw

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/netlane"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// conn is one ClientConn, with what grpc-go does not report about its transports: the latest one,
// and why an attempt to make one failed. Failures are told apart by this and not by the text of
// errors.
type conn struct {
	o        *Options
	cc       *grpc.ClientConn
	maxReply int64                // bytes of a reply message
	users    int                  // lanes on it; guarded by the pool
	latest   atomic.Pointer[link] // nil before the first transport
	keeper   sync.WaitGroup       // keepConnected

	dialled  atomic.Int64            // time of the last attempt to make a transport
	failures atomic.Uint32           // failed attempts
	failed   atomic.Pointer[failure] // of the last attempt; nil after a success
}

// failure says why a transport could not be made.
type failure struct {
	class backends.ErrorClass
	err   error
}

// newConn returns a connection that is not made yet: see ready. Messages of requests are compressed
// if compression is not empty, replies have up to maxReply bytes.
func (p *Pool) newConn(compression string, maxReply int64) (*conn, error) {
	o := &p.o
	c := &conn{o: o, maxReply: maxReply}
	secure, name := insecure.NewCredentials(), ""
	if o.TLS != nil {
		secure, name = credentials.NewTLS(o.TLS), o.TLS.ServerName
	}
	retry := backoff.Config{BaseDelay: retryMin, Multiplier: 1.6, Jitter: 0.2, MaxDelay: retryMax}
	options := []grpc.DialOption{
		grpc.WithAuthority(p.authority),
		grpc.WithTransportCredentials(&linkCredentials{secure, c, name}),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return c.dial(ctx) }),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(codec{})),
		// As a call option the receive limit would be an allocation in every call. Call checks the send
		// limit.
		grpc.WithDefaultServiceConfig(fmt.Sprintf(
			`{"methodConfig": [{"name": [{}], "maxResponseMessageBytes": %d}]}`, maxReply)),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: retry, MinConnectTimeout: o.ConnectTimeout}),
		grpc.WithStaticStreamWindowSize(streamWindow), grpc.WithStaticConnWindowSize(connWindow),
		grpc.WithNoProxy(), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(),
		grpc.WithDisableHealthCheck(), grpc.WithIdleTimeout(0),
	}
	options = append(options, p.compression(compression, maxReply)...)
	var err error
	// The dialer knows the address; the resolver only has to pass something through.
	c.cc, err = grpc.NewClient("passthrough:///"+o.Authority, options...)
	return c, err
}

func (c *conn) dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	c.dialled.Store(c.o.Clock.Now())
	raw, err := d.DialContext(ctx, c.o.Network, c.o.Address)
	if err != nil {
		c.fail(netlane.ClassOf(err, backends.Dial), err)
	}
	return raw, err
}

// fail records a failed attempt to make a transport.
func (c *conn) fail(class backends.ErrorClass, err error) {
	c.failed.Store(&failure{class, err})
	c.failures.Add(1)
}

// ready waits until the connection can carry calls: TCP, TLS and HTTP/2 SETTINGS are done. It tries
// at once, even if grpc-go would still wait after an earlier failure. grpc-go keeps reporting the
// state of that failure until a connection is made, so only the number of failures shows that the
// new attempt has failed too.
func (c *conn) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.o.ConnectTimeout)
	defer cancel()
	failures, patience := c.failures.Load(), c.o.ConnectTimeout
	if c.cc.GetState() == connectivity.TransientFailure {
		c.cc.ResetConnectBackoff()
		patience = failurePoll
	}
	for {
		state := c.cc.GetState()
		switch {
		case state == connectivity.Ready && !c.latest.Load().broken.Load():
			return nil // if it is broken, grpc-go will see that too
		case state == connectivity.Shutdown, state == connectivity.TransientFailure &&
			(patience != failurePoll || c.failures.Load() != failures):
			err := errors.New("the server does not answer as HTTP/2 does")
			if f := c.failed.Load(); f != nil {
				err = f.err
			}
			return fmt.Errorf("connect to %s: %w", c.o.Address, err)
		case state == connectivity.Idle:
			c.cc.Connect()
		}
		wait, stop := context.WithTimeout(ctx, patience)
		c.cc.WaitForStateChange(wait, state)
		stop()
		if err := ctx.Err(); err != nil {
			// why a transport ended that never answered says more than that the time is over
			if l := c.latest.Load(); l != nil && !l.answered.Load() && l.err.Load() != nil {
				err = *l.err.Load()
			}
			return fmt.Errorf("connect to %s: %w", c.o.Address, err)
		}
	}
}

// failurePoll is the interval at which failures of a connection are polled: grpc-go reports no
// change for them.
const failurePoll = 5 * time.Millisecond

// keepConnected makes another transport whenever one is lost, without waiting for a request. A
// transport that never answered is not replaced: a server that closes at once would be dialled
// without end.
func (c *conn) keepConnected() {
	c.keeper.Go(func() {
		for {
			state := c.cc.GetState()
			if state == connectivity.Shutdown {
				return
			}
			if l := c.latest.Load(); state == connectivity.Idle && l != nil && l.proven(c.o.Clock.Now()) {
				c.cc.Connect()
			}
			c.cc.WaitForStateChange(context.Background(), state)
		}
	})
}

// streamLimit returns the number of concurrent streams that the server allows on the connection, as
// far as it is known.
func (c *conn) streamLimit() int64 {
	if l := c.latest.Load(); l != nil {
		return l.streamLimit.Load()
	}
	return unlimited
}

// close ends the connection.
func (c *conn) close() error {
	err := c.cc.Close()
	c.keeper.Wait()
	return err
}

// linkCredentials wraps every connection in a link after its handshake.
type linkCredentials struct {
	credentials.TransportCredentials
	conn       *conn
	serverName string // checked by TLS; "": the authority
}

// ClientHandshake implements credentials.TransportCredentials.
func (w *linkCredentials) ClientHandshake(
	ctx context.Context, authority string, raw net.Conn,
) (net.Conn, credentials.AuthInfo, error) {
	secured, info, err := w.TransportCredentials.ClientHandshake(ctx, cmp.Or(w.serverName, authority), raw)
	if err != nil {
		w.conn.fail(backends.TLS, err)
		return nil, nil, err
	}
	w.conn.failed.Store(nil)
	l := &link{Conn: secured, connectedAt: w.conn.o.Clock.Now(), end: make(chan struct{})}
	l.streamLimit.Store(unlimited)
	l.connectTime = l.connectedAt - w.conn.dialled.Load()
	l.replaces = w.conn.latest.Swap(l) != nil
	return l, linkInfo{AuthInfo: info, link: l}, nil
}

// Info implements credentials.TransportCredentials. It names no server, so that calls may have
// another authority than the name that TLS checks.
func (w *linkCredentials) Info() credentials.ProtocolInfo {
	info := w.TransportCredentials.Info()
	info.ServerName = "" //nolint:staticcheck // grpc-go compares it with the authority
	return info
}

// Clone implements credentials.TransportCredentials.
func (w *linkCredentials) Clone() credentials.TransportCredentials {
	return &linkCredentials{w.TransportCredentials.Clone(), w.conn, w.serverName}
}
