package backends

import "math"

// Share is a share of all requests, chosen by their numbers and spread evenly over them; the first is always in it. The
// zero value is all of them.
type Share uint64

// ShareOf is the share for a ratio above 0.
func ShareOf(ratio float64) Share {
	if ratio >= 1 {
		return 0
	}
	return Share(max(ratio*math.MaxUint64, 1))
}

// Has reports whether request n is in the share: the multiples of the golden ratio, modulo 1, are spread more evenly than
// any others (Weyl), whatever the period of the data.
func (s Share) Has(n uint64) bool { return s == 0 || n*0x9e3779b97f4a7c15 < uint64(s) }
