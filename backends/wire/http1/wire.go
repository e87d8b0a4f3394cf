package http1

import (
	"bytes"
	"cmp"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/buffer"
)

// Judge says what a complete reply means; a kind implements it. It is called between the stamp of the last byte and
// the report that the request has finished, and must not allocate or block.
type Judge interface {
	// Keep says how many body bytes of a reply with this status are wanted by Reply (0: they are only counted). s is that
	// of the request.
	Keep(c *backends.Call, status int, s *backends.Sample) int
	// Reply sets s.Class (and the note) from a complete reply. body holds the first Keep bytes of the content; body
	// and h are valid during the call only. For status 400 and above the note already holds the start of the body.
	Reply(c *backends.Call, status int, h *Header, body []byte, s *backends.Sample)
}

// Streamer is a Judge that also reads content as it comes.
type Streamer interface {
	// Streams reports whether Data is to have the content of this reply. Reply is then called with none of it, and leaves
	// Responses and FirstByte as Data has made them.
	Streams(c *backends.Call, status int, h *Header) bool
	// Data takes content that came with one read, at time at. full says that the sample's Events are: n is then how much of b
	// it has taken, else all. over ends the request, whose class and note it has set: what follows is not wanted, and the connection
	// is of no use any more.
	Data(c *backends.Call, b []byte, at int64, s *backends.Sample) (n int, full, over bool)
}

// Options bound what a reply may be. The zero value has the defaults. Of content see Call.MaxReply, which does not bound
// what a Streamer takes as it comes.
type Options struct {
	MaxHead int // bytes of one head (status line and fields), and of trailers; 0: 64 KiB
}

// Wire is HTTP/1.1 on one connection: a backends.Wire of depth 1.
//
// A reply goes through these phases; each eats its bytes and names the next one:
//
//	phase     bytes                                        then
//	head      up to and with the empty line                head (after 1xx), fixed, size, toEOF or finished
//	fixed     Content-Length of them                       finished
//	size      a chunk's size line                          data, or trailer after the last chunk
//	data      the chunk                                    dataEnd
//	dataEnd   CR LF                                        size
//	trailer   field lines up to and with the empty line    finished
//	toEOF     all                                          finished at EOF
//
// Which bytes a phase eats depends on the bytes alone, never on how reads cut them.
type Wire struct {
	judge  Judge
	stream Streamer // the judge, if it is one
	o      Options

	call         *backends.Call
	sample       *backends.Sample
	slot         int
	head         []byte // own copy of headOf's head, holes patched
	headOf       *backends.Call
	tail         []byte // of the request, with sealed: its body and the tail behind it
	sealed       [][]byte
	noBody       bool // the request is a HEAD: its reply has no content (RFC 9110 section 9.3.2)
	requestClose bool // the request says close (RFC 9112 section 9.6)
	close        bool // this connection must not be used after the reply

	phase     phase
	acc       []byte // head, or the part of it that has come
	cached    cachedHead
	h         Header
	status    int
	firstByte int64 // when the first byte of this head came
	gotByte   bool  // a byte of a reply has come, interim ones included

	maxContent int64 // content bytes that a reply may have
	abandoned  bool  // up, by the judge of a stream
	size       int64 // content bytes so far
	last       byte  // of them, white space aside; 0: none
	bytesLeft  int64 // bytes left of the content (fixed) or of the chunk (data)
	keepBytes  int   // content bytes wanted: the judge's or the note's
	judgeBytes int   // content bytes that the judge asked for
	body       []byte
	streaming  bool // the streamer has the content
	eventsFull bool // … and cannot take more of it now

	chunk       chunkLine
	trailerLine int // trailer: bytes of the line so far that are not line ends
	trailerSize int // trailer: bytes
	note        [backends.NoteSize]byte
}

type phase uint8

const (
	inHead phase = iota
	inFixed
	inSize
	inData
	inDataEnd
	inTrailer
	inToEOF
)

// New makes the wire of one connection.
func New(j Judge, o Options) *Wire {
	if o.MaxHead == 0 {
		o.MaxHead = 64 << 10
	}
	w := &Wire{judge: j, o: o}
	w.stream, _ = j.(Streamer)
	return w
}

var (
	headMethod      = []byte("HEAD ")
	connectionClose = []byte("\r\n" + closeField)
)

