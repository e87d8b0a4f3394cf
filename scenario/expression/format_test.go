package expression

import (
	"math"
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
		{metric.Rate, math.Inf(1), "no data"},
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
