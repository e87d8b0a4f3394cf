package tensor

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
)

// appendNumber appends the element that text, a JSON number, means. Integers are exact over
// their whole range, however they are written (1e3, 18446744073709551615.0); text does not escape.
func appendNumber(dst []byte, t DataType, text string) ([]byte, error) {
	switch kindOf(t) {
	case whole:
		return appendWholeText(dst, t, text)
	case float:
		return appendFloatText(dst, t, text)
	}
	return dst, misfit(t, literal(strings.Clone(text)), "is a number, not "+kindOf(t).word())
}

func appendWholeText(dst []byte, t DataType, text string) ([]byte, error) {
	digits, negative := strings.CutPrefix(text, "-")
	size, err := strconv.ParseUint(digits, 10, 64)
	if err == nil {
		if out, ok := appendInteger(dst, t, negative, size); ok {
			return out, nil
		}
	}
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return dst, misfit(t, literal(strings.Clone(text)), outOfRange)
	}
	return appendFraction(dst, t, strings.Clone(text))
}

// literal prints without quotes in an error.
type literal string

// appendFraction takes 1.0 and 1e3. It parses the float first, so that an exponent of a million
// costs nothing.
func appendFraction(dst []byte, t DataType, text string) ([]byte, error) {
	near, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return dst, misfit(t, literal(text), "is not a number")
	}
	if near > 1<<64 || near < -(1<<64) {
		return dst, misfit(t, literal(text), outOfRange)
	}
	if near > -1 && near < 1 {
		if mantissa, _, _ := strings.Cut(strings.ToLower(text), "e"); strings.Trim(mantissa, "+-0.") == "" {
			return appendBits(dst, 0, t.Size()), nil
		}
		return dst, misfit(t, literal(text), notWhole)
	}
	exact, ok := new(big.Rat).SetString(text)
	if !ok {
		return dst, misfit(t, literal(text), "is not a number")
	}
	if !exact.IsInt() {
		return dst, misfit(t, literal(text), notWhole)
	}
	size := new(big.Int).Abs(exact.Num())
	if !size.IsUint64() {
		return dst, misfit(t, literal(text), outOfRange)
	}
	out, ok := appendInteger(dst, t, exact.Sign() < 0, size.Uint64())
	return fitted(out, ok, t, literal(text))
}

func appendFloatText(dst []byte, t DataType, text string) ([]byte, error) {
	width := 64
	if t == FP32 {
		width = 32 // rounded once, from the decimal
	}
	v, err := strconv.ParseFloat(text, width)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return dst, misfit(t, literal(strings.Clone(text)), outOfRange)
	case err != nil || !numeric(text):
		return dst, misfit(t, literal(strings.Clone(text)), "is not a number")
	}
	out, ok := appendFloat(dst, t, v)
	if !ok {
		return dst, misfit(t, literal(strings.Clone(text)), outOfRange)
	}
	return out, nil
}

// numeric refuses what ParseFloat takes and JSON does not have: inf, nan, hexadecimal, underscores.
func numeric(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9', c == '+', c == '-', c == '.', c == 'e', c == 'E':
		default:
			return false
		}
	}
	return true
}
