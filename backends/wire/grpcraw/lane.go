package grpcraw

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
)

// unary describes a call with one request and one reply.
var unary = &grpc.StreamDesc{}

// lane is a unary caller on a connection that it shares: one request at a time, each a stream of its own.
type lane struct {
	pool  *Pool
	judge Judge
	conn  *conn

	flight      flight
	handover    handover
	closeCtx    context.Context // over when the lane is closed
	closeCancel context.CancelFunc
	closing     sync.Once
	base        context.Context // of the requests until one is cancelled
	contexts    []context.Context

	// Of the request in flight: Send's until handover, then Recv's.
	outgoing
	slot       int
	sample     *backends.Sample
	stream     grpc.ClientStream
	via        *conn // conn, or one of the request's own when it is sent again
	firstSent  int64 // when it was first transmitted
	err        error // of sending
	gotMessage bool  // a reply message has come

	silent int // requests in a row that met a transport closed without a word

	incoming
}

func newLane(p *Pool, c *conn) *lane {
	l := &lane{pool: p, judge: p.o.Judge(), conn: c}
	l.handover.wake = make(chan struct{}, 1)
	l.closeCtx, l.closeCancel = context.WithCancel(context.Background())
	l.renewContext()
	return l
}

// renewContext makes the context that requests run on: at first, and after a request was cancelled.
func (l *lane) renewContext() {
	l.base, l.flight.cancelCtx = context.WithCancel(l.closeCtx)
	clear(l.contexts)
}

// context is the base with metadata set n, made once.
func (l *lane) context(n int) context.Context {
	for len(l.contexts) <= n {
		l.contexts = append(l.contexts, nil)
	}
	if l.contexts[n] == nil {
		set := l.pool.metadata(n)
		l.contexts[n] = set.context(l.base)
	}
	return l.contexts[n]
}

// Send implements backends.Lane.
func (l *lane) Send(slot int, c *backends.Call, f backends.Fields, s *backends.Sample) {
	if l.base.Err() != nil && l.closeCtx.Err() == nil {
		l.renewContext()
	}
	l.slot, l.call, l.fields, l.sample, l.via, l.gotMessage = slot, c, f, s, l.conn, false
	l.flight.begin(s.Gen)
	s.SendStart = l.pool.o.Clock.Now()
	l.firstSent = s.SendStart
	l.err = l.transmit()
	if l.err == nil {
		s.BytesSent = int64(c.Size)
	}
	l.handover.put()
}

// transmit opens the stream and hands the message to the transport.
func (l *lane) transmit() error {
	m := l.call.Impl.(*message)
	l.stream = nil
	if l.via == nil {
		if err := l.connectOne(); err != nil {
			return err
		}
	}
	stream, err := l.via.cc.NewStream(l.context(m.metadata), unary, m.method, m.options...)
	if err != nil {
		return err
	}
	l.stream = stream
	return l.send(stream, &l.pool.o.Clock, l.sample)
}

// connectOne makes the connection of one request.
func (l *lane) connectOne() (err error) {
	start := l.pool.o.Clock.Now()
	if l.via, err = newConn(l.pool.singleUse()); err != nil {
		return err
	}
	err = l.via.ready(l.base, &l.pool.o)
	l.sample.Connect += l.pool.o.Clock.Now() - start
	if err != nil {
		return status.Error(codes.Unavailable, err.Error())
	}
	return nil
}

// Recv implements backends.Lane.
func (l *lane) Recv() (slot int, done bool) {
	if !l.handover.take(l.closeCtx.Done(), l.flight.isIdle) {
		return backends.None, false
	}
	err := l.receive()
	k := linkOf(l.stream)
	l.recordConnection(k)
	if err != nil && l.stale(err, k) {
		err = l.resend()
		k = linkOf(l.stream)
	}
	l.finish(err, k, l.flight.end())
	return l.slot, true
}

// recordConnection notes in the sample what the request's transport had been through before.
func (l *lane) recordConnection(k *link) {
	if k == nil {
		return
	}
	s := l.sample
	if k.connectedAt > l.firstSent && l.via == l.conn { // it was made while this request waited
		s.Connect += max(k.connectedAt, s.SendEnd) - l.firstSent
	}
	switch {
	case k.requests.Add(1) > 1:
		s.Flags |= backends.Reused
	case k.replaces:
		s.Flags |= backends.Redialled
		if s.Connect == 0 {
			s.Connect = k.connectTime
			s.Flags |= backends.Ahead
		}
	}
}

