package expression

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// three are references that are false, unknown and true when compared with < 10ms.
var three = map[string]string{"F": "latency.p50", "U": "latency.p90", "T": "latency.p99"}

var threeValues = values{"latency.p50": point(1), "latency.p99": point(0.001)}

// TestKleene checks the truth tables of and, or, not over false, unknown and true.
func TestKleene(t *testing.T) {
	for _, row := range []struct{ expr, want string }{
		{"F and F", "F"},
		{"F and U", "F"},
		{"F and T", "F"},
		{"U and F", "F"},
		{"U and U", "U"},
		{"U and T", "U"},
		{"T and F", "F"},
		{"T and U", "U"},
		{"T and T", "T"},
		{"F or F", "F"},
		{"F or U", "U"},
		{"F or T", "T"},
		{"U or F", "U"},
		{"U or U", "U"},
		{"U or T", "T"},
		{"T or F", "T"},
		{"T or U", "T"},
		{"T or T", "T"},
		{"not F", "T"},
		{"not U", "U"},
		{"not T", "F"},
		{"not (F and U)", "T"},
		{"not not F", "F"},
		{"not (U or T) and F", "F"},
		{"F or T and U", "U"},
		{"(F or T) and U", "U"},
		{"T or F and F", "T"},
	} {
		var b strings.Builder
		for _, r := range row.expr {
			if name, ok := three[string(r)]; ok {
				b.WriteString("(" + name + " < 10ms)")
			} else {
				b.WriteRune(r)
			}
		}
		got := mustCompile(t, b.String()).Truth(threeValues)
		if word := map[int8]string{-1: "F", 0: "U", 1: "T"}[got.Is]; word != row.want {
			t.Errorf("%s = %s, want %s", row.expr, word, row.want)
		}
		if got.Is == 0 && !strings.Contains(got.Why, "latency.p90: no samples") {
			t.Errorf("%s: why = %q", row.expr, got.Why)
		}
	}
}

// TestCompare compares points and intervals: bounds that overlap decide nothing.
func TestCompare(t *testing.T) {
	for _, row := range []struct {
		expr string
		q    Quantity
		want int8
	}{
		{"latency.p50 < 50ms", point(0.049), 1},
		{"latency.p50 < 50ms", point(0.05), -1},
		{"latency.p50 <= 50ms", point(0.05), 1},
		{"latency.p50 > 50ms", point(0.05), -1},
		{"latency.p50 >= 50ms", point(0.05), 1},
		{"50ms > latency.p50", point(0.049), 1},
		{"50ms > latency.p50", point(0.05), -1},
		{"latency.p50 < 50ms", within(0.03, 0.04, 0.045), 1},
		{"latency.p50 < 50ms", within(0.03, 0.04, 0.06), 0},
		{"latency.p50 < 50ms", within(0.03, 0.04, 0.05), 0},
		{"latency.p50 <= 50ms", within(0.03, 0.04, 0.05), 1},
		{"latency.p50 < 50ms", within(0.05, 0.06, 0.07), -1},
		{"latency.p50 > 50ms", within(0.05, 0.06, 0.07), 0},
		{"latency.p50 >= 50ms", within(0.05, 0.06, 0.07), 1},
		{"latency.count == 3", point(3), 1},
		{"latency.count == 3", point(4), -1},
		{"latency.count != 3", point(4), 1},
		{"latency.count == 3", within(2, 3, 4), 0},
		{"latency.count == 3", within(4, 5, 6), -1},
		{"latency.count != 3", within(4, 5, 6), 1},
		{"-latency.p50 < -50ms", within(0.06, 0.07, 0.08), 1},
		{"2 * latency.p50 <= 100ms", within(0.03, 0.04, 0.05), 1},
		{"latency.p50 - 10ms < 50ms", within(0.03, 0.04, 0.059), 1},
		{"abs(latency.p50 - 50ms) < 11ms", within(0.04, 0.05, 0.06), 1},
		{"abs(latency.p50 - 50ms) > 1ms", within(0.04, 0.05, 0.06), 0},
		{"max(latency.p50, 40ms) < 50ms", within(0.03, 0.035, 0.045), 1},
		{"min(latency.p50, 40ms, 60ms) <= 40ms", within(0.03, 0.035, 0.045), 1},
		{"latency.p50 < 1h30m", point(5399), 1},
		{"latency.p50 < 1h30m", point(5400), -1},
		{"latency.p50 < 1.5s", point(1.5), -1},
		{"latency.p50 <= 50us", point(0.00005), 1},
		{"latency.p50 <= 50µs", point(0.00005), 1},
		{"latency.p50 <= 5ns", point(5e-9), 1},
		{"latency.p(99.9) < 50ms", point(0.06), 0},
		{"2/min(latency.p50, 1s) < 200/s", point(0.02), 1},
		{"2/latency.p50 < 99/s", point(0.02), -1},
	} {
		got := mustCompile(t, row.expr).Truth(values{"latency.p50": row.q, "latency.count": row.q})
		if got.Is != row.want {
			t.Errorf("%s with %+v = %d, want %d (%s)", row.expr, row.q, got.Is, row.want, got.Why)
		}
	}
}

