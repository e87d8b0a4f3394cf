package load

import (
	"math"
	"math/bits"
)

// highestRate, nine million arrivals per ns, keeps the arithmetic within 128 bits.
const highestRate = 1 << 53

// Constant returns a schedule whose arrival k is due at k/rate seconds, rounded to the nearest
// nanosecond: the first at 0, 900 in 30 s at 30/s. The time is computed from k and the exact value
// of rate in 128-bit integers, never by adding gaps. Rates above 10⁹ put several arrivals into one
// nanosecond. A rate that is not positive has no arrivals.
func Constant(rate float64) Schedule {
	if !(rate > 0) {
		return &computed{due: func(int64) (int64, bool) { return 0, false }}
	}
	mantissa, exponent := math.Frexp(min(rate, highestRate))
	per := uint64(math.Ldexp(mantissa, 53)) // 2⁵² … 2⁵³
	shift := uint(53 - exponent)            // rate = per / 2^shift, shift >= 0
	// due returns k·10⁹·2^shift / per, rounded, and false beyond the 292 years that an int64 of
	// nanoseconds spans.
	return &computed{due: func(k int64) (int64, bool) {
		hi, lo := bits.Mul64(uint64(k), 1e9)
		// A quotient below 2⁶³ needs a numerator below 2⁶³·per < 2¹¹⁶: a due time whose shift exceeds
		// 128 bits is too late.
		if (hi|lo) != 0 && bitLen(hi, lo)+shift > 117 {
			return 0, false
		}
		if shift >= 64 {
			hi, lo = lo<<(shift-64), 0
		} else {
			hi, lo = hi<<shift|lo>>(64-shift), lo<<shift
		}
		lo, carry := bits.Add64(lo, per/2, 0)
		if hi += carry; hi >= per {
			return 0, false
		}
		q, _ := bits.Div64(hi, lo, per)
		return int64(q), q <= math.MaxInt64
	}}
}

func bitLen(hi, lo uint64) uint {
	if hi != 0 {
		return uint(64 + bits.Len64(hi))
	}
	return uint(bits.Len64(lo))
}
