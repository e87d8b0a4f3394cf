package grpcraw

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// session is one stream of a lane, from its opening to its end.
type session struct {
	number   uint32 // of the lane, from 1
	set      int    // of metadata
	stream   grpc.ClientStream
	stop     context.CancelFunc
	via      *conn
	own      bool // via is this stream's alone
	born     int64
	replaces bool         // the lane had another before
	took     atomic.Int64 // ns that it took to open it ahead of the request that goes out on it first
	requests atomic.Uint32
	answered atomic.Bool // a message has come
	left     atomic.Bool // this side wants it no more
	link     *link       // of the receiver; nil before the first message

	// How it ended. Written by the receiver before ended is set.
	ended  atomic.Bool
	class  backends.ErrorClass
	status int32
	note   string
}

// seasoned reports whether losing the session is no sign of a server that takes no streams.
func (k *session) seasoned(now int64) bool { return k.answered.Load() || now-k.born >= settled }

// queue holds the slots that wait for the transmitter: one producer at a time, one consumer.
type queue struct {
	slots   []atomic.Int32
	tail    atomic.Uint64
	head    uint64       // of the transmitter
	waiting atomic.Int32 // slots in it, with the one that is being sent
	reopen  atomic.Bool  // a stream is wanted even though nothing waits for it
	wake    chan struct{}
}

func (q *queue) init(depth int) {
	q.slots, q.wake = make([]atomic.Int32, depth+1), make(chan struct{}, 1)
}

func (q *queue) put(slot int) {
	q.waiting.Add(1)
	t := q.tail.Add(1) - 1
	q.slots[t%uint64(len(q.slots))].Store(int32(slot + 1))
	token(q.wake)
}

// take gives the next slot; backends.None: there is none.
func (q *queue) take() int {
	at := &q.slots[q.head%uint64(len(q.slots))]
	slot := at.Load()
	if slot == 0 {
		return backends.None
	}
	at.Store(0)
	q.head++
	return int(slot) - 1
}

// transmit is the goroutine that opens streams and sends what is queued.
func (l *streamLane) transmit() {
	for {
		slot := l.queue.take()
		switch {
		case slot != backends.None:
			l.dispatch(slot)
			l.queue.waiting.Add(-1)
		case l.root.Err() != nil:
			l.abandonQueue()
			return
		case l.queue.reopen.Swap(false):
			if l.live.Load() == nil {
				start := l.pool.o.Clock.Now()
				if l.open(backends.None, l.lastSet()) == nil {
					l.last.took.Store(l.pool.o.Clock.Now() - start)
				}
			}
		default:
			select {
			case <-l.queue.wake:
			case <-l.root.Done():
			}
		}
	}
}

// abandonQueue ends what is queued on a closed lane. Whoever queues something after the transmitter has left does so too.
func (l *streamLane) abandonQueue() {
	l.ending.Lock()
	defer l.ending.Unlock()
	for slot := l.queue.take(); slot != backends.None; slot = l.queue.take() {
		l.cancel(slot, slotGen(l.slots[slot].word.Load()), backends.CauseStop)
		l.wrote(slot)
		l.queue.waiting.Add(-1)
	}
}

// lastSet is the metadata of the stream before.
func (l *streamLane) lastSet() int {
	if l.last == nil {
		return 0
	}
	return l.last.set
}

// dispatch sends one queued request, on a new stream if need be.
func (l *streamLane) dispatch(slot int) {
	sl := &l.slots[slot]
	if sl.is(overBit) { // cancelled while it waited
		l.wrote(slot)
		return
	}
	gen := slotGen(sl.word.Load())
	k := l.live.Load()
	set := sl.call.Impl.(*message).set
	if k != nil && k.set != set {
		if l.crowded(slot) {
			l.refuse(slot, gen, backends.Client, 0, "requests that share a stream must have the same headers")
			return
		}
		l.leave(k, false)
		k = nil
	}
	if k == nil {
		start := l.pool.o.Clock.Now()
		err := l.open(slot, set)
		sl.sample.Connect += l.pool.o.Clock.Now() - start
		if err != nil {
			l.unopened(slot, gen, err)
			return
		}
		k = l.live.Load()
	}
	if k == nil { // lost already, or the lane is closed
		l.refuse(slot, gen, backends.ResetByPeer, 0, "the stream was closed as soon as it was opened")
		return
	}
	l.sendOn(k, slot)
}

// crowded reports whether another request than slot's is in flight.
func (l *streamLane) crowded(slot int) bool {
	for i := range l.slots {
		if i != slot && l.slots[i].is(liveBit) && l.slots[i].session.Load() != 0 {
			return true
		}
	}
	return false
}

