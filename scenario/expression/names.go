package expression

import (
	"fmt"
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
	e := &NameError{Code: codeName, Summary: "there is no metric " + path}
	if id, metricOf, ok := stagePath(path); ok {
		e.Nearest = fmt.Sprintf("stage(%q).%s", id, metricOf)
		return e
	}
	first, rest, _ := strings.Cut(path, ".")
	if members := group(c, first); rest == "" && len(members) > 0 {
		e.Nearest, e.Allowed = members[0], members
		return e
	}
	if _, _, ok := metric.ParseStat(first); (ok || longPercentile(first) != "") && rest == "" {
		e.Allowed = bareStatistic(first)
		e.Nearest, e.Detail = e.Allowed[0], "name the metric first"
		return e
	}
	if name := byAlias(c, path); name != "" {
		e.Nearest, e.Detail = name, path+" is called "+name+" here"
		return e
	}
	if slices.Contains([]string{"rps", "qps", "tps"}, strings.ToLower(path)) {
		e.Nearest, e.Detail = metric.RequestsRate, path+" is called "+metric.RequestsRate+" here"
		return e
	}
	if durationUnit(path)+sizeUnit(path)+powerUnit(path)+perUnit(path) != 0 {
		e.Detail = "a unit comes after its number: 50ms, 200/s"
		return e
	}
	if !slices.ContainsFunc(c.Rows(), func(r *metric.Row) bool { return r.From == metric.Series }) && strings.HasPrefix(path, "server.") {
		e.Detail = "a server's own numbers are read with `backend: triton`"
		return e
	}
	if e.Nearest = source.Nearest(path, builtNames(c)); e.Nearest == "" {
		e.Detail = "`sluice explain metrics` lists them"
	}
	return e
}

// stagePath cuts a path that names a stage by dots, as a plan does: stages.s.latency.p50.
func stagePath(path string) (id, metricOf string, ok bool) {
	for _, word := range [...]string{"stages.", "stage."} {
		if rest, found := strings.CutPrefix(path, word); found {
			id, metricOf, _ = strings.Cut(rest, ".")
			return id, metricOf, metricOf != ""
		}
	}
	return "", "", false
}

// group are the metrics below a word, the one first that is most often meant: errors.ratio for errors.
func group(c *metric.Catalogue, word string) []string {
	var names []string
	for _, r := range c.Rows() {
		rest, ok := strings.CutPrefix(r.Name, word+".")
		if ok && !strings.Contains(rest, ".") && !r.Later {
			names = append(names, r.Name)
			if r.Shape == metric.Distribution {
				names[len(names)-1] += ".p99"
			}
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return preferred(b) - preferred(a) })
	return names
}

func preferred(name string) int {
	switch name {
	case metric.ErrorsRatio, metric.RequestsCount:
		return 1
	}
	return 0
}

// bareStatistic are what a statistic without a metric may be meant of.
func bareStatistic(word string) []string {
	if word == "count" {
		return []string{metric.RequestsCount, metric.ErrorsCount}
	}
	if p := longPercentile(word); p != "" {
		word = p
	}
	return []string{metric.Latency + "." + word}
}

// longPercentile is what other tools write without the point: p999 is p99.9, p995 is p99.5. "": it is no such word.
func longPercentile(word string) string {
	digits, ok := strings.CutPrefix(word, "p")
	if !ok || len(digits) < 3 || strings.Trim(digits, "0123456789") != "" || digits[0] != '9' {
		return ""
	}
	return "p" + digits[:2] + "." + digits[2:]
}

// builtNames are the leaves that this version can measure.
func builtNames(c *metric.Catalogue) []string {
	var names []string
	for _, r := range c.Rows() {
		if !r.Later {
			names = append(names, r.Leaves()...)
		}
	}
	return names
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
		if p := longPercentile(rest); p != "" {
			e.Nearest = r.Name + "." + p
		}
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
		e.Nearest = source.Nearest(path, builtNames(c))
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
