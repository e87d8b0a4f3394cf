package tensor

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
)

// AppendMismatch appends to dst how the output called name differs from want: nothing when they are
// equal, and then it allocates nothing. Type, shape and bytes are compared. Floats may differ by
// absolute + relative*|want| when one of the two is not 0. A NaN equals any NaN when a tolerance is
// given, else only the same bits; an infinity equals only itself.
func AppendMismatch(dst []byte, name string, got, want *Array, relative, absolute float64) []byte {
	switch {
	case got.Type != want.Type:
		return appendPair(appendOutput(dst, name), "datatype ", string(got.Type), string(want.Type))
	case !slices.Equal(got.Shape, want.Shape):
		dst = AppendShape(append(appendOutput(dst, name), "shape "...), got.Shape)
		return AppendShape(append(dst, ", want "...), want.Shape)
	case bytes.Equal(got.Data, want.Data):
		return dst
	case want.Type == Bytes:
		return appendBytesMismatch(dst, name, got, want)
	case len(got.Data) != len(want.Data) || len(want.Data)%max(want.Type.Size(), 1) != 0:
		dst = strconv.AppendInt(append(appendOutput(dst, name), "has "...), int64(len(got.Data)), 10)
		return append(strconv.AppendInt(append(dst, " bytes, want "...), int64(len(want.Data)), 10),
			" bytes"...)
	}
	i := firstDifference(got, want, relative, absolute)
	if i < 0 {
		return dst
	}
	size := want.Type.Size()
	dst = appendIndex(appendOutput(dst, name), i)
	dst = AppendValue(append(dst, " is "...), want.Type, got.Data[i*size:])
	return AppendValue(append(dst, ", want "...), want.Type, want.Data[i*size:])
}

// firstDifference returns the index of the first element that differs, -1 when none does. Both hold
// whole elements and the same number of them.
func firstDifference(got, want *Array, relative, absolute float64) int {
	size := want.Type.Size()
	if size <= 0 {
		return 0
	}
	tolerant := kindOf(want.Type) == float && (relative != 0 || absolute != 0)
	for i := 0; (i+1)*size <= len(want.Data); i++ {
		g, w := got.Data[i*size:(i+1)*size], want.Data[i*size:(i+1)*size]
		if bytes.Equal(g, w) ||
			tolerant && near(FloatAt(want.Type, g), FloatAt(want.Type, w), relative, absolute) {
			continue
		}
		return i
	}
	return -1
}

func near(got, want, relative, absolute float64) bool {
	if math.IsNaN(got) || math.IsNaN(want) {
		return math.IsNaN(got) && math.IsNaN(want)
	}
	if math.IsInf(got, 0) || math.IsInf(want, 0) {
		return got == want
	}
	return math.Abs(got-want) <= absolute+relative*math.Abs(want)
}

// FloatAt returns the float of type t at the front of b.
func FloatAt(t DataType, b []byte) float64 {
	switch t {
	case FP16:
		return fp16.float64(binary.LittleEndian.Uint16(b))
	case BF16:
		return bf16.float64(binary.LittleEndian.Uint16(b))
	case FP32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// appendBytesMismatch finds the first string that differs; data without a whole element is reported as that.
func appendBytesMismatch(dst []byte, name string, got, want *Array) []byte {
	g, w := got.Data, want.Data
	for i := 0; ; i++ {
		one, restG, okG := CutElement(g)
		two, restW, okW := CutElement(w)
		if okG && okW && bytes.Equal(one, two) {
			g, w = restG, restW
			continue
		}
		dst = append(appendIndex(appendOutput(dst, name), i), " is "...)
		dst = appendQuoted(dst, one, okG)
		return appendQuoted(append(dst, ", want "...), two, okW)
	}
}

// CutElement cuts the first element off the raw form of BYTES; false: it is truncated.
func CutElement(b []byte) (element, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := binary.LittleEndian.Uint32(b)
	if uint64(n) > uint64(len(b)-4) {
		return nil, nil, false
	}
	return b[4 : 4+n], b[4+n:], true
}

const shownBytes = 40 // of each string in a note

func appendQuoted(dst, element []byte, ok bool) []byte {
	if !ok {
		return append(dst, "no whole string"...)
	}
	cut := element[:min(len(element), shownBytes)]
	dst = strconv.AppendQuote(dst, string(cut))
	if len(cut) < len(element) {
		dst = append(strconv.AppendInt(append(dst, "… ("...), int64(len(element)), 10), " bytes)"...)
	}
	return dst
}

// AppendValue appends the element at the front of b as JSON writes it, except for infinities, NaNs
// and BYTES. b holds at least one element.
func AppendValue(dst []byte, t DataType, b []byte) []byte {
	size := t.Size()
	if size <= 0 {
		return append(dst, '?')
	}
	switch kindOf(t) {
	case truthValue:
		return strconv.AppendBool(dst, b[0] != 0)
	case float:
		bits := 64
		if t == FP32 {
			bits = 32
		}
		return strconv.AppendFloat(dst, FloatAt(t, b), 'g', -1, bits)
	}
	var room [8]byte
	copy(room[:], b[:size])
	v := binary.LittleEndian.Uint64(room[:])
	switch t {
	case Uint8, Uint16, Uint32, Uint64:
		return strconv.AppendUint(dst, v, 10)
	}
	free := 64 - 8*size // above the sign
	return strconv.AppendInt(dst, int64(v<<free)>>free, 10)
}

func appendOutput(dst []byte, name string) []byte {
	return append(append(append(dst, "output "...), name...), ' ')
}

func appendPair(dst []byte, what, got, want string) []byte {
	dst = append(append(dst, what...), got...)
	return append(append(dst, ", want "...), want...)
}

func appendIndex(dst []byte, i int) []byte {
	return append(strconv.AppendInt(append(dst, '['), int64(i), 10), ']')
}

// AppendShape appends a shape as JSON writes it.
func AppendShape(dst []byte, shape []int64) []byte {
	dst = append(dst, '[')
	for i, d := range shape {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, d, 10)
	}
	return append(dst, ']')
}
