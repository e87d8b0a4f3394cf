package tensor

import (
	"bytes"
	"encoding/binary"
	"fmt"
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
		return fmt.Appendf(dst, "output %s datatype %s, want %s", name, got.Type, want.Type)
	case !slices.Equal(got.Shape, want.Shape):
		return fmt.Appendf(dst, "output %s shape %s, want %s", name,
			AppendShape(nil, got.Shape), AppendShape(nil, want.Shape))
	case bytes.Equal(got.Data, want.Data):
		return dst
	case want.Type == Bytes:
		return appendBytesMismatch(dst, name, got.Data, want.Data)
	case len(got.Data) != len(want.Data) || len(want.Data)%max(want.Type.Size(), 1) != 0:
		return fmt.Appendf(dst, "output %s has %d bytes, want %d bytes", name, len(got.Data), len(want.Data))
	}
	i := firstDifference(got, want, relative, absolute)
	if i < 0 {
		return dst
	}
	at := i * want.Type.Size()
	return fmt.Appendf(dst, "output %s [%d] is %s, want %s", name, i,
		AppendValue(nil, want.Type, got.Data[at:]), AppendValue(nil, want.Type, want.Data[at:]))
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
		if !bytes.Equal(g, w) &&
			!(tolerant && near(FloatAt(want.Type, g), FloatAt(want.Type, w), relative, absolute)) {
			return i
		}
	}
	return -1
}

func near(got, want, relative, absolute float64) bool {
	return got == want || math.IsNaN(got) && math.IsNaN(want) ||
		!math.IsInf(got, 0) && !math.IsInf(want, 0) && math.Abs(got-want) <= absolute+relative*math.Abs(want)
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
func appendBytesMismatch(dst []byte, name string, got, want []byte) []byte {
	for i := 0; ; i++ {
		one, restGot, okGot := CutElement(got)
		two, restWant, okWant := CutElement(want)
		if !okGot || !okWant || !bytes.Equal(one, two) {
			return fmt.Appendf(dst, "output %s [%d] is %s, want %s", name, i,
				quoted(one, okGot), quoted(two, okWant))
		}
		got, want = restGot, restWant
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

// CountStrings counts the elements of the raw form of BYTES. whole is false if the last one is truncated.
func CountStrings(b []byte) (n int64, whole bool) {
	for ; len(b) > 0; n++ {
		_, rest, ok := CutElement(b)
		if !ok {
			return n, false
		}
		b = rest
	}
	return n, true
}

const shownBytes = 40 // of each string in a note

func quoted(element []byte, ok bool) string {
	switch {
	case !ok:
		return "no whole string"
	case len(element) > shownBytes:
		return fmt.Sprintf("%q… (%d bytes)", element[:shownBytes], len(element))
	}
	return strconv.Quote(string(element))
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