// TestLiterals compares literals and variables with their value in base units, to the last bit.
func TestLiterals(t *testing.T) {
	for _, row := range []struct {
		literal string
		dim     metric.Dim
		want    float64
	}{
		{"50ms", metric.Duration, 0.05},
		{"1.5s", metric.Duration, 1.5},
		{"2m", metric.Duration, 120},
		{"1h30m", metric.Duration, 5400},
		{"1h30m5s", metric.Duration, 5405},
		{"10us", metric.Duration, 1e-5},
		{"5ns", metric.Duration, 5e-9},
		{"500/s", metric.Rate, 500},
		{"90/min", metric.Rate, 1.5},
		{"3600/h", metric.Rate, 1},
		{"0.5/s", metric.Rate, 0.5},
		{"10MB/s", metric.Rate, 1e7},
		{"0.1%", metric.Ratio, 0.001},
		{"100%", metric.Ratio, 1},
		{"64MiB", metric.Bytes, 64 << 20},
		{"1kB", metric.Bytes, 1000},
		{"1KB", metric.Bytes, 1000},
		{"512B", metric.Bytes, 512},
		{"2GiB", metric.Bytes, 2 << 30},
		{"500", metric.Count, 500},
		{"1.5e3", metric.Count, 1500},
		{"${n}", metric.Count, 500},
		{"${limit}", metric.Duration, 0.05},
		{"${ share }", metric.Ratio, 0.001},
		{"${floor}", metric.Rate, 200},
		{"${below}", metric.Count, -5},
		{"${room}", metric.Bytes, 64 << 20},
		{"-5", metric.Count, -5},
	} {
		name := map[metric.Dim]string{
			metric.Duration: "latency.p50", metric.Rate: "throughput", metric.Ratio: "errors.ratio",
			metric.Bytes: "client.memory", metric.Count: "errors.count",
		}[row.dim]
		got := mustCompile(t, name+" < "+row.literal).Truth(values{name: point(1)})
		if got.Limit.V != row.want || got.Dim != row.dim || got.Limit.Need != 0 {
			t.Errorf("%s = %v (%s), want %v (%s)", row.literal, got.Limit.V, got.Dim, row.want, row.dim)
		}
	}
}

