package grpcraw

import (
	"errors"
	"io"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
)

// receive is the goroutine that reads the messages of one stream after the other.
func (l *streamLane) receive() {
	for {
		select {
		case l.from = <-l.fresh:
			l.read(l.from)
		case <-l.root.Done():
			select {
			case k := <-l.fresh:
				k.discard()
			default:
			}
			return
		}
	}
}

// read gives out the messages of a stream until its end.
func (l *streamLane) read(k *session) {
	for {
		if err := k.stream.RecvMsg(l); err != nil {
			l.lost(k, err)
			return
		}
		if k.link == nil {
			if k.link = linkOf(k.stream); k.link != nil {
				k.link.requests.Add(1)
			}
		}
	}
}

// lost ends what was in flight on a stream, and has another opened unless the server takes none.
func (l *streamLane) lost(k *session, err error) {
	k.class, k.status, k.note = l.why(k, err)
	k.ended.Store(true)
	l.drop(k, k.seasoned(l.pool.o.Clock.Now()))
	for i := range l.slots {
		if w := l.slots[i].word.Load(); slotIn(w, liveBit|writtenBit) && l.slots[i].session.Load() == k.number {
			if gen := slotGen(w); !l.again(k, i, gen) {
				l.lose(k, i, gen)
			}
		}
	}
	k.discard()
}

// again sends a request once more that met a stream which the server had given up, if it may: the stream was its own alone
// and had been of use, nothing of a reply has come, and it is part of no sequence.
func (l *streamLane) again(k *session, slot int, gen uint32) bool {
	sl := &l.slots[slot]
	if len(l.slots) > 1 || k.class != backends.ResetByPeer || k.left.Load() || !l.shares || l.root.Err() != nil || !sl.hold(gen) {
		return false
	}
	head, _ := k.stream.Header() // once it has ended this does not wait
	link := linkOf(k.stream)
	stale := k.answered.Load() || sl.sent.Load()-k.born >= settled || head == nil && link != nil && link.answered.Load()
	if !stale || sl.resent || sl.call.Stateful || sl.sample.BytesReceived > 0 {
		if why := sl.release(); why != 0 {
			l.cancelled(slot, why)
		}
		return false
	}
	sl.resent = true
	sl.flags = sl.flags&^backends.Reused | backends.Redialled | backends.Resent
	sl.session.Store(0)
	sl.word.And(^writtenBit)
	if why := sl.release(); why != 0 {
		l.cancelled(slot, why)
		l.wrote(slot)
		return true
	}
	l.queue.put(slot)
	return true
}

// why is how the requests ended that were in flight when a stream did. The first row that fits counts:
//
//	the stream                                               class
//	was ended by this side, to get rid of another request    reset
//	was ended by the server, as if nothing were in flight    reset
//	met bytes that are no HTTP/2, or frames out of order     protocol
//	lost its connection                                      reset
//	was cut off (RST_STREAM), or ended without a status      protocol
//	ended with CANCELLED                                     cancelled
//	ended with any other code                                status; ok where the call accepts that code
func (l *streamLane) why(k *session, err error) (class backends.ErrorClass, code int32, note string) {
	st := status.Convert(err)
	note = st.Code().String() + ": " + st.Message()
	link := linkOf(k.stream)
	said := len(k.stream.Trailer()) > 0
	switch {
	case errors.Is(err, io.EOF):
		return backends.ResetByPeer, 0, "the server ended the stream before the reply was complete"
	case k.left.Load() && st.Code() == codes.Canceled:
		return backends.ResetByPeer, int32(st.Code()), "the stream was ended because another request on it could not be sent"
	case st.Code() == codes.Unavailable && !said && link != nil && link.spoiled():
		class = backends.Protocol
	case st.Code() == codes.Unavailable && !said && link != nil && link.broken.Load():
		class = backends.ResetByPeer
	case st.Code() == codes.Internal && !said && (link == nil || !link.trailed.Load() || broke(st.Message())):
		class = backends.Protocol
	case st.Code() == codes.Canceled:
		class = backends.Cancelled
	default:
		class = backends.Status
	}
	return class, int32(st.Code()), note
}

// broke reports whether the words of an INTERNAL status are grpc-go's, about a server that broke the protocol: the trailers of
// a stream that has had its head say nothing that tells a server's status from one that grpc-go made.
func broke(words string) bool {
	for _, own := range []string{"stream terminated by RST_STREAM", "server closed the stream without sending trailers", "a HEADERS frame cannot", "peer header list", "received ", "unexpected EOF", "grpc: ", "transport: ", "malformed "} {
		if strings.HasPrefix(words, own) {
			return true
		}
	}
	return false
}

// lose ends one request that was in flight on a stream that has ended. Without effect before that is known.
func (l *streamLane) lose(k *session, slot int, gen uint32) {
	sl := &l.slots[slot]
	if !k.ended.Load() {
		return
	}
	if k.class == backends.Cancelled && l.root.Err() != nil { // by Close, which has not come to this request yet
		l.cancel(slot, gen, backends.CauseStop)
		return
	}
	if !sl.hold(gen) {
		return
	}
	s := sl.sample
	s.LastByte, s.Status = l.pool.o.Clock.Now(), k.status
	switch {
	case sl.said: // an error that came in the stream says more
	case k.class == backends.Status && l.judge.Accepts(sl.call, k.status):
		s.Responses = max(s.Responses, 1)
	default:
		s.Class = k.class
		s.SetNote([]byte(k.note))
	}
	if s.Responses > 0 && s.Class != backends.OK {
		s.Flags |= backends.NoFinal
	}
	l.end(slot)
}

