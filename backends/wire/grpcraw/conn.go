package grpcraw

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// conn is one ClientConn and what grpc-go does not tell about its transports: the last one, and why none could be made.
// This, and not the text of errors, tells failures apart.
type conn struct {
	cc        *grpc.ClientConn
	clock     backends.Clock
	maxReply  int64                // bytes of a reply message
	users     int                  // lanes on it; guarded by the pool
	latest    atomic.Pointer[link] // nil until there was one
	lastClass atomic.Uint32        // ErrorClass of the last attempt to make one; OK after a success
	keepDone  chan struct{}        // closed when keep has ended; nil without it

	dialled  atomic.Int64  // when the last attempt began
	failures atomic.Uint32 // attempts that failed

	mu         sync.Mutex
	attemptErr error // of the last attempt
}

// newConn makes a connection that is not yet made: see ready.
func newConn(o *Options) (*conn, error) {
	c := &conn{clock: o.Clock, maxReply: o.maxReply}
	secure, name := insecure.NewCredentials(), ""
	if o.TLS != nil {
		secure, name = credentials.NewTLS(o.TLS), o.TLS.ServerName
	}
	retry := backoff.Config{BaseDelay: retryMin, Multiplier: 1.6, Jitter: 0.2, MaxDelay: retryMax}
	options := []grpc.DialOption{
		grpc.WithAuthority(o.authority),
		grpc.WithTransportCredentials(&linkCredentials{TransportCredentials: secure, conn: c, serverName: name}),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return c.dial(ctx, o) }),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(codec{})),
		// The receive limit as a call option would be an allocation in every call. The send limit is Call's.
		grpc.WithDefaultServiceConfig(fmt.Sprintf(`{"methodConfig": [{"name": [{}], "maxResponseMessageBytes": %d}]}`, o.maxReply)),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: retry, MinConnectTimeout: o.connectTimeout()}),
		grpc.WithStaticStreamWindowSize(streamWindow), grpc.WithStaticConnWindowSize(connWindow),
		grpc.WithNoProxy(), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(), grpc.WithDisableHealthCheck(), grpc.WithIdleTimeout(0),
	}
	options = append(options, compression(o)...)
	var err error
	// The dialer knows the address; the resolver must only pass something through.
	c.cc, err = grpc.NewClient("passthrough:///"+o.Authority, options...)
	return c, err
}

func (c *conn) dial(ctx context.Context, o *Options) (net.Conn, error) {
	var d net.Dialer
	c.dialled.Store(c.clock.Now())
	raw, err := d.DialContext(ctx, o.Network, o.Address)
	if err != nil {
		c.recordAttempt(classOfDial(err), err)
	}
	return raw, err
}

// classOfDial tells what this machine lacks from what the target refuses.
func classOfDial(err error) backends.ErrorClass {
	for _, lack := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOMEM, syscall.ENOBUFS} {
		if errors.Is(err, lack) {
			return backends.Client
		}
	}
	return backends.Dial
}

func (c *conn) recordAttempt(class backends.ErrorClass, err error) {
	c.mu.Lock()
	c.attemptErr = err
	c.mu.Unlock()
	c.lastClass.Store(uint32(class))
	c.failures.Add(1)
}

