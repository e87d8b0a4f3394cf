package expression

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/metric"
)

// Word is a word of the expression language that is no metric, and its meaning.
type Word struct{ Name, Help string }

// Words lists the units, the places and the functions for `sluice explain`.
func Words() []Word {
	var list []Word
	for _, u := range units() {
		switch size := plain(unitOf[u].size); {
		case u == "min": // also the function, below
		case unitOf[u].dim == metric.Duration:
			list = append(list, Word{u, fmt.Sprintf("Unit of a duration: 1%s is %s s.", u, size)})
		case unitOf[u].dim == metric.Bytes:
			list = append(list, Word{u, fmt.Sprintf("Unit of a size: 1%s is %s bytes.", u, size)})
		}
	}
	for _, u := range rateUnits() {
		help := fmt.Sprintf("Unit of a rate: %s/%s is one a second.", plain(unitOf[u].size), u)
		list = append(list, Word{"/" + u, help})
	}
	list = append(list, Word{"%", "Unit of a ratio: 1% is 0.01."})
	for _, w := range places {
		list = append(list, Word{w, "In an expression, " + placeHint(w) + "."})
	}
	return append(list,
		Word{scrapeWord, "In an expression, " + placeHint(scrapeWord) + ", and behind it one of ." +
			strings.Join(scrapeStats(), " .") + ". The series is read while the stage is measured, " +
			"from the Prometheus endpoint that `metrics` of the target names."},
		Word{string(InBaseline), "In an expression, the same node of the stored result that the plan's " +
			"`baseline` names: baseline.latency.p95."},
		Word{Steady, "In an expression, the longest span of hold with at least 90 % of the most requests in " +
			"flight, for rates and times alike: steady.throughput, steady.mix(\"chat\").ttft.p95. Ramp-up and tail " +
			"are left out. Hold is looked at in 30 to 60 equal parts. It is for closed loops and ramps: it has no value " +
			"where the span is less than a quarter of hold, or than three times the mean time of a request, as with " +
			"arrivals that vary."},
		Word{"min", "In an expression, the smaller of two quantities of one dimension: min(a, b). " +
			"After a number, a unit: 5min is 300 s."},
		Word{"max", "In an expression, the larger of two quantities of one dimension: max(a, b)."},
		Word{"abs", "In an expression, a quantity without its sign: abs(a)."},
		Word{"and", "Both conditions are true. False beats unknown, unknown beats true."},
		Word{"or", "One of the conditions is true. True beats unknown, unknown beats false."},
		Word{"not", "The condition is false. What is unknown stays unknown."},
	)
}

// plain writes a number without an exponent.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
