package http2

import (
	"encoding/binary"

	"github.com/sluice-bench/sluice/backends"
	"golang.org/x/net/http2/hpack"
)

// incoming is the frame that is being read, and the head that it is a part of.
type incoming struct {
	head   [headSize]byte
	have   int // bytes of head
	kind   byte
	flags  byte
	stream uint32
	left   int  // bytes of the payload to come
	pad    int  // … of which are padding, at the end
	padded bool // the length of the padding is still to come

	payload []byte // of a frame that is taken whole: what has come
	block   []byte // of fields, without END_HEADERS yet …
	blockOf uint32 // … of this stream; 0: there is none
	ends    bool   // … which ends with it

	fields *hpack.Decoder
}

// Feed implements backends.Wire. It takes all of b: what follows the reply belongs to the connection.
func (w *Wire) Feed(b []byte, at int64) (slot, n int, next backends.Next) {
	w.now = at
	w.take(b)
	switch {
	case w.call == nil:
		return backends.None, len(b), backends.NextBroken
	case w.broken != "" && w.verdict == backends.NextMore:
		w.fail(backends.Protocol, w.broken)
	}
	if next = w.verdict; next == backends.NextMore {
		w.keep()
		return backends.None, len(b), next
	}
	if next == backends.NextKeep && (w.unsent > 0 || !w.usable()) {
		next = backends.NextClose
	}
	slot, w.call, w.sample = w.slot, nil, nil
	return slot, len(b), next
}

// FeedIdle implements backends.ConnWire.
func (w *Wire) FeedIdle(b []byte) backends.Next {
	w.take(b)
	switch {
	case w.broken != "":
		return backends.NextBroken
	case !w.usable():
		return backends.NextClose
	case !w.heard || w.streams == 0:
		return backends.NextMore
	}
	return backends.NextKeep
}

// CloseReason implements backends.ConnWire.
func (w *Wire) CloseReason() string {
	switch {
	case w.broken != "":
		return w.broken
	case w.parting == "" && w.streams == 0:
		return noStreams
	}
	return w.parting
}

const noStreams = "the server takes 0 streams at once on a connection (MAX_CONCURRENT_STREAMS): raise its limit"

// usable reports whether the connection can carry another call. One that has carried none yet may still be allowed to.
func (w *Wire) usable() bool {
	return w.broken == "" && !w.gone && w.stream+2 <= lastStream && (w.streams > 0 || w.stream == 0)
}

// WantsWrite implements backends.ConnWire.
func (w *Wire) WantsWrite() bool { return len(w.answers) > 0 || w.stuck() && min(w.room, w.space) > 0 }

// stuck reports whether a part of the call has not been sent.
func (w *Wire) stuck() bool { return w.call != nil && w.unsent > 0 }

// PendingWrite implements backends.ConnWire.
func (w *Wire) PendingWrite() (head []byte, body [][]byte, part bool) {
	w.front, w.answers = append(w.front[:0], w.answers...), w.answers[:0]
	if !w.stuck() {
		return w.front, nil, false
	}
	before := w.unsent
	head, body = w.send()
	return head, body, w.unsent < before
}

// EOF implements backends.Wire.
func (w *Wire) EOF(at int64) backends.Next {
	if w.call == nil {
		return backends.NextBroken
	}
	next := backends.NextStale
	if w.now = at; w.got {
		w.fail(backends.ResetByPeer, "the connection was closed within the reply"+w.since())
		next = w.verdict
	}
	w.call, w.sample = nil, nil
	return next
}

// take reads frames until b is used up or the connection is broken.
func (w *Wire) take(b []byte) {
	in := &w.in
	for len(b) > 0 && w.broken == "" {
		if in.have < headSize {
			n := copy(in.head[in.have:], b)
			in.have, b = in.have+n, b[n:]
			if in.have < headSize {
				return
			}
			w.open()
			if in.left > 0 {
				continue
			}
		}
		if w.broken == "" {
			b = w.eat(b)
		}
	}
}