// Begin implements backends.Wire. It forgets whatever an unfinished request left behind.
func (w *Wire) Begin(slot int, c *backends.Call, f backends.Fields, s *backends.Sample) ([]byte, [][]byte) {
	if w.headOf != c {
		w.head = append(w.head[:0], c.Head...)
		w.headOf = c
		w.noBody = bytes.HasPrefix(c.Head, headMethod)
		w.requestClose = bytes.Contains(fieldsOf(c.Head), connectionClose)
	}
	for _, h := range c.Holes {
		fill(w.head[h.At:int(h.At)+int(h.Width)], h.Field, &f)
	}
	w.call, w.sample, w.slot = c, s, slot
	w.maxContent = cmp.Or(c.MaxReply, backends.ReplyLimit)
	w.gotByte, w.close = false, w.requestClose
	w.startHead()
	if c.Seal != nil {
		w.tail = c.Seal.AppendTrailer(w.tail[:0], w.head)
		w.sealed = append(append(w.sealed[:0], c.Body...), w.tail)
		return w.head, w.sealed
	}
	return w.head, c.Body
}

// Reset implements backends.Wire.
func (w *Wire) Reset() { w.sample, w.call = nil, nil }

// startHead makes ready for a head: the reply's, or the one after an interim reply.
func (w *Wire) startHead() {
	w.phase, w.status = inHead, 0
	w.acc, w.body, w.h = w.acc[:0], buffer.Reuse(w.body), Header{}
	w.size, w.bytesLeft, w.keepBytes, w.judgeBytes = 0, 0, 0, 0
	w.last = 0
	w.streaming, w.eventsFull = false, false
	w.chunk = chunkLine{}
	w.trailerLine, w.trailerSize = 0, 0
}

// fieldsOf is the part of a request that can hold fields: all before the first empty line.
func fieldsOf(head []byte) []byte {
	if i := bytes.Index(head, []byte("\r\n\r\n")); i >= 0 {
		return head[:i+2]
	}
	return head
}

// Feed implements backends.Wire.
func (w *Wire) Feed(b []byte, at int64) (slot, n int, next backends.Next) {
	if w.sample == nil {
		return backends.None, 0, backends.NextBroken
	}
	for n < len(b) {
		used, verb := w.step(b[n:], at)
		n += used
		w.sample.BytesReceived += int64(used)
		w.gotByte = w.gotByte || used > 0
		if verb != backends.NextMore {
			return w.done(), n, verb
		}
		if w.eventsFull {
			w.eventsFull = false
			return w.slot, n, backends.NextFull
		}
	}
	return backends.None, n, backends.NextMore
}

// step lets the phase eat from b, which is not empty.
func (w *Wire) step(b []byte, at int64) (int, backends.Next) {
	switch w.phase {
	case inHead:
		return w.stepHead(b, at)
	case inFixed:
		return w.stepFixed(b, at)
	case inSize:
		return w.stepSize(b, at)
	case inData:
		return w.stepData(b, at)
	case inDataEnd:
		return w.stepDataEnd(b, at)
	case inTrailer:
		return w.stepTrailer(b, at)
	default:
		return w.stepToEOF(b, at)
	}
}

// done lets go of the request and gives its slot.
func (w *Wire) done() int {
	w.sample, w.call = nil, nil
	return w.slot
}

// EOF implements backends.Wire. Content without a length ends legally here (RFC 9112 section 6.3, rule 8); any other
// reply is incomplete (section 8).
func (w *Wire) EOF(at int64) backends.Next {
	if w.sample == nil {
		return backends.NextBroken
	}
	if !w.gotByte {
		w.done()
		return backends.NextStale
	}
	verb := backends.NextClose
	if w.phase == inToEOF {
		w.finish(w.body, at)
	} else {
		verb = w.fail(at, backends.ResetByPeer, "the connection was closed "+cutPlace[w.phase], nil)
	}
	w.done()
	return verb
}

var cutPlace = [...]string{
	inHead: "within the head of the reply", inFixed: "before the whole content had come",
	inSize: "before the last chunk", inData: "within a chunk", inDataEnd: "before the last chunk",
	inTrailer: "within the trailers",
}

