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
		switch dim, size := unitOf(u); {
		case u == "min": // also the function, below
		case dim == metric.Duration:
			list = append(list, Word{u, fmt.Sprintf("Unit of a duration: 1%s is %s s.", u, plain(size))})
		case dim == metric.Bytes:
			list = append(list, Word{u, fmt.Sprintf("Unit of a size: 1%s is %s bytes.", u, plain(size))})
		}
	}
	for _, u := range []string{"s", "min", "h"} {
		seconds, _ := perUnit(u)
		help := fmt.Sprintf("Unit of a rate: %s/%s is one a second.", plain(seconds), u)
		list = append(list, Word{"/" + u, help})
	}
	list = append(list, Word{"%", "Unit of a ratio: 1% is 0.01."})
	for _, w := range places() {
		list = append(list, Word{w, "In an expression, " + placeHint(w) + "."})
	}
	return append(list,
		Word{scrapeWord, "In an expression, " + placeHint(scrapeWord) + ", and behind it one of ." +
			strings.Join(scrapeStats(), " .") + ". The series is read while the stage is measured, " +
			"from the Prometheus endpoint that `metrics` of the target names."},
		Word{string(InBaseline), "In an expression, the same node of the stored result that the plan's " +
			"`baseline` names: baseline.latency.p95."},
		Word{"min", "In an expression, the smaller of two quantities of one dimension: min(a, b). " +
			"After a number, a unit: 5min is 300 s."},
		Word{"max", "In an expression, the larger of two quantities of one dimension: max(a, b)."},
		Word{"abs", "In an expression, a quantity without its sign: abs(a)."},
		Word{"and", "Both conditions are true. False beats unknown, unknown beats true."},
		Word{"or", "One of the conditions is true. True beats unknown, unknown beats false."},
		Word{"not", "The condition is false. What is unknown stays unknown."},
	)
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Overload is one rule of the operators, in words.
type Overload struct{ Op, Left, Right, Result string }

// Overloads lists what the operators and functions of the language take and return.
func Overloads() []Overload {
	kinds := []kind{duration, rate, count, ratio, size, power, number, truth}
	var rows []Overload
	add := func(op string, l, r kind) {
		if rule, ok := ruleOf(op, l, r); ok {
			row := Overload{Op: op, Left: l.String(), Result: rule.result.String()}
			if r != 0 {
				row.Right = r.String()
			}
			rows = append(rows, row)
		}
	}
	operators := strings.Fields("< <= > >= == != + - min max * / and or")
	for _, k := range kinds {
		for _, op := range operators {
			add(op, k, k)
		}
		for _, op := range strings.Fields("- abs not") {
			add(op, k, 0)
		}
	}
	for _, op := range operators {
		for _, r := range kinds {
			for _, l := range kinds {
				if l != r {
					add(op, l, r)
				}
			}
		}
	}
	return rows
}