// unmarshal is given a message by the codec. Of the receiver.
func (l *streamLane) unmarshal(data mem.BufferSlice) {
	at := l.pool.o.Clock.Now()
	size := l.take(data) + prefixSize
	l.from.answered.Store(true)
	m := l.judge.Read(l.pieces)
	slot, gen := l.find(m)
	switch {
	case slot != backends.None:
		l.message(slot, gen, m, at, size)
	case !m.Named || !l.late(m.ID):
		l.strays.Add(1)
		l.handover.put()
	}
	clear(l.pieces)
}

// find is the request that a message is for. One that names none is about the oldest: servers say so of a request that they
// could not even read, in the order of the stream.
func (l *streamLane) find(m Message) (slot int, gen uint32) {
	if !m.Named {
		return l.first()
	}
	for range l.slots {
		sl := &l.slots[l.hint]
		if w := sl.word.Load(); slotIn(w, liveBit) && !slotIn(w, overBit) && sl.id.Load() == m.ID {
			return l.hint, slotGen(w)
		}
		l.hint = (l.hint + 1) % len(l.slots)
	}
	return backends.None, 0
}

// first is the request that was sent first of those in flight on this stream.
func (l *streamLane) first() (oldest int, gen uint32) {
	oldest = backends.None
	var since int64
	for i := range l.slots {
		sl := &l.slots[i]
		w := sl.word.Load()
		if !slotIn(w, liveBit) || slotIn(w, overBit) || sl.session.Load() != l.from.number {
			continue
		}
		if sent := sl.sent.Load(); oldest == backends.None || sent < since {
			oldest, gen, since = i, slotGen(w), sent
		}
	}
	return oldest, gen
}

// message takes one message for a request.
func (l *streamLane) message(slot int, gen uint32, m Message, at, size int64) {
	sl := &l.slots[slot]
	sl.active.Store(at)
	if !sl.hold(gen) {
		return
	}
	s := sl.sample
	s.BytesReceived += size
	switch {
	case m.Broken:
		m.Final = true
		l.says(sl, backends.Decode, []byte("a message of the stream cannot be read"))
	case m.Error != nil:
		l.says(sl, backends.Server, m.Error)
	case !m.Empty && !l.response(slot, at):
		return // cancelled
	}
	if !m.Empty && s.FirstByte == 0 {
		s.FirstByte = at
	}
	if !m.Empty || s.LastByte == 0 {
		s.LastByte = at // what only says that nothing more comes is none of the reply
	}
	if !sl.said && (!m.Empty || m.Final && s.Responses == 0) {
		l.judged(sl, m.Empty)
	}
	l.next(slot, m.Final)
}

// next ends the request, or lets go of its slot.
func (l *streamLane) next(slot int, final bool) {
	sl := &l.slots[slot]
	if !final {
		if why := sl.release(); why != 0 {
			l.cancelled(slot, why)
		}
		return
	}
	if sl.said { // a final flag may still come
		l.forget(sl.id.Load())
	}
	if !l.shares {
		l.leave(l.from, false)
	}
	l.end(slot)
}

// says keeps an error that came in the stream: the first one stands.
func (l *streamLane) says(sl *streamSlot, class backends.ErrorClass, text []byte) {
	if !sl.said {
		sl.sample.Class, sl.said = class, true
		sl.sample.SetNote(text)
	}
}

// judged lets the judge look at a response, or at none: what it says replaces what it said of the one before.
func (l *streamLane) judged(sl *streamSlot, empty bool) {
	s := sl.sample
	s.Class, s.Note = backends.OK, s.Note[:0]
	if empty {
		l.judge.Reply(sl.call, nil, s)
		return
	}
	if l.judge.Whole(sl.call, s) {
		l.join()
	}
	l.judge.Reply(sl.call, l.pieces, s)
	sl.said = s.Class == backends.Decode // no later response makes up for it
}

// response counts a response and notes when it came. It waits while the caller has the events: false if the request was
// cancelled meanwhile.
func (l *streamLane) response(slot int, at int64) bool {
	sl := &l.slots[slot]
	s := sl.sample
	for sl.is(fullBit) {
		select {
		case <-l.emptied:
		case <-l.root.Done():
			l.cancelled(slot, backends.CauseStop)
			return false
		}
		if why := slotCause(sl.word.Load()); why != 0 {
			l.cancelled(slot, why)
			return false
		}
	}
	s.Responses++
	reads := uint32(0)
	if k := l.from.link; k != nil {
		reads = k.reads.Load()
	}
	flags := uint16(0)
	if s.Responses > 1 && reads != 0 && reads == sl.reads {
		flags = backends.EventCoalesced
		s.Flags |= backends.Coalesced
	}
	sl.reads = reads
	if cap(s.Events) == 0 {
		return true
	}
	s.Events = append(s.Events, backends.Event{At: at, Flags: flags})
	if len(s.Events) == cap(s.Events) {
		sl.word.Or(fullBit)
		l.report(slot)
	}
	return true
}
