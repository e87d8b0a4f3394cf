package grpcraw

import (
	"context"
	"sync"

	"github.com/sluice-bench/sluice/backends"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// unary describes a call with one request and one reply.
var unary = &grpc.StreamDesc{}

// lane is a unary caller: one request at a time, each a stream of its own on the lane's connection.
type lane struct {
	pool  *Pool
	judge Judge
	conn  *conn

	flight   flight
	handover handover
	root     context.Context // over when the lane is closed
	over     context.CancelFunc
	closing  sync.Once
	base     context.Context // of the requests until one is cancelled
	contexts []context.Context

	// Of the request in flight: Send's until handover, then Recv's.
	slot   int
	call   *backends.Call
	fields backends.Fields
	sample *backends.Sample
	stream grpc.ClientStream
	err    error  // of sending
	broken uint32 // conn.broken when the request was sent
	got    bool   // a reply message has come

	heads  []*head
	pieces [][]byte
	joined []byte // a reply in one piece
}

func newLane(p *Pool) *lane {
	l := &lane{pool: p, judge: p.o.Judge()}
	l.handover.wake = make(chan struct{}, 1)
	l.root, l.over = context.WithCancel(context.Background())
	l.renew()
	return l
}

// renew makes the context that requests run on: at first, and after a request was cancelled.
func (l *lane) renew() {
	l.base, l.flight.stop = context.WithCancel(l.root)
	clear(l.contexts)
}

// context is the base with metadata set n, made once.
func (l *lane) context(n int) context.Context {
	for len(l.contexts) <= n {
		l.contexts = append(l.contexts, nil)
	}
	if l.contexts[n] == nil {
		l.contexts[n] = l.base
		if md := l.pool.set(n); len(md) > 0 {
			l.contexts[n] = metadata.NewOutgoingContext(l.base, md)
		}
	}
	return l.contexts[n]
}

// Send implements backends.Lane.
func (l *lane) Send(slot int, c *backends.Call, f backends.Fields, s *backends.Sample) {
	if l.base.Err() != nil && l.root.Err() == nil {
		l.renew()
	}
	l.slot, l.call, l.fields, l.sample, l.got = slot, c, f, s, false
	l.flight.begin(s.Gen)
	s.SendStart = l.pool.o.Clock.Now()
	l.err = l.transmit(s.SendStart)
	s.SendEnd = l.pool.o.Clock.Now()
	if l.err == nil {
		s.BytesSent = int64(c.Size)
	}
	l.handover.put()
}

// transmit opens the stream and hands the message to the transport. start is now.
func (l *lane) transmit(start int64) error {
	m := l.call.Impl.(*message)
	l.stream = nil
	if l.pool.o.Connections == backends.PerRequest {
		if err := l.connectOne(start); err != nil {
			return err
		}
	}
	made := l.conn.made.Load()
	l.broken = l.conn.broken.Load()
	if l.conn.carried.Load() == made {
		l.sample.Flags |= backends.Reused
	} else {
		l.conn.carried.Store(made)
	}
	stream, err := l.conn.cc.NewStream(l.context(m.set), unary, m.method)
	if now := l.conn.made.Load(); now != made { // another transport was made while this request waited
		l.conn.carried.Store(now)
		l.sample.Connect += l.pool.o.Clock.Now() - start
		l.sample.Flags &^= backends.Reused
	}
	if err != nil {
		return err
	}
	l.stream = stream
	return stream.SendMsg(l)
}

// connectOne makes the connection of one request.
func (l *lane) connectOne(start int64) (err error) {
	if l.conn, err = newConn(&l.pool.o); err != nil {
		return err
	}
	err = l.conn.ready(l.base, &l.pool.o)
	l.sample.Connect += l.pool.o.Clock.Now() - start
	if err != nil {
		return status.Error(codes.Unavailable, err.Error())
	}
	return nil
}

// Recv implements backends.Lane.
func (l *lane) Recv() (slot int, done bool) {
	if !l.handover.take(l.root.Done(), l.flight.isIdle) {
		return backends.None, false
	}
	err := l.receive()
	if err != nil && l.stale(err) {
		l.sample.Flags |= backends.Redialled
		l.sample.Flags &^= backends.Reused
		if l.err = l.transmit(l.pool.o.Clock.Now()); l.err == nil {
			err = l.receive()
		} else {
			err = l.err
		}
	}
	l.finish(err, l.flight.end())
	return l.slot, true
}

func (l *lane) receive() error {
	if l.err != nil {
		return l.err
	}
	return l.stream.RecvMsg(l)
}

// finish completes the sample.
func (l *lane) finish(err error, why backends.Cause) {
	s := l.sample
	if s.LastByte == 0 {
		s.LastByte = l.pool.o.Clock.Now()
	}
	if err != nil || why != 0 {
		l.fail(err, why)
	}
	if l.pool.o.Connections == backends.PerRequest && l.conn != nil {
		_ = l.conn.cc.Close()
		l.conn = nil
	}
	l.stream, l.call, l.sample, l.err = nil, nil, nil, nil
}

// unmarshal is given the reply message by the codec.
func (l *lane) unmarshal(data mem.BufferSlice) {
	s := l.sample
	s.LastByte = l.pool.o.Clock.Now()
	s.FirstByte = s.LastByte
	s.Responses, s.Status = 1, 0
	l.got = true
	l.pieces = l.pieces[:0]
	size := 0
	for _, b := range data {
		l.pieces = append(l.pieces, b.ReadOnlyData())
		size += b.Len()
	}
	s.BytesReceived += int64(size) + prefixSize
	if len(l.pieces) > 1 && l.judge.Whole(l.call) {
		l.joined = l.joined[:0]
		for _, p := range l.pieces {
			l.joined = append(l.joined, p...)
		}
		l.pieces = append(l.pieces[:0], l.joined)
	}
	l.judge.Reply(l.call, l.pieces, s)
	clear(l.pieces)
}

// Cancel implements backends.Lane.
func (l *lane) Cancel(_ int, gen uint32, why backends.Cause) { l.flight.cancel(gen, why) }

// Close implements backends.Lane.
func (l *lane) Close() error {
	l.closing.Do(func() {
		l.flight.cancel(l.flight.gen(), backends.CauseStop)
		l.over()
		if l.pool.o.Connections != backends.PerRequest {
			l.pool.release(l.conn)
		}
	})
	return nil
}
