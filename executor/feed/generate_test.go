package feed

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/scenario"
)

func generated(g *scenario.Generate, rows int) *scenario.Dataset {
	return &scenario.Dataset{
		Name: "main", Generate: g, Count: rows, Order: "sequential", AtEnd: "repeat",
		StringLength: scenario.Dist{Shape: "constant", Mean: 8},
	}
}

func constantDist(v float64) *scenario.Dist { return &scenario.Dist{Shape: "constant", Mean: v} }

// TestRandomValues: every datatype gets valid, finite values in its range, the same for the same seed.
func TestRandomValues(t *testing.T) {
	for _, typ := range tensor.DataTypes() {
		sig := signature(false, 0, port("x", typ, 32))
		d := generated(&scenario.Generate{Default: "random"}, 4)
		a, diags := Build(d, &scenario.Request{Batch: 1}, sig, 1)
		if len(diags) > 0 {
			t.Fatalf("%s: %v", typ, diags)
		}
		b, _ := Build(d, &scenario.Request{Batch: 1}, sig, 1)
		if diff := cmp.Diff(a.Requests, b.Requests); diff != "" {
			t.Errorf("%s: the same seed gave something else: %s", typ, diff)
		}
		c, _ := Build(d, &scenario.Request{Batch: 1}, sig, 2)
		if cmp.Equal(a, c) {
			t.Errorf("%s: another seed gave the same", typ)
		}
		if len(a.Requests) != 4 || cmp.Equal(a.Requests[0].Inputs, a.Requests[1].Inputs) {
			t.Errorf("%s: %d rows, the first two equal: %v",
				typ, len(a.Requests), cmp.Equal(a.Requests[0].Inputs, a.Requests[1].Inputs))
		}
		data := a.Requests[0].Inputs[0].Data
		for i := range 32 {
			switch typ {
			case tensor.Bool:
				if data[i] > 1 {
					t.Errorf("BOOL byte %d", data[i])
				}
			case tensor.Int8, tensor.Uint8:
				if data[i] > 100 {
					t.Errorf("%s %d", typ, data[i])
				}
			case tensor.FP32:
				if v := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])); !(v >= 0 && v <= 1) {
					t.Errorf("FP32 %v", v)
				}
			case tensor.Bytes:
				if n := binary.LittleEndian.Uint32(data[12*i:]); n != 8 {
					t.Errorf("a string of %d bytes", n)
				}
			}
		}
	}
}

// TestGenerators: each form for an INT32 input of 6 elements (BYTES for strings).
func TestGenerators(t *testing.T) {
	ints := port("x", tensor.Int32, 6)
	for _, c := range []struct {
		name  string
		g     scenario.Generator
		port  backends.Port
		check func(i int, v int32) bool
		want  string
	}{
		{
			"constant",
			scenario.Generator{Constant: []any{int64(7)}},
			ints,
			func(_ int, v int32) bool { return v == 7 }, "",
		},
		{
			"list repeated",
			scenario.Generator{Constant: []any{int64(1), int64(2)}},
			ints,
			func(i int, v int32) bool { return v == int32(1+i%2) }, "",
		},
		{
			"list that is too long",
			scenario.Generator{Constant: []any{int64(1), int64(2), int64(3), int64(4), int64(5), int64(6), int64(7)}},
			ints, nil, "a list of 7 elements does not fill the shape [6], which takes 6",
		},
		{
			"list that does not fill",
			scenario.Generator{Constant: []any{int64(1), int64(2), int64(3), int64(4)}},
			ints, nil, "a list of 4 elements does not fill the shape [6], which takes 6",
		},
		{
			"no integer in between",
			scenario.Generator{Dist: &scenario.Dist{Shape: "uniform", Min: 0.2, Max: 0.8, HasMin: true, HasMax: true}},
			ints, nil, "there is no whole number from 0.2 to 0.8",
		},
		{"zero", scenario.Generator{Word: "zero"}, ints, func(_ int, v int32) bool { return v == 0 }, ""},
		{
			"uniform integers",
			scenario.Generator{Dist: &scenario.Dist{Shape: "uniform", Min: 3, Max: 5, HasMin: true, HasMax: true}},
			ints,
			func(_ int, v int32) bool { return v >= 3 && v <= 5 }, "",
		},
		{
			"one of",
			scenario.Generator{OneOf: []any{int64(4), int64(9)}},
			ints,
			func(_ int, v int32) bool { return v == 4 || v == 9 }, "",
		},
		{"float into an integer", scenario.Generator{Constant: []any{1.5}}, ints, nil, "element 0"},
		{"text into an integer", scenario.Generator{Constant: []any{"x"}}, ints, nil, "element 0"},
		{
			"number for strings",
			scenario.Generator{Dist: constantDist(1)},
			port("x", tensor.Bytes, 6), nil,
			"cannot be drawn for strings",
		},
		{
			"open shape",
			scenario.Generator{Word: "zero"},
			port("x", tensor.Int32, -1), nil,
			"say which under `shapes`",
		},
	} {
		c.g.Input = "x"
		d := generated(&scenario.Generate{Default: "random", Inputs: []scenario.Generator{c.g}}, 3)
		built, diags := Build(d, &scenario.Request{Batch: 1}, signature(false, 0, c.port), 0)
		if c.want != "" {
			if len(diags) == 0 || !strings.Contains(diags[0].Summary, c.want) {
				t.Errorf("%s: %v, want %q", c.name, diags, c.want)
			}
			continue
		}
		if len(diags) > 0 {
			t.Errorf("%s: %v", c.name, diags)
			continue
		}
		for _, r := range built.Requests {
			for i := range 6 {
				if v := int32(binary.LittleEndian.Uint32(r.Inputs[0].Data[4*i:])); !c.check(i, v) {
					t.Errorf("%s: element %d is %d", c.name, i, v)
				}
			}
		}
	}
}

