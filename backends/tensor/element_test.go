package tensor

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestAppendElement(t *testing.T) {
	for _, c := range []struct {
		t    DataType
		in   []any
		want string // hex, or "!" and words of the error
	}{
		{FP16, []any{json.Number("1.0"), json.Number("65504"), json.Number("1e-8")}, "003cff7b0000"},
		{FP16, []any{1.0, 65504.0, 1e-8}, "003cff7b0000"},
		{BF16, []any{json.Number("1.0"), json.Number("65504"), json.Number("1e-8")}, "803f80472c32"},
		{FP16, []any{1e6}, "!1e+06 FP16 out of range"},
		{FP16, []any{json.Number("1e6")}, "!1e6 FP16 out of range"},
		{FP16, []any{65519.0, 6e-8, math.Inf(-1), math.Copysign(0, -1)}, "ff7b010000fc0080"},
		{FP16, []any{65520.0}, "!out of range"},
		{FP16, []any{1 + 1.0/2048, 1 + 3.0/2048}, "003c023c"}, // ties to even
		{BF16, []any{math.MaxFloat64}, "!out of range"},
		{BF16, []any{math.NaN()}, "c07f"},
		{FP32, []any{json.Number("0.1"), int64(3), uint64(4)}, "cdcccc3d0000404000008040"},
		{FP32, []any{1e39}, "!1e+39 FP32"},
		{FP64, []any{json.Number("0.1")}, "9a9999999999b93f"},
		{FP64, []any{json.Number("1e400")}, "!1e400"},
		{FP64, []any{json.Number("nan")}, "!nan not a number"},
		{FP64, []any{"1"}, `!"1" is a string, not a number`},
		{Int32, []any{json.Number("1.84")}, "!1.84 INT32 not a whole number"},
		{Int32, []any{1.84}, "!1.84 INT32 not a whole number"},
		{Int32, []any{json.Number("1.0"), 2.0, json.Number("1e3"), json.Number("-0.0")}, "0100000002000000e803000000000000"},
		{Int32, []any{json.Number("2147483647"), json.Number("-2147483648")}, "ffffff7f00000080"},
		{Int32, []any{json.Number("2147483648")}, "!2147483648 out of range"},
		{Int8, []any{int64(-128), int64(127)}, "807f"},
		{Int8, []any{int64(-129)}, "!-129 INT8"},
		{Int16, []any{int64(-2)}, "feff"},
		{Uint8, []any{int64(255)}, "ff"},
		{Uint8, []any{int64(-1)}, "!-1 UINT8"},
		{Uint8, []any{true}, "!true is a bool, not a whole number"},
		{Uint16, []any{json.Number("65536")}, "!65536"},
		{Uint64, []any{json.Number("18446744073709551615"), uint64(math.MaxUint64)}, "ffffffffffffffffffffffffffffffff"},
		{Uint64, []any{json.Number("18446744073709551615.0")}, "ffffffffffffffff"},
		{Uint64, []any{json.Number("18446744073709551616")}, "!out of range"},
		{Uint64, []any{json.Number("18446744073709551616.0")}, "!out of range"},
		{Uint64, []any{math.Ldexp(1, 64)}, "!out of range"},
		{Int64, []any{json.Number("9007199254740993"), json.Number("9007199254740993.0")}, "01000000000020000100000000002000"},
		{Int64, []any{int64(math.MinInt64), json.Number("-9223372036854775808")}, "00000000000000800000000000000080"},
		{Int64, []any{json.Number("1e999999999")}, "!out of range"},
		{Int64, []any{json.Number("1e-999999999")}, "!not a whole number"},
		{Int64, []any{json.Number("abc")}, "!abc is not a number"},
		{Bool, []any{true, false}, "0100"},
		{Bool, []any{int64(1)}, "!1 is a number, not a bool"},
		{Bool, []any{json.Number("1")}, "!number, not a bool"},
		{Bytes, []any{"ab", "", []byte{0xff}}, "0200000061620000000001000000ff"},
		{Bytes, []any{json.Number("7")}, "!number, not a string"},
		{Bytes, []any{nil}, "!null"},
		{"FP99", []any{1.0}, "!unknown datatype FP99"},
	} {
		got, failed := []byte(nil), ""
		for _, v := range c.in {
			out, err := AppendElement(got, c.t, v)
			if err != nil {
				failed = err.Error()
				break
			}
			got = out
		}
		words, wantsError := strings.CutPrefix(c.want, "!")
		switch {
		case !wantsError && failed != "":
			t.Errorf("%s %v: %s", c.t, c.in, failed)
		case !wantsError && hex.EncodeToString(got) != c.want:
			t.Errorf("%s %v: got %x, want %s", c.t, c.in, got, c.want)
		case wantsError && failed == "":
			t.Errorf("%s %v: accepted as %x", c.t, c.in, got)
		case wantsError && !hasAll(failed, words):
			t.Errorf("%s %v: %q does not say %q", c.t, c.in, failed, words)
		}
	}
}

// hasAll reports whether text has each word of words, or all of them as one phrase.
func hasAll(text, words string) bool {
	if strings.Contains(text, words) {
		return true
	}
	for _, w := range strings.Fields(words) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// Every 16-bit pattern survives the way to float64 and back, so widening and narrowing agree over
// the whole format.
func TestNarrowRoundTrip(t *testing.T) {
	for _, f := range []narrow{fp16, bf16} {
		for i := range 1 << 16 {
			v := f.float64(uint16(i))
			got, infinite := f.bits(v)
			if math.IsNaN(v) {
				if !math.IsNaN(f.float64(got)) {
					t.Fatalf("%v: NaN %04x became %04x", f, i, got)
				}
				continue
			}
			if got != uint16(i) || infinite && !math.IsInf(v, 0) {
				t.Fatalf("%v: %04x → %g → %04x (infinite %v)", f, i, v, got, infinite)
			}
		}
	}
	for i := range 1 << 16 { // a bfloat is the upper half of a float32
		want := float64(math.Float32frombits(uint32(i) << 16))
		if got := bf16.float64(uint16(i)); got != want && !math.IsNaN(want) {
			t.Fatalf("bf16 %04x: got %g, want %g", i, got, want)
		}
	}
}

func TestAppendNumberDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() {
		buf, _ = AppendNumber(buf[:0], Int32, []byte("-123456"))
		buf, _ = AppendNumber(buf, FP32, []byte("1.25e-3"))
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzAppendNumber(f *testing.F) {
	for _, s := range []string{"0", "-1", "1.0", "1e3", "18446744073709551615", "1e-400", "0x1p4", "", "1e999999999", "00.0e1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range DataTypes() {
			out, err := AppendNumber(nil, d, []byte(text))
			if err == nil && len(out) != d.Size() {
				t.Errorf("%s %q: %d bytes", d, text, len(out))
			}
			if err != nil && len(out) != 0 {
				t.Errorf("%s %q: %d bytes with an error", d, text, len(out))
			}
		}
	})
}
