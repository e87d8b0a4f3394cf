package grpcraw

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/netlane"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// session is one stream of a lane, from its opening to its end.
type session struct {
	number    uint32 // in the lane, from 1
	metadata  int    // index in the pool
	stream    grpc.ClientStream
	stop      context.CancelFunc
	via       *conn
	ownConn   bool // via belongs to this stream alone
	openedAt  int64
	replaces  bool         // the lane had another stream before
	openTime  atomic.Int64 // ns to open it before the first request on it
	requests  atomic.Uint32
	answered  atomic.Bool // a message was received
	abandoned atomic.Bool // this side ended it
	link      *link       // used by the receiver; nil before the first message

	// How it ended. The receiver writes these before it sets ended.
	ended  atomic.Bool
	class  backends.ErrorClass
	status int32
	note   string
}

// proven reports whether the session was used successfully or has lasted for a while: losing it is
// no sign of a server that accepts no streams.
func (k *session) proven(now int64) bool {
	return k.answered.Load() || now-k.openedAt >= netlane.SettledAge
}

// transmit is the goroutine that opens streams and sends queued requests.
func (l *streamLane) transmit() {
	for l.closeCtx.Err() == nil {
		select {
		case sl := <-l.queue:
			l.dispatch(sl)
			l.queued.Add(-1)
		case <-l.reopen:
			start := l.pool.now()
			if l.queued.Load() == 0 && l.current.Load() == nil && l.open(nil, l.last.metadata) == nil {
				l.last.openTime.Store(l.pool.now() - start)
			}
		case <-l.closeCtx.Done():
		}
	}
	l.abandonQueue()
}

// enqueue has the transmitter send a slot's request.
func (l *streamLane) enqueue(sl *streamSlot) {
	l.queued.Add(1)
	l.queue <- sl // never blocks: it has room for every slot
	if l.closeCtx.Err() != nil {
		l.abandonQueue() // the transmitter may have ended
	}
}

// abandonQueue ends the queued requests of a closed lane.
func (l *streamLane) abandonQueue() {
	for {
		select {
		case sl := <-l.queue:
			l.cancel(sl, sl.gen(), backends.CauseStop)
			sl.sendDone()
			l.queued.Add(-1)
		default:
			return
		}
	}
}

// dispatch sends one queued request, on a new stream if necessary.
func (l *streamLane) dispatch(sl *streamSlot) {
	if sl.has(settledBit) { // cancelled while it waited
		sl.sendDone()
		return
	}
	gen := sl.gen()
	k := l.current.Load()
	set := sl.call.Impl.(*message).metadata
	if k != nil && k.metadata != set {
		if l.othersInFlight(sl) {
			l.failUnsent(sl, gen, backends.Client, 0,
				"requests that share a stream must have the same headers")
			return
		}
		l.abandon(k, false)
		k = nil
	}
	if k == nil {
		start := l.pool.now()
		err := l.open(sl, set)
		sl.sample.Connect += l.pool.now() - start
		if err != nil {
			if l.closeCtx.Err() != nil {
				l.cancel(sl, gen, backends.CauseStop)
			}
			st := status.Convert(err)
			code := st.Code()
			l.failUnsent(sl, gen, cmp.Or(l.conn, l.failedConn).openClass(code), int32(code),
				code.String()+": "+st.Message()+advice(st))
			return
		}
		k = l.current.Load()
	}
	if k == nil { // lost already, or the lane is closed
		l.failUnsent(sl, gen, backends.ResetByPeer, 0, "the stream was closed as soon as it was opened")
		return
	}
	l.sendOn(k, sl)
}

// othersInFlight reports whether a request of another slot is in flight.
func (l *streamLane) othersInFlight(than *streamSlot) bool {
	for i := range l.slots {
		if sl := &l.slots[i]; sl != than && sl.has(liveBit) && sl.session.Load() != 0 {
			return true
		}
	}
	return false
}

// failUnsent ends a request that was not sent.
func (l *streamLane) failUnsent(
	sl *streamSlot, gen uint32, class backends.ErrorClass, code int32, note string,
) {
	if sl.lock(gen, 0) {
		s := sl.sample
		s.LastByte, s.Class, s.Status = l.pool.now(), class, code
		s.SetNote([]byte(note))
		sl.settle()
	}
	sl.sendDone()
}

