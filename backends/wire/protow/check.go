package protow

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// Check walks the top level of a message that lies in pieces, without joining them, and reports whether every field
// ends where it should.
func Check(pieces [][]byte) error {
	if len(pieces) == 1 {
		w := Walk(pieces[0])
		for w.Next() {
		}
		return w.Err()
	}
	c := cursor{pieces: pieces}
	for c.more() {
		tag, ok := c.varint()
		if !ok || !c.skip(protowire.DecodeTag(tag)) {
			return errMalformed
		}
	}
	return nil
}

// cursor reads bytes across pieces.
type cursor struct {
	pieces [][]byte
	at     int // in the first piece
}

// more drops what was read and reports whether a byte is left.
func (c *cursor) more() bool {
	for len(c.pieces) > 0 && c.at == len(c.pieces[0]) {
		c.pieces, c.at = c.pieces[1:], 0
	}
	return len(c.pieces) > 0
}

// varint reads at most ten bytes, as the encoding allows, and refuses what does not fit 64 bits.
func (c *cursor) varint() (v uint64, ok bool) {
	for shift := uint(0); shift < 70; shift += 7 {
		if !c.more() {
			return 0, false
		}
		b := c.pieces[0][c.at]
		c.at++
		if shift == 63 && b > 1 {
			return 0, false
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, true
		}
	}
	return 0, false
}

// advance skips n bytes.
func (c *cursor) advance(n uint64) bool {
	for n > 0 {
		if !c.more() {
			return false
		}
		step := min(n, uint64(len(c.pieces[0])-c.at))
		c.at += int(step)
		n -= step
	}
	return true
}

// skip passes over the value of a field. Groups, which proto3 does not have, are refused here.
func (c *cursor) skip(n protowire.Number, t protowire.Type) bool {
	if n < protowire.MinValidNumber { // as ConsumeTag does
		return false
	}
	switch t {
	case protowire.VarintType:
		_, ok := c.varint()
		return ok
	case protowire.BytesType:
		size, ok := c.varint()
		return ok && c.advance(size)
	case protowire.Fixed32Type:
		return c.advance(4)
	case protowire.Fixed64Type:
		return c.advance(8)
	}
	return false
}
