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

// Judge classifies replies. It must not allocate or block.
type Judge interface {
	// Accepts reports whether a call that ended with code, not OK, is a good answer to c.
	Accepts(c *backends.Call, code int32) bool
	// Reply sets s.Class and the note from a reply message, which is valid during the call only. Here
	// it comes in one piece.
	Reply(c *backends.Call, pieces [][]byte, s *backends.Sample)
}

// Options configures a wire.
type Options struct {
	Judge      Judge
	Compressed bool                         // messages of requests are compressed
	Head       func(c *backends.Call) *Head // returns the header fields of a call
}

// maxJoin is the number of bytes of a call that are copied into one piece; longer ones are written
// without a copy.
const maxJoin = 32 << 10

// Wire is HTTP/2 on one connection: a backends.ConnWire that carries one call after the other.
//
// A call is its Body, then its Head with the holes filled, then what its Seal appends: one message,
// which is sent after its prefix of five bytes.
type Wire struct {
	o Options

	connection
	in incoming

	// The call in flight.
	slot         int
	call         *backends.Call // nil: none
	sample       *backends.Sample
	maxReply     int64    // limit of the reply message in bytes, compressed and decoded
	streamWindow int64    // bytes that the server accepts on the stream
	pieces       [][]byte // the message, of which the first piece that is not sent …
	firstPiece   int      // … has this index
	unsent       int      // bytes not sent yet
	prefix       [prefixSize]byte
	head         []byte // of the call, holes filled
	tail         []byte
	reply

	// The bytes to write next.
	front      []byte
	heads      []byte // of frames, if the message is not copied
	writeBatch [][]byte
}

// connection is the state of the connection.
type connection struct {
	gotSettings      bool // the server's first SETTINGS were received
	goingAway        bool // GOAWAY: the server accepts no calls after lastAccepted
	lastAccepted     uint32
	goAwayReason     string // "" if it gave none
	broken           string // how the server broke the protocol; "" if it did not
	connWindow       int64  // bytes that the server accepts on the connection
	initialWindow    int64  // … and on a new stream
	maxFrame         int    // the longest frame that it accepts
	tableHead        *Head  // held by the server's table
	tableDisabled    bool   // its table is smaller than the default, so it is not used
	tableDisableSent bool   // … and the server was notified
	unreturned       int64  // content bytes received and not returned to the window
	pendingFrames    []byte // frames to be sent
	stream           uint32 // number of the call's stream, or of the one before
	maxStreams       uint32 // concurrent streams that the server allows
	// Bytes of a call's header fields that the server allows, as RFC 9113 section 6.5.2 counts them
	maxHeaderList uint32
}

// noTable tells a server that its table is not used (RFC 7541 section 6.3).
const noTable = 0x20

const prefixSize = 5 // of a message: a compression flag and its length

// New returns the wire of one connection.
func New(o Options) *Wire {
	w := &Wire{o: o}
	w.Reset()
	return w
}

// Reset implements backends.Wire.
func (w *Wire) Reset() {
	w.connection = connection{
		connWindow: defaultWindow, initialWindow: defaultWindow, maxFrame: minFrameLimit,
		pendingFrames: w.pendingFrames[:0], maxStreams: math.MaxUint32, maxHeaderList: math.MaxUint32,
	}
	w.in = incoming{
		payload: w.in.payload[:0], block: w.in.block[:0], fields: hpack.NewDecoder(defaultTable, w.field),
	}
	w.in.fields.SetMaxStringLength(maxFieldValue)
	w.call, w.sample = nil, nil
}

// Preface implements backends.ConnWire.
func (w *Wire) Preface() []byte { return clientPreface() }

// Begin implements backends.Wire.
func (w *Wire) Begin(slot int, c *backends.Call, f backends.Fields, s *backends.Sample) ([]byte, [][]byte) {
	head := w.o.Head(c)
	if uint64(head.listSize) > uint64(w.maxHeaderList) {
		w.broken = "the fields of the request have " + strconv.Itoa(head.listSize) +
			" bytes, and the server takes " +
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

// tableSize returns the bytes of the server's table that the client may use.
func (w *Wire) tableSize() int {
	if w.tableDisabled {
		return 0
	}
	return defaultTable
}

// appendFields appends the header block of the call: one frame, and CONTINUATION frames if that is
// too short.
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

// compose builds the message: prefix, body, head, tail.
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

// appendCall returns the frames that may be sent of the call, after the bytes already in front.
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

// endFlags returns the flags of a frame with size bytes of the unsent part.
func (w *Wire) endFlags(size int) byte {
	if size == w.unsent {
		return flagEndStream
	}
	return 0
}

// copyTo appends n bytes of the unsent part to dst.
func (w *Wire) copyTo(dst []byte, n int) []byte {
	for n > 0 {
		p := w.takePiece(n)
		dst, n = append(dst, p...), n-len(p)
	}
	return dst
}

// sharePieces adds n bytes of the unsent part to the write, without a copy.
func (w *Wire) sharePieces(n int) {
	for n > 0 {
		p := w.takePiece(n)
		w.writeBatch, n = append(w.writeBatch, p), n-len(p)
	}
}

// takePiece removes and returns up to n bytes, all of one piece, of the unsent part, which has at
// least n.
func (w *Wire) takePiece(n int) []byte {
	for len(w.pieces[w.firstPiece]) == 0 {
		w.firstPiece++
	}
	p := w.pieces[w.firstPiece][:min(n, len(w.pieces[w.firstPiece]))]
	w.pieces[w.firstPiece] = w.pieces[w.firstPiece][len(p):]
	w.unsent -= len(p)
	return p
}
