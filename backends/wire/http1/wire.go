// Package http1 speaks HTTP/1.1 (RFC 9112) as a client, without I/O: prebuilt requests go out,
// replies are parsed from whatever pieces the reads bring, in place where possible, without
// allocation after warm-up.
//
// It is not: a socket, a clock, a connection pool, a judge of statuses (a kind supplies that, which may
// decompress with Decoder), a redirect or cookie engine. A redirect is a reply like any other.
//
//	head, holes, err := http1.Encode(http1.Request{
//		Method: "POST", Host: "localhost:8000", Path: "/v2/models/m/infer", Body: body,
//	})
//	call := &backends.Call{Head: head, Holes: holes, Body: body, Size: …}
//	wire := http1.New(judge)
package http1

import (
	"bytes"
	"cmp"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/buffer"
)

// Judge classifies a complete reply; a kind implements it. It is called between the stamp of the
// last byte and the report that the request has finished, and must not allocate or block.
type Judge interface {
	// Keep returns the number of body bytes of a reply with this status that Reply needs (0: they are
	// only counted). s belongs to the request.
	Keep(c *backends.Call, status int, s *backends.Sample) int
	// Reply sets s.Class (and the note) from a complete reply. body holds the first Keep bytes of the
	// content; body and h are valid during the call only. For status 400 and above the note already
	// holds the start of the body.
	Reply(c *backends.Call, status int, h *Header, body []byte, s *backends.Sample)
}

// Streamer is a Judge that also reads content as it arrives.
type Streamer interface {
	// Streams reports whether Data gets the content of this reply. Reply is then called without
	// content, and leaves Responses and FirstByte as Data has set them.
	Streams(c *backends.Call, status int, h *Header) bool
	// Data takes content that arrived in one read, at time at. full: the sample's Events are full, and
	// n is the number of bytes of b taken so far; else all of b is taken. over ends the request, whose
	// class and note are set: the rest is unwanted and the connection is closed.
	Data(c *backends.Call, b []byte, at int64, s *backends.Sample) (n int, full, over bool)
}

// ChunkStreamer is a Streamer that learns the size of each chunk (RFC 9112 section 7.1) before Data
// gets its bytes, maybe in several pieces. The last chunk, which is empty, is not reported.
type ChunkStreamer interface {
	Streamer
	Chunk(size int64)
}

// maxHead is the limit of a head (status line and fields), and of trailers, in bytes. For content see
// Call.MaxReply, which does not bound content that a Streamer takes as it arrives.
const maxHead = 64 << 10

// Wire is HTTP/1.1 on one connection: a backends.Wire of depth 1.
//
// A reply goes through these phases; each reads its bytes and sets the next one:
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
// The bytes that a phase reads depend on the bytes alone, never on how reads split them.
type Wire struct {
	judge  Judge
	stream Streamer // the judge, if it is a Streamer
	chunks ChunkStreamer

	request
	phase phase
	close bool // the connection must not be used after the reply
	note  [backends.NoteSize]byte

	acc       []byte // the head, or the part of it that has arrived
	cached    cachedHead
	h         Header
	status    int
	firstByte int64 // time of the first byte of this head
	gotByte   bool  // a byte of a reply has arrived, interim replies included
	content
}

// request is the request in flight, and the bytes that send it.
type request struct {
	call      *backends.Call
	sample    *backends.Sample
	slot      int
	head      []byte // own copy of headOf's head, holes patched
	headOf    *backends.Call
	noBody    bool   // it is a HEAD: its reply has no content (RFC 9110 section 9.3.2)
	saysClose bool   // it says close (RFC 9112 section 9.6)
	tail      []byte // end of a sealed request; sealed holds its body and this tail
	sealed    [][]byte
}

