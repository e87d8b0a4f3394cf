package http2

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/protow"
	"golang.org/x/net/http2/hpack"
)

// Judge says what replies mean. It must not allocate or block.
type Judge interface {
	// Accepts reports whether a call that ended with code, not OK, is nevertheless a good answer to c.
	Accepts(c *backends.Call, code int32) bool
	// Reply sets s.Class and the note from a reply message, which is valid only during the call. Here it comes in one piece.
	Reply(c *backends.Call, pieces [][]byte, s *backends.Sample)
}

// Options say what a wire's calls are.
type Options struct {
	Judge      Judge
	Compressed bool                         // messages of requests are
	Head       func(c *backends.Call) *Head // the fields of a call
}

// joinMost is how much of a call is copied into one piece; more is given from where it lies.
const joinMost = 32 << 10

// Wire is HTTP/2 on one connection: a backends.ConnWire whose calls come one after the other.
//
// A call is its Body, then its Head with the holes filled, then what its Seal appends: one message, which is sent behind its
// prefix of five bytes.
type Wire struct {
	o Options

	connection
	in incoming

	// The call.
	slot   int
	call   *backends.Call // nil: there is none
	sample *backends.Sample
	most   int64    // bytes of the reply message, also once it is decompressed
	space  int64    // content that the server takes on the stream
	rest   [][]byte // the message, of which the first piece that is not sent …
	at     int      // … is this one
	unsent int      // bytes of it
	prefix [prefixSize]byte
	head   []byte // of the call, holes filled
	tail   []byte
	reply

	// What is given to be written.
	front  []byte
	heads  []byte // of frames, where the message is not copied
	pieces [][]byte
}

// connection is what a connection has come to.
type connection struct {
	heard   bool   // the server's first SETTINGS have come
	gone    bool   // the server takes no calls after that of last
	last    uint32 // …
	parting string // … and this is why, if it has said so
	broken  string // the server broke the protocol: how
	room    int64  // content that the server takes on the connection
	initial int64  // … and on a new stream
	frame   int    // the longest frame that it takes
	held    *Head  // what its table holds
	small   bool   // its table is smaller than the default: it is not used
	told    bool   // … and that is said
	unpaid  int64  // content received and not given back
	answers []byte // frames to be sent
	stream  uint32 // of the call, or of the one before
	streams uint32 // calls that the server takes at once
	list    uint32 // bytes of a call's fields that the server takes, as RFC 9113 section 6.5.2 counts them
}

// noTable tells a server that its table is not used (RFC 7541 section 6.3).
const noTable = 0x20

const prefixSize = 5 // of a message: whether it is compressed, and its length

// New makes the wire of one connection.
func New(o Options) *Wire {
	w := &Wire{o: o}
	w.Reset()
	return w
}

// Reset implements backends.Wire.
func (w *Wire) Reset() {
	w.connection = connection{room: windowDefault, initial: windowDefault, frame: frameLeast, answers: w.answers[:0], streams: math.MaxUint32, list: math.MaxUint32}
	w.in = incoming{payload: w.in.payload[:0], block: w.in.block[:0], fields: hpack.NewDecoder(tableDefault, w.field)}
	w.in.fields.SetMaxStringLength(valueMost)
	w.call, w.sample = nil, nil
}

// Preface implements backends.ConnWire.
func (w *Wire) Preface() []byte { return hello() }

// Begin implements backends.Wire.
func (w *Wire) Begin(slot int, c *backends.Call, f backends.Fields, s *backends.Sample) ([]byte, [][]byte) {
	head := w.o.Head(c)
	if uint64(head.list) > uint64(w.list) {
		w.broken = "the fields of the request have " + strconv.Itoa(head.list) + " bytes, and the server takes " +
			strconv.FormatUint(uint64(w.list), 10) + " (MAX_HEADER_LIST_SIZE): shorten `headers`"
		return nil, nil
	}
	w.slot, w.call, w.sample = slot, c, s
	w.stream = w.stream + 1 | 1 // 1, 3, 5 …
	w.space = w.initial
	w.most = min(cmp.Or(c.MaxReply, backends.ReplyLimit), windowMost)
	w.clear()
	w.compose(&f)
	block, now := head.block(w.held, w.table())
	w.held = now
	w.front = w.appendFields(w.front[:0], block)
	return w.send()
}