// open makes a stream, for a slot unless that is nil, and makes it the current one. Cancel and Close
// interrupt it.
func (l *streamLane) open(sl *streamSlot, set int) error {
	ctx, stop := context.WithCancel(l.closeCtx)
	l.opening.set(sl, stop)
	if sl != nil && sl.has(settledBit) { // cancelled before it could be interrupted
		stop()
	}
	k, err := l.connect(ctx, set, stop)
	l.opening.set(nil, nil)
	if err == nil && ctx.Err() != nil { // interrupted after it was open
		k.closeOwn()
		err = status.FromContextError(ctx.Err()).Err()
	}
	if err != nil {
		stop()
		if errors.Is(err, errLimitLowered) {
			return l.open(sl, set)
		}
		return err
	}
	k.stop = stop
	select {
	case l.opened <- k:
		l.last = k
		l.current.Store(k)
	case <-l.closeCtx.Done():
		stop()
		k.closeOwn()
	}
	return nil
}

// closeOwn closes the connection that belongs to the stream alone.
func (k *session) closeOwn() {
	if k.ownConn {
		_ = k.via.close()
	}
}

// errLimitLowered reports that a stream could not be opened because the server allows fewer streams
// than when its opening began: another connection is to be tried.
var errLimitLowered = errors.New("the server allows fewer streams on the connection")

// connect makes a transport ready and opens a stream on it. stop ends ctx.
func (l *streamLane) connect(ctx context.Context, set int, stop context.CancelFunc) (*session, error) {
	k := &session{metadata: set, number: l.last.number + 1, ownConn: !l.shared}
	k.replaces = l.shared && !l.last.abandoned.Load()
	var err error
	if l.shared {
		l.conn = l.pool.connForStream(l.conn)
		k.via = l.conn
	} else if k.via, err = l.pool.singleUse(); err != nil {
		return nil, err
	}
	if err = k.via.ready(ctx); err != nil {
		err = status.Error(codes.Unavailable, err.Error())
	} else {
		with := l.pool.metadata(set)
		ctx = with.context(ctx)
		// The context lives as long as the stream, so it cannot have a deadline.
		late := time.AfterFunc(l.pool.o.ConnectTimeout, stop)
		k.stream, err = k.via.cc.NewStream(ctx, bidi, l.method, with.options...)
		if !late.Stop() {
			err = status.Error(codes.Unavailable, l.pool.openTimeoutError(k.via).Error())
			if l.shared && l.closeCtx.Err() == nil {
				if l.conn = l.pool.connForStream(k.via); l.conn != k.via {
					return nil, errLimitLowered
				}
			}
		}
	}
	if err != nil {
		if l.failedConn = k.via; k.ownConn {
			_ = k.via.close()
		}
		return nil, err
	}
	k.openedAt = l.pool.now()
	return k, nil
}

// openFirst opens the first stream of a lane that is not in use yet.
func (l *streamLane) openFirst(ctx context.Context) error {
	defer context.AfterFunc(ctx, l.closeCancel)()
	err := l.open(nil, 0)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if st := status.Convert(err); advice(st) != "" {
		err = errors.New(st.Message() + advice(st))
	}
	return err
}

// opening is the attempt to open a stream. Its lock is never held across a system call, nor on the
// path of a request that succeeds.
type opening struct {
	mu   sync.Mutex
	slot *streamSlot // that the stream is opened for, or nil
	stop context.CancelFunc
}

// set sets the function that interrupts the opening of a stream for slot; nil: there is none.
func (o *opening) set(slot *streamSlot, stop context.CancelFunc) {
	o.mu.Lock()
	o.slot, o.stop = slot, stop
	o.mu.Unlock()
}

// abort interrupts the opening of a stream for slot.
func (o *opening) abort(slot *streamSlot) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.slot == slot && o.stop != nil {
		o.stop()
	}
}

// abandon ends a stream from this side, and has the transmitter open another if again is set.
func (l *streamLane) abandon(k *session, again bool) {
	k.abandoned.Store(true)
	l.remove(k, again)
}

// remove clears current after the end of its stream.
func (l *streamLane) remove(k *session, again bool) {
	if l.current.CompareAndSwap(k, nil) && again && l.shared {
		putToken(l.reopen)
	}
	k.stop()
}
