package netlane

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

// link is one connection and its wire.
type link struct {
	conn        net.Conn // TLS, or raw itself
	raw         net.Conn
	talker      backends.ConnWire // the lane's wire, if it is a ConnWire; else nil
	connectedAt int64
	used        bool  // has carried a request
	replaces    bool  // the lane had a connection before
	connectTime int64 // ns that the replacement of that one took, before the first request on this one
}

// pastDeadline is a deadline that ends reads and writes at once.
var pastDeadline = time.Unix(1, 0)

// dial makes the lane's connection. Cancel and Close interrupt it.
func (l *lane) dial(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	l.mu.Lock()
	if l.abandoned() {
		l.mu.Unlock()
		return context.Canceled
	}
	l.abort = cancel
	l.mu.Unlock()
	start := l.now()
	k, err := l.connect(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.abort = nil
	if err != nil {
		return err
	}
	if l.abandoned() {
		_ = k.raw.Close()
		return context.Canceled
	}
	if k.replaces = l.dials > 0 && !l.o.PerRequest; k.replaces {
		k.connectTime = k.connectedAt - start
	}
	l.dials++
	l.link = k
	return nil
}

// connect makes a connection for the lane. In a bundle the lane yields meanwhile.
func (l *lane) connect(ctx context.Context) (k *link, err error) {
	if l.yield == nil {
		return connect(ctx, l.o, l)
	}
	made := make(chan struct{})
	go func() {
		k, err = connect(ctx, l.o, l)
		close(made)
		l.wake()
	}()
	l.await(made)
	return k, err
}

// abandoned reports whether a connection is useless: the lane is closed, or its request cancelled.
// The caller holds mu.
func (l *lane) abandoned() bool {
	w := l.word.Load()
	return l.closed.Load() || inFlight(w) && causeOf(w) != 0
}

// drop closes the connection; polite allows a TLS close_notify.
func (l *lane) drop(polite bool) {
	l.mu.Lock()
	k := l.link
	l.link = nil
	l.mu.Unlock()
	switch {
	case k == nil:
	case polite:
		_ = k.conn.Close()
	default:
		_ = k.raw.Close()
	}
}

// connect dials and makes the handshakes of a connection for a lane.
func connect(ctx context.Context, o *Options, l *lane) (*link, error) {
	var d net.Dialer
	raw, err := d.DialContext(ctx, o.Network, o.Address)
	if err != nil {
		return nil, err
	}
	k := &link{conn: raw, raw: raw}
	l.wire.Reset()
	if err := k.setUp(ctx, o, l); err != nil {
		_ = raw.Close()
		return nil, err
	}
	k.connectedAt = o.Clock.Now()
	return k, nil
}

// setUp makes a connection of TCP, or a unix socket, ready for requests. On an error raw is still
// that connection.
func (k *link) setUp(ctx context.Context, o *Options, l *lane) error {
	if err := sendBuffer(k.raw, 4*inlineLimit); err != nil {
		return err
	}
	if o.TLS != nil {
		secure := tls.Client(k.raw, o.TLS)
		if err := secure.HandshakeContext(ctx); err != nil {
			return &classError{backends.TLS, err}
		}
		k.conn = secure
	}
	if k.talker, _ = l.wire.(backends.ConnWire); k.talker != nil {
		if err := k.handshake(ctx, o); err != nil {
			return err
		}
	}
	if o.MaxBlocked > 0 {
		conn, err := makeBlocking(k.raw, l)
		if err != nil {
			return err
		}
		k.raw, k.conn = conn, conn
	}
	return nil
}
