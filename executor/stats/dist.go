// Package stats implements distributions, ranks and confidence bounds. It is the only importer of
// hdrhistogram, and keeps no state between calls.
//
// Percentiles are nearest rank everywhere: the p-th percentile of n values is the ⌈p·n/100⌉-th
// smallest, a value that really occurred, and monotone in p.
package stats

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The histogram form. The lowest value is 1, not 1,000 ns, although that costs 80 kB more: a lowest
// of 1,000 counts in steps of 512 below 1 ms, which is 0.8 % of a loopback reply and nonsense for
// counts of tokens.
const (
	exactMax  = 2048              // values kept individually
	hdrLowest = 1                 // ns, or 1 of any unit
	hdrHigh   = 3_600_000_000_000 // 1 h in ns
	hdrDigits = 3                 // a rank's value errs by at most 0.1 %
)

// Forms of a Dist.
const (
	formExact = "exact" // every value is kept
	formHDR   = "hdr"   // a histogram with three significant digits
)

// Dist is a mergeable distribution of int64 values. Up to 2,048 values it keeps them all and every
// percentile is exact; above that it is a histogram whose ranks err by at most 0.1 %. The form
// depends only on the number of values, so any split of the same values merges to the same bytes.
//
// Count, min, max, sum and sum of squares are exact in both forms (the sums in 128 bits: the
// squares of 2.6·10¹³ hours in nanoseconds fit). Values above 1 h and below 0 are outside the
// histogram's range: they are counted separately, keep their place in every rank, and are reported
// as the exact max or min.
//
// The zero Dist is empty and ready to use. It is not safe for concurrent use, not even for reading
// (ranks sort lazily). Clone copies.
type Dist struct {
	exact       []int64
	sorted      bool
	h           *hdrhistogram.Histogram // used only while n > exactMax; kept by Reset
	n           int64
	min, max    int64
	under, over int64 // values outside the histogram's range; 0 in the exact form
	sum, sq     wide
	packed      []byte // encoded values; exact and h are then empty
}

// wide is a 128-bit integer, two's complement.
type wide struct{ hi, lo uint64 }

func (w *wide) add(o wide) {
	var c uint64
	w.lo, c = bits.Add64(w.lo, o.lo, 0)
	w.hi, _ = bits.Add64(w.hi, o.hi, c)
}

func extended(v int64) wide { return wide{hi: uint64(v >> 63), lo: uint64(v)} }

func square(v int64) wide {
	u := uint64(max(v, -v)) // 2⁶³ for the smallest int64
	hi, lo := bits.Mul64(u, u)
	return wide{hi, lo}
}

// signed returns w as a signed integer.
func (w wide) signed() *big.Int { return w.below(big.NewInt(int64(w.hi))) }

// unsigned returns w as an unsigned integer.
func (w wide) unsigned() *big.Int { return w.below(new(big.Int).SetUint64(w.hi)) }

// below returns the integer of w's low half and the given high half, which it changes.
func (w wide) below(hi *big.Int) *big.Int {
	return hi.Lsh(hi, 64).Add(hi, new(big.Int).SetUint64(w.lo))
}

func (d *Dist) isHDR() bool { return d.n > exactMax }

// form returns formExact or formHDR.
func (d *Dist) form() string {
	if d.isHDR() {
		return formHDR
	}
	return formExact
}

// Add counts v. It allocates only while the exact values grow and once when the form changes.
func (d *Dist) Add(v int64) {
	if d.packed != nil {
		*d = *d.unpacked()
	}
	if d.n == 0 {
		d.min, d.max = v, v
	}
	d.min, d.max = min(d.min, v), max(d.max, v)
	d.sum.add(extended(v))
	d.sq.add(square(v))
	d.n++
	if d.n <= exactMax {
		d.exact = append(d.exact, v)
		d.sorted = false
		return
	}
	d.toHDR()
	d.record(v)
}

