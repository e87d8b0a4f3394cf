package stats

import (
	"encoding/binary"
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Pack gives up the memory of the values for their stored form, a tenth of it. What needs the values reads them from it
// again, for that call only; so Pack is for the many small distributions that are looked at once, if at all.
func (d *Dist) Pack() {
	if d.packed != nil || d.n == 0 {
		return
	}
	text, err := d.encodeValues()
	if err != nil {
		return // it stays as it is
	}
	d.packed, d.exact, d.h = text, nil, nil
}

// values is what is stored of the values in d's form.
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

// open is d with its values at hand: d itself, or a copy of it that is not packed.
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