// open reads the head of a frame.
func (w *Wire) open() {
	in := &w.in
	in.left, in.kind, in.flags = int(in.head[0])<<16|int(in.head[1])<<8|int(in.head[2]), in.head[3], in.head[4]
	in.stream = binary.BigEndian.Uint32(in.head[5:]) &^ (1 << 31)
	in.pad, in.padded, in.payload = 0, in.kind == typeData && in.flags&flagPadded != 0, in.payload[:0]
	switch {
	case !w.heard && string(in.head[:5]) == "HTTP/":
		w.broken = "the server does not answer as HTTP/2 does, but as HTTP/1"
	case !w.heard && (in.kind != typeSettings || in.flags&flagAck != 0):
		w.broken = "the server does not answer as HTTP/2 does"
	case in.left > frameLeast:
		w.broken = "the server sent a frame that is longer than it may be"
	case in.blockOf != 0 && (in.kind != typeContinuation || in.stream != in.blockOf):
		w.broken = "the server sent another frame within the fields of a reply"
	case w.unopened():
		w.broken = "the server sent a frame of a stream that was not opened"
	case in.kind == typeData && in.stream == 0:
		w.broken = "the server sent content that belongs to no stream"
	case in.kind == typeData:
		w.pay(in.left)
	}
	if w.replies() {
		w.began()
		w.sample.BytesReceived += headSize
	}
}

// mine reports whether the frame is of the call in flight.
func (w *Wire) mine() bool { return w.call != nil && w.in.stream == w.stream }

// unopened reports whether the frame is about a stream that no call has had (RFC 9113 section 5.1). Types that are not known
// are passed over, and a priority means nothing.
func (w *Wire) unopened() bool {
	k := w.in.kind
	return w.in.stream != 0 && (w.in.stream > w.stream || w.in.stream&1 == 0) && (k == typeData || k == typeHeaders || k == typeReset || k == typeWindow)
}

// replies reports whether the frame is a part of the reply to the call in flight.
func (w *Wire) replies() bool {
	return w.mine() && (w.in.kind == typeData || w.in.kind == typeHeaders || w.in.kind == typeContinuation)
}

// pay gives the server room for as much content as it has sent, a lot at a time. A stream has more room than a message can
// fill.
func (w *Wire) pay(n int) {
	if w.unpaid += int64(n); w.unpaid >= refill {
		w.answers = appendWindow(w.answers, 0, uint32(w.unpaid))
		w.unpaid = 0
	}
}

// eat takes what b has of the frame's payload, and gives the rest of b.
func (w *Wire) eat(b []byte) []byte {
	in := &w.in
	n := min(in.left, len(b))
	p := b[:n]
	in.left -= n
	if w.replies() {
		w.sample.BytesReceived += int64(n)
	}
	switch {
	case in.kind == typeData:
		w.data(p)
	case in.left > 0 || len(in.payload) > 0:
		in.payload = append(in.payload, p...)
		p = in.payload
	}
	if in.left == 0 && w.broken == "" {
		in.have = 0
		w.whole(p)
	}
	return b[n:]
}

// data takes content. Its padding is at the end.
func (w *Wire) data(p []byte) {
	in := &w.in
	if in.padded && len(p) > 0 {
		in.padded, in.pad, p = false, int(p[0]), p[1:]
		if in.pad > in.left+len(p) {
			w.broken = "the server sent a frame of more padding than it has room for"
			return
		}
	}
	if over := in.pad - in.left; over > 0 {
		p = p[:max(len(p)-over, 0)]
	}
	if w.mine() && len(p) > 0 {
		w.content(p)
	}
}

// whole handles a frame that is complete; p is its payload, but for content.
func (w *Wire) whole(p []byte) {
	in := &w.in
	switch in.kind {
	case typeData:
		if w.mine() && in.flags&flagEndStream != 0 {
			w.end()
		}
	case typeHeaders:
		w.headers(p)
	case typeContinuation:
		w.continuation(p)
	case typeReset:
		w.reset(p)
	case typeSettings:
		w.settings(p)
	case typePush:
		w.broken = "the server pushed a reply that nobody asked for"
	case typePing:
		w.ping(p)
	case typeGoAway:
		w.goAway(p)
	case typeWindow:
		w.window(p)
	}
}

// headers takes the fields of a reply, or the first part of them.
func (w *Wire) headers(p []byte) {
	in := &w.in
	pad := 0
	if in.flags&flagPadded != 0 && len(p) > 0 {
		pad, p = int(p[0]), p[1:]
	}
	if in.flags&flagPriority != 0 {
		p = p[min(5, len(p)):]
	}
	if pad > len(p) || in.stream == 0 {
		w.broken = "the server sent a HEADERS frame that cannot be read"
		return
	}
	p, in.ends = p[:len(p)-pad], in.flags&flagEndStream != 0
	if in.flags&flagEndHeaders != 0 {
		w.decode(p)
		return
	}
	in.block, in.blockOf = append(in.block[:0], p...), in.stream
}

