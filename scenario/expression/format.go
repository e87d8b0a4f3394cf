package expression

import (
	"math"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/metric"
)

// digits are the significant digits of a number for people; whole digits are never rounded away.
const digits = 4

// Format writes a value in base units for people: "31.2 ms", "199.6/s", "0.12 %". It is the one
// place that does.
func Format(d metric.Dim, v float64) string { return format(d, v, digits) }

// FormatApart writes two values that differ so that they also look different: "50.004 ms", "50 ms".
func FormatApart(d metric.Dim, a, b float64) (string, string) {
	for n := digits; n < 17; n++ {
		sa, sb := format(d, a, n), format(d, b, n)
		if sa != sb || a == b {
			return sa, sb
		}
	}
	return Format(d, a), Format(d, b)
}

func format(d metric.Dim, v float64, n int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "no data"
	}
	switch d {
	case metric.Duration:
		scale, unit := durationScale(v)
		return decimal(v*scale, n) + " " + unit
	case metric.Rate:
		return decimal(v, n) + "/s"
	case metric.Ratio:
		return decimal(v*100, n) + " %"
	case metric.Bytes:
		scale, unit := bytesScale(v)
		return decimal(v/scale, n) + " " + unit
	case metric.Power:
		return decimal(v, n) + " W"
	case metric.Count, metric.Number:
	}
	return decimal(v, n)
}

func durationScale(v float64) (scale float64, unit string) {
	switch v = math.Abs(v); {
	case v == 0:
		return 1e3, "ms"
	case v < 1e-6:
		return 1e9, "ns"
	case v < 1e-3:
		return 1e6, "µs"
	case v < 1:
		return 1e3, "ms"
	}
	return 1, "s"
}

func bytesScale(v float64) (scale float64, unit string) {
	switch v = math.Abs(v); {
	case v < 1<<10:
		return 1, "B"
	case v < 1<<20:
		return 1 << 10, "KiB"
	case v < 1<<30:
		return 1 << 20, "MiB"
	}
	return 1 << 30, "GiB"
}

// decimal writes v with n significant digits, more where it has more before the point, and no zeros
// at its end.
func decimal(v float64, n int) string {
	if v == 0 {
		return "0"
	}
	places := max(0, n-1-int(math.Floor(math.Log10(math.Abs(v)))))
	s := strconv.FormatFloat(v, 'f', min(places, 30), 64)
	if strings.ContainsRune(s, '.') {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}
