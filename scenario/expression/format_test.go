package expression

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/metric"
)

func TestFormat(t *testing.T) {
	for _, row := range []struct {
		dim  metric.Dim
		v    float64
		want string
	}{
		{metric.Duration, 0.0312, "31.2 ms"},
		{metric.Duration, 0.05, "50 ms"},
		{metric.Duration, 0, "0 ms"},
		{metric.Duration, 1.5, "1.5 s"},
		{metric.Duration, 12345.6, "12346 s"},
		{metric.Duration, 4.2e-5, "42 µs"},
		{metric.Duration, 5e-9, "5 ns"},
		{metric.Duration, -0.002, "-2 ms"},
		{metric.Duration, 0.0123456, "12.35 ms"},
		{metric.Rate, 199.6, "199.6/s"},
		{metric.Rate, 12345.67, "12346/s"},
		{metric.Rate, 0.5, "0.5/s"},
		{metric.Ratio, 0.0012, "0.12 %"},
		{metric.Ratio, 1, "100 %"},
		{metric.Ratio, 0, "0 %"},
		{metric.Ratio, 0.00001, "0.001 %"},
		{metric.Count, 11980, "11980"},
		{metric.Count, 0, "0"},
		{metric.Count, 3.75, "3.75"},
		{metric.Bytes, 64 << 20, "64 MiB"},
		{metric.Bytes, 512, "512 B"},
		{metric.Bytes, 1536, "1.5 KiB"},
		{metric.Bytes, 3 << 30, "3 GiB"},
		{metric.Power, 81.619, "81.62 W"},
		{metric.Number, 1.23456, "1.235"},
		{metric.Number, math.Copysign(0, -1), "0"},
		{metric.Duration, math.NaN(), "no data"},
		{metric.Rate, math.Inf(1), "infinite"},
		{metric.Rate, math.Inf(-1), "no data"},
	} {
		if got := Format(row.dim, row.v); got != row.want {
			t.Errorf("Format(%s, %v) = %q, want %q", row.dim, row.v, got, row.want)
		}
	}
}

// TestFormatApart: a value just over its limit must not look like the limit.
func TestFormatApart(t *testing.T) {
	for _, row := range []struct {
		dim          metric.Dim
		a, b         float64
		wantA, wantB string
	}{
		{metric.Duration, 0.050004, 0.05, "50.004 ms", "50 ms"},
		{metric.Duration, 0.0612, 0.05, "61.2 ms", "50 ms"},
		{metric.Ratio, 0.99999, 1, "99.999 %", "100 %"},
		{metric.Duration, 0.05, 0.05, "50 ms", "50 ms"},
		{metric.Count, 1000001, 1000000, "1000001", "1000000"},
	} {
		if a, b := FormatApart(row.dim, row.a, row.b); a != row.wantA || b != row.wantB {
			t.Errorf("FormatApart(%v, %v) = %q, %q, want %q, %q", row.a, row.b, a, b, row.wantA, row.wantB)
		}
	}
}

// TestPrintedValuesCanBeTyped: every value that Format prints is a literal of an expression, with
// the same value but for rounding: alone, on the right of a comparison, and as a variable's value.
func TestPrintedValuesCanBeTyped(t *testing.T) {
	scope := newScope(t)
	random := rand.New(rand.NewPCG(3, 4))
	left := map[metric.Dim]string{
		metric.Duration: "latency.p99", metric.Rate: "throughput", metric.Count: "errors.count",
		metric.Ratio: "errors.ratio",
		metric.Bytes: "gpu.memory.max", metric.Power: "gpu.power.mean",
		metric.Number: "latency.p99 / latency.p50",
	}
	for dim, metricOf := range left {
		for range 300 {
			v := math.Pow(10, random.Float64()*16-8)
			written := Format(dim, v)
			d, got, ok := Literal(written)
			if !ok || d != dim && dim != metric.Count || math.Abs(got-v) > 5e-4*v {
				t.Fatalf("%v is printed as %q and read as %v of %s, %v", v, written, got, d, ok)
			}
			for _, form := range []string{"M < V", "M<V", "M < max(V, V)", "not (M < V)"} {
				s := strings.NewReplacer("M", metricOf, "V", written).Replace(form)
				if _, ds := Compile(text(s), scope); ds.HasErrors() {
					t.Fatalf("%s: %v", s, ds)
				}
			}
		}
	}
}

// TestUnits reads units after spaces and minutes as min, and leaves operators and functions alone.
func TestUnits(t *testing.T) {
	scope := newScope(t)
	for written, want := range map[string]float64{
		"100 ms": 0.1, "100  ms": 0.1, "0.1 %": 0.001, "36.81 ms": 0.03681, "200 /s": 200,
		"90 /min": 1.5, "36 /h": 0.01, "5min": 300, "5 min": 300,
		"1h30min": 5400, "1 h 30 min": 5400, "1h 30m": 5400, "64 MiB": 64 << 20, "10 MB/s": 1e7,
		"10 MB /s": 1e7, "300 mW": 0.3, "0.5 kW": 500, "1 µs": 1e-6, "-5 ms": -0.005,
	} {
		if _, v, ok := Literal(written); !ok || math.Abs(v-want) > 1e-12*math.Abs(want) {
			t.Errorf("%q is %v, %v, want %v", written, v, ok, want)
		}
	}
	for _, written := range []string{"5 mins", "5 m s", "5 min(", "5 ms.x", "5 / s", "1m 1h", "5 ms 3"} {
		if _, v, ok := Literal(written); ok {
			t.Errorf("%q is %v", written, v)
		}
	}
	for _, s := range []string{
		"latency.p99 < 5 min and errors.count == 0", "latency.p99 < 5 ms",
		"latency.p99 < min(5 ms, latency.p50)", "min(latency.p99, 5min) < 3 min",
		"throughput > 1 / latency.mean", "throughput > 1 /latency.mean", "throughput > 200 /s",
		"errors.ratio < 0.1 % or errors.count < 5",
		"2 * latency.p50 < 1 h 30 min",
	} {
		if _, ds := Compile(text(s), scope); ds.HasErrors() {
			t.Errorf("%s: %v", s, ds)
		}
	}
}