// table is how many bytes of the server's table there are for us.
func (w *Wire) table() int {
	if w.small {
		return 0
	}
	return tableDefault
}

// appendFields appends the head of the call: one frame, and more where that is too short.
func (w *Wire) appendFields(dst, block []byte) []byte {
	if w.small && !w.told {
		w.told = true
		block = append([]byte{noTable}, block...)
	}
	for kind := typeHeaders; ; kind = typeContinuation {
		n := min(len(block), w.frame)
		flags := byte(0)
		if n == len(block) {
			flags = flagEndHeaders
		}
		dst = append(appendHead(dst, n, kind, flags, w.stream), block[:n]...)
		if block = block[n:]; flags != 0 {
			return dst
		}
	}
}

// compose makes the message ready: prefix, body, head, tail.
func (w *Wire) compose(f *backends.Fields) {
	c := w.call
	w.head = append(w.head[:0], c.Head...)
	for _, h := range c.Holes {
		protow.Fill(w.head[h.At:int(h.At)+int(h.Width)], h.Field, f)
	}
	w.tail = w.tail[:0]
	if c.Seal != nil {
		w.tail = c.Seal.AppendTrailer(w.tail, w.head)
	}
	w.rest = append(append(append(w.rest[:0], w.prefix[:]), c.Body...), w.head, w.tail)
	w.at, w.unsent = 0, 0
	for _, p := range w.rest {
		w.unsent += len(p)
	}
	n := w.unsent - prefixSize
	w.prefix = [prefixSize]byte{0, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
	if w.o.Compressed {
		w.prefix[0] = 1
	}
}

// send gives what may be sent of the call, behind what front holds already.
func (w *Wire) send() ([]byte, [][]byte) {
	n := int(min(int64(w.unsent), w.room, w.space))
	if n <= 0 {
		return w.front, nil
	}
	w.room, w.space = w.room-int64(n), w.space-int64(n)
	if n <= joinMost {
		for n > 0 {
			size := min(n, w.frame)
			n -= size
			w.front = appendHead(w.front, size, typeData, w.ends(size), w.stream)
			w.front = w.copyTo(w.front, size)
		}
		return w.front, nil
	}
	w.heads, w.pieces = slices.Grow(w.heads[:0], headSize*(n/w.frame+1)), w.pieces[:0]
	for n > 0 {
		size := min(n, w.frame)
		n -= size
		at := len(w.heads)
		w.heads = appendHead(w.heads, size, typeData, w.ends(size), w.stream)
		w.pieces = append(w.pieces, w.heads[at:])
		w.share(size)
	}
	return w.front, w.pieces
}

// ends are the flags of a frame with so much of what is unsent.
func (w *Wire) ends(size int) byte {
	if size == w.unsent {
		return flagEndStream
	}
	return 0
}

// copyTo appends n bytes of the rest.
func (w *Wire) copyTo(dst []byte, n int) []byte {
	for n > 0 {
		p := w.next(n)
		dst, n = append(dst, p...), n-len(p)
	}
	return dst
}

// share puts n bytes of the rest among the pieces, from where they lie.
func (w *Wire) share(n int) {
	for n > 0 {
		p := w.next(n)
		w.pieces, n = append(w.pieces, p), n-len(p)
	}
}

// next takes up to n bytes, all of one piece, from the rest, which has as many.
func (w *Wire) next(n int) []byte {
	for len(w.rest[w.at]) == 0 {
		w.at++
	}
	p := w.rest[w.at][:min(n, len(w.rest[w.at]))]
	w.rest[w.at] = w.rest[w.at][len(p):]
	w.unsent -= len(p)
	return p
}
