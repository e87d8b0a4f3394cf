package http2

import (
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/protow"
	h2 "golang.org/x/net/http2"
)

const prefixSize = 5 // of a message: a compression flag and its length

// outgoing is the message of the call in flight.
type outgoing struct {
	pieces     [][]byte // of which the first one that is not sent …
	firstPiece int      // … has this index
	unsent     int      // bytes not sent yet
	prefix     [prefixSize]byte
	head       []byte // of the call, holes filled
	tail       []byte
}

// compose builds the message: prefix, body, head, tail; framed messages have their own prefixes.
func (o *outgoing) compose(c *backends.Call, f *backends.Fields, options *Options) {
	o.head = append(o.head[:0], c.Head...)
	for _, h := range c.Holes {
		protow.Fill(o.head[h.At:int(h.At)+int(h.Width)], h.Field, c, f)
	}
	o.tail = o.tail[:0]
	if c.Seal != nil {
		o.tail = c.Seal.AppendTrailer(o.tail, o.head)
	}
	if o.pieces = o.pieces[:0]; !options.Framed {
		o.pieces = append(o.pieces, o.prefix[:])
	}
	o.pieces = append(append(o.pieces, c.Body...), o.head, o.tail)
	o.firstPiece, o.unsent = 0, 0
	for _, p := range o.pieces {
		o.unsent += len(p)
	}
	n := o.unsent - prefixSize
	o.prefix = [prefixSize]byte{0, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
	if options.Compressed {
		o.prefix[0] = 1
	}
}

// endFlags returns the flags of a frame with size bytes of the unsent part.
func (o *outgoing) endFlags(size int) h2.Flags {
	if size == o.unsent {
		return h2.FlagDataEndStream
	}
	return 0
}

// copyTo appends n bytes of the unsent part to dst.
func (o *outgoing) copyTo(dst []byte, n int) []byte {
	for n > 0 {
		p := o.takePiece(n)
		dst, n = append(dst, p...), n-len(p)
	}
	return dst
}

// share appends n bytes of the unsent part to dst, without a copy.
func (o *outgoing) share(dst [][]byte, n int) [][]byte {
	for n > 0 {
		p := o.takePiece(n)
		dst, n = append(dst, p), n-len(p)
	}
	return dst
}

// takePiece removes and returns up to n bytes, all of one piece, of the unsent part, which has at
// least n.
func (o *outgoing) takePiece(n int) []byte {
	for len(o.pieces[o.firstPiece]) == 0 {
		o.firstPiece++
	}
	p := o.pieces[o.firstPiece][:min(n, len(o.pieces[o.firstPiece]))]
	o.pieces[o.firstPiece] = o.pieces[o.firstPiece][len(p):]
	o.unsent -= len(p)
	return p
}
