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
	c := new(constant)
	if !(rate > 0) {
		return &computed{due: c.due}
	}
	mantissa, exponent := math.Frexp(min(rate, highestRate))
	c.per = uint64(math.Ldexp(mantissa, 53)) // 2⁵² … 2⁵³
	c.shift = uint(53 - exponent)            // rate = per / 2^shift, shift >= 0
	return &computed{due: c.due}
}

// constant has the rate per/2^shift; per 0 means no arrivals.
type constant struct {
	per   uint64
	shift uint
}

// due returns k·10⁹·2^shift / per, rounded. It returns false beyond the 292 years that an int64 of
// nanoseconds spans.
func (c *constant) due(k int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(k), 1e9)
	// A quotient below 2⁶³ needs a numerator below 2⁶³·per < 2¹¹⁶: a due time whose shift exceeds
	// 128 bits is too late.
	if c.per == 0 || (hi|lo) != 0 && bitLen(hi, lo)+c.shift > 117 {
		return 0, false
	}
	if c.shift >= 64 {
		hi, lo = lo<<(c.shift-64), 0
	} else {
		hi, lo = hi<<c.shift|lo>>(64-c.shift), lo<<c.shift
	}
	lo, carry := bits.Add64(lo, c.per/2, 0)
	hi += carry
	if hi >= c.per {
		return 0, false
	}
	q, _ := bits.Div64(hi, lo, c.per)
	return int64(q), q <= math.MaxInt64
}

func bitLen(hi, lo uint64) uint {
	if hi != 0 {
		return uint(64 + bits.Len64(hi))
	}
	return uint(bits.Len64(lo))
}
