package expression

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Selector says which series of a Prometheus endpoint a reference reads, and which statistic of them.
type Selector struct {
	Name   string
	Labels map[string]string
	Stat   string // mean min max last increase rate
}

// scrapeStats lists the statistics of a scraped series.
func scrapeStats() []string { return []string{"mean", "min", "max", "last", "increase", "rate"} }

// scraped returns the leaf of `scrape("selector").stat`: a number, whose row is named as it is
// written. False: path is another metric.
func scraped(path string) (leaf metric.Leaf, is bool, err error) {
	selector, stat, is := cutScrape(path)
	if !is {
		return metric.Leaf{}, false, nil
	}
	stats, near := scrapeStats(), ""
	d := source.Errorf(codeStat, "a scraped series has no .%s", stat)
	_, mistake := parseSelector(selector)
	switch {
	case mistake != "":
		d, stats = source.Errorf(codeSyntax, "%s", mistake).
			Help(`a series is written as Prometheus does: scrape("name{label='v'}")`), nil
	case stat == "":
		d.Summary = "a scraped series has many values: say which statistic of it"
	case slices.Contains(stats, stat):
		return metric.Leaf{Row: &metric.Row{
			Name: path, Dim: metric.Number, From: metric.Series,
			Help: "The ." + stat + " of the server's own series " + selector + ".",
		}}, true, nil
	default:
		near = nearestStatistic(stat, stats)
	}
	return metric.Leaf{}, true, &NameError{Diagnostic: d.Among(near, stats)}
}

// cutScrape cuts `scrape("selector").stat` into its parts. False: path is another metric.
func cutScrape(path string) (selector, stat string, ok bool) {
	rest, ok := strings.CutPrefix(path, scrapeWord+`("`)
	end := strings.LastIndex(rest, `")`)
	if !ok || end < 0 {
		return "", "", false
	}
	return rest[:end], strings.TrimPrefix(rest[end+len(`")`):], "."), true
}

// parseSelector reads a selector, and says what is wrong with it; "" where nothing is.
//
//	selector = name [ "{" [ label "='" value "'" { "," label "='" value "'" } ] "}" ]
//	name     = ( letter | "_" | ":" ) { letter | digit | "_" | ":" }
//	label    = ( letter | "_" ) { letter | digit | "_" }
//	value    = any characters but ' and control characters
func parseSelector(text string) (s Selector, mistake string) {
	name, labels, braced := strings.Cut(text, "{")
	s = Selector{Name: strings.TrimSpace(name), Labels: make(map[string]string)}
	if !plainName(strings.ReplaceAll(s.Name, ":", "_")) {
		return s, "this is not the name of a series: " + name
	}
	labels, closed := strings.CutSuffix(labels, "}")
	if braced && !closed {
		return s, "the } of the labels is missing"
	}
	for labels != "" {
		label, rest, ok := strings.Cut(labels, "=")
		label = strings.TrimSpace(label)
		if !ok || !plainName(label) {
			return s, "this is not a label: " + label
		}
		if rest, ok = strings.CutPrefix(rest, "'"); !ok {
			return s, "labels are compared with = and a value in ', such as {" + label + "='v'}"
		}
		if s.Labels[label], rest, ok = strings.Cut(rest, "'"); !ok {
			return s, "the closing ' of " + label + " is missing"
		}
		if labels, ok = strings.CutPrefix(strings.TrimLeft(rest, " "), ","); !ok && labels != "" {
			return s, "labels are separated by commas"
		}
	}
	return s, ""
}

// Selector returns the series that a reference reads; false: it is no scrape("…").
func (r Ref) Selector() (s Selector, ok bool) {
	selector, stat, ok := cutScrape(r.Leaf.Row.Name)
	if ok {
		s, _ = parseSelector(selector)
		s.Stat = stat
	}
	return s, ok
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

// String spells the selector as it is written, with its labels in order.
func (s Selector) String() string {
	if len(s.Labels) == 0 {
		return s.Name
	}
	labels := slices.Sorted(maps.Keys(s.Labels))
	for i, k := range labels {
		labels[i] = k + "='" + s.Labels[k] + "'"
	}
	return s.Name + "{" + strings.Join(labels, ",") + "}"
}