// ready waits until the connection can carry calls: TCP, TLS and HTTP/2 SETTINGS are done. An earlier failure, after
// which grpc-go waits before it tries again, does not count: it tries at once. grpc-go shows the state of that failure
// until a connection is there, so that only the count of failures tells that the new attempt has failed too.
func (c *conn) ready(ctx context.Context, o *Options) error {
	ctx, cancel := context.WithTimeout(ctx, o.connectTimeout())
	defer cancel()
	failures, patience := c.failures.Load(), o.connectTimeout()
	if c.cc.GetState() == connectivity.TransientFailure {
		c.cc.ResetConnectBackoff()
		patience = failurePoll
	}
	for {
		state := c.cc.GetState()
		switch {
		case state == connectivity.Ready && !c.latest.Load().broken.Load(): // if it is, grpc-go will see that too
			return nil
		case state == connectivity.TransientFailure && (patience != failurePoll || c.failures.Load() != failures), state == connectivity.Shutdown:
			return fmt.Errorf("connect to %s: %w", o.Address, c.lastError())
		case state == connectivity.Idle:
			c.cc.Connect()
		}
		wait, stop := context.WithTimeout(ctx, patience)
		c.cc.WaitForStateChange(wait, state)
		stop()
		if ctx.Err() != nil {
			return fmt.Errorf("connect to %s: %w", o.Address, c.withCloseReason(ctx.Err()))
		}
	}
}

// withCloseReason is why the latest transport ended that brought nothing, which says more than that the time is over.
func (c *conn) withCloseReason(otherwise error) error {
	if l := c.latest.Load(); l != nil && !l.answered.Load() {
		if err := l.err.Load(); err != nil {
			return *err
		}
	}
	return otherwise
}

// failurePoll is how often the failures of a connection are looked at, which grpc-go shows no change for.
const failurePoll = 5 * time.Millisecond

// keepConnected makes another transport whenever one was lost, without waiting for a request. One that brought nothing is not
// replaced: a server that closes at once would be dialled without end.
func (c *conn) keepConnected() {
	c.keepDone = make(chan struct{})
	go func() {
		defer close(c.keepDone)
		for {
			state := c.cc.GetState()
			if state == connectivity.Shutdown {
				return
			}
			if l := c.latest.Load(); state == connectivity.Idle && l != nil && l.proven(c.clock.Now()) {
				c.cc.Connect()
			}
			c.cc.WaitForStateChange(context.Background(), state)
		}
	}()
}

// streamLimit is how many streams the server takes at once on the connection, as far as that is known.
func (c *conn) streamLimit() int64 {
	if l := c.latest.Load(); l != nil {
		return l.streamLimit.Load()
	}
	return unlimited
}

// close ends the connection.
func (c *conn) close() error {
	err := c.cc.Close()
	if c.keepDone != nil {
		<-c.keepDone
	}
	return err
}

func (c *conn) lastError() error {
	if c.lastClass.Load() != uint32(backends.OK) {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.attemptErr
	}
	return errors.New("the server does not answer as HTTP/2 does")
}

// linkCredentials puts a link around every connection that has shaken hands.
type linkCredentials struct {
	credentials.TransportCredentials
	conn       *conn
	serverName string // that TLS checks; "": the authority
}

// ClientHandshake implements credentials.TransportCredentials.
func (w *linkCredentials) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secured, info, err := w.TransportCredentials.ClientHandshake(ctx, cmp.Or(w.serverName, authority), raw)
	if err != nil {
		w.conn.recordAttempt(backends.TLS, err)
		return nil, nil, err
	}
	w.conn.lastClass.Store(uint32(backends.OK))
	l := &link{Conn: secured, connectedAt: w.conn.clock.Now(), end: make(chan struct{})}
	l.streamLimit.Store(unlimited)
	l.connectTime = l.connectedAt - w.conn.dialled.Load()
	l.replaces = w.conn.latest.Swap(l) != nil
	return l, linkInfo{AuthInfo: info, link: l}, nil
}

// Info implements credentials.TransportCredentials. It names no server, so that calls may have another authority than the name
// that TLS checks.
func (w *linkCredentials) Info() credentials.ProtocolInfo {
	info := w.TransportCredentials.Info()
	info.ServerName = "" //nolint:staticcheck // grpc-go compares it with the authority
	return info
}

// Clone implements credentials.TransportCredentials.
func (w *linkCredentials) Clone() credentials.TransportCredentials {
	return &linkCredentials{TransportCredentials: w.TransportCredentials.Clone(), conn: w.conn, serverName: w.serverName}
}
