package expression

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestIntervals computes with bounds: those of the result hold every value that the operands may have.
func TestIntervals(t *testing.T) {
	a, b, across := within(2, 3, 5), within(-4, -2, -1), within(-6, 1, 2)
	for _, row := range []struct {
		name string
		got  Quantity
		want [3]float64 // low, value, high
	}{
		{"2…5 + -4…-1", add(a, b), [3]float64{-2, 1, 4}},
		{"2…5 - -4…-1", subtract(a, b), [3]float64{3, 5, 9}},
		{"-(2…5)", negate(a), [3]float64{-5, -3, -2}},
		{"2…5 * -4…-1", multiply(a, b), [3]float64{-20, -6, -2}},
		{"-4…-1 * -6…2", multiply(b, across), [3]float64{-8, -2, 24}},
		{"2…5 * 2…5", multiply(a, a), [3]float64{4, 9, 25}},
		{"2…5 / -4…-1", divide(a, b), [3]float64{-5, -1.5, -0.5}},
		{"-6…2 / 2…5", divide(across, a), [3]float64{-3, 1.0 / 3, 1}},
		{"min", smaller(a, across), [3]float64{-6, 1, 2}},
		{"max", larger(a, across), [3]float64{2, 3, 5}},
		{"abs of 2…5", absolute(a), [3]float64{2, 3, 5}},
		{"abs of -4…-1", absolute(b), [3]float64{1, 2, 4}},
		{"abs of -6…2", absolute(across), [3]float64{0, 1, 6}},
	} {
		if got := [3]float64{row.got.Lo, row.got.V, row.got.Hi}; got != row.want || !row.got.Known {
			t.Errorf("%s = %v, want %v (%s)", row.name, got, row.want, row.got.Why)
		}
	}
	for name, q := range map[string]Quantity{
		"/ 0":       divide(a, point(0)),
		"too large": multiply(point(1e300), point(1e300)), "unknown + a": add(Quantity{Why: "x"}, a),
		"a + unknown": add(a, Quantity{Why: "x"}),
	} {
		if q.Known || q.Why == "" {
			t.Errorf("%s = %+v, want unknown with a reason", name, q)
		}
	}
}

// TestNoBounds computes with a missing bound, which decides nothing on its side and all on the other.
func TestNoBounds(t *testing.T) {
	inf := math.Inf(1)
	open, whole := within(2, 3, inf), within(-inf, 3, inf)
	for _, row := range []struct {
		name   string
		got    Quantity
		lo, hi float64
	}{
		{"+ 1", add(open, point(1)), 3, inf},
		{"1 -", subtract(point(1), open), -inf, -1},
		{"* -2", multiply(open, point(-2)), -inf, -4},
		{"* 0", multiply(open, point(0)), 0, 0},
		{"/ 2", divide(open, point(2)), 1, inf},
		{"1 /", divide(point(1), open), 0, 0.5},
		{"/ across 0", divide(point(1), within(-6, 1, 2)), -inf, inf},
		{"/ from 0", divide(point(1), within(0, 1, 2)), -inf, inf},
		{"max", larger(open, point(5)), 5, inf},
		{"min", smaller(open, point(5)), 2, 5},
		{"abs", absolute(whole), 0, inf},
	} {
		if !row.got.Known || row.got.Lo != row.lo || row.got.Hi != row.hi {
			t.Errorf("%s = %+v, want %v … %v", row.name, row.got, row.lo, row.hi)
		}
	}
	for name, q := range map[string]Quantity{"-": subtract(open, open), "/": divide(open, open)} {
		if !q.Known || q.Lo > 0 && name == "-" || q.Hi != inf {
			t.Errorf("%s of two without a bound: %+v", name, q)
		}
	}
}

// TestAgain computes with the values on other selections, one by one.
func TestAgain(t *testing.T) {
	a := Quantity{Known: true, V: 2, Lo: 2, Hi: 2, Again: []float64{1, 2, 3}}
	b := Quantity{Known: true, V: 10, Lo: 10, Hi: 10, Again: []float64{9, 10, 11}}
	for _, row := range []struct {
		name string
		got  Quantity
		want []float64
	}{
		{"a + b", add(a, b), []float64{10, 12, 14}},
		{"b - 1", subtract(b, point(1)), []float64{8, 9, 10}},
		{"a * b", multiply(a, b), []float64{9, 20, 33}},
		{"b / a", divide(b, a), []float64{9, 5, 11.0 / 3}},
		{"min(a, 2)", smaller(a, point(2)), []float64{1, 2, 2}},
		{"max(a, 2)", larger(a, point(2)), []float64{2, 2, 3}},
		{"abs(-a)", absolute(negate(a)), []float64{1, 2, 3}},
	} {
		if diff := cmp.Diff(row.want, row.got.Again); diff != "" {
			t.Errorf("%s: %s", row.name, diff)
		}
	}
	if got := Apart(a, point(1)); !cmp.Equal(got, []float64{0, 1, 2}) {
		t.Errorf("a apart from 1: %v", got)
	}
	if got := Apart(point(3), point(1)); got != nil {
		t.Errorf("constants apart: %v", got)
	}
}

// TestClean refuses bounds that do not hold the value.
func TestClean(t *testing.T) {
	for _, q := range []Quantity{within(2, 1, 3), within(1, 4, 3)} {
		if got := clean(q); got.Known {
			t.Errorf("clean(%+v) is known", q)
		}
	}
	if got := clean(within(1, 2, 3)); !got.Known || got.Need != 1 {
		t.Errorf("clean = %+v", got)
	}
}

// TestSamples counts the samples of two operands: constants have none, and an operand that lacks
// samples is not hidden by one that has plenty.
func TestSamples(t *testing.T) {
	constant, once := Quantity{Known: true}, Quantity{N: 1, Need: 1}
	few, many := Quantity{N: 10, Need: 299}, Quantity{N: 5000, Need: 299}
	for _, row := range []struct{ a, b, want Quantity }{
		{constant, few, few},
		{few, constant, few},
		{many, few, few},
		{few, many, few},
		{many, once, many},
		{once, many, once},
		{few, once, few},
		{once, few, few},
	} {
		if n, need := samples(row.a, row.b); n != row.want.N || need != row.want.Need {
			t.Errorf("samples(%d/%d, %d/%d) = %d/%d", row.a.N, row.a.Need, row.b.N, row.b.Need, n, need)
		}
	}
}

// TestKeepsTheFirst shows the first of two conditions that decide alike and have enough samples.
func TestKeepsTheFirst(t *testing.T) {
	v := values{
		"latency.p99": {Known: true, V: 1, N: 400, Need: 299},
		"latency.p50": {Known: true, V: 1, N: 4000, Need: 5},
	}
	for s, want := range map[string]string{
		"latency.p99 < 2s and latency.p50 < 2s": "latency.p99",
		"latency.p50 < 2s and latency.p99 < 2s": "latency.p50",
		"latency.p99 > 2s and latency.p50 > 2s": "latency.p99",
		"latency.p50 > 2s and latency.p99 > 2s": "latency.p50",
		"latency.p99 < 2s or latency.p50 < 2s":  "latency.p99",
		"latency.p50 > 2s or latency.p99 > 2s":  "latency.p50",
	} {
		if got := mustCompile(t, s).Truth(v); got.What != want {
			t.Errorf("%s shows %s, want %s", s, got.What, want)
		}
	}
}
