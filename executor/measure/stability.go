package measure

import "math"

// Track holds one metric's value in each window, oldest first; NaN: no data in that window.
type Track struct {
	Values []float64
	// ZeroIsNoData says that 0 means that nothing happened (throughput, latency), which is never
	// stable. Otherwise zeros agree with zeros only (errors.ratio).
	ZeroIsNoData bool
}

// Stable reports whether the last need windows agree: for every track the largest value is at most
// 1+within times the smallest. Fewer windows, no tracks, or a window without data are not stable.
func Stable(tracks []Track, within float64, need int) bool {
	for _, t := range tracks {
		if !t.stable(within, need) {
			return false
		}
	}
	return len(tracks) > 0
}

func (t Track) stable(within float64, need int) bool {
	if need < 1 || len(t.Values) < need {
		return false
	}
	s := t.Spread(need)
	// Windows exactly at the limit are stable whatever the last bit of the product is.
	return s.Empty == 0 && s.Hi <= s.Lo*(1+within)*(1+1e-12)
}

// Spread is the range of the values of some windows.
type Spread struct {
	Lo, Hi float64 // of the windows with a value
	Empty  int     // windows without a value
}

// Spread returns the range over the last n windows, which must exist.
func (t Track) Spread(n int) Spread {
	s := Spread{Lo: math.Inf(1), Hi: math.Inf(-1)}
	for _, v := range t.Values[len(t.Values)-n:] {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 || (v == 0 && t.ZeroIsNoData) {
			s.Empty++
			continue
		}
		s.Lo, s.Hi = min(s.Lo, v), max(s.Hi, v)
	}
	return s
}
