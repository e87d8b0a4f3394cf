package expression

import (
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// NameError says which part of a reference is wrong and what was likely meant. A Scope gives one from Resolve.
type NameError struct {
	Summary string
	Detail  string
	Allowed []string
	Nearest string
	Part    Part   // what of the place is wrong; "": the metric
	Code    string // "" is unknown-metric
}

func (e *NameError) Error() string { return e.Summary }

// Find is a Scope's Resolve for one catalogue: the leaf that path names, or a *NameError.
func Find(c *metric.Catalogue, path string) (metric.Leaf, error) {
	if leaf, is, err := scraped(path); is {
		return leaf, err
	}
	if leaf, ok := c.Leaf(path); ok {
		return leaf, nil
	}
	r, rest := c.Longest(path)
	switch {
	case r == nil:
		return metric.Leaf{}, unknownMetric(c, path)
	case r.Shape == metric.Distribution:
		return metric.Leaf{}, notALeaf(c, r, path, rest)
	}
	if e := unknownMetric(c, path); e.Nearest != "" && e.Nearest != r.Name {
		return metric.Leaf{}, e
	}
	return metric.Leaf{}, &NameError{
		Code: codeStat, Summary: r.Name + " is one value, it has no ." + rest,
		Detail: "percentiles and the like are for distributions, such as latency.p99", Nearest: r.Name,
	}
}

func unknownMetric(c *metric.Catalogue, path string) *NameError {
	e := &NameError{Code: codeName, Summary: "there is no metric " + path, Nearest: source.Nearest(path, c.Names())}
	if name := byAlias(c, path); name != "" {
		e.Nearest, e.Detail = name, path+" is called "+name+" here"
	}
	if unit := durationUnit(path) + sizeUnit(path) + perUnit(path); unit != 0 {
		e.Nearest, e.Detail = "", "a unit stands after its number: 50ms, 200/s"
	}
	if e.Nearest == "" && e.Detail == "" {
		e.Detail = "the metrics: " + strings.Join(rowNames(c), ", ")
	}
	return e
}

// byAlias finds the metric that other tools call so: "request_latency", "http_req_duration.p95".
func byAlias(c *metric.Catalogue, path string) string {
	base, stat, _ := strings.Cut(path, ".")
	for _, r := range c.Rows() {
		if !slices.ContainsFunc(r.Aliases, func(a string) bool { return strings.EqualFold(a, base) }) {
			continue
		}
		if r.Shape == metric.Value {
			return r.Name
		}
		if _, _, ok := metric.ParseStat(stat); !ok {
			stat = "p99"
		}
		return r.Name + "." + stat
	}
	return ""
}

func rowNames(c *metric.Catalogue) []string {
	var names []string
	for _, r := range c.Rows() {
		if !r.OfErrors() || strings.Count(r.Name, ".") == 1 {
			names = append(names, r.Name)
		}
	}
	return names
}

// notALeaf is for a distribution without a statistic, or with one that there is not.
func notALeaf(c *metric.Catalogue, r *metric.Row, path, rest string) *NameError {
	e := &NameError{Code: codeStat, Allowed: statWords(c, r)}
	if rest == "" {
		e.Summary = r.Name + " is a distribution: say which statistic of it"
		e.Detail = "such as " + r.Name + ".p99 or " + r.Name + ".mean"
		return e
	}
	if _, why, _ := metric.ParseStat(rest); why != "" {
		e.Summary = why
		return e
	}
	e.Summary = r.Name + " has no ." + rest
	e.Nearest = synonym(rest)
	if e.Nearest == "" {
		e.Nearest = source.Nearest(rest, e.Allowed)
	}
	if e.Nearest != "" {
		e.Nearest = r.Name + "." + e.Nearest
	} else {
		e.Nearest = source.Nearest(path, c.Names())
	}
	return e
}

// statWords are the statistics of a distribution, and the parts that are metrics of their own (send_delay.client).
func statWords(c *metric.Catalogue, r *metric.Row) []string {
	words := metric.StatNames()
	for _, other := range c.Rows() {
		if part, ok := strings.CutPrefix(other.Name, r.Name+"."); ok {
			words = append(words, part)
		}
	}
	return words
}

// synonym gives our word for a statistic that others call differently.
func synonym(word string) string {
	switch strings.ToLower(word) {
	case "avg", "average":
		return "mean"
	case "med", "median":
		return "p50"
	case "stddev", "stdev", "sd", "sigma":
		return "std"
	case "n", "samples", "total":
		return "count"
	case "minimum":
		return "min"
	case "maximum", "worst":
		return "max"
	}
	return ""
}
