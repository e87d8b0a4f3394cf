package stats

import (
	"math/bits"
	"slices"
)

// MaxParts is the largest number of parts that hold is kept in.
const MaxParts = 60

// Parts counts the values of one metric by equal parts of hold, in buckets 1/128 of an octave wide: fine
// enough to tell how values gather in time, which is all that a Table is asked. Percentiles come from a
// Dist. The zero Parts is empty and ready to use.
type Parts struct {
	parts [MaxParts]part
}

// part is the histogram of one part.
type part struct {
	n, sum int64
	first  int      // bucket of counts[0]
	counts []uint32 // by bucket
}

// bucketBits is the logarithm of the buckets in an octave.
const bucketBits = 7

// bucketOf returns the bucket of v >= 0: v itself below 256, above that its first eight bits and their
// place.
func bucketOf(v int64) int {
	e := max(0, bits.Len64(uint64(v))-bucketBits-1)
	return e<<bucketBits + int(v>>e)
}

// bucketEnd returns the largest value of a bucket.
func bucketEnd(i int) int64 {
	e := max(0, i>>bucketBits-1)
	return int64(i-e<<bucketBits+1)<<e - 1
}

// Add counts v in a part, 0 to MaxParts-1. Values outside 0 to 1 h count as the nearest inside, so that
// sums stay exact. It allocates only if v is outside the span of buckets that the part has.
func (p *Parts) Add(i int, v int64) {
	v = min(max(v, 0), hdrHigh)
	x := &p.parts[i]
	b := bucketOf(v)
	x.span(b, b)
	x.counts[b-x.first]++
	x.n++
	x.sum += v
}

// span makes room for the buckets from lo to hi.
func (x *part) span(lo, hi int) {
	const slack = 32
	switch {
	case x.counts == nil:
		x.first = max(0, lo-slack)
		x.counts = make([]uint32, hi+slack-x.first)
	case lo < x.first:
		more := x.first - max(0, lo-slack)
		x.counts = slices.Insert(x.counts, 0, make([]uint32, more)...)
		x.first -= more
	}
	if more := hi - x.first - len(x.counts) + 1; more > 0 {
		x.counts = append(x.counts, make([]uint32, more+slack)...)
	}
}

// Merge adds all values of o, part by part, which is not changed and may be nil.
func (p *Parts) Merge(o *Parts) {
	if o == nil {
		return
	}
	for i := range o.parts {
		p.parts[i].merge(&o.parts[i])
	}
}

func (x *part) merge(o *part) {
	if o.n == 0 {
		return
	}
	x.span(o.first, o.first+len(o.counts)-1)
	for i, c := range o.counts {
		x.counts[o.first-x.first+i] += c
	}
	x.n += o.n
	x.sum += o.sum
}

// Halve joins the parts in pairs and so doubles their length; the second half becomes empty.
func (p *Parts) Halve() {
	for i := range MaxParts / 2 {
		joined := p.parts[2*i]
		joined.merge(&p.parts[2*i+1])
		p.parts[2*i], p.parts[2*i+1] = part{}, part{}
		p.parts[i] = joined
	}
}

// tails are the shares of values beyond an edge of a Table, on either side; with 1/2 these are 53 edges.
var tails = [...]float64{
	1e-4, 5e-4, 1e-3, .0025, .005, .0075, .01, .015, .02, .025, .03, .04, .05, .06, .08, .1, .125, .15, .175,
	.2, .225, .25, .3, .35, .4, .45,
}

// Table returns what is kept of the parts in [from, to), at most MaxParts.
func (p *Parts) Table(from, to int) *Table {
	var whole part
	parts := p.parts[from:min(to, MaxParts)]
	for i := range parts {
		whole.merge(&parts[i])
	}
	t := &Table{}
	ends := whole.edges()
	for _, b := range ends {
		t.edges = append(t.edges, bucketEnd(b))
	}
	for i := range parts {
		t.rows = append(t.rows, parts[i].row(ends))
	}
	return t
}

// edges returns the buckets that end nearest above the shares of tails, ascending and without the last
// one in use, beyond which there is nothing.
func (x *part) edges() (ends []int) {
	shares := []float64{0.5}
	for _, q := range tails {
		shares = append(shares, q, 1-q)
	}
	slices.Sort(shares)
	var below int64
	for i, c := range x.counts {
		below += int64(c)
		passed := false
		for len(shares) > 0 && float64(below) >= shares[0]*float64(x.n) {
			shares, passed = shares[1:], true
		}
		if passed && c > 0 && below < x.n {
			ends = append(ends, x.first+i)
		}
	}
	return ends
}

// row counts the values of a part between the ends of the given buckets.
func (x *part) row(ends []int) row {
	r := row{n: x.n, sum: x.sum, counts: make([]int64, len(ends)+1)}
	k := 0
	for i, c := range x.counts {
		for k < len(ends) && x.first+i > ends[k] {
			k++
		}
		r.counts[k] += int64(c)
	}
	return r
}