// TestDecided checks which comparison a truth keeps, and how it reads.
func TestDecided(t *testing.T) {
	enough := Quantity{Known: true, V: 0.02, Lo: 0.02, Hi: 0.02, N: 1000, Need: 299}
	few := Quantity{Known: true, V: 0.02, Lo: 0.02, Hi: 0.02, N: 10, Need: 299}
	v := values{
		"latency.p99": few, "latency.p50": enough, `stage("a").latency.p50`: enough, "errors.count": point(3),
	}
	for _, row := range []struct{ expr, want string }{
		{"latency.p50 < 50ms", "latency.p50 < 50ms true 0.02 0.05 lacks -701"},
		{"50ms > latency.p50", "latency.p50 < 50ms true 0.02 0.05 lacks -701"},
		{"not (latency.p50 < 50ms)", "latency.p50 >= 50ms false 0.02 0.05 lacks -701"},
		{"not (errors.count != 3)", "errors.count == 3 true 3 3 lacks -9999"},
		{"latency.p50 < 50ms and latency.p99 < 50ms", "latency.p99 < 50ms true 0.02 0.05 lacks 289"},
		{"latency.p99 < 50ms and latency.p50 < 50ms", "latency.p99 < 50ms true 0.02 0.05 lacks 289"},
		{"latency.p99 < 50ms or latency.p50 < 50ms", "latency.p50 < 50ms true 0.02 0.05 lacks -701"},
		{"latency.p99 < 5ms and latency.p50 < 5ms", "latency.p50 < 5ms false 0.02 0.005 lacks -701"},
		{"latency.p50 < 5ms or latency.p99 < 5ms", "latency.p99 < 5ms false 0.02 0.005 lacks 289"},
		{"latency.p50 < 5ms and errors.count == 3", "latency.p50 < 5ms false 0.02 0.005 lacks -701"},
		{
			"(latency.p50 + latency.p99) * 2 < 50ms",
			"(latency.p50 + latency.p99) * 2 < 50ms false 0.08 0.05 lacks 289",
		},
		{
			`latency.p99 <= 2 * stage("a").latency.p50`,
			`latency.p99 <= 2 * stage("a").latency.p50 true 0.02 0.04 lacks 289`,
		},
		{"latency.p50 < ${limit}", "latency.p50 < ${limit} true 0.02 0.05 lacks -701"},
	} {
		got := mustCompile(t, row.expr).Truth(v)
		b := strings.Join([]string{
			got.What, got.Op, got.Against, map[int8]string{-1: "false", 0: "unknown", 1: "true"}[got.Is],
			Format(metric.Number, got.Observed.V), Format(metric.Number, got.Limit.V), "lacks",
			Format(metric.Number, float64(got.Lacks())),
		}, " ")
		if b != row.want {
			t.Errorf("%s\n got %s\nwant %s", row.expr, b, row.want)
		}
	}
}

// TestLatencyThreshold is perf_analyzer's --latency-threshold (its row 42): a mean at or above the
// threshold is outside. It compares whole ms there, and takes 1.99 ms for 1.
func TestLatencyThreshold(t *testing.T) {
	p := mustCompile(t, "latency.mean < 1ms")
	for ns, want := range map[float64]int8{
		2_000_000: -1, 1_990_000: -1, 1_000_000: -1, 999_999: 1, 100_000: 1,
	} {
		if got := p.Truth(values{"latency.mean": point(ns / 1e9)}).Is; got != want {
			t.Errorf("%v ns: %d, want %d", ns, got, want)
		}
	}
}

// TestRefs lists the references of an expression with their places in the text.
func TestRefs(t *testing.T) {
	p := mustCompile(t, `latency.p(99.9) < 2 * stage("a").latency.p99.9 and 10µs < ( connect.max )`)
	var got []string
	for _, r := range p.Refs {
		got = append(got, r.Node+":"+r.Leaf.String()+"="+string([]rune(p.Text)[r.At[0]:r.At[1]]))
	}
	want := []string{
		":latency.p99.9=latency.p(99.9)", `a:latency.p99.9=stage("a").latency.p99.9`,
		":connect.max=connect.max",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refs (-want +got):\n%s", diff)
	}
}

// TestOddValues: whatever a Values gives, only a finite value within its bounds is a number.
func TestOddValues(t *testing.T) {
	p := mustCompile(t, "errors.ratio < 1%")
	for name, q := range map[string]Quantity{
		"zero":         {},
		"NaN":          {Known: true, V: math.NaN(), Lo: math.NaN(), Hi: math.NaN(), N: 9},
		"infinite":     {Known: true, V: math.Inf(-1), Lo: math.Inf(-1), Hi: math.Inf(-1), N: 9},
		"NaN bound":    {Known: true, V: 0.001, Lo: math.NaN(), Hi: 0.002, N: 9},
		"outside":      {Known: true, V: 0.001, Lo: 0.002, Hi: 0.003, N: 9},
		"unknown zero": {Known: false, V: 0, N: 9, Need: 1},
	} {
		for _, e := range []*Program{p, mustCompile(t, "not (errors.ratio >= 1%)")} {
			if got := e.Truth(values{"errors.ratio": q}); got.Is != 0 || got.Why == "" {
				t.Errorf("%s: %s is %d (%q), want unknown with a reason", name, e.Text, got.Is, got.Why)
			}
		}
	}
	got := p.Truth(values{"errors.ratio": {Known: true, V: 0.002, N: 9}})
	if got.Is != 1 || got.Observed.Hi != 0.002 {
		t.Errorf("bounds that were not set: %+v, want a point", got)
	}
}

type panicking struct{}

func (panicking) Quantity(Ref) Quantity { panic(errors.New("boom")) }

