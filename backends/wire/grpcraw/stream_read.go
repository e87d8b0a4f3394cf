package grpcraw

import (
	"errors"
	"io"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/netlane"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
)

// receive is the goroutine that reads the messages of one stream after the other.
func (l *streamLane) receive() {
	for {
		select {
		case l.from = <-l.opened:
		case <-l.closeCtx.Done():
			select {
			case k := <-l.opened:
				k.closeOwn()
			default:
			}
			return
		}
		k := l.from
		err := k.stream.RecvMsg(l)
		for ; err == nil; err = k.stream.RecvMsg(l) {
			if k.link == nil {
				if k.link = linkOf(k.stream); k.link != nil {
					k.link.requests.Add(1)
				}
			}
		}
		l.endSession(k, err)
	}
}

// endSession ends the requests in flight on a stream, and has another opened unless the server
// accepts none.
func (l *streamLane) endSession(k *session, err error) {
	k.setOutcome(err)
	k.ended.Store(true)
	l.remove(k, k.proven(l.pool.now()))
	for i := range l.slots {
		sl := &l.slots[i]
		if w := sl.word.Load(); hasBits(w, liveBit|writtenBit) && sl.session.Load() == k.number {
			if gen := slotGen(w); !l.resend(k, sl, gen) {
				l.failInFlight(k, sl, gen)
			}
		}
	}
	k.closeOwn()
}

// resend sends a request of a stale stream once more if it may: the stream was its own and had been
// used successfully, no reply byte arrived, and the request belongs to no sequence.
func (l *streamLane) resend(k *session, sl *streamSlot, gen uint32) bool {
	if len(l.slots) > 1 || k.class != backends.ResetByPeer || k.abandoned.Load() || !l.shared ||
		l.closeCtx.Err() != nil || !sl.lock(gen, 0) {
		return false
	}
	if l.movedOn(k, sl) {
		return true
	}
	head, _ := k.stream.Header() // after the end of the stream this does not wait
	link := linkOf(k.stream)
	stale := k.answered.Load() || sl.sent.Load()-k.openedAt >= netlane.SettledAge ||
		head == nil && link != nil && link.answered.Load()
	if !stale || sl.resent || sl.call.Stateful || sl.sample.BytesReceived > 0 {
		l.unlock(sl)
		return false
	}
	sl.resent = true
	sl.flags = sl.flags&^backends.Reused | backends.Redialled | backends.Resent
	sl.session.Store(0)
	sl.word.And(^writtenBit)
	if l.unlock(sl) {
		l.enqueue(sl)
	} else {
		sl.sendDone()
	}
	return true
}

// movedOn reports whether a locked slot's request is no longer on the stream k, and unlocks it then:
// sender and receiver may both see that k has ended, and one of them has sent the request again.
func (l *streamLane) movedOn(k *session, sl *streamSlot) bool {
	if sl.session.Load() == k.number {
		return false
	}
	l.unlock(sl)
	return true
}

// setOutcome sets the outcome of the requests in flight when the stream ended. The first matching row
// applies:
//
//	the stream                                               class
//	was ended by this side, to get rid of another request    reset
//	was ended by the server, as if nothing were in flight    reset
//	met bytes that are not HTTP/2, or frames out of order    protocol
//	lost its connection                                      reset
//	was cut off (RST_STREAM), or ended without a status      protocol
//	ended with CANCELLED                                     cancelled
//	ended with any other code                                status; ok if the call accepts that code
func (k *session) setOutcome(err error) {
	st := status.Convert(err)
	k.status, k.note = int32(st.Code()), st.Code().String()+": "+st.Message()
	link := linkOf(k.stream)
	said := len(k.stream.Trailer()) > 0
	switch {
	case errors.Is(err, io.EOF):
		k.class, k.status = backends.ResetByPeer, 0
		k.note = "the server ended the stream before the reply was complete"
	case k.abandoned.Load() && st.Code() == codes.Canceled:
		k.class = backends.ResetByPeer
		k.note = "the stream was ended because another request on it could not be sent"
	case st.Code() == codes.Internal && !said &&
		(link == nil || !link.sawTrailers.Load() || isLocalProtocolError(st.Message())):
		k.class = backends.Protocol
	default:
		k.class = link.class(st.Code(), said)
	}
}

// isLocalProtocolError reports whether the text of an INTERNAL status is grpc-go's, about a server
// that broke the protocol: after the header of a stream its trailers do not tell a server's status
// from one made by grpc-go.
func isLocalProtocolError(words string) bool {
	for _, own := range []string{
		"stream terminated by RST_STREAM", "server closed the stream without sending trailers",
		"a HEADERS frame cannot", "peer header list", "received ", "unexpected EOF", "grpc: ", "transport: ",
		"malformed ",
	} {
		if strings.HasPrefix(words, own) {
			return true
		}
	}
	return false
}

