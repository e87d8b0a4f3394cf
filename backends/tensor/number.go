package tensor

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// appendNumber appends the element that text, a JSON number, means. Integers are exact over
// their whole range, however they are written (1e3, 18446744073709551615.0); text does not escape.
func appendNumber(dst []byte, t DataType, text string) (_ []byte, err error) {
	why := ""
	switch kindOf(t) {
	case whole:
		dst, why = appendWholeText(dst, t, text)
	case float:
		dst, why = appendFloatText(dst, t, text)
	default:
		why = unlike(number, t)
	}
	if why != "" {
		err = misfit(t, literal(strings.Clone(text)), why)
	}
	return dst, err
}

func appendWholeText(dst []byte, t DataType, text string) (_ []byte, why string) {
	digits, negative := strings.CutPrefix(text, "-")
	size, err := strconv.ParseUint(digits, 10, 64)
	switch {
	case err == nil:
		return appendInteger(dst, t, negative, size)
	case errors.Is(err, strconv.ErrRange):
		return dst, outOfRange
	}
	return appendFraction(dst, t, strings.Clone(text))
}

// literal prints without quotes in an error.
type literal string

// appendFraction takes 1.0 and 1e3. It parses the float first, so that an exponent of a million
// costs nothing.
func appendFraction(dst []byte, t DataType, text string) (_ []byte, why string) {
	near, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return dst, notNumber
	case math.Abs(near) > 1<<64:
		return dst, outOfRange
	case math.Abs(near) < 1:
		if mantissa, _, _ := strings.Cut(strings.ToLower(text), "e"); strings.Trim(mantissa, "+-0.") == "" {
			return AppendBits(dst, 0, t.Size()), ""
		}
		return dst, notWhole
	}
	exact, ok := new(big.Rat).SetString(text)
	if !ok {
		return dst, notNumber
	}
	size := new(big.Int).Abs(exact.Num())
	switch {
	case !exact.IsInt():
		return dst, notWhole
	case !size.IsUint64():
		return dst, outOfRange
	}
	return appendInteger(dst, t, exact.Sign() < 0, size.Uint64())
}

func appendFloatText(dst []byte, t DataType, text string) (_ []byte, why string) {
	width := 64
	if t == FP32 {
		width = 32 // rounded once, from the decimal
	}
	v, err := strconv.ParseFloat(text, width)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return dst, outOfRange
	case err != nil || strings.Trim(text, "0123456789+-.eE") != "": // inf, nan, hexadecimal, underscores
		return dst, notNumber
	}
	return appendFloat(dst, t, v)
}