// resend sends a request that met a stale connection once more, on a fresh one: that of the lane, if no other lane can
// get there first.
func (l *lane) resend() error {
	s := l.sample
	s.Flags = s.Flags&^backends.Reused | backends.Redialled | backends.Resent
	if l.pool.isSoleUser(l.conn) {
		start := l.pool.o.Clock.Now()
		if err := l.conn.ready(l.base, &l.pool.o); err != nil {
			l.stream = nil
			return status.Error(codes.Unavailable, err.Error())
		}
		s.Connect += l.pool.o.Clock.Now() - start
	} else {
		l.via = nil
	}
	if err := l.transmit(); err != nil {
		return err
	}
	err := l.awaitStatus()
	if k := linkOf(l.stream); k != nil {
		k.requests.Add(1)
	}
	return err
}

func (l *lane) receive() error {
	if l.err != nil {
		return l.err
	}
	return l.awaitStatus()
}

// awaitStatus waits for the end of the call. Where grpc-go repeats a call by itself and loses that transport too while sending,
// it says io.EOF, and only when asked again how the call ended.
func (l *lane) awaitStatus() error {
	err := l.stream.RecvMsg(l)
	if errors.Is(err, io.EOF) {
		err = l.stream.RecvMsg(l)
	}
	return err
}

// finish completes the sample.
func (l *lane) finish(err error, k *link, why backends.Cause) {
	s := l.sample
	s.BoundSend()
	if s.LastByte == 0 {
		s.LastByte = l.pool.o.Clock.Now()
	}
	if err != nil || why != 0 {
		l.fail(err, k, why)
	}
	if own := l.via; own != l.conn {
		if own != nil {
			_ = own.close()
		}
		k = nil
	}
	if s.Class == backends.OK {
		l.awaitReplacement(k)
	}
	l.stream, l.call, l.sample, l.err = nil, nil, nil, nil
}

const (
	// settledAge is how long an unused transport must have stood to be replaced when it is closed.
	settledAge = int64(time.Second)
	// silentCloses in a row make a server one that closes after every reply.
	silentCloses = 2
	// closeTime is how long such a server may take for it; eagerDial bounds the dialling that follows.
	closeTime = 50 * time.Millisecond
	eagerDial = 250 * time.Millisecond
)

// awaitReplacement keeps connects out of latencies when the server closes after every reply: it waits for the close of k (nil:
// it has closed) and for another transport, before the slot is free.
func (l *lane) awaitReplacement(k *link) {
	switch flags := l.sample.Flags; {
	case flags&backends.Resent != 0:
		l.silent++
	case flags&backends.Reused != 0:
		l.silent = 0
	}
	if l.silent < silentCloses {
		return
	}
	ctx, cancel := context.WithTimeout(l.closeCtx, eagerDial)
	defer cancel()
	if k != nil {
		patience := time.NewTimer(closeTime)
		defer patience.Stop()
		select {
		case <-k.end:
		case <-patience.C:
			l.silent = 0
			return
		case <-ctx.Done():
			return
		}
	}
	_ = l.conn.ready(ctx, &l.pool.o) // if not, the next request finds out
}

// unmarshal is given the reply message by the codec.
func (l *lane) unmarshal(data mem.BufferSlice) {
	s := l.sample
	s.LastByte = l.pool.o.Clock.Now()
	s.FirstByte = s.LastByte
	s.Responses, s.Status = 1, 0
	l.gotMessage = true
	s.BytesReceived += l.keep(data) + prefixSize
	if l.judge.Whole(l.call, s) {
		l.join()
	}
	l.judge.Reply(l.call, l.pieces, s)
	clear(l.pieces)
}

// Activity implements backends.Lane: a unary call has one reply.
func (*lane) Activity(int) int64 { return 0 }

// Cancel implements backends.Lane.
func (l *lane) Cancel(_ int, gen uint32, why backends.Cause) { l.flight.cancel(gen, why) }

// Close implements backends.Lane.
func (l *lane) Close() error {
	l.closing.Do(func() {
		l.flight.cancel(l.flight.gen(), backends.CauseStop)
		l.closeCancel()
		l.pool.release(l.conn)
	})
	return nil
}