// failInFlight ends one request that was in flight on an ended stream. It has no effect on a
// session that has not ended.
func (l *streamLane) failInFlight(k *session, sl *streamSlot, gen uint32) {
	if !k.ended.Load() {
		return
	}
	// by Close, which has not reached this request yet
	if k.class == backends.Cancelled && l.closeCtx.Err() != nil {
		l.cancel(sl, gen, backends.CauseStop)
		return
	}
	if !sl.lock(gen, 0) || l.movedOn(k, sl) {
		return
	}
	s := sl.sample
	s.LastByte, s.Status = l.pool.now(), k.status
	switch {
	case sl.errorSeen: // an error received on the stream is more specific
	case k.class == backends.Status && l.judge.Accepts(sl.call, k.status):
		s.Responses = max(s.Responses, 1)
	default:
		s.Class = k.class
		s.SetNote([]byte(k.note))
	}
	if s.Responses > 0 && s.Class != backends.OK {
		s.Flags |= backends.NoFinal
	}
	sl.settle()
}

// unmarshal implements receiver. Called by the receiver goroutine.
func (l *streamLane) unmarshal(data mem.BufferSlice) {
	at := l.pool.now()
	size := l.keep(data) + prefixSize
	l.from.answered.Store(true)
	m := l.judge.Read(l.pieces)
	sl, gen := l.slotFor(m)
	switch {
	case sl != nil:
		l.handleMessage(sl, gen, m, at, size)
	case !m.Named || !l.cancelledIDs.has(m.ID):
		if l.strays.Add(1) == 1 {
			l.results <- nil
		}
	}
	clear(l.pieces)
}

// slotFor returns the slot and generation that a message is for. A message without an id is about
// the oldest request: servers report requests that they could not parse in the order of the stream.
func (l *streamLane) slotFor(m Message) (slot *streamSlot, gen uint32) {
	if !m.Named {
		return l.oldestInFlight()
	}
	for range l.slots {
		sl := &l.slots[l.hint]
		if w := sl.word.Load(); isOpen(w) && sl.id.Load() == m.ID {
			return sl, slotGen(w)
		}
		l.hint = (l.hint + 1) % len(l.slots)
	}
	return nil, 0
}

// oldestInFlight returns the first request sent of those in flight on this stream.
func (l *streamLane) oldestInFlight() (oldest *streamSlot, gen uint32) {
	var since int64
	for i := range l.slots {
		sl := &l.slots[i]
		w := sl.word.Load()
		if !isOpen(w) || sl.session.Load() != l.from.number {
			continue
		}
		if sent := sl.sent.Load(); oldest == nil || sent < since {
			oldest, gen, since = sl, slotGen(w), sent
		}
	}
	return oldest, gen
}

// handleMessage applies one message to its request.
func (l *streamLane) handleMessage(sl *streamSlot, gen uint32, m Message, at, size int64) {
	sl.active.Store(at)
	if !sl.lock(gen, 0) {
		return
	}
	s := sl.sample
	s.BytesReceived += size
	switch {
	case m.Broken:
		m.Final = true
		sl.keepError(backends.Decode, []byte("a message of the stream cannot be read"))
	case m.Error != nil:
		sl.keepError(backends.Server, m.Error)
	case !m.Empty && !l.addResponse(sl, at, m.Text):
		return // cancelled
	}
	if !m.Empty && s.FirstByte == 0 {
		s.FirstByte = at
	}
	if !m.Empty || s.LastByte == 0 {
		s.LastByte = at // a message that only marks the end is not part of the reply
	}
	if !sl.errorSeen && (!m.Empty || m.Final && s.Responses == 0) {
		l.judgeResponse(sl, m.Empty)
	}
	if !m.Final {
		l.unlock(sl)
		return
	}
	if sl.errorSeen { // a final flag may still come
		l.cancelledIDs.add(sl.id.Load())
	}
	if !l.shared {
		l.abandon(l.from, false)
	}
	sl.settle()
}

// judgeResponse classifies a response, or an empty reply. Its verdict replaces that of the previous
// response.
func (l *streamLane) judgeResponse(sl *streamSlot, empty bool) {
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
	sl.errorSeen = s.Class == backends.Decode // no later response changes this
}

// addResponse counts a response and records its time. It waits while the caller has the events, and
// returns false if the request was cancelled meanwhile.
func (l *streamLane) addResponse(sl *streamSlot, at int64, text bool) bool {
	s := sl.sample
	for sl.has(fullBit) {
		select {
		case <-l.eventsDrained:
		case <-l.closeCtx.Done():
			l.cancelled(sl, backends.CauseStop)
			return false
		}
		if why := slotCause(sl.word.Load()); why != 0 {
			l.cancelled(sl, why)
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
	if text {
		flags |= backends.EventAnswer
		s.MarkToken(at, flags, 0)
	}
	if cap(s.Events) == 0 {
		return true
	}
	s.Events = append(s.Events, backends.Event{At: at, Flags: flags})
	if len(s.Events) == cap(s.Events) {
		sl.word.Or(fullBit)
		sl.report()
	}
	return true
}
