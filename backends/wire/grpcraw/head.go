package grpcraw

import (
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
	"google.golang.org/grpc/mem"
)

// head is a lane's own copy of a Call's head, and the list of pieces that ends with it. grpc-go writes a message after
// SendMsg has returned, and may still do so when the call is over already; it says by Put that it has let go.
type head struct {
	bytes []byte
	list  mem.BufferSlice
	busy  atomic.Bool
}

const (
	// headSize is over grpc-go's threshold of 1 KiB, below which it does not count references.
	headSize = 1<<10 + 64
	maxHeads = 16
	// joinSize is the largest message that is copied into one piece: cheaper for grpc-go than pieces are.
	joinSize = 8 << 10
)

// Get implements mem.BufferPool; grpc-go only gives back.
func (h *head) Get(int) *[]byte { return &h.bytes }

// Put implements mem.BufferPool.
func (h *head) Put(*[]byte) { h.busy.Store(false) }

// marshal gives the pieces of the message in flight to the codec.
func (l *lane) marshal() mem.BufferSlice {
	m := l.call.Impl.(*message)
	if m.whole != nil {
		return m.whole
	}
	h := l.freeHead()
	h.busy.Store(true)
	h.bytes, h.list = h.bytes[:0], h.list[:0]
	if l.call.Size <= joinSize {
		for _, b := range l.call.Body {
			h.bytes = append(h.bytes, b...)
		}
	} else {
		h.list = append(h.list, m.body...)
	}
	own := len(h.bytes)
	h.bytes = append(h.bytes, l.call.Head...)
	for _, hole := range l.call.Holes {
		at := own + int(hole.At)
		fill(h.bytes[at:at+int(hole.Width)], hole.Field, l.fields)
	}
	h.list = append(h.list, mem.NewBuffer(&h.bytes, h))
	return h.list
}

// freeHead is a head that the transport does not hold: nearly always the first one.
func (l *lane) freeHead() *head {
	for _, h := range l.heads {
		if !h.busy.Load() {
			return h
		}
	}
	h := &head{bytes: make([]byte, 0, headSize)}
	if len(l.heads) < maxHeads {
		l.heads = append(l.heads, h)
	}
	return h
}

// fill writes a field's value: digits, or a varint as wide as the hole.
func fill(to []byte, field uint8, f backends.Fields) {
	switch field {
	case backends.FieldID:
		backends.PutDigits(to, f.ID)
	case backends.FieldSequenceText:
		backends.PutDigits(to, f.Sequence)
	case backends.FieldRegion:
		backends.PutDigits(to, uint64(f.Region))
	case backends.FieldSequence:
		putVarint(to, f.Sequence)
	case backends.FieldStart:
		putVarint(to, truth(f.Start))
	case backends.FieldEnd:
		putVarint(to, truth(f.End))
	}
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// putVarint writes v as a varint of len(to) bytes: one may be longer than its value needs.
func putVarint(to []byte, v uint64) {
	last := len(to) - 1
	for i := range last {
		to[i] = byte(v) | 0x80
		v >>= 7
	}
	to[last] = byte(v) & 0x7f
}
