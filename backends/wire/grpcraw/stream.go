package grpcraw

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
	"google.golang.org/grpc"
)

// bidi describes a call with any number of requests and replies.
var bidi = &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}

// StreamJudge classifies the messages of a bidirectional stream, for one lane. It must not allocate
// or block.
type StreamJudge interface {
	Judge // Reply gets each response that carries no error; the last one counts
	// Read returns the request and kind of a message. The result is valid until its next call.
	Read(pieces [][]byte) Message
}

// Message describes a message of a stream.
type Message struct {
	ID     uint64 // of the request that it answers
	Named  bool   // ID is set
	Broken bool   // it cannot be parsed
	Final  bool   // the request has no further reply
	Empty  bool   // it holds no response: it only marks the end, or has no content
	Text   bool   // it holds generated text
	Error  []byte // error text of the server; nil: no error
}

// streamLane is one bidirectional stream at a time, with up to len(slots) requests in flight.
//
// It has two goroutines besides the callers of Send and Recv. The receiver reads the stream's
// messages, so that a Send that waits for the transport cannot block a server that writes before it
// reads. The transmitter opens the stream, and sends requests that Send must not wait for.
type streamLane struct {
	pool   *Pool
	judge  StreamJudge
	shared bool  // it shares a connection and keeps its stream; else every request makes both
	conn   *conn // the shared connection; used by the transmitter
	method string
	slots  []streamSlot

	closeCtx    context.Context // done when the lane is closed
	closeCancel context.CancelFunc
	closing     sync.Once
	group       sync.WaitGroup // receiver and transmitter

	// current is the stream for new requests, or nil. Set by the transmitter; whoever removes a broken
	// stream clears it.
	current atomic.Pointer[session]
	opened  chan *session    // each new stream, for the receiver
	queue   chan *streamSlot // slots that wait for the transmitter
	queued  atomic.Int32     // slots in queue, including the one being sent
	reopen  chan struct{}    // one token: a stream is wanted although no slot waits for it
	// bytesInFlight counts the bytes of the requests in flight: below writeQuota they do not wait for
	// the transport.
	bytesInFlight atomic.Int64
	last          *session // used by the transmitter
	failedConn    *conn    // connection of its last failed attempt to open a stream

	// results holds each slot that has a result for Recv once, and nil while there are strays.
	results       chan *streamSlot
	strays        atomic.Int64  // replies without a request
	eventsSlot    *streamSlot   // whose events the caller has, or nil
	eventsDrained chan struct{} // one token: those events are empty again
	opening       opening
	cancelledIDs  idRing // of requests whose replies may still arrive

	incoming // used by the receiver
	from     *session
	hint     int
}

// writeQuota is the number of bytes that grpc-go buffers per stream before SendMsg waits for the
// socket.
const writeQuota = 64 << 10

// maxInlineRequest is the largest request in bytes that Send itself writes on a lane with several
// slots.
const maxInlineRequest = writeQuota / 2

// Streams opens n lanes of depth requests each on bidirectional streams of method, and returns when
// the streams are open. If one cannot be opened, all lanes of this call are closed and the first
// error is returned. With PerRequest nothing is opened yet and the depth is 1.
func (p *Pool) Streams(
	ctx context.Context, n, depth int, method string, judge func() StreamJudge,
) ([]backends.Lane, backends.Limits, error) {
	conns, err := p.connectLanes(ctx, n)
	if err != nil {
		return nil, backends.Limits{}, err
	}
	if conns == nil {
		depth = 1
	}
	depth = max(depth, 1)
	lanes := make([]backends.Lane, n)
	for i := range lanes {
		l := newStreamLane(p, depth, method, judge())
		if len(conns) > 0 {
			l.shared, l.conn = true, conns[i]
			err = errors.Join(err, l.openFirst(ctx))
		}
		l.group.Go(l.transmit)
		l.group.Go(l.receive)
		lanes[i] = l
	}
	if err != nil {
		for _, l := range lanes {
			_ = l.Close()
		}
		return nil, backends.Limits{}, err
	}
	return lanes, backends.Limits{Depth: depth, Inline: maxInlineRequest / depth}, nil
}

func newStreamLane(p *Pool, depth int, method string, judge StreamJudge) *streamLane {
	l := &streamLane{
		pool: p, judge: judge, method: method, slots: make([]streamSlot, depth), last: &session{},
		opened: make(chan *session, 1), eventsDrained: make(chan struct{}, 1),
		queue: make(chan *streamSlot, depth), reopen: make(chan struct{}, 1),
		results:      make(chan *streamSlot, depth+1),
		cancelledIDs: idRing{ids: make([]uint64, cancelledIDsKept(depth))},
	}
	for i := range l.slots {
		l.slots[i].index, l.slots[i].results = i, l.results
	}
	l.last.abandoned.Store(true) // so that the first stream replaces none
	l.closeCtx, l.closeCancel = context.WithCancel(context.Background())
	return l
}

// cancelledIDsKept returns the number of cancelled requests whose ids a lane remembers. A lane of
// depth 1 ends the stream with its request; on deeper lanes the stream goes on, and a server that
// hung for a while answers all requests that were cancelled meanwhile.
func cancelledIDsKept(depth int) int {
	if depth == 1 {
		return 64
	}
	return 4096 + 16*depth
}