// stepFixed eats content that has a length. Content that came with one read is judged where it lies.
func (w *Wire) stepFixed(b []byte, at int64) (int, backends.Next) {
	n := int(min(w.bytesLeft, int64(len(b))))
	if w.bytesLeft == int64(n) && w.size == 0 && !w.streaming && w.bytesLeft <= w.maxContent {
		w.bytesLeft, w.size, w.last = 0, int64(n), lastOf(b[:n], 0)
		return n, w.finish(b[:n], at)
	}
	n = w.take(b[:n], at)
	w.bytesLeft -= int64(n)
	switch {
	case w.overLimit():
		return n, w.tooLong(-1, at)
	case w.bytesLeft == 0:
		return n, w.finish(w.body, at)
	}
	return n, backends.NextMore
}

// stepToEOF eats content that ends with the connection.
func (w *Wire) stepToEOF(b []byte, at int64) (int, backends.Next) {
	n := w.take(b, at)
	if w.overLimit() {
		return n, w.tooLong(-1, at)
	}
	return n, backends.NextMore
}

// overLimit reports whether the content has passed its limit. For content that is streamed the judge says so.
func (w *Wire) overLimit() bool { return w.size > w.maxContent && !w.streaming || w.abandoned }

// tooLong ends a reply whose content has more bytes than Call.MaxReply: size of them, or -1 where that is not known. What
// the status says of the request stands, whatever follows it.
func (w *Wire) tooLong(size, at int64) backends.Next {
	w.close = true
	switch {
	case w.abandoned:
		w.abandoned = false
		w.sample.LastByte, w.sample.Status = at, int32(w.status)
		return backends.NextBroken
	case w.status >= 300:
		return w.finish(w.body, at)
	}
	what := append(w.note[:0], "the reply has "...)
	if size >= 0 {
		what = strconv.AppendInt(what, size, 10)
		what = append(what, " bytes, more than the limit of "...)
	} else {
		what = append(what, "more bytes than the limit of "...)
	}
	what = strconv.AppendInt(what, w.maxContent, 10)
	what = append(what, ": raise `max_message` if it should be taken"...)
	s := w.sample
	s.LastByte, s.Status, s.Class = at, int32(w.status), backends.Decode
	s.SetNote(what)
	return backends.NextBroken
}

// take counts content and keeps, or streams, what is wanted of it. It gives how much was taken.
func (w *Wire) take(b []byte, at int64) int {
	if w.streaming {
		n, full, over := w.stream.Data(w.call, b, at, w.sample)
		w.eventsFull, w.abandoned = full, over
		w.size += int64(n)
		return n
	}
	b = b[:min(int64(len(b)), w.maxContent+1-w.size)] // the first byte too many ends the reply
	w.size += int64(len(b))
	w.last = lastOf(b, w.last)
	if room := w.keepBytes - len(w.body); room > 0 {
		w.body = buffer.Append(w.body, b[:min(room, len(b))], min(int64(w.keepBytes), w.maxContent+1))
	}
	return len(b)
}

// lastOf is the last byte of b that is no white space, before if there is none.
func lastOf(b []byte, before byte) byte {
	for i := len(b) - 1; i >= 0; i-- {
		if c := b[i]; c > ' ' {
			return c
		}
	}
	return before
}

// finish stamps a complete reply and has it judged. body is at least what was to be kept.
func (w *Wire) finish(body []byte, at int64) backends.Next {
	s := w.sample
	s.LastByte, s.Status = at, int32(w.status)
	w.eventsFull = false
	if !w.streaming {
		s.Responses = 1
	}
	if w.status >= 400 {
		s.SetNote(body)
	}
	w.h.size, w.h.last = w.size, w.last
	w.judge.Reply(w.call, w.status, &w.h, body[:min(len(body), w.judgeBytes)], s)
	if w.close {
		return backends.NextClose
	}
	return backends.NextKeep
}

// fail ends the request with class and a note of what and the bytes it is about.
func (w *Wire) fail(at int64, class backends.ErrorClass, what string, about []byte) backends.Next {
	s := w.sample
	s.LastByte, s.Status, s.Class = at, int32(w.status), class
	if s.Responses > 0 {
		s.Flags |= backends.NoFinal
	}
	note := append(w.note[:0], what[:min(len(what), len(w.note))]...)
	if about != nil && len(note)+len(`: ""`) < len(w.note) {
		note = append(note, ": "...)
		note = strconv.AppendQuoteToASCII(note, string(about[:min(len(about), 64)]))
	}
	s.SetNote(note)
	return backends.NextBroken
}