// toHDR moves the exact values into the histogram. n must already exceed exactMax.
func (d *Dist) toHDR() {
	if d.h == nil {
		d.h = hdrhistogram.New(hdrLowest, hdrHigh, hdrDigits)
	}
	for _, v := range d.exact {
		d.record(v)
	}
	d.exact = d.exact[:0]
}

func (d *Dist) record(v int64) {
	switch {
	case v < 0:
		d.under++
	case v > hdrHigh:
		d.over++
	default:
		_ = d.h.RecordValue(v) // in range by the cases above
	}
}

// Merge adds all values of o, which is not changed and may be nil.
func (d *Dist) Merge(o *Dist) {
	if o == nil || o.n == 0 {
		return
	}
	if d == o {
		o = o.Clone()
	}
	if d.packed != nil {
		*d = *d.unpacked()
	}
	o = o.unpacked()
	if d.n == 0 {
		d.min, d.max = o.min, o.max
	}
	d.min, d.max = min(d.min, o.min), max(d.max, o.max)
	d.sum.add(o.sum)
	d.sq.add(o.sq)
	d.n += o.n
	if !d.isHDR() {
		d.exact = append(d.exact, o.exact...)
		d.sorted = false
		return
	}
	d.toHDR()
	for _, v := range o.exact {
		d.record(v)
	}
	if o.isHDR() {
		d.h.Merge(o.h)
		d.under += o.under
		d.over += o.over
	}
}

// Map returns the distribution of f of each value; f must not change their order. Of a histogram it
// takes the ends of its buckets.
func (d *Dist) Map(f func(int64) int64) *Dist {
	out, d := new(Dist), d.unpacked()
	for _, v := range d.exact {
		out.Add(f(v))
	}
	if !d.isHDR() {
		return out
	}
	add := func(v, n int64) {
		for range n {
			out.Add(f(v))
		}
	}
	add(d.min, d.under)
	for _, b := range d.h.Distribution() {
		add(min(max(b.To, d.min), d.max), b.Count)
	}
	add(d.max, d.over)
	return out
}

// Reset empties d and keeps its memory.
func (d *Dist) Reset() {
	h, exact := d.h, d.exact[:0]
	if h != nil && d.isHDR() {
		h.Reset()
	}
	*d = Dist{h: h, exact: exact}
}

// Clone returns an independent copy.
func (d *Dist) Clone() *Dist {
	c := *d
	c.exact = slices.Clone(d.exact)
	c.h = nil
	if d.h != nil && d.isHDR() {
		c.h = d.h.Clone()
	}
	return &c
}

// N returns the number of values.
func (d *Dist) N() int64 { return d.n }

// Min returns the smallest value, 0 if empty.
func (d *Dist) Min() int64 { return d.min }

// Max returns the largest value, 0 if empty.
func (d *Dist) Max() int64 { return d.max }

// Mean returns the exact mean, rounded once, NaN if empty.
func (d *Dist) Mean() float64 {
	if d.n == 0 {
		return math.NaN()
	}
	f, _ := new(big.Rat).SetFrac(d.sum.signed(), big.NewInt(d.n)).Float64()
	return f
}

// Std returns the sample standard deviation (divisor n-1) from the exact sums: (n·Σx² - (Σx)²) /
// (n(n-1)), rounded once before the root. It is 0 for one value and NaN if empty.
func (d *Dist) Std() float64 {
	switch d.n {
	case 0:
		return math.NaN()
	case 1:
		return 0
	}
	n, sum := big.NewInt(d.n), d.sum.signed()
	num := new(big.Int).Mul(d.sq.unsigned(), n)
	num.Sub(num, new(big.Int).Mul(sum, sum))
	den := new(big.Int).Mul(n, big.NewInt(d.n-1))
	variance, _ := new(big.Rat).SetFrac(num, den).Float64()
	return math.Sqrt(max(variance, 0))
}
