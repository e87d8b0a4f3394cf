package http2

import (
	"encoding/binary"

	"github.com/sluice-bench/sluice/backends"
	h2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// incoming is the frame being read, and the header block that it belongs to.
type incoming struct {
	head        [headSize]byte
	headLen     int // bytes of head
	kind        h2.FrameType
	flags       h2.Flags
	stream      uint32
	payloadLeft int  // bytes of the payload still to come
	padSize     int  // … of which padding, at the end
	padded      bool // the length of the padding is still to come

	payload     []byte // received part of a frame that is handled as a whole
	block       []byte // header fields without END_HEADERS yet …
	blockStream uint32 // … of this stream; 0: none
	blockEnds   bool   // … which ends with it

	fields *hpack.Decoder
}

// Feed implements backends.Wire. It takes all of b: bytes after the reply belong to the connection.
func (w *Wire) Feed(b []byte, at int64) (slot, n int, next backends.Next) {
	w.readAt = at
	rest := w.readFrames(b)
	switch {
	case w.call == nil:
		return backends.None, len(b), backends.NextBroken
	case w.broken != "" && w.verdict == backends.NextMore:
		w.fail(w.broken)
	}
	if next = w.verdict; next == backends.NextMore {
		if w.full {
			w.full = false
			return w.slot, len(b) - len(rest), backends.NextFull
		}
		w.keepView()
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
	w.readFrames(b)
	switch {
	case w.broken != "":
		return backends.NextBroken
	case !w.usable():
		return backends.NextClose
	case !w.gotSettings || w.maxStreams == 0:
		return backends.NextMore
	}
	return backends.NextKeep
}

// WantsWrite implements backends.ConnWire.
func (w *Wire) WantsWrite() bool {
	return len(w.pendingFrames) > 0 || w.hasUnsent() && min(w.connWindow, w.streamWindow) > 0
}

// hasUnsent reports whether a part of the call has not been sent.
func (w *Wire) hasUnsent() bool { return w.call != nil && w.unsent > 0 }

// PendingWrite implements backends.ConnWire.
func (w *Wire) PendingWrite() (head []byte, body [][]byte, part bool) {
	w.front, w.pendingFrames = append(w.front[:0], w.pendingFrames...), w.pendingFrames[:0]
	if !w.hasUnsent() {
		return w.front, nil, false
	}
	before := w.unsent
	head, body = w.appendCall()
	return head, body, w.unsent < before
}

// EOF implements backends.Wire.
func (w *Wire) EOF(at int64) backends.Next {
	if w.call == nil {
		return backends.NextBroken
	}
	next := backends.NextStale
	if w.readAt = at; w.gotFrame {
		w.fail("the connection was closed within the reply" + w.withGoAwayReason())
		w.sample.Class, next = backends.ResetByPeer, w.verdict
	}
	w.call, w.sample = nil, nil
	return next
}

// readFrames reads frames until b is used up, the connection is broken or the sample's events are full.
// It returns the rest of b.
func (w *Wire) readFrames(b []byte) []byte {
	in := &w.in
	for len(b) > 0 && w.broken == "" && !w.full {
		if in.headLen < headSize {
			n := copy(in.head[in.headLen:], b)
			in.headLen, b = in.headLen+n, b[n:]
			if in.headLen < headSize {
				return b
			}
			w.startFrame()
			if in.payloadLeft > 0 {
				continue
			}
		}
		if w.broken == "" {
			b = w.takePayload(b)
		}
	}
	return b
}

// startFrame parses the header of a frame.
func (w *Wire) startFrame() {
	in := &w.in
	in.payloadLeft = int(in.head[0])<<16 | int(in.head[1])<<8 | int(in.head[2])
	in.kind, in.flags = h2.FrameType(in.head[3]), h2.Flags(in.head[4])
	in.stream = binary.BigEndian.Uint32(in.head[5:]) &^ (1 << 31)
	in.padSize, in.payload = 0, in.payload[:0]
	in.padded = in.kind == h2.FrameData && in.flags&h2.FlagDataPadded != 0
	switch {
	case !w.gotSettings && string(in.head[:5]) == "HTTP/":
		w.broken = "the server does not answer as HTTP/2 does, but as HTTP/1"
	case !w.gotSettings && (in.kind != h2.FrameSettings || in.flags&h2.FlagSettingsAck != 0):
		w.broken = "the server does not answer as HTTP/2 does"
	case in.payloadLeft > minFrameLimit:
		w.broken = "the server sent a frame that is longer than it may be"
	case in.blockStream != 0 && (in.kind != h2.FrameContinuation || in.stream != in.blockStream):
		w.broken = "the server sent another frame within the fields of a reply"
	case w.isIdleStream(in):
		w.broken = "the server sent a frame of a stream that was not opened"
	case in.kind == h2.FrameData && in.stream == 0:
		w.broken = "the server sent content that belongs to no stream"
	case in.kind == h2.FrameData:
		w.returnWindow(in.payloadLeft, in.stream)
	}
	if w.isReply() {
		if !w.gotFrame {
			w.gotFrame, w.sample.FirstByte = true, w.readAt
		}
		w.sample.BytesReceived += headSize
	}
}

// isCallStream reports whether the frame belongs to the call in flight.
func (w *Wire) isCallStream() bool { return w.call != nil && w.in.stream == w.stream }

// isReply reports whether the frame is a part of the reply to the call in flight.
func (w *Wire) isReply() bool {
	return w.isCallStream() &&
		(w.in.kind == h2.FrameData || w.in.kind == h2.FrameHeaders || w.in.kind == h2.FrameContinuation)
}

// takePayload reads the frame's payload from b, and returns the rest of b.
func (w *Wire) takePayload(b []byte) []byte {
	in := &w.in
	n := min(in.payloadLeft, len(b))
	p := b[:n]
	in.payloadLeft -= n
	if in.kind == h2.FrameData {
		left := w.data(p)
		n, in.payloadLeft = n-left, in.payloadLeft+left
	}
	if w.isReply() {
		w.sample.BytesReceived += int64(n)
	}
	switch {
	case in.kind == h2.FrameData:
	case in.payloadLeft > 0 || len(in.payload) > 0:
		in.payload = append(in.payload, p...)
		p = in.payload
	}
	if in.payloadLeft == 0 && w.broken == "" {
		in.headLen = 0
		w.endFrame(p)
	}
	return b[n:]
}

// data takes content, and returns the number of bytes that are left. Its padding is at the end.
func (w *Wire) data(p []byte) (left int) {
	in := &w.in
	if in.padded && len(p) > 0 {
		in.padded, in.padSize, p = false, int(p[0]), p[1:]
		if in.padSize > in.payloadLeft+len(p) {
			w.broken = "the server sent a frame of more padding than it has room for"
			return 0
		}
	}
	over := max(in.padSize-in.payloadLeft, 0)
	p = p[:max(len(p)-over, 0)]
	if w.isCallStream() && len(p) > 0 {
		if left = w.content(p); left > 0 {
			left += over
		}
	}
	return left
}

// endFrame handles a complete frame; p is its payload, except for content.
func (w *Wire) endFrame(p []byte) {
	in := &w.in
	switch in.kind {
	case h2.FrameData:
		// a valid reply ends with trailers
		if w.isCallStream() && in.flags&h2.FlagDataEndStream != 0 && w.verdict == backends.NextMore {
			w.fail("the server ended the call without a status")
		}
	case h2.FrameHeaders:
		w.headers(p)
	case h2.FrameContinuation:
		w.continuation(p)
	case h2.FrameRSTStream:
		w.reset(p)
	case h2.FrameSettings:
		w.settings(in, p)
	case h2.FramePushPromise:
		w.broken = "the server pushed a reply that was not requested"
	case h2.FramePing:
		w.ping(in, p)
	case h2.FrameGoAway:
		w.goAway(p)
	case h2.FrameWindowUpdate:
		w.windowUpdate(p)
	case h2.FramePriority, h2.FramePriorityUpdate: // of no use to a client
	}
}

// headers takes the header fields of a reply, or the first part of them.
func (w *Wire) headers(p []byte) {
	in := &w.in
	pad := 0
	if in.flags&h2.FlagHeadersPadded != 0 && len(p) > 0 {
		pad, p = int(p[0]), p[1:]
	}
	if in.flags&h2.FlagHeadersPriority != 0 {
		p = p[min(5, len(p)):]
	}
	if pad > len(p) || in.stream == 0 {
		w.broken = "the server sent a HEADERS frame that cannot be read"
		return
	}
	p, in.blockEnds = p[:len(p)-pad], in.flags&h2.FlagDataEndStream != 0
	if in.flags&h2.FlagHeadersEndHeaders != 0 {
		w.decode(p)
		return
	}
	in.block, in.blockStream = append(in.block[:0], p...), in.stream
}

func (w *Wire) continuation(p []byte) {
	in := &w.in
	switch {
	case in.blockStream == 0:
		w.broken = "the server sent a CONTINUATION frame of nothing"
	case len(in.block)+len(p) > maxBlock:
		w.broken = "the fields of a reply are longer than the limit"
	default:
		in.block = append(in.block, p...)
		if in.flags&h2.FlagHeadersEndHeaders != 0 {
			in.blockStream = 0
			w.decode(in.block)
		}
	}
}

// decode reads a block of header fields. A block of another stream is read too: the table belongs
// to the connection.
func (w *Wire) decode(block []byte) {
	w.parsed = blockFields{}
	_, err := w.in.fields.Write(block)
	if err == nil {
		err = w.in.fields.Close()
	}
	if err != nil {
		w.broken = "the fields of a reply cannot be read: " + err.Error()
		return
	}
	if w.isCallStream() {
		w.handleFields(w.in.blockEnds)
	}
}

// reset handles RST_STREAM.
func (w *Wire) reset(p []byte) {
	switch {
	case len(p) != 4 || w.in.stream == 0:
		w.broken = "the server sent a RST_STREAM frame that cannot be read"
	case w.isCallStream() && w.verdict == backends.NextMore:
		w.failReset(h2.ErrCode(binary.BigEndian.Uint32(p)))
	}
}

func (w *Wire) windowUpdate(p []byte) {
	if len(p) != 4 {
		w.broken = "the server sent a WINDOW_UPDATE frame that cannot be read"
		return
	}
	more := int64(binary.BigEndian.Uint32(p) &^ (1 << 31))
	switch {
	case w.in.stream == 0 && (more == 0 || w.connWindow+more > maxWindow):
		w.broken = "the server sent a WINDOW_UPDATE that is not allowed"
	case w.in.stream == 0:
		w.connWindow += more
	case !w.isCallStream() || w.verdict != backends.NextMore:
	case more == 0 || w.streamWindow+more > maxWindow:
		w.fail("the server sent a WINDOW_UPDATE that is not allowed")
	default:
		w.streamWindow += more
	}
}
