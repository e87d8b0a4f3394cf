package tensor

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
)

// AppendElement appends one element of type t, in the protocol's raw form, to dst. v is a bool,
// int64, uint64, float64, json.Number or string; BYTES take a string (or []byte) and get their
// 4-byte little-endian length in front. A value that t cannot hold exactly (out of range, a
// fraction for an integer, another kind of value) is an error; floats are rounded to nearest, ties
// to even, and refused when they would become infinite.
func AppendElement(dst []byte, t DataType, v any) ([]byte, error) {
	if t.Size() < 0 {
		return dst, fmt.Errorf("unknown datatype %s", t)
	}
	switch v := v.(type) {
	case json.Number:
		return appendNumber(dst, t, string(v))
	case string:
		if t == Bytes {
			return appendBytes(dst, v)
		}
	case []byte:
		if t == Bytes {
			return appendBytes(dst, v)
		}
	case bool:
		if t == Bool {
			return append(dst, truth(v)), nil
		}
	case int64:
		return AppendInteger(dst, t, v)
	case uint64:
		return appendSigned(dst, t, false, v, v)
	case float64:
		return AppendFloat(dst, t, v)
	}
	return dst, misfit(t, v, unlike(kindName(v), t))
}

// AppendFloat is AppendElement for a float64. It allocates only when it refuses.
func AppendFloat(dst []byte, t DataType, v float64) (_ []byte, err error) {
	why := ""
	switch kindOf(t) {
	case whole:
		dst, why = appendWhole(dst, t, v)
	case float:
		dst, why = appendFloat(dst, t, v)
	default:
		why = unlike(number, t)
	}
	if why != "" {
		err = misfit(t, v, why)
	}
	return dst, err
}

// AppendInteger is AppendElement for an int64. It allocates only when it refuses.
func AppendInteger(dst []byte, t DataType, v int64) ([]byte, error) {
	size := uint64(v)
	if v < 0 {
		size = -size
	}
	return appendSigned(dst, t, v < 0, size, v)
}

// appendSigned appends an integer, given also as sign and size, to a type of either kind.
func appendSigned[T int64 | uint64](
	dst []byte, t DataType, negative bool, size uint64, v T,
) (_ []byte, err error) {
	why := ""
	switch kindOf(t) {
	case whole:
		dst, why = appendInteger(dst, t, negative, size)
	case float:
		dst, why = appendFloat(dst, t, float64(v))
	default:
		why = unlike(number, t)
	}
	if why != "" {
		err = misfit(t, v, why)
	}
	return dst, err
}

// AppendNumber appends one element of type t written as a JSON number, or as Triton and Python
// write what JSON has no number for. It allocates only when it refuses.
func AppendNumber(dst []byte, t DataType, text []byte) ([]byte, error) {
	switch string(text) {
	case "NaN":
		return AppendElement(dst, t, math.NaN())
	case "Infinity":
		return AppendElement(dst, t, math.Inf(1))
	case "-Infinity":
		return AppendElement(dst, t, math.Inf(-1))
	}
	return appendNumber(dst, t, string(text))
}

// valueKind is the kind of value that a datatype takes.
type valueKind uint8

const (
	whole valueKind = iota
	float
	truthValue
	octets
)

func kindOf(t DataType) valueKind {
	switch t {
	case Bool:
		return truthValue
	case FP16, BF16, FP32, FP64:
		return float
	case Bytes:
		return octets
	}
	return whole
}

func (k valueKind) word() string {
	return [...]string{"a whole number", number, "a bool", "a string"}[k]
}

// number is the kind of value that numbers in all forms are.
const number = "a number"

// unlike is the reason why t does not take a kind of value.
func unlike(kind string, t DataType) string { return "is " + kind + ", not " + kindOf(t).word() }

// kindName returns the kind of a value that is no number.
func kindName(v any) string {
	switch v.(type) {
	case bool:
		return "a bool"
	case string, []byte:
		return "a string"
	case nil:
		return "null"
	}
	return fmt.Sprintf("a %T", v)
}

func misfit(t DataType, v any, why string) error {
	if s, ok := v.(string); ok {
		v = fmt.Sprintf("%.64q", s)
	}
	return fmt.Errorf("%v does not fit %s: it %s", v, t, why)
}

func truth(v bool) byte {
	if v {
		return 1
	}
	return 0
}

func appendBytes[T string | []byte](dst []byte, v T) ([]byte, error) {
	if uint64(len(v)) > math.MaxUint32 {
		const limit = uint32(math.MaxUint32)
		return dst, fmt.Errorf("a BYTES element of %d bytes is over the limit of %d", len(v), limit)
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(v)))
	return append(dst, v...), nil
}

// Reasons why a value does not fit.
const (
	notNumber  = "is not a number"
	notWhole   = "is not a whole number"
	outOfRange = "is out of range"
)

// appendWhole takes floats without a fraction (1.0), as JSON does not tell 1 from 1.0. Like the
// functions below it returns why v does not fit t, "" if it does.
func appendWhole(dst []byte, t DataType, v float64) (_ []byte, why string) {
	if v != math.Trunc(v) { // also NaN
		return dst, notWhole
	}
	if math.Abs(v) >= 1<<64 {
		return dst, outOfRange
	}
	return appendInteger(dst, t, v < 0, uint64(math.Abs(v)))
}

// appendInteger appends ±size.
func appendInteger(dst []byte, t DataType, negative bool, size uint64) (_ []byte, why string) {
	width := uint(t.Size()) * 8
	limit := uint64(1)<<(width-1) - 1 // signed
	switch t {
	case Uint8, Uint16, Uint32, Uint64:
		limit = 1<<(width-1)<<1 - 1
		if negative {
			limit = 0
		}
	default:
		if negative {
			limit++
		}
	}
	if size > limit {
		return dst, outOfRange
	}
	if negative {
		size = -size
	}
	return AppendBits(dst, size, t.Size()), ""
}

// AppendBits appends the low size bytes of bits, little-endian.
func AppendBits(dst []byte, bits uint64, size int) []byte {
	switch size {
	case 1:
		return append(dst, byte(bits))
	case 2:
		return binary.LittleEndian.AppendUint16(dst, uint16(bits))
	case 4:
		return binary.LittleEndian.AppendUint32(dst, uint32(bits))
	}
	return binary.LittleEndian.AppendUint64(dst, bits)
}

// appendFloat appends v rounded to t. A finite v that would become infinite does not fit.
func appendFloat(dst []byte, t DataType, v float64) (_ []byte, why string) {
	var bits uint64
	infinite := false
	switch t {
	case FP64:
		bits = math.Float64bits(v)
	case FP32:
		single := float32(v)
		bits, infinite = uint64(math.Float32bits(single)), math.IsInf(float64(single), 0) && !math.IsInf(v, 0)
	default:
		format := fp16
		if t == BF16 {
			format = bf16
		}
		var half uint16
		half, infinite = format.bits(v)
		bits = uint64(half)
	}
	if infinite {
		return dst, outOfRange
	}
	return AppendBits(dst, bits, t.Size()), ""
}

// TextArray returns one string as an array of one element.
func TextArray(text []byte) Array {
	data := append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
	return Array{Type: Bytes, Shape: []int64{1}, Data: data}
}