// content is the content of a reply as far as it was read.
type content struct {
	maxContent int64 // limit of content bytes
	abandoned  bool  // the judge of a stream has ended the request
	size       int64 // content bytes so far
	last       byte  // last content byte that is not white space; 0: none
	bytesLeft  int64 // bytes left of the content (fixed) or of the chunk (data); toEOF: no limit
	keepBytes  int   // content bytes to keep, for the judge or the note
	judgeBytes int   // content bytes that the judge asked for
	body       []byte
	streaming  bool // the streamer takes the content
	eventsFull bool // … and its events are full

	chunk       chunkLine
	trailerLine int // trailer: bytes of the line so far that are not line ends
	trailerSize int // trailer: bytes
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

// New returns the wire of one connection.
func New(j Judge) *Wire {
	w := &Wire{judge: j}
	w.stream, _ = j.(Streamer)
	w.chunks, _ = j.(ChunkStreamer)
	return w
}

var headMethod = []byte("HEAD ")

// Begin implements backends.Wire. It clears the state of an unfinished request.
func (w *Wire) Begin(slot int, c *backends.Call, f backends.Fields, s *backends.Sample) ([]byte, [][]byte) {
	if w.headOf != c {
		w.head = append(w.head[:0], c.Head...)
		w.headOf = c
		w.noBody = bytes.HasPrefix(c.Head, headMethod)
		w.saysClose = saysClose(c.Head)
	}
	for _, h := range c.Holes {
		to := w.head[h.At : int(h.At)+int(h.Width)]
		if h.Field >= backends.FieldVaryRequest {
			copy(to, c.Vary.Word(h.Field, f.ID))
			continue
		} else if h.Field >= backends.FieldCounter {
			c.Counters[h.Field-backends.FieldCounter].Put(to, f.ID)
			continue
		}
		fill(to, h.Field, &f)
	}
	w.call, w.sample, w.slot = c, s, slot
	w.gotByte, w.close = false, w.saysClose
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

// startHead prepares for a head: the reply's, or the one after an interim reply.
func (w *Wire) startHead() {
	w.phase, w.status = inHead, 0
	w.acc, w.h = w.acc[:0], Header{}
	w.content = content{
		maxContent: cmp.Or(w.call.MaxReply, backends.ReplyLimit), body: buffer.Reuse(w.body),
	}
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

// step passes b, which is not empty, to the current phase.
func (w *Wire) step(b []byte, at int64) (int, backends.Next) {
	switch w.phase {
	case inHead:
		return w.stepHead(b, at)
	case inSize:
		return w.stepSize(b, at)
	case inDataEnd:
		return w.stepDataEnd(b, at)
	case inTrailer:
		return w.stepTrailer(b, at)
	default:
		return w.stepContent(b, at)
	}
}

// done releases the request and returns its slot.
func (w *Wire) done() int {
	w.sample, w.call = nil, nil
	return w.slot
}

// EOF implements backends.Wire. Content without a length ends legally here (RFC 9112 section 6.3,
// rule 8); any other reply is incomplete (section 8).
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
		verb = w.fail(at, "the connection was closed "+cutPlace[w.phase], nil)
		w.sample.Class = backends.ResetByPeer
	}
	w.done()
	return verb
}

var cutPlace = [...]string{
	inHead: "within the head of the reply", inFixed: "before the whole content had come",
	inSize: "before the last chunk", inData: "within a chunk", inDataEnd: "before the last chunk",
	inTrailer: "within the trailers",
}

// stepContent reads content, in the phases fixed, data and toEOF. Content with a length that arrived
// in one read is judged in place.
func (w *Wire) stepContent(b []byte, at int64) (int, backends.Next) {
	n := int(min(w.bytesLeft, int64(len(b))))
	if w.phase == inFixed && w.bytesLeft == int64(n) && w.size == 0 && !w.streaming &&
		w.bytesLeft <= w.maxContent {
		w.bytesLeft, w.size, w.last = 0, int64(n), lastOf(b[:n], 0)
		return n, w.finish(b[:n], at)
	}
	n = w.take(b[:n], at)
	w.bytesLeft -= int64(n)
	switch {
	case w.abandoned || w.size > w.maxContent && !w.streaming: // of a stream the judge decides
		return n, w.tooLong(-1, at)
	case w.bytesLeft > 0:
	case w.phase == inFixed:
		return n, w.finish(w.body, at)
	default:
		w.phase = inDataEnd
	}
	return n, backends.NextMore
}

// tooLong ends a reply whose content exceeds Call.MaxReply: size is its length in bytes, -1 if
// unknown. The class that follows from the status is kept.
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
	what := "more bytes than"
	if size >= 0 {
		what = strconv.FormatInt(size, 10) + " bytes, more than"
	}
	next := w.fail(at, "the reply has "+what+" the limit of "+strconv.FormatInt(w.maxContent, 10)+
		": raise `max_message` if it should be taken", nil)
	w.sample.Class = backends.Decode
	return next
}

// take counts content and keeps, or streams, the wanted part. It returns the number of bytes taken.
func (w *Wire) take(b []byte, at int64) int {
	if w.streaming {
		n, full, over := w.stream.Data(w.call, b, at, w.sample)
		w.eventsFull, w.abandoned = full, over
		w.size += int64(n)
		return n
	}
	b = b[:min(int64(len(b)), w.maxContent+1-w.size)] // the first byte over the limit ends the reply
	w.size += int64(len(b))
	w.last = lastOf(b, w.last)
	if room := w.keepBytes - len(w.body); room > 0 {
		w.body = buffer.Append(w.body, b[:min(room, len(b))], min(int64(w.keepBytes), w.maxContent+1))
	}
	return len(b)
}

// lastOf returns the last byte of b that is not white space, before if there is none.
func lastOf(b []byte, before byte) byte {
	for i := len(b) - 1; i >= 0; i-- {
		if c := b[i]; c > ' ' {
			return c
		}
	}
	return before
}

// finish stamps a complete reply and has it judged. body has at least the bytes to keep.
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
	w.h.Size, w.h.Last = w.size, w.last
	w.judge.Reply(w.call, w.status, &w.h, body[:min(len(body), w.judgeBytes)], s)
	if w.close {
		return backends.NextClose
	}
	return backends.NextKeep
}

// fail ends a request whose reply breaks the protocol, with a note: what, and the bytes that it is
// about.
func (w *Wire) fail(at int64, what string, about []byte) backends.Next {
	s := w.sample
	s.LastByte, s.Status, s.Class = at, int32(w.status), backends.Protocol
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
