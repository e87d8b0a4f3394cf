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

// maxJoin is how much of a call is copied into one piece; more is given from where it lies.
const maxJoin = 32 << 10

// Wire is HTTP/2 on one connection: a backends.ConnWire whose calls come one after the other.
//
// A call is its Body, then its Head with the holes filled, then what its Seal appends: one message, which is sent behind its
// prefix of five bytes.
type Wire struct {
	o Options

	connection
	in incoming

	// The call.
	slot         int
	call         *backends.Call // nil: there is none
	sample       *backends.Sample
	maxReply     int64    // bytes of the reply message, also once it is decompressed
	streamWindow int64    // content that the server takes on the stream
	pieces       [][]byte // the message, of which the first piece that is not sent …
	firstPiece   int      // … is this one
	unsent       int      // bytes of it
	prefix       [prefixSize]byte
	head         []byte // of the call, holes filled
	tail         []byte
	reply

	// What is given to be written.
	front      []byte
	heads      []byte // of frames, where the message is not copied
	writeBatch [][]byte
}

// connection is what a connection has come to.
type connection struct {
	gotSettings      bool   // the server's first SETTINGS have come
	goingAway        bool   // the server takes no calls after that of last
	lastAccepted     uint32 // …
	goAwayReason     string // … and this is why, if it has said so
	broken           string // the server broke the protocol: how
	connWindow       int64  // content that the server takes on the connection
	initialWindow    int64  // … and on a new stream
	maxFrame         int    // the longest frame that it takes
	tableHead        *Head  // what its table holds
	tableDisabled    bool   // its table is smaller than the default: it is not used
	tableDisableSent bool   // … and that is said
	unreturned       int64  // content received and not given back
	pendingFrames    []byte // frames to be sent
	stream           uint32 // of the call, or of the one before
	maxStreams       uint32 // calls that the server takes at once
	maxHeaderList    uint32 // bytes of a call's fields that the server takes, as RFC 9113 section 6.5.2 counts them
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
	w.connection = connection{connWindow: defaultWindow, initialWindow: defaultWindow, maxFrame: minFrameLimit, pendingFrames: w.pendingFrames[:0], maxStreams: math.MaxUint32, maxHeaderList: math.MaxUint32}
	w.in = incoming{payload: w.in.payload[:0], block: w.in.block[:0], fields: hpack.NewDecoder(defaultTable, w.field)}
	w.in.fields.SetMaxStringLength(maxFieldValue)
	w.call, w.sample = nil, nil
}

// Preface implements backends.ConnWire.
func (w *Wire) Preface() []byte { return clientPreface() }

// Begin implements backends.Wire.
func (w *Wire) Begin(slot int, c *backends.Call, f backends.Fields, s *backends.Sample) ([]byte, [][]byte) {
	head := w.o.Head(c)
	if uint64(head.listSize) > uint64(w.maxHeaderList) {
		w.broken = "the fields of the request have " + strconv.Itoa(head.listSize) + " bytes, and the server takes " +
			strconv.FormatUint(uint64(w.maxHeaderList), 10) + " (MAX_HEADER_LIST_SIZE): shorten `headers`"
		return nil, nil
	}
	w.slot, w.call, w.sample = slot, c, s
	w.stream = w.stream + 1 | 1 // 1, 3, 5 …
	w.streamWindow = w.initialWindow
	w.maxReply = min(cmp.Or(c.MaxReply, backends.ReplyLimit), maxWindow)
	w.clear()
	w.compose(&f)
	block, now := head.block(w.tableHead, w.tableSize())
	w.tableHead = now
	w.front = w.appendFields(w.front[:0], block)
	return w.appendCall()
}

// tableSize is how many bytes of the server's table there are for us.
func (w *Wire) tableSize() int {
	if w.tableDisabled {
		return 0
	}
	return defaultTable
}

// appendFields appends the head of the call: one frame, and more where that is too short.
func (w *Wire) appendFields(dst, block []byte) []byte {
	if w.tableDisabled && !w.tableDisableSent {
		w.tableDisableSent = true
		block = append([]byte{noTable}, block...)
	}
	for kind := typeHeaders; ; kind = typeContinuation {
		n := min(len(block), w.maxFrame)
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
	w.pieces = append(append(append(w.pieces[:0], w.prefix[:]), c.Body...), w.head, w.tail)
	w.firstPiece, w.unsent = 0, 0
	for _, p := range w.pieces {
		w.unsent += len(p)
	}
	n := w.unsent - prefixSize
	w.prefix = [prefixSize]byte{0, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
	if w.o.Compressed {
		w.prefix[0] = 1
	}
}

// appendCall gives what may be sent of the call, behind what front holds already.
func (w *Wire) appendCall() ([]byte, [][]byte) {
	n := int(min(int64(w.unsent), w.connWindow, w.streamWindow))
	if n <= 0 {
		return w.front, nil
	}
	w.connWindow, w.streamWindow = w.connWindow-int64(n), w.streamWindow-int64(n)
	if n <= maxJoin {
		for n > 0 {
			size := min(n, w.maxFrame)
			n -= size
			w.front = appendHead(w.front, size, typeData, w.endFlags(size), w.stream)
			w.front = w.copyTo(w.front, size)
		}
		return w.front, nil
	}
	w.heads, w.writeBatch = slices.Grow(w.heads[:0], headSize*(n/w.maxFrame+1)), w.writeBatch[:0]
	for n > 0 {
		size := min(n, w.maxFrame)
		n -= size
		at := len(w.heads)
		w.heads = appendHead(w.heads, size, typeData, w.endFlags(size), w.stream)
		w.writeBatch = append(w.writeBatch, w.heads[at:])
		w.sharePieces(size)
	}
	return w.front, w.writeBatch
}

// endFlags are the flags of a frame with so much of what is unsent.
func (w *Wire) endFlags(size int) byte {
	if size == w.unsent {
		return flagEndStream
	}
	return 0
}

// copyTo appends n bytes of the rest.
func (w *Wire) copyTo(dst []byte, n int) []byte {
	for n > 0 {
		p := w.takePiece(n)
		dst, n = append(dst, p...), n-len(p)
	}
	return dst
}

// sharePieces puts n bytes of the rest among the pieces, from where they lie.
func (w *Wire) sharePieces(n int) {
	for n > 0 {
		p := w.takePiece(n)
		w.writeBatch, n = append(w.writeBatch, p), n-len(p)
	}
}

// takePiece takes up to n bytes, all of one piece, from the rest, which has as many.
func (w *Wire) takePiece(n int) []byte {
	for len(w.pieces[w.firstPiece]) == 0 {
		w.firstPiece++
	}
	p := w.pieces[w.firstPiece][:min(n, len(w.pieces[w.firstPiece]))]
	w.pieces[w.firstPiece] = w.pieces[w.firstPiece][len(p):]
	w.unsent -= len(p)
	return p
}
