package http2

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
	h2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Judge classifies replies. It must not allocate or block.
type Judge interface {
	// Accepts reports whether a call that ended with code, not OK, is a good answer to c.
	Accepts(c *backends.Call, code int32) bool
	// Reply sets s.Class and the note from a reply message, which is valid during the call only. Here
	// it comes in one piece; without a piece it is called at the end of a stream whose status is OK.
	Reply(c *backends.Call, pieces [][]byte, s *backends.Sample)
}

// Options configures a wire.
type Options struct {
	Judge      Judge
	Compressed bool                         // messages of requests are compressed
	Framed     bool                         // a call's body holds its messages with their prefixes
	Streaming  bool                         // a reply has any number of messages
	Head       func(c *backends.Call) *Head // returns the header fields of a call
}

// maxJoin is the number of bytes of a call that are copied into one piece; longer ones are written
// without a copy.
const maxJoin = 32 << 10

// Wire is HTTP/2 on one connection: a backends.ConnWire that carries one call after the other.
//
// A call is its Body, then its Head with the holes filled, then what its Seal appends: one message,
// which is sent after its prefix of five bytes, or messages with their prefixes (Options.Framed).
type Wire struct {
	o Options

	connection
	in incoming
	outgoing
	reply

	// The bytes to write next.
	front      []byte
	heads      []byte // of frames, if the message is not copied
	writeBatch [][]byte
}

// New returns the wire of one connection.
func New(o Options) *Wire {
	w := &Wire{o: o, reply: reply{judge: o.Judge, streaming: o.Streaming}}
	w.Reset()
	return w
}

// Reset implements backends.Wire.
func (w *Wire) Reset() {
	w.connection = connection{
		connWindow: defaultWindow, initialWindow: defaultWindow, maxFrame: minFrameLimit,
		tableSize: defaultTable, pendingFrames: w.pendingFrames[:0],
		maxStreams: math.MaxUint32, maxHeaderList: math.MaxUint32,
	}
	w.in = incoming{
		payload: w.in.payload[:0], block: w.in.block[:0], fields: hpack.NewDecoder(defaultTable, w.field),
	}
	w.in.fields.SetMaxStringLength(maxFieldValue)
	w.call, w.sample = nil, nil
}

// Preface implements backends.ConnWire: no push, and windows that no reply fills.
func (w *Wire) Preface() []byte {
	settings := appendSetting(appendSetting(appendSetting(nil, h2.SettingEnablePush, 0),
		h2.SettingInitialWindowSize, maxWindow), h2.SettingMaxHeaderListSize, maxBlock)
	b := append(appendHead([]byte(h2.ClientPreface), len(settings), h2.FrameSettings, 0, 0), settings...)
	return appendWindow(b, 0, maxWindow-defaultWindow)
}

// Begin implements backends.Wire.
func (w *Wire) Begin(slot int, c *backends.Call, f backends.Fields, s *backends.Sample) ([]byte, [][]byte) {
	head := w.o.Head(c)
	if uint64(head.size) > uint64(w.maxHeaderList) {
		w.broken = "the fields of the request have " + strconv.Itoa(head.size) +
			" bytes, and the server takes " +
			strconv.FormatUint(uint64(w.maxHeaderList), 10) + " (MAX_HEADER_LIST_SIZE): shorten `headers`"
		return nil, nil
	}
	w.slot, w.call, w.sample = slot, c, s
	w.stream = w.stream + 1 | 1 // 1, 3, 5 …
	w.streamWindow, w.unreturnedOfStream = w.initialWindow, 0
	w.maxReply = min(cmp.Or(c.MaxReply, backends.ReplyLimit), maxWindow)
	w.clear()
	w.compose(c, &f, &w.o)
	block, now := head.block(w.tableHead, w.tableSize)
	w.tableHead = now
	w.front = w.appendFields(w.front[:0], block)
	return w.appendCall()
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
			w.front = appendHead(w.front, size, h2.FrameData, w.endFlags(size), w.stream)
			w.front = w.copyTo(w.front, size)
		}
		return w.front, nil
	}
	w.heads, w.writeBatch = slices.Grow(w.heads[:0], headSize*(n/w.maxFrame+1)), w.writeBatch[:0]
	for n > 0 {
		size := min(n, w.maxFrame)
		n -= size
		at := len(w.heads)
		w.heads = appendHead(w.heads, size, h2.FrameData, w.endFlags(size), w.stream)
		w.writeBatch = append(w.writeBatch, w.heads[at:])
		w.writeBatch = w.share(w.writeBatch, size)
	}
	return w.front, w.writeBatch
}
