package stats

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// maxEdges is the largest number of edges of a Table.
const maxEdges = 64

// Table holds the values of one metric by equal parts of hold: the number and the sum of each part, and
// its counts between edges that all parts share. What is stored is what is judged, so a verdict on a
// stored result cannot differ. Its JSON takes about 3 KiB for 60 parts.
type Table struct {
	edges []int64 // ascending; a value equal to an edge is not above it
	rows  []row
}

// row is one part of a Table.
type row struct {
	n, sum int64
	counts []int64 // of the values up to each edge, and above the last
}

// Parts returns the number of parts.
func (t *Table) Parts() int {
	if t == nil {
		return 0
	}
	return len(t.rows)
}

// Counts returns the number of values of each part.
func (t *Table) Counts() []int64 {
	list := make([]int64, t.Parts())
	for i := range list {
		list[i] = t.rows[i].n
	}
	return list
}

// JoinPairs joins each two neighbouring parts. It returns false, and changes nothing, if there is an odd
// number of parts or less than 20, as bounds need 10.
func (t *Table) JoinPairs() bool {
	if len(t.rows)%2 > 0 || len(t.rows) < 2*minParts {
		return false
	}
	for i := range len(t.rows) / 2 {
		a, b := t.rows[2*i], t.rows[2*i+1]
		joined := row{n: a.n + b.n, sum: a.sum + b.sum, counts: slices.Clone(a.counts)}
		for k, c := range b.counts {
			joined.counts[k] += c
		}
		t.rows[i] = joined
	}
	t.rows = t.rows[:len(t.rows)/2]
	return true
}

// sums returns the sum of the values of each part.
func (t *Table) sums() []float64 {
	list := make([]float64, len(t.rows))
	for i := range list {
		list[i] = float64(t.rows[i].sum)
	}
	return list
}

// above returns the number of values of each part above edge e.
func (t *Table) above(e int) []float64 {
	list := make([]float64, len(t.rows))
	for i := range list {
		for _, c := range t.rows[i].counts[e+1:] {
			list[i] += float64(c)
		}
	}
	return list
}

// sizes returns Counts as numbers to divide by.
func (t *Table) sizes() []float64 { return floats(t.Counts()) }

// total returns the number of values.
func (t *Table) total() (n float64) {
	for _, r := range t.rows {
		n += float64(r.n)
	}
	return n
}

// edgeNear returns the edge whose share of values below is nearest to p on the scale of log odds, and the
// number of values above it; -1 if there is none.
func (t *Table) edgeNear(p float64) (edge int, above float64) {
	odds := func(p float64) float64 { return math.Log(p / (1 - p)) }
	edge, n, near, below := -1, t.total(), math.Inf(1), 0.0
	for e := range t.edges {
		for _, r := range t.rows {
			below += float64(r.counts[e])
		}
		if d := math.Abs(odds(below/n) - odds(p)); d < near {
			edge, above, near = e, n-below, d
		}
	}
	return edge, above
}

// typical returns the means of values that are cut at the 95th percentile, so that the few largest do not
// hide the course of all others, and the variance of their sum if they were independent.
func (t *Table) typical() (x series, independent float64) {
	high, _ := t.edgeNear(0.95)
	if high < 0 {
		return series{t.sums(), t.sizes()}, 0
	}
	x = series{make([]float64, len(t.rows)), t.sizes()}
	var squares float64
	for i, r := range t.rows {
		last := 0.0
		for k, c := range r.counts {
			end := float64(t.edges[min(high, k)])
			middle := (last + end) / 2
			x.num[i] += float64(c) * middle
			squares += float64(c) * middle * middle
			last = end
		}
	}
	sum, n := x.totals()
	return x, squares - sum*sum/n
}

// storedTable is a Table as JSON. Values is base64 of deflated varints: the number of edges, the first
// edge and the differences of the others; then of each part its sum and its counts.
type storedTable struct {
	Parts  int    `json:"parts"`
	Values string `json:"values"`
}

// MarshalJSON encodes t as an object.
func (t *Table) MarshalJSON() ([]byte, error) {
	b := binary.AppendUvarint(nil, uint64(len(t.edges)))
	last := int64(0)
	for _, e := range t.edges {
		b = binary.AppendUvarint(b, uint64(e-last))
		last = e
	}
	for _, r := range t.rows {
		b = binary.AppendUvarint(b, uint64(r.sum))
		for _, c := range r.counts {
			b = binary.AppendUvarint(b, uint64(c))
		}
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return json.Marshal(storedTable{len(t.rows), base64.StdEncoding.EncodeToString(packed.Bytes())})
}

// maxTable limits the inflated size: each number is a varint of at most 10 bytes.
const maxTable = 10 * (1 + maxEdges + MaxParts*(2+maxEdges))

// UnmarshalJSON decodes an object of MarshalJSON. It returns an error if the numbers contradict each
// other.
func (t *Table) UnmarshalJSON(text []byte) error {
	if string(text) == "null" { // by convention no change
		return nil
	}
	var s storedTable
	err := json.Unmarshal(text, &s)
	if err == nil {
		var got Table
		if got, err = s.read(); err == nil {
			*t = got
			return nil
		}
	}
	return fmt.Errorf("read parts: %w", err)
}

func (s storedTable) read() (t Table, err error) {
	if s.Parts < 0 || s.Parts > MaxParts {
		return t, fmt.Errorf("%d parts, at most %d", s.Parts, MaxParts)
	}
	packed, err := base64.StdEncoding.DecodeString(s.Values)
	if err != nil {
		return t, err
	}
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxTable+1))
	if err != nil {
		return t, err
	}
	in := varints{raw}
	n := in.next(maxEdges + 1)
	if n > maxEdges {
		return t, fmt.Errorf("%d edges, at most %d", n, maxEdges)
	}
	for last := int64(0); len(t.edges) < int(n); {
		next := last + in.next(hdrHigh)
		if next > hdrHigh || next <= last && len(t.edges) > 0 {
			return t, errors.New("edges do not ascend")
		}
		t.edges, last = append(t.edges, next), next
	}
	for range s.Parts {
		r := row{sum: in.next(math.MaxInt64), counts: make([]int64, n+1)}
		for i := range r.counts {
			r.counts[i] = in.next(maxSamples)
			r.n += r.counts[i]
		}
		t.rows = append(t.rows, r)
	}
	if !in.ends() {
		return t, errors.New("values are cut short or too long")
	}
	return t, nil
}

// varints reads numbers; after an error raw is nil and all are 0.
type varints struct{ raw []byte }

// next returns the next number, which is an error above most.
func (r *varints) next(most int64) int64 {
	v, n := binary.Uvarint(r.raw)
	if n <= 0 || v > uint64(most) {
		r.raw = nil
		return 0
	}
	r.raw = r.raw[n:]
	return int64(v)
}

// ends reports whether all was read without error.
func (r *varints) ends() bool { return r.raw != nil && len(r.raw) == 0 }