// TestWholeRange: integers are drawn from all that their datatype holds.
func TestWholeRange(t *testing.T) {
	for typ, limits := range map[tensor.DataType][2]float64{
		tensor.Uint8: {0, math.MaxUint8}, tensor.Int8: {math.MinInt8, math.MaxInt8},
		tensor.Uint16: {0, math.MaxUint16}, tensor.Int16: {math.MinInt16, math.MaxInt16},
		tensor.Uint32: {0, math.MaxUint32}, tensor.Int32: {math.MinInt32, math.MaxInt32},
		tensor.Uint64: {0, math.MaxUint64}, tensor.Int64: {math.MinInt64, math.MaxInt64},
	} {
		d := generated(&scenario.Generate{Inputs: []scenario.Generator{{
			Input: "x",
			Dist:  &scenario.Dist{Shape: "uniform", Min: limits[0], Max: limits[1], HasMin: true, HasMax: true},
		}}}, 1)
		built, diags := Build(d, &scenario.Request{Batch: 1}, signature(false, 0, port("x", typ, 1000)), 1)
		if len(diags) > 0 {
			t.Errorf("%s: %v", typ, diags)
			continue
		}
		data, top := built.Requests[0].Inputs[0].Data, map[byte]int{} // by the upper two bits
		for i := typ.Size() - 1; i < len(data); i += typ.Size() {
			top[data[i]>>6]++
		}
		for quarter := range byte(4) { // binomial, five standard deviations
			if n := top[quarter]; math.Abs(float64(n)-250) > 5*math.Sqrt(1000*0.25*0.75) {
				t.Errorf("%s: %d of 1000 in quarter %d", typ, n, quarter)
			}
		}
	}
}

// TestUnsignedConstants: an unsigned integer of 64 bits is sent as it is.
func TestUnsignedConstants(t *testing.T) {
	for _, g := range []scenario.Generator{
		{Constant: []any{uint64(math.MaxUint64)}}, {OneOf: []any{uint64(math.MaxUint64)}},
	} {
		g.Input = "x"
		d := generated(&scenario.Generate{Inputs: []scenario.Generator{g}}, 1)
		check(t, d, &scenario.Request{Batch: 1}, model(t, 0, "x:UINT64[2]"),
			"x[2]=18446744073709551615,18446744073709551615")
		check(t, d, &scenario.Request{Batch: 1}, model(t, 0, "x:INT64[2]"),
			"error: element 0: 18446744073709551615 does not fit INT64: it is out of range")
	}
}

