package tensor

import "math"

// narrow is a float format of 16 bits: sign, exponent, mantissa.
type narrow struct{ exponent, mantissa uint }

var (
	fp16 = narrow{exponent: 5, mantissa: 10}
	bf16 = narrow{exponent: 8, mantissa: 7}
)

// bits rounds v to the format, to nearest, ties to even. infinite says that v is finite and its
// rounded form is not.
func (f narrow) bits(v float64) (bits uint16, infinite bool) {
	raw := math.Float64bits(v)
	sign := uint16(raw>>63) << 15
	top := uint64(1)<<f.exponent - 1 // exponent field of infinities and NaNs
	switch field := raw >> 52 & 0x7ff; field {
	case 0x7ff:
		out := top << f.mantissa
		if raw<<12 != 0 {
			out |= 1 << (f.mantissa - 1)
		}
		return sign | uint16(out), false
	case 0: // below every subnormal of the format
		return sign, false
	default:
		out := f.round(raw&(1<<52-1)|1<<52, int(field)-1023)
		return sign | uint16(out), out >= top<<f.mantissa
	}
}

// round gives exponent and mantissa fields of significand * 2^(exponent-52). A carry out of the
// mantissa runs into the exponent field, as it should.
func (f narrow) round(significand uint64, exponent int) uint64 {
	field := exponent + 1<<(f.exponent-1) - 1
	if field >= 1<<f.exponent {
		return (1<<f.exponent - 1) << f.mantissa
	}
	shift := 52 - f.mantissa
	if field <= 0 { // subnormal: the hidden bit becomes an ordinary one
		shift += uint(1 - field)
		if shift > 54 {
			return 0
		}
		field = 0
	} else {
		field--
	}
	kept, rest, half := significand>>shift, significand&(1<<shift-1), uint64(1)<<(shift-1)
	if rest > half || rest == half && kept&1 == 1 {
		kept++
	}
	return uint64(field)<<f.mantissa + kept
}

// float64 returns the value of bits.
func (f narrow) float64(bits uint16) float64 {
	mantissa := float64(bits & (1<<f.mantissa - 1))
	field := int(bits >> f.mantissa & (1<<f.exponent - 1))
	bias := 1<<(f.exponent-1) - 1
	var v float64
	switch {
	case field == 1<<f.exponent-1 && mantissa != 0:
		return math.NaN()
	case field == 1<<f.exponent-1:
		v = math.Inf(1)
	case field == 0:
		v = math.Ldexp(mantissa, 1-bias-int(f.mantissa))
	default:
		v = math.Ldexp(mantissa+float64(uint(1)<<f.mantissa), field-bias-int(f.mantissa))
	}
	if bits>>15 != 0 {
		return math.Copysign(v, -1)
	}
	return v
}
