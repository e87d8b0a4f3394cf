package protow

// cursor reads bytes across pieces.
type cursor struct {
	pieces [][]byte
	at     int // offset in the first piece
}

// skipEmpty drops pieces that were read and reports whether a byte is left.
func (c *cursor) skipEmpty() bool {
	for len(c.pieces) > 0 && c.at == len(c.pieces[0]) {
		c.pieces, c.at = c.pieces[1:], 0
	}
	return len(c.pieces) > 0
}

// varint reads at most ten bytes, as the encoding allows, and refuses values over 64 bits.
func (c *cursor) varint() (v uint64, ok bool) {
	for shift := uint(0); shift < 70; shift += 7 {
		if !c.skipEmpty() {
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
		if !c.skipEmpty() {
			return false
		}
		step := min(n, uint64(len(c.pieces[0])-c.at))
		c.at += int(step)
		n -= step
	}
	return true
}
