package grpcraw

import (
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/protow"
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
)

// head is a lane's own copy of a Call's head, and the list of pieces that ends with it. grpc-go
// writes a message after SendMsg has returned, and may still do so after the end of the call; it
// calls Put when it has finished with the head.
type head struct {
	bytes []byte
	list  mem.BufferSlice
	busy  atomic.Bool
}

const (
	// headSize exceeds grpc-go's threshold of 1 KiB, below which it does not count references.
	headSize = 1<<10 + 64
	maxHeads = 16
	// joinSize is the largest message in bytes that is copied into one piece, which costs grpc-go less
	// than several pieces.
	joinSize = 8 << 10
)

// Get implements mem.BufferPool; grpc-go only calls Put.
func (h *head) Get(int) *[]byte { return &h.bytes }

// Put implements mem.BufferPool.
func (h *head) Put(*[]byte) { h.busy.Store(false) }

// outgoing is a message for SendMsg: a call and the values of its holes.
type outgoing struct {
	call   *backends.Call
	fields backends.Fields
	heads  []*head
}

// send passes the message to the transport and sets SendEnd. If the transport takes it without
// waiting, SendEnd is taken before: its writer, and with it the server, may run before SendMsg
// returns.
func (o *outgoing) send(stream grpc.ClientStream, clock *backends.Clock, s *backends.Sample) error {
	waits := o.call.Size > maxInlineRequest
	if !waits {
		s.SendEnd = clock.Now()
	}
	err := stream.SendMsg(o)
	if waits {
		s.SendEnd = clock.Now()
	}
	return err
}

// marshal returns the pieces of the message, for the codec.
func (o *outgoing) marshal() mem.BufferSlice {
	m := o.call.Impl.(*message)
	if m.whole != nil {
		return m.whole
	}
	h := o.freeHead()
	h.busy.Store(true)
	h.bytes, h.list = h.bytes[:0], h.list[:0]
	if o.call.Size <= joinSize {
		for _, b := range o.call.Body {
			h.bytes = append(h.bytes, b...)
		}
	} else {
		h.list = append(h.list, m.body...)
	}
	own := len(h.bytes)
	h.bytes = append(h.bytes, o.call.Head...)
	for _, hole := range o.call.Holes {
		at := own + int(hole.At)
		protow.Fill(h.bytes[at:at+int(hole.Width)], hole.Field, o.call, &o.fields)
	}
	if o.call.Seal != nil {
		h.bytes = o.call.Seal.AppendTrailer(h.bytes, h.bytes)
	}
	h.list = append(h.list, mem.NewBuffer(&h.bytes, h))
	return h.list
}

// freeHead returns a head that the transport does not use: nearly always the first one.
func (o *outgoing) freeHead() *head {
	for _, h := range o.heads {
		if !h.busy.Load() {
			return h
		}
	}
	h := &head{bytes: make([]byte, 0, headSize)}
	if len(o.heads) < maxHeads {
		o.heads = append(o.heads, h)
	}
	return h
}

// incoming is a reply message as received.
type incoming struct {
	pieces [][]byte // valid during the codec's call
	joined []byte
}

// keep stores the pieces of data and returns their size in bytes.
func (i *incoming) keep(data mem.BufferSlice) (size int64) {
	i.pieces = i.pieces[:0]
	for _, b := range data {
		i.pieces = append(i.pieces, b.ReadOnlyData())
		size += int64(b.Len())
	}
	return size
}

// join makes one piece of several by copying them.
func (i *incoming) join() {
	if len(i.pieces) < 2 {
		return
	}
	i.joined = i.joined[:0]
	for _, p := range i.pieces {
		i.joined = append(i.joined, p...)
	}
	i.pieces = append(i.pieces[:0], i.joined)
}
