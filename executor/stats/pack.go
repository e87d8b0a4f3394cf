package stats

import (
	"encoding/binary"
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Pack replaces the values in memory by their encoded form, a tenth of the size. Methods that need
// the values decode them for that call only, so Pack suits many small distributions that are read
// at most once.
func (d *Dist) Pack() {
	if d.packed != nil || d.n == 0 {
		return
	}
	text, err := d.encodeValues()
	if err != nil {
		return // d stays unpacked
	}
	d.packed, d.exact, d.h = text, nil, nil
}

// encodeValues returns the values as MarshalJSON stores them.
func (d *Dist) encodeValues() ([]byte, error) {
	switch {
	case d.packed != nil:
		return d.packed, nil
	case d.isHDR():
		return d.h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	}
	d.sort()
	return appendDeltas(make([]byte, 0, len(d.exact)*binary.MaxVarintLen16), d.exact), nil
}

// unpacked returns d, or a decoded copy if d is packed.
func (d *Dist) unpacked() *Dist {
	if d.packed == nil {
		return d
	}
	c := *d
	c.packed = nil
	var err error
	if d.isHDR() {
		c.h, err = hdrhistogram.Decode(d.packed)
	} else {
		c.exact, err = readDeltas(d.packed)
		c.sorted = true
	}
	if err != nil {
		panic(fmt.Sprintf("stats: a packed distribution cannot be read: %v", err)) // Pack wrote it
	}
	return &c
}
