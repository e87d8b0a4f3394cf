package measure

import "math"

// Spread is the range of the values of some windows.
type Spread struct {
	Lo, Hi float64 // of the windows with a value
	Empty  int     // windows without a value
}

// SpreadOf returns the range of values; NaN: no data in that window. zeroIsNoData says that 0 means
// that nothing happened (throughput, latency); otherwise zeros agree with zeros (errors.ratio).
func SpreadOf(values []float64, zeroIsNoData bool) Spread {
	s := Spread{Lo: math.Inf(1), Hi: math.Inf(-1)}
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 || (v == 0 && zeroIsNoData) {
			s.Empty++
			continue
		}
		s.Lo, s.Hi = min(s.Lo, v), max(s.Hi, v)
	}
	return s
}

// Within reports whether all windows have a value and the largest is at most 1+within times the
// smallest. Windows exactly at the limit are within it whatever the last bit of the product is.
func (s Spread) Within(within float64) bool {
	return s.Empty == 0 && s.Hi <= s.Lo*(1+within)*(1+1e-12)
}