// TestPanic: a Values that panics is an evaluation error, not a crash and not a verdict.
func TestPanic(t *testing.T) {
	got := mustCompile(t, "errors.count == 0").Truth(panicking{})
	if got.Err == nil || got.Is != 0 || !strings.Contains(got.Err.Error(), "boom") {
		t.Errorf("Truth = %+v, want an error", got)
	}
	q, ds := CompileQuantity(text("latency.p95"), newScope(t))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	unknown, dim := q.Quantity(panicking{})
	if unknown.Known || dim != metric.Duration || !strings.Contains(unknown.Why, "boom") {
		t.Errorf("Quantity = %+v in %s, want an unknown duration", unknown, dim)
	}
}

// TestQuantity computes expressions that are numbers.
func TestQuantity(t *testing.T) {
	v := values{
		"latency.p95": point(0.02), "throughput": point(100), "errors.count": point(2),
		"requests.count": point(0),
	}
	for _, row := range []struct {
		expr string
		dim  metric.Dim
		want float64
		why  string
	}{
		{"latency.p95", metric.Duration, 0.02, ""},
		{"0.8 * throughput", metric.Rate, 80, ""},
		{"throughput * latency.p95", metric.Count, 2, ""},
		{"1 / latency.p95", metric.Rate, 50, ""},
		{"errors.count / throughput", metric.Duration, 0.02, ""},
		{"errors.count / requests.count", metric.Number, 0, "division by zero"},
		{"latency.p50", metric.Duration, 0, "latency.p50: no samples"},
	} {
		p, ds := CompileQuantity(text(row.expr), newScope(t))
		if ds.HasErrors() {
			t.Fatalf("%s: %v", row.expr, ds)
		}
		got, dim := p.Quantity(v)
		if dim != row.dim || got.V != row.want || got.Why != row.why || got.Known != (row.why == "") {
			t.Errorf("%s = %+v %s, want %v %s (%q)", row.expr, got, dim, row.want, row.dim, row.why)
		}
	}
	for _, s := range []string{"latency.p95 < 5ms", "5ms", "latency"} {
		if _, ds := CompileQuantity(text(s), newScope(t)); !ds.HasErrors() {
			t.Errorf("CompileQuantity(%q): no error", s)
		}
	}
}

// TestUnknownIsNeverTrue builds random conditions whose metrics all lack data: none may be true,
// nor false.
func TestUnknownIsNeverTrue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		s := condition(rng, 4)
		if got := mustCompile(t, s).Truth(values{}); got.Is != 0 || got.Err != nil || got.Why == "" {
			t.Fatalf("%s without data is %d (%v, %q), want unknown", s, got.Is, got.Err, got.Why)
		}
	}
}

// TestPartlyUnknown: whatever value the unknown metrics had, a condition that is decided without
// them must be the same.
func TestPartlyUnknown(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	decided := 0
	for range 300 {
		p := mustCompile(t, condition(rng, 3))
		some := values{"latency.p99": point(rng.Float64() / 10), "throughput": point(rng.Float64() * 400)}
		was := p.Truth(some).Is
		if was == 0 {
			continue
		}
		decided++
		for range 20 {
			some["errors.count"], some["latency.mean"] = point(float64(rng.IntN(5))), point(rng.Float64()/10)
			if now := p.Truth(some); now.Is != was {
				t.Fatalf("%s was %d without data, is %d with it: %v", p.Text, was, now.Is, some)
			}
		}
	}
	if decided < 50 {
		t.Errorf("only %d conditions were decided without all data: the test shows too little", decided)
	}
}

// condition draws a condition.
func condition(rng *rand.Rand, depth int) string {
	if depth > 0 {
		a, b := condition(rng, depth-1), condition(rng, depth-1)
		switch rng.IntN(4) {
		case 0:
			return "(" + a + ") and (" + b + ")"
		case 1:
			return "(" + a + ") or (" + b + ")"
		case 2:
			return "not (" + a + ")"
		}
	}
	return []string{
		"latency.p99 < 50ms", "latency.p99 * 0 <= 50ms", "errors.count == 0", "errors.count != 0",
		"100/s < throughput",
		"latency.mean - latency.mean < 1s", "max(latency.mean, latency.p99) > 0s",
		"throughput >= 0 * throughput",
		"errors.count * 0 == 0", "abs(latency.mean) >= 0s", "min(latency.p99, 1ns) < 1s",
	}[rng.IntN(11)]
}
