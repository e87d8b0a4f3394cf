package expression

import (
	"sort"
	"strings"

	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// scrapeStats are what may be asked of a scraped series.
func scrapeStats() []string { return []string{"mean", "min", "max", "last", "increase", "rate"} }

// scraped is the leaf of `scrape("selector").stat`: a number, whose row is named as it is written. False: path is another
// metric.
//
//	selector = name [ "{" [ label "='" value "'" { "," label "='" value "'" } ] "}" ]
//	name     = ( letter | "_" | ":" ) { letter | digit | "_" | ":" }
//	label    = ( letter | "_" ) { letter | digit | "_" }
//	value    = any characters but ' and control characters
func scraped(path string) (leaf metric.Leaf, is bool, err error) {
	rest, ok := strings.CutPrefix(path, scrapeWord+`("`)
	if !ok {
		return metric.Leaf{}, false, nil
	}
	end := strings.LastIndex(rest, `")`)
	if end < 0 {
		return metric.Leaf{}, true, &NameError{Code: codeSyntax, Summary: placeHint(scrapeWord)}
	}
	selector, stat := rest[:end], strings.TrimPrefix(rest[end+2:], ".")
	if why := selectorMistake(selector); why != "" {
		return metric.Leaf{}, true, &NameError{Code: codeSyntax, Summary: why, Detail: `a series is written as Prometheus does: scrape("name{label='v'}")`}
	}
	if stat == "" {
		return metric.Leaf{}, true, &NameError{
			Code: codeStat, Summary: "a scraped series has many values: say which statistic of it", Allowed: scrapeStats(),
		}
	}
	for _, s := range scrapeStats() {
		if s == stat {
			return metric.Leaf{Row: &metric.Row{
				Name: path, Dim: metric.Number, Shape: metric.Value, From: metric.Series,
				Help: "The ." + stat + " of the server's own series " + selector + ".",
			}}, true, nil
		}
	}
	e := &NameError{Code: codeStat, Summary: "a scraped series has no ." + stat, Allowed: scrapeStats()}
	if e.Nearest = synonym(stat); !contains(e.Allowed, e.Nearest) {
		e.Nearest = source.Nearest(stat, e.Allowed)
	}
	return metric.Leaf{}, true, e
}

// Selector says which series of a Prometheus endpoint a reference reads, and which statistic of them.
type Selector struct {
	Name   string
	Labels map[string]string
	Stat   string // mean min max last increase rate
}

// Selector is what a reference selects; false: it is no scrape("…").
func (r Ref) Selector() (s Selector, ok bool) {
	rest, ok := strings.CutPrefix(r.Leaf.Row.Name, scrapeWord+`("`)
	end := strings.LastIndex(rest, `")`)
	if !ok || end < 0 {
		return s, false
	}
	s.Stat = strings.TrimPrefix(rest[end+2:], ".")
	name, labels, _ := strings.Cut(rest[:end], "{")
	s.Name, s.Labels = strings.TrimSpace(name), map[string]string{}
	for labels = strings.TrimSuffix(labels, "}"); labels != ""; {
		label, value, _ := strings.Cut(labels, "=")
		value = strings.TrimPrefix(value, "'")
		value, labels, _ = strings.Cut(value, "'")
		s.Labels[strings.TrimSpace(label)] = value
		labels = strings.TrimPrefix(strings.TrimLeft(labels, " "), ",")
	}
	return s, true
}

// Matches reports whether a series is selected: it has the name, and each label that is named.
func (s Selector) Matches(name string, labels map[string]string) bool {
	if name != s.Name {
		return false
	}
	for k, v := range s.Labels {
		if labels[k] != v {
			return false
		}
	}
	return true
}

// String spells the selector as it is written.
func (s Selector) String() string {
	if len(s.Labels) == 0 {
		return s.Name
	}
	var labels []string
	for k, v := range s.Labels {
		labels = append(labels, k+"='"+v+"'")
	}
	sort.Strings(labels)
	return s.Name + "{" + strings.Join(labels, ",") + "}"
}

func contains(words []string, w string) bool {
	for _, x := range words {
		if x == w {
			return true
		}
	}
	return false
}

// selectorMistake says what is wrong with a selector; "" where nothing is.
func selectorMistake(s string) string {
	name, labels, braced := strings.Cut(s, "{")
	if !word(name, true) {
		return "this is not the name of a series: " + name
	}
	if !braced {
		return ""
	}
	labels, ok := strings.CutSuffix(labels, "}")
	if !ok {
		return "the } of the labels is missing"
	}
	for labels != "" {
		label, rest, ok := strings.Cut(labels, "=")
		if !ok || !word(label, false) {
			return "this is not a label: " + strings.TrimSpace(label)
		}
		rest, ok = strings.CutPrefix(rest, "'")
		if !ok {
			return "labels are compared with = and a value in ', such as {" + strings.TrimSpace(label) + "='v'}"
		}
		_, rest, ok = strings.Cut(rest, "'")
		if !ok {
			return "the closing ' of " + strings.TrimSpace(label) + " is missing"
		}
		if labels, ok = strings.CutPrefix(strings.TrimLeft(rest, " "), ","); !ok && labels != "" {
			return "labels are separated by commas"
		}
	}
	return ""
}

// word reports whether s is a name of Prometheus; colons are for names of series.
func word(s string, colons bool) bool {
	s = strings.TrimSpace(s)
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || colons && r == ':'
		if !letter && (i == 0 || !isDigit(r)) {
			return false
		}
	}
	return s != ""
}