// TestGeneratedFile: a generator's file is read as a file of that input is elsewhere.
func TestGeneratedFile(t *testing.T) {
	for _, c := range []struct{ model, file, want string }{
		{"x:INT32[2]", "\x01\x00\x00\x00\x02\x00\x00\x00", "x[2]=1,2; x[2]=1,2"},
		{"x:INT32[-1]", "\x01\x00\x00\x00\x02\x00\x00\x00", "x[2]=1,2; x[2]=1,2"},
		{"x:INT32[2]", npyFile("<i4", "False", "2,", "\x01\x00\x00\x00\x02\x00\x00\x00"), "x[2]=1,2; x[2]=1,2"},
		{"x:FP16[2]", npyFile("<i4", "False", "2,", "\x01\x00\x00\x00\x02\x00\x00\x00"), "x[2]=1,2; x[2]=1,2"},
		{"x:BYTES[1]", "hello\n", `x[1]="hello"; x[1]="hello"`},
		{"x:BYTES[-1]", "a\nb\n", `x[1]="a\nb\n"; x[1]="a\nb\n"`},
		{"x:BYTES[2]", "a\nb\n", `x[2]="a","b"; x[2]="a","b"`},
		{"x:BYTES[3]", "a\nb\n", `error: input "x" (BYTES): f: the shape takes 3 strings, one a line; 2 found`},
		{"x:INT32[2]", "12345", `error: input "x" (INT32): f: 5 bytes are no whole number of INT32`},
		{"x:INT32[3]", "12345678", `error: input "x" (INT32): f: shape [3] has 3 elements, 2 found`},
		{
			"x:INT8[2]", npyFile("<i4", "False", "1,", "\x00\x01\x00\x00"),
			`error: input "x" (INT8): f: [0]: 256 does not fit INT8`,
		},
		{"x:INT8[2]", format.NpyMagic, `error: input "x" (INT8): f: this is no NumPy file`},
	} {
		name := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(name, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		d := generated(&scenario.Generate{
			Inputs: []scenario.Generator{{Input: "x", File: &scenario.Path{Name: name}}},
		}, 2)
		check(t, d, &scenario.Request{Batch: 1}, model(t, 0, c.model), c.want)
	}
}

// TestDraw: mean and standard deviation of n = 200,000 draws lie within five standard errors.
func TestDraw(t *testing.T) {
	const n = 200_000
	for _, c := range []struct {
		d         scenario.Dist
		mean, std float64
	}{
		{scenario.Dist{Shape: "constant", Mean: 3}, 3, 0},
		{scenario.Dist{Shape: "uniform", Min: 2, Max: 6}, 4, 4 / math.Sqrt(12)},
		{scenario.Dist{Shape: "normal", Mean: 10, Std: 2}, 10, 2},
		{scenario.Dist{Shape: "exponential", Mean: 5}, 5, 5},
		{scenario.Dist{Shape: "lognormal", Mean: 5, Std: 2}, 5, 2},
		{scenario.Dist{Shape: "values", Values: []float64{1, 3}, Weights: []float64{3, 1}}, 1.5, math.Sqrt(0.75)},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		var sum, sq float64
		for range n {
			v := drawFrom(c.d, rng)
			sum += v
			sq += v * v
		}
		mean := sum / n
		std := math.Sqrt(max(sq/n-mean*mean, 0))
		if tol := 5*c.std/math.Sqrt(n) + 1e-9; math.Abs(mean-c.mean) > tol {
			t.Errorf("%s: mean %v, want %v ± %v", c.d.Shape, mean, c.mean, tol)
		}
		if math.Abs(std-c.std) > 0.03*c.std+1e-6 {
			t.Errorf("%s: std %v, want %v", c.d.Shape, std, c.std)
		}
	}
	for range 1000 {
		rng := rand.New(rand.NewPCG(3, 4))
		if v := drawFrom(scenario.Dist{
			Shape: "normal", Mean: 0, Std: 10, Min: -1, Max: 1, HasMin: true, HasMax: true,
		}, rng); v < -1 || v > 1 {
			t.Fatalf("%v is outside min and max", v)
		}
	}
}

func calls(n int) []*backends.Call {
	list := make([]*backends.Call, n)
	for i := range list {
		list[i] = &backends.Call{Row: uint32(i)}
	}
	return list
}

func rowsOf(c *Calls, n int) []uint32 {
	var t Turn
	var out []uint32
	for i := range uint64(n) {
		if !c.Next(int(i%3), i, &t) {
			break
		}
		out = append(out, t.Call.Row)
	}
	return out
}

func TestOrders(t *testing.T) {
	if diff := cmp.Diff([]uint32{0, 1, 2, 0, 1},
		rowsOf(NewCalls(calls(3), Sequential, false, 1, 0), 5)); diff != "" {
		t.Error(diff)
	}
	if got := rowsOf(NewCalls(calls(3), Sequential, true, 1, 0), 9); len(got) != 3 {
		t.Errorf("once gave %v", got)
	}
	a, b := rowsOf(NewCalls(calls(50), Shuffle, false, 1, 0),
		100), rowsOf(NewCalls(calls(50), Shuffle, false, 1, 0), 100)
	seen := make(map[uint32]bool)
	for _, r := range a[:50] {
		seen[r] = true
	}
	if !cmp.Equal(a, b) || len(seen) != 50 || !cmp.Equal(a[:50], a[50:]) {
		t.Errorf("shuffle is no repeated permutation: %v", a)
	}
	if cmp.Equal(a, rowsOf(NewCalls(calls(50), Shuffle, false, 2, 0), 100)) {
		t.Error("another seed shuffles alike")
	}
	counts := make([]int, 10)
	for _, r := range rowsOf(NewCalls(calls(10), Random, false, 1, 0), 100_000) {
		counts[r]++
	}
	for r, n := range counts { // binomial, five standard deviations
		if math.Abs(float64(n)-10_000) > 5*math.Sqrt(100_000*0.1*0.9) {
			t.Errorf("row %d was drawn %d times of 100,000", r, n)
		}
	}
}

func TestNextAllocatesNothing(t *testing.T) {
	for _, order := range []Order{Sequential, Shuffle, Random} {
		c := NewCalls(calls(10), order, false, 1, 7<<40)
		var turn Turn
		var n uint64
		if avg := testing.AllocsPerRun(1000, func() { c.Next(0, n, &turn); n++ }); avg != 0 {
			t.Errorf("%s: %v allocations a request", order, avg)
		}
		if turn.Fields.ID != 7<<40|(n-1) {
			t.Errorf("id %x of arrival %d", turn.Fields.ID, n-1)
		}
	}
}
