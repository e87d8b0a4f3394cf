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
	switch {
	case math.IsInf(v, 1):
		return "infinite"
	case math.IsNaN(v) || math.IsInf(v, -1):
		return "no data"
	}
	size := math.Abs(v)
	if v == 0 {
		size = 1e-3 // of a duration: 0 ms
	}
	for _, u := range shownUnits[d] {
		if size < u.below {
			return decimal(v*u.factor, n) + u.suffix
		}
	}
	return decimal(v, n)
}

// shownUnits lists the units in which values of a dimension are shown: each those below a limit.
var shownUnits = map[metric.Dim][]struct {
	below, factor float64
	suffix        string
}{
	metric.Duration: {{1e-6, 1e9, " ns"}, {1e-3, 1e6, " µs"}, {1, 1e3, " ms"}, {math.Inf(1), 1, " s"}},
	metric.Rate:     {{math.Inf(1), 1, "/s"}},
	metric.Ratio:    {{math.Inf(1), 100, " %"}},
	metric.Bytes: {
		{1 << 10, 1, " B"},
		{1 << 20, 1.0 / (1 << 10), " KiB"},
		{1 << 30, 1.0 / (1 << 20), " MiB"},
		{math.Inf(1), 1.0 / (1 << 30), " GiB"},
	},
	metric.Power:  {{math.Inf(1), 1, " W"}},
	metric.Energy: {{1, 1e3, " mJ"}, {math.Inf(1), 1, " J"}},
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
