package stats

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// stored is a Dist as JSON. The sums are decimal strings, as they exceed the precision of most JSON
// readers. Values is, in the exact form, base64 of the sorted values (the first as a zigzag varint,
// then the differences as varints) and, in the hdr form, the HdrHistogram V2 text of the values
// within its range.
type stored struct {
	Form    string `json:"form"`
	Count   int64  `json:"count"`
	Min     *int64 `json:"min"`
	Max     *int64 `json:"max"`
	Sum     string `json:"sum"`
	Squares string `json:"squares"`
	Under   int64  `json:"under"`
	Over    int64  `json:"over"`
	Values  string `json:"values"`
}

// maxStored limits the length of Values: the worst exact form is 2,048 varints of 10 bytes, the
// worst histogram 35,840 buckets of 9.
const maxStored = 1 << 20

// MarshalJSON encodes d as an object; the same values give the same bytes, however they were split
// and merged.
func (d *Dist) MarshalJSON() ([]byte, error) {
	s := stored{
		Form: d.form(), Count: d.n, Under: d.under, Over: d.over,
		Sum: d.sum.signed().String(), Squares: d.sq.unsigned().String(),
	}
	if d.n > 0 {
		s.Min, s.Max = &d.min, &d.max
	}
	text, err := d.encodeValues()
	if err != nil {
		return nil, fmt.Errorf("encode histogram: %w", err)
	}
	if s.Values = string(text); !d.isHDR() {
		s.Values = base64.StdEncoding.EncodeToString(text)
	}
	return json.Marshal(s)
}

// UnmarshalJSON decodes an object of MarshalJSON. It returns an error if the numbers contradict
// each other.
func (d *Dist) UnmarshalJSON(text []byte) error {
	if string(text) == "null" { // by convention no change
		return nil
	}
	var s stored
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("read distribution: %w", err)
	}
	if len(s.Values) > maxStored {
		return errors.New("read distribution: values are too long")
	}
	var got Dist
	var err error
	switch s.Form {
	case formExact:
		err = got.readExact(s)
	case formHDR:
		err = got.readHDR(s)
	default:
		err = fmt.Errorf("unknown form %q", s.Form)
	}
	if err != nil {
		return fmt.Errorf("read distribution: %w", err)
	}
	*d = got
	return nil
}

// readExact computes everything from the values and checks the other members against it.
func (d *Dist) readExact(s stored) error {
	raw, err := base64.StdEncoding.DecodeString(s.Values)
	if err != nil {
		return fmt.Errorf("values: %w", err)
	}
	values, err := readDeltas(raw)
	if err != nil {
		return err
	}
	for _, v := range values {
		d.Add(v)
	}
	d.sorted = true
	switch {
	case d.n != s.Count:
		return fmt.Errorf("count is %d but there are %d values", s.Count, d.n)
	case s.Under != 0 || s.Over != 0:
		return errors.New("values out of range in the exact form")
	case d.n > 0 && (s.Min == nil || s.Max == nil || *s.Min != d.min || *s.Max != d.max):
		return errors.New("min or max is not that of the values")
	case s.Sum != d.sum.signed().String() || s.Squares != d.sq.unsigned().String():
		return errors.New("sum or squares is not that of the values")
	}
	return nil
}

func (d *Dist) readHDR(s stored) error {
	h, err := hdrhistogram.Decode([]byte(s.Values))
	if err != nil {
		return fmt.Errorf("values: %w", err)
	}
	if h.LowestTrackableValue() != hdrLowest || h.HighestTrackableValue() != hdrHigh ||
		h.SignificantFigures() != hdrDigits {
		return fmt.Errorf("values: a histogram of %d … %d with %d digits, want %d … %d with %d",
			h.LowestTrackableValue(), h.HighestTrackableValue(), h.SignificantFigures(), hdrLowest,
			int64(hdrHigh), hdrDigits)
	}
	switch {
	case s.Count <= exactMax || s.Under < 0 || s.Over < 0 || s.Under > s.Count || s.Over > s.Count,
		h.TotalCount() != s.Count-s.Under-s.Over:
		return fmt.Errorf("count is %d but the histogram holds %d, %d below and %d above it",
			s.Count, h.TotalCount(), s.Under, s.Over)
	case s.Min == nil || s.Max == nil || *s.Min > *s.Max:
		return errors.New("min and max are missing or crossed")
	}
	*d = Dist{h: h, n: s.Count, min: *s.Min, max: *s.Max, under: s.Under, over: s.Over}
	if d.sum, err = readWide(s.Sum, true); err != nil {
		return fmt.Errorf("sum: %w", err)
	}
	if d.sq, err = readWide(s.Squares, false); err != nil {
		return fmt.Errorf("squares: %w", err)
	}
	return nil
}

// readWide reads a decimal of 128 bits.
func readWide(text string, signed bool) (wide, error) {
	x, ok := new(big.Int), false
	if len(text) <= 40 { // 128 bits are 39 digits and a sign
		x, ok = x.SetString(text, 10)
	}
	if !ok || x.BitLen() > 128 || signed && x.BitLen() == 128 || !signed && x.Sign() < 0 {
		return wide{}, fmt.Errorf("%.50q is not a 128-bit integer", text)
	}
	if x.Sign() < 0 {
		x.Add(x, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	var b [16]byte
	x.FillBytes(b[:])
	return wide{hi: binary.BigEndian.Uint64(b[:8]), lo: binary.BigEndian.Uint64(b[8:])}, nil
}

func appendDeltas(b []byte, sorted []int64) []byte {
	for i, v := range sorted {
		if i == 0 {
			b = binary.AppendVarint(b, v)
			continue
		}
		b = binary.AppendUvarint(b, uint64(v)-uint64(sorted[i-1]))
	}
	return b
}

func readDeltas(b []byte) ([]int64, error) {
	var values []int64
	for len(b) > 0 {
		if len(values) == exactMax {
			return nil, fmt.Errorf("values: more than %d in the exact form", exactMax)
		}
		var v int64
		var n int
		if len(values) == 0 {
			v, n = binary.Varint(b)
		} else {
			var delta uint64
			delta, n = binary.Uvarint(b)
			last := values[len(values)-1]
			v = int64(uint64(last) + delta)
			if n > 0 && v < last {
				return nil, errors.New("values: a difference overflows")
			}
		}
		if n <= 0 {
			return nil, errors.New("values: cut short")
		}
		values = append(values, v)
		b = b[n:]
	}
	return values, nil
}