func (w *Wire) continuation(p []byte) {
	in := &w.in
	switch {
	case in.blockOf == 0:
		w.broken = "the server sent a CONTINUATION frame of nothing"
	case len(in.block)+len(p) > blockMost:
		w.broken = "the fields of a reply are longer than the limit"
	default:
		in.block = append(in.block, p...)
		if in.flags&flagEndHeaders != 0 {
			in.blockOf = 0
			w.decode(in.block)
		}
	}
}

// decode reads a block of fields. That of another stream than the call's is read too: the table is the connection's.
func (w *Wire) decode(block []byte) {
	w.found.clear()
	_, err := w.in.fields.Write(block)
	if err == nil {
		err = w.in.fields.Close()
	}
	if err != nil {
		w.broken = "the fields of a reply cannot be read: " + err.Error()
		return
	}
	if w.mine() {
		w.section()
	}
}

// reset takes RST_STREAM.
func (w *Wire) reset(p []byte) {
	switch {
	case len(p) != 4 || w.in.stream == 0:
		w.broken = "the server sent a RST_STREAM frame that cannot be read"
	case w.mine() && w.verdict == backends.NextMore:
		w.aborted(binary.BigEndian.Uint32(p))
	}
}

func (w *Wire) settings(p []byte) {
	if w.in.stream != 0 || len(p)%6 != 0 || w.in.flags&flagAck != 0 && len(p) > 0 {
		w.broken = "the server sent a SETTINGS frame that cannot be read"
		return
	}
	if w.in.flags&flagAck != 0 {
		return
	}
	for ; len(p) > 0; p = p[6:] {
		switch v := binary.BigEndian.Uint32(p[2:]); binary.BigEndian.Uint16(p) {
		case settingStreams:
			w.streams = v
		case settingHeaderList:
			w.list = v
		case settingWindow:
			if v > windowMost {
				w.broken = "the server set a window that is too large"
				return
			}
			w.space += int64(v) - w.initial
			w.initial = int64(v)
		case settingFrame:
			if v < frameLeast || v > frameMost {
				w.broken = "the server set a length of frames that is not allowed"
				return
			}
			w.frame = int(v)
		case settingTable:
			if v < tableDefault && !w.small {
				w.small, w.held = true, nil
			}
		}
	}
	w.heard = true
	w.answers = appendHead(w.answers, 0, typeSettings, flagAck, 0)
}

func (w *Wire) ping(p []byte) {
	switch {
	case len(p) != 8 || w.in.stream != 0:
		w.broken = "the server sent a PING frame that cannot be read"
	case w.in.flags&flagAck == 0:
		w.answers = append(appendHead(w.answers, 8, typePing, flagAck, 0), p...)
	}
}

func (w *Wire) goAway(p []byte) {
	if len(p) < 8 || w.in.stream != 0 {
		w.broken = "the server sent a GOAWAY frame that cannot be read"
		return
	}
	w.gone, w.last = true, binary.BigEndian.Uint32(p)&^(1<<31)
	w.parting = parting(binary.BigEndian.Uint32(p[4:]), p[8:])
	switch {
	case w.call == nil || w.verdict != backends.NextMore || w.stream <= w.last:
	case w.got:
		w.fail(backends.Protocol, "the server said that it does not take the call, whose reply had begun"+w.since())
	default:
		w.verdict = backends.NextStale
	}
}

// since is how a note goes on where the server has said why it goes.
func (w *Wire) since() string {
	if w.parting == "" {
		return ""
	}
	return ": " + w.parting
}

func (w *Wire) window(p []byte) {
	if len(p) != 4 {
		w.broken = "the server sent a WINDOW_UPDATE frame that cannot be read"
		return
	}
	more := int64(binary.BigEndian.Uint32(p) &^ (1 << 31))
	switch {
	case w.in.stream == 0 && (more == 0 || w.room+more > windowMost):
		w.broken = "the server sent a WINDOW_UPDATE that is not allowed"
	case w.in.stream == 0:
		w.room += more
	case !w.mine() || w.verdict != backends.NextMore:
	case more == 0 || w.space+more > windowMost:
		w.fail(backends.Protocol, "the server sent a WINDOW_UPDATE that is not allowed")
	default:
		w.space += more
	}
}
