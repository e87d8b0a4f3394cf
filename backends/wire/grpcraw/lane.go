package grpcraw

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/netlane"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
)

// unary describes a call with one request and one reply.
var unary = &grpc.StreamDesc{}

// lane is a unary caller on a shared connection: one request at a time, each on a stream of its
// own.
type lane struct {
	pool  *Pool
	judge Judge
	conn  *conn

	flight      flight
	sent        chan struct{}   // one token: a Send has finished
	closeCtx    context.Context // done when the lane is closed
	closeCancel context.CancelFunc
	closing     sync.Once
	base        context.Context // parent of request contexts until one is cancelled
	contexts    []context.Context

	// The request in flight: Send's until handover, then Recv's.
	outgoing
	slot       int
	sample     *backends.Sample
	stream     grpc.ClientStream
	via        *conn // conn, or the request's own connection when it is sent again
	firstSent  int64 // time of the first transmission
	err        error // of sending
	gotMessage bool  // a reply message was received

	silent int // consecutive requests whose transport was closed without a reply byte

	incoming
}

func newLane(p *Pool, c *conn) *lane {
	l := &lane{pool: p, judge: p.o.Judge(), conn: c, sent: make(chan struct{}, 1)}
	l.closeCtx, l.closeCancel = context.WithCancel(context.Background())
	l.renewContext()
	return l
}

// renewContext makes the context of requests: at first, and after a request was cancelled.
func (l *lane) renewContext() {
	l.base, l.flight.cancelCtx = context.WithCancel(l.closeCtx)
	clear(l.contexts)
}

// context returns the base context with the metadata of index n, made once.
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
	s.SendStart = l.pool.now()
	l.firstSent = s.SendStart
	l.err = l.transmit()
	if l.err == nil {
		s.BytesSent = int64(c.Size)
	}
	l.sent <- struct{}{}
}

// transmit opens the stream and passes the message to the transport.
func (l *lane) transmit() error {
	m := l.call.Impl.(*message)
	l.stream = nil
	stream, err := l.via.cc.NewStream(l.context(m.metadata), unary, m.method, m.options...)
	if err != nil {
		return err
	}
	l.stream = stream
	return l.send(stream, &l.pool.o.Clock, l.sample)
}

// Recv implements backends.Lane.
func (l *lane) Recv() (slot int, done bool) {
	select {
	case <-l.sent:
	case <-l.closeCtx.Done():
		if l.flight.isIdle() {
			return backends.None, false
		}
		<-l.sent // a Send has begun
	}
	err := l.err
	if err == nil {
		err = l.awaitStatus()
	}
	k := linkOf(l.stream)
	l.recordConnection(k)
	if err != nil && l.stale(err, k) {
		err = l.resend()
		k = linkOf(l.stream)
	}
	l.finish(err, k, l.flight.end())
	return l.slot, true
}

// recordConnection notes in the sample whether the request's transport was new or reused, and its
// connect time.
func (l *lane) recordConnection(k *link) {
	if k == nil {
		return
	}
	s := l.sample
	if k.connectedAt > l.firstSent && l.via == l.conn { // made while this request waited
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

// resend sends a request that met a stale connection once more, on a fresh connection: that of the
// lane if no other lane can use it first.
func (l *lane) resend() error {
	s := l.sample
	s.Flags = s.Flags&^backends.Reused | backends.Redialled | backends.Resent
	l.stream = nil
	start := l.pool.now()
	var err error
	if !l.pool.isSoleUser(l.conn) {
		if l.via, err = l.pool.singleUse(); err != nil {
			return err
		}
	}
	err = l.via.ready(l.base)
	s.Connect += l.pool.now() - start
	if err != nil {
		return status.Error(codes.Unavailable, err.Error())
	}
	if err = l.transmit(); err != nil {
		return err
	}
	err = l.awaitStatus()
	if k := linkOf(l.stream); k != nil {
		k.requests.Add(1)
	}
	return err
}

// awaitStatus waits for the end of the call. If grpc-go repeats a call and loses the second
// transport too while sending, SendMsg returns io.EOF and only a further RecvMsg returns the
// status.
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
		s.LastByte = l.pool.now()
	}
	if err != nil || why != 0 {
		l.fail(err, k, why)
	}
	if l.via != l.conn {
		_ = l.via.close()
		k = nil
	}
	if s.Class == backends.OK {
		l.awaitReplacement(k)
	}
	l.stream, l.call, l.sample, l.err = nil, nil, nil, nil
}

const (
	// closeTime is the time that a server which closes after every reply gets for its close; eagerDial
	// bounds the dialling that follows.
	closeTime = 50 * time.Millisecond
	eagerDial = 250 * time.Millisecond
)

// awaitReplacement keeps connects out of latencies if the server closes after every reply: it waits
// for the close of k (nil: it is closed) and for another transport, before the slot is free.
func (l *lane) awaitReplacement(k *link) {
	switch flags := l.sample.Flags; {
	case flags&backends.Resent != 0:
		l.silent++
	case flags&backends.Reused != 0:
		l.silent = 0
	}
	if l.silent < netlane.SilentCloses {
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
	_ = l.conn.ready(ctx) // on an error the next request dials
}

// unmarshal implements receiver.
func (l *lane) unmarshal(data mem.BufferSlice) {
	s := l.sample
	s.LastByte = l.pool.now()
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

// Activity implements backends.Lane. It is always 0: a unary call has a single reply.
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