// refuse ends a request that was not sent.
func (l *streamLane) refuse(slot int, gen uint32, class backends.ErrorClass, code int32, note string) {
	if sl := &l.slots[slot]; sl.hold(gen) {
		s := sl.sample
		s.LastByte, s.Class, s.Status = l.pool.o.Clock.Now(), class, code
		s.SetNote([]byte(note))
		l.end(slot)
	}
	l.wrote(slot)
}

// unopened ends a request for which there is no stream.
func (l *streamLane) unopened(slot int, gen uint32, err error) {
	if l.root.Err() != nil {
		l.cancel(slot, gen, backends.CauseStop)
	}
	class, via := backends.Client, l.conn
	st := status.Convert(err)
	if via == nil {
		via = l.failed
	}
	if via != nil {
		switch class = backends.Status; st.Code() {
		case codes.Unavailable:
			class = via.refused()
		case codes.Internal:
			class = backends.Write
		}
	}
	l.refuse(slot, gen, class, int32(st.Code()), st.Code().String()+": "+st.Message()+advice(st))
}

// open makes a stream, for slot if it is not backends.None, and makes it the live one. Cancel and Close break it off.
func (l *streamLane) open(slot, set int) error {
	ctx, stop := context.WithCancel(l.root)
	l.aborts(slot, stop)
	if slot != backends.None && l.slots[slot].is(overBit) { // cancelled before that could be broken off
		stop()
	}
	k, err := l.connect(ctx, set, stop)
	l.aborts(backends.None, nil)
	if err == nil && ctx.Err() != nil { // broken off when it stood already
		k.discard()
		err = status.FromContextError(ctx.Err()).Err()
	}
	if err != nil {
		stop()
		return err
	}
	k.stop = stop
	select {
	case l.fresh <- k:
		l.last = k
		l.live.Store(k)
	case <-l.root.Done():
		stop()
		k.discard()
	}
	return nil
}

// discard lets go of what a stream had for itself.
func (k *session) discard() {
	if k.own {
		_ = k.via.close()
	}
}

// connect makes a transport ready and a stream on it. stop ends ctx.
func (l *streamLane) connect(ctx context.Context, set int, stop context.CancelFunc) (*session, error) {
	if l.shares {
		l.conn = l.pool.settle(l.conn)
	}
	k := &session{set: set, via: l.conn, number: 1}
	if l.last != nil {
		k.number, k.replaces = l.last.number+1, l.shares && !l.last.left.Load()
	}
	var err error
	if !l.shares {
		k.own = true
		if k.via, err = newConn(l.pool.forOne()); err != nil {
			return nil, err
		}
	}
	if err = k.via.ready(ctx, &l.pool.o); err != nil {
		err = status.Error(codes.Unavailable, err.Error())
	} else {
		with := l.pool.set(set)
		ctx = with.context(ctx)
		// The context is the stream's own for its whole life, so that it can have no deadline.
		late := time.AfterFunc(l.pool.o.connectTimeout(), stop)
		k.stream, err = k.via.cc.NewStream(ctx, bidi, l.method, with.options...)
		if !late.Stop() {
			err = status.Error(codes.Unavailable, l.pool.unopened(k.via).Error())
		}
	}
	if err != nil {
		if l.failed = k.via; k.own {
			_ = k.via.close()
		}
		return nil, err
	}
	k.born = l.pool.o.Clock.Now()
	return k, nil
}

// opened opens the first stream of a lane that nobody uses yet.
func (l *streamLane) opened(ctx context.Context) error {
	defer context.AfterFunc(ctx, l.over)()
	err := l.open(backends.None, 0)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if st := status.Convert(err); advice(st) != "" {
		err = errors.New(st.Message() + advice(st))
	}
	return err
}

// aborts says how the opening of a stream for slot is broken off.
func (l *streamLane) aborts(slot int, how context.CancelFunc) {
	l.mu.Lock()
	l.opening, l.abort = slot, how
	l.mu.Unlock()
}

// abortFor breaks off the opening of a stream for slot.
func (l *streamLane) abortFor(slot int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opening == slot && l.abort != nil {
		l.abort()
	}
}

// leave ends a stream from this side, and lets the transmitter open another if again is set.
func (l *streamLane) leave(k *session, again bool) {
	k.left.Store(true)
	l.drop(k, again)
}

// drop takes a stream away that has ended.
func (l *streamLane) drop(k *session, again bool) {
	if l.live.CompareAndSwap(k, nil) && again && l.shares {
		l.queue.reopen.Store(true)
		token(l.queue.wake)
	}
	k.stop()
}
