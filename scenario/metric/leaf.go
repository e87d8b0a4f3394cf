package metric

import (
	"strconv"
	"strings"
)

// StatNames lists the statistics of a distribution: the usual percentiles (any other is allowed
// too), then the others.
func StatNames() []string {
	return []string{"p50", "p90", "p95", "p99", "p99.9", "mean", "min", "max", "std", "count"}
}

// adjusted begins an adjusted percentile: latency.adjusted.p99.
const adjusted = "adjusted."

// word returns the word of a statistic that is no percentile; "" for a value.
func (k StatKind) word() string {
	return [...]string{Mean: "mean", Min: "min", Max: "max", Std: "std", N: "count"}[k]
}

// String spells the statistic as in expressions and files: "p99.9", "mean", "count"; "" for a value.
func (s Stat) String() string {
	if s.Adjusted {
		s.Adjusted = false
		return adjusted + s.String()
	}
	if s.Kind == Percentile {
		return "p" + strconv.FormatFloat(s.P, 'f', -1, 64)
	}
	return s.Kind.word()
}

// String spells the leaf as in an expression: "latency.p99", "errors.ratio".
func (l Leaf) String() string {
	if s := l.Stat.String(); s != "" {
		return l.Row.Name + "." + s
	}
	return l.Row.Name
}

// Dim returns the dimension of the leaf's values: the row's, except for .count, which counts.
func (l Leaf) Dim() Dim {
	if l.Stat.Kind == N {
		return Count
	}
	return l.Row.Dim
}

// words returns the names of a dimension: in messages, of its base unit in JSON, and of its unit in
// stages.csv, where numbers of the others have none.
func (d Dim) words() (word, unit, column string) {
	switch d {
	case Duration:
		return "duration", "s", "ms"
	case Rate:
		return "rate", "1/s", "per_s"
	case Count:
		return "count", "1", ""
	case Ratio:
		return "ratio", "ratio", ""
	case Bytes:
		return "size", "bytes", "bytes"
	case Power:
		return "power", "W", "W"
	case Energy:
		return "energy", "J", "J"
	case Number:
		return "number", "", ""
	}
	return "nothing", "", ""
}

// Unit returns the base unit as it is written beside numbers in JSON: "s", "1/s", "1", "ratio",
// "bytes", "W", "J"; "" for a number.
func (d Dim) Unit() string {
	_, unit, _ := d.words()
	return unit
}

// String returns the dimension's word in messages: "duration", "rate".
func (d Dim) String() string {
	word, _, _ := d.words()
	return word
}

// ParseStat reads one statistic of a distribution: p50, p99.9, p(99.9), mean, min, max, std, count, or a
// percentile after adjusted.
// why says what is wrong with a percentile that is out of range or is no number; it is empty for an
// unknown word.
func ParseStat(word string) (s Stat, why string, ok bool) {
	for kind := Mean; kind <= N; kind++ {
		if word == kind.word() {
			return Stat{Kind: kind}, "", true
		}
	}
	if rest, is := strings.CutPrefix(word, adjusted); is {
		s, why, ok = ParseStat(rest)
		if ok && (s.Kind != Percentile || s.Adjusted) {
			return Stat{}, "only percentiles are adjusted, such as adjusted.p99", false
		}
		s.Adjusted = ok
		return s, why, ok
	}
	digits, isP := strings.CutPrefix(word, "p")
	if !isP || digits == "" {
		return Stat{}, "", false
	}
	inner, inBrackets := strings.CutPrefix(digits, "(")
	if inBrackets {
		if digits, ok = strings.CutSuffix(inner, ")"); !ok {
			return Stat{}, "", false
		}
		digits = strings.TrimSpace(digits)
	}
	p, ok := percentile(digits)
	switch {
	case !ok && !inBrackets:
		return Stat{}, "", false
	case !ok && digits == "":
		return Stat{}, "the percentile is missing, such as p(99.9)", false
	case !ok:
		return Stat{}, "the percentile " + digits + " is not a number", false
	}
	if !(p > 0 && p <= 100) {
		return Stat{}, "the percentile " + digits + " is out of range: 0 < p <= 100", false
	}
	return Stat{Kind: Percentile, P: p}, "", true
}

// percentile reads a plain decimal: strconv alone would also take "inf", "nan", "1e1", "0x1p4",
// "1_0", ".5" and "5.".
func percentile(s string) (float64, bool) {
	body := strings.TrimPrefix(s, "-")
	if body == "" || strings.Trim(body, "0123456789.") != "" || body[0] == '.' || body[len(body)-1] == '.' {
		return 0, false
	}
	p, err := strconv.ParseFloat(s, 64)
	return p, err == nil
}
