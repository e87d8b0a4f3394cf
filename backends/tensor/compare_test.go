package tensor

import (
	"math"
	"testing"
)

func array(t *testing.T, d DataType, shape []int64, v ...any) *Array {
	t.Helper()
	out := &Array{Type: d, Shape: shape}
	for _, e := range v {
		var err error
		if out.Data, err = AppendElement(out.Data, d, e); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestAppendMismatch(t *testing.T) {
	one := []int64{1}
	two := []int64{2}
	nan := math.NaN()
	other := &Array{Type: FP32, Shape: one, Data: []byte{1, 0, 0xc0, 0x7f}} // a NaN with other bits
	for _, c := range []struct {
		name      string
		got, want *Array
		rel, abs  float64
		text      string
	}{
		{"equal", array(t, Int32, two, int64(1), int64(2)), array(t, Int32, two, int64(1), int64(2)), 0, 0, ""},
		{"int", array(t, Int32, two, int64(1), int64(3)), array(t, Int32, two, int64(1), int64(-2)), 0, 0, "output OUT [1] is 3, want -2"},
		{"tolerance is for floats", array(t, Int32, one, int64(3)), array(t, Int32, one, int64(2)), 9, 9, "output OUT [0] is 3, want 2"},
		{"type", array(t, Int32, one, int64(1)), array(t, FP32, one, 1.0), 0, 0, "output OUT datatype INT32, want FP32"},
		{"shape", array(t, Int32, two, int64(1), int64(2)), array(t, Int32, []int64{1, 2}, int64(1), int64(2)), 0, 0, "output OUT shape [2], want [1,2]"},
		{"short", array(t, Int32, two, int64(1)), array(t, Int32, two, int64(1), int64(2)), 0, 0, "output OUT has 4 bytes, want 8 bytes"},
		{"float exact", array(t, FP32, one, 1.0000001), array(t, FP32, one, 1.0), 0, 0, "output OUT [0] is 1.0000001, want 1"},
		{"relative", array(t, FP32, one, 1.001), array(t, FP32, one, 1.0), 0.01, 0, ""},
		{"relative, too far", array(t, FP64, one, 1.02), array(t, FP64, one, 1.0), 0.01, 0, "output OUT [0] is 1.02, want 1"},
		{"relative is of want", array(t, FP64, one, -100.0), array(t, FP64, one, 0.0), 1, 0, "output OUT [0] is -100, want 0"},
		{"absolute", array(t, FP16, one, 0.001), array(t, FP16, one, 0.0), 0, 0.01, ""},
		{"bf16", array(t, BF16, two, 1.0, 2.0), array(t, BF16, two, 1.0, 4.0), 0.1, 0, "output OUT [1] is 2, want 4"},
		{"NaN, no tolerance", other, array(t, FP32, one, nan), 0, 0, "output OUT [0] is NaN, want NaN"},
		{"NaN, tolerance", other, array(t, FP32, one, nan), 0.1, 0, ""},
		{"NaN for a number", array(t, FP32, one, nan), array(t, FP32, one, 1.0), 1, 1, "output OUT [0] is NaN, want 1"},
		{"infinity", array(t, FP32, one, math.Inf(1)), array(t, FP32, one, 1.0), 1, 1e9, "output OUT [0] is +Inf, want 1"},
		{
			"infinity within an infinite tolerance", array(t, FP64, one, math.Inf(1)), array(t, FP64, one, 1e308), 10, 0,
			"output OUT [0] is +Inf, want 1e+308",
		},
		{"minus zero, exact", array(t, FP32, one, math.Copysign(0, -1)), array(t, FP32, one, 0.0), 0, 0, "output OUT [0] is -0, want 0"},
		{"strings", array(t, Bytes, two, "a", "bc"), array(t, Bytes, two, "a", "bd"), 0, 0, `output OUT [1] is "bc", want "bd"`},
		{"strings, one missing", array(t, Bytes, two, "a"), array(t, Bytes, two, "a", "b"), 0, 0, `output OUT [1] is no whole string, want "b"`},
		{"strings, cut", &Array{Type: Bytes, Shape: one, Data: []byte{9, 0, 0, 0, 'x'}}, array(t, Bytes, one, "x"), 0, 0, `output OUT [0] is no whole string, want "x"`},
		{"empty", array(t, FP32, []int64{0}), array(t, FP32, []int64{0}), 0, 0, ""},
	} {
		if got := string(AppendMismatch(nil, "OUT", c.got, c.want, c.rel, c.abs)); got != c.text {
			t.Errorf("%s: got %q, want %q", c.name, got, c.text)
		}
	}
}

func TestAppendMismatchDoesNotAllocate(t *testing.T) {
	a, b := array(t, FP32, []int64{2}, 1.0, 2.0), array(t, FP32, []int64{2}, 1.0, 2.00001)
	note := make([]byte, 0, 200)
	if n := testing.AllocsPerRun(100, func() {
		note = AppendMismatch(note[:0], "OUT", a, b, 0.01, 0)
		note = AppendMismatch(note[:0], "OUT", a, a, 0, 0)
	}); n != 0 || len(note) != 0 {
		t.Errorf("%v allocations, note %q", n, note)
	}
}

func FuzzAppendMismatch(f *testing.F) {
	f.Add("BYTES", []byte{1, 0, 0, 0, 'a'}, []byte{1, 0, 0, 0, 'b'})
	f.Add("FP16", []byte{0, 0x3c}, []byte{0, 0x40})
	f.Add("INT64", []byte{1, 2, 3}, []byte{1, 2, 4})
	f.Fuzz(func(t *testing.T, kind string, got, want []byte) {
		a := &Array{Type: DataType(kind), Data: got}
		b := &Array{Type: DataType(kind), Data: want}
		text := AppendMismatch(nil, "o", a, b, 0, 0)
		if (string(got) == string(want)) != (len(text) == 0) {
			t.Errorf("%s %x %x: %q", kind, got, want, text)
		}
	})
}