// Send implements backends.Lane.
func (l *streamLane) Send(slot int, c *backends.Call, f backends.Fields, s *backends.Sample) {
	sl := &l.slots[slot]
	s.SendStart = l.pool.now()
	sl.begin(c, f, s)
	inFlight := l.bytesInFlight.Add(int64(c.Size))
	m := c.Impl.(*message)
	switch k := l.current.Load(); {
	case k == nil || k.metadata != m.metadata || l.queued.Load() > 0 ||
		len(l.slots) > 1 && inFlight > maxInlineRequest || l.closeCtx.Err() != nil:
		l.enqueue(sl)
	default:
		l.sendOn(k, sl)
	}
}

// sendOn sends a slot's request on a stream. One goroutine at a time. The stream may have ended by
// then: a request that it did not take goes out on another one, once.
func (l *streamLane) sendOn(k *session, sl *streamSlot) {
	s, gen := sl.sample, sl.gen()
	switch {
	case k.requests.Add(1) > 1:
		sl.flags |= backends.Reused
	case k.replaces:
		sl.flags |= backends.Redialled
		if took := k.openTime.Load(); took > 0 {
			s.Connect += took
			sl.flags |= backends.Ahead
		}
	}
	size := int64(sl.call.Size)
	sl.session.Store(k.number)
	err := sl.send(k.stream, &l.pool.o.Clock, s)
	if errors.Is(err, io.EOF) && !sl.resent && !sl.has(settledBit) {
		l.remove(k, false)
		sl.resent = true
		sl.flags = sl.flags&^backends.Reused | backends.Redialled | backends.Resent
		sl.session.Store(0)
		l.enqueue(sl)
		return
	}
	if err == nil {
		s.BytesSent = size
	}
	sl.sendDone()
	// The stream may have ended before its receiver could see that this request was written.
	if k.ended.Load() && !l.resend(k, sl, gen) {
		l.failInFlight(k, sl, gen)
	}
}

// unlock unlocks a slot whose request goes on. It returns false if a cause was set meanwhile, with
// which the request has then ended.
func (l *streamLane) unlock(sl *streamSlot) bool {
	why := sl.unlock()
	if why != 0 {
		l.cancelled(sl, why)
	}
	return why == 0
}

// Recv implements backends.Lane.
func (l *streamLane) Recv() (slot int, done bool) {
	if l.eventsSlot != nil {
		l.eventsSlot.word.And(^fullBit)
		l.eventsSlot = nil
		putToken(l.eventsDrained)
	}
	for {
		var sl *streamSlot
		select {
		case sl = <-l.results:
		case <-l.closeCtx.Done():
			if len(l.results) == 0 && l.idle() {
				return backends.None, false
			}
			sl = <-l.results
		}
		if sl == nil {
			if l.strays.Add(-1) > 0 {
				l.results <- nil
			}
			return backends.None, true
		}
		sl.reported.Store(false)
		switch w := sl.word.Load(); {
		case hasBits(w, liveBit|writtenBit|settledBit):
			l.bytesInFlight.Add(-int64(sl.call.Size))
			sl.sample.Flags |= sl.flags
			sl.sample.BoundSend()
			sl.free()
			return sl.index, true
		case hasBits(w, liveBit|fullBit):
			l.eventsSlot = sl
			return sl.index, false
		}
	}
}

// idle reports whether nothing is in flight.
func (l *streamLane) idle() bool {
	for i := range l.slots {
		if l.slots[i].has(liveBit) {
			return false
		}
	}
	return true
}

// Activity implements backends.Lane.
func (l *streamLane) Activity(slot int) int64 { return l.slots[slot].active.Load() }

// Cancel implements backends.Lane. Later messages for the request are skipped. On a lane of depth 1
// its stream is ended, which tells the server; on a deeper lane the other requests are on the same
// stream, which is ended only if the request is stuck while being sent.
func (l *streamLane) Cancel(slot int, gen uint32, why backends.Cause) {
	l.cancel(&l.slots[slot], gen, why)
}

func (l *streamLane) cancel(sl *streamSlot, gen uint32, why backends.Cause) {
	if sl.lock(gen, why) {
		l.cancelled(sl, why)
		return
	}
	putToken(l.eventsDrained) // its holder may wait for the caller, and now has a cause not to
}

// cancelled ends a request with a cause. The caller has locked the slot.
func (l *streamLane) cancelled(sl *streamSlot, why backends.Cause) {
	s := sl.sample
	s.SetCancelled(why, l.pool.now(), sl.has(writtenBit))
	if why == backends.CauseTimeout && s.Responses == 0 {
		s.SetNote([]byte(noMessage))
	}
	l.cancelledIDs.add(sl.id.Load())
	number, written := sl.session.Load(), sl.has(writtenBit)
	if !written {
		l.opening.abort(sl)
	}
	if k := l.current.Load(); k != nil && k.number == number && (len(l.slots) == 1 || !written) {
		// before another request can go out on it; after these the load goes on
		l.abandon(k, s.Class == backends.TimedOut || s.Class == backends.Closed)
	}
	sl.settle()
}

// Close implements backends.Lane.
func (l *streamLane) Close() error {
	l.closing.Do(func() {
		l.closeCancel()
		for i := range l.slots {
			l.cancel(&l.slots[i], l.slots[i].gen(), backends.CauseStop)
		}
		l.group.Wait()
		if l.conn != nil {
			l.pool.release(l.conn)
		}
	})
	return nil
}

// putToken puts a token into a channel of capacity 1.
func putToken(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
