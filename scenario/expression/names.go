package expression

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// NameError says which part of a reference is wrong and what was likely meant. A Scope returns one
// from Resolve.
type NameError struct {
	*source.Diagnostic      // without a place
	Part               Part // of the place; "": the metric
}

func (e *NameError) Error() string { return e.Summary }

// Wrong is the error for a part of a reference; "" is the metric.
func Wrong(part Part, format string, args ...any) *NameError {
	return &NameError{source.Errorf(codeName, format, args...), part}
}

// nameMistake returns the diagnostic of an error about a name, and the part of the place that is
// wrong; "" is the metric.
func nameMistake(err error, code string) (*source.Diagnostic, Part) {
	var e *NameError
	if !errors.As(err, &e) {
		return source.Errorf(code, "%s", err.Error()), ""
	}
	return e.Diagnostic, e.Part
}

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
	case r.IsDistribution():
		return metric.Leaf{}, unknownStatistic(c, r, path, rest)
	}
	if e := unknownMetric(c, path); e.Nearest != "" && e.Nearest != r.Name {
		return metric.Leaf{}, e
	}
	return metric.Leaf{}, &NameError{
		Diagnostic: source.Errorf(codeStat, "%s is one value, it has no .%s", r.Name, rest).
			Help("percentiles and the like are for distributions, such as latency.p99").Among(r.Name, nil),
	}
}

func unknownMetric(c *metric.Catalogue, path string) *NameError {
	e := Wrong("", "there is no metric %s", path)
	if e.Nearest = stageWritten(path); e.Nearest != "" {
		return e
	}
	if members := group(c, path); len(members) > 0 {
		e.Nearest, e.Allowed = members[0], members
		return e
	}
	if _, _, ok := metric.ParseStat(path); ok || longPercentile(path) != "" {
		e.Allowed = bareStatistic(path)
		e.Nearest, e.Detail = e.Allowed[0], "name the metric first"
		return e
	}
	if e.Nearest = byAlias(c, path); e.Nearest != "" {
		e.Detail = path + " is called " + e.Nearest + " here"
		return e
	}
	ofServer := func(r *metric.Row) bool { return r.From == metric.Series }
	if unitOf[path].dim != 0 {
		e.Detail = "a unit comes after its number: 50ms, 200/s"
	} else if strings.HasPrefix(path, "server.") && !slices.ContainsFunc(c.Rows(), ofServer) {
		e.Detail = "a server's own numbers are read with `backend: triton`"
	} else if e.Nearest = source.Nearest(path, leafNames(c)); e.Nearest == "" {
		e.Detail = "`sluice explain metrics` lists them"
	}
	return e
}

// stageWritten returns how a metric of a stage is written that is named by dots, as in a plan:
// stages.s.latency.p50. "" for every other path.
func stageWritten(path string) string {
	rest, ok := strings.CutPrefix(path, "stages.")
	if !ok {
		rest, ok = strings.CutPrefix(path, "stage.")
	}
	id, name, _ := strings.Cut(rest, ".")
	if !ok || name == "" {
		return ""
	}
	return fmt.Sprintf("stage(%q).%s", id, name)
}

// group lists the metrics below a word, the most common first: errors.ratio for errors.
func group(c *metric.Catalogue, word string) []string {
	var names []string
	for _, r := range c.Rows() {
		rest, ok := strings.CutPrefix(r.Name, word+".")
		ok = ok && !strings.Contains(word, ".")
		switch {
		case !ok || strings.Contains(rest, "."):
		case r.Name == metric.ErrorsRatio || r.Name == metric.RequestsCount:
			names = slices.Insert(names, 0, r.Name)
		case r.IsDistribution():
			names = append(names, r.Name+".p99")
		default:
			names = append(names, r.Name)
		}
	}
	return names
}

// bareStatistic lists the metrics that a statistic without one may be meant of.
func bareStatistic(word string) []string {
	if word == "count" {
		return []string{metric.RequestsCount, metric.ErrorsCount}
	}
	if p := longPercentile(word); p != "" {
		word = p
	}
	return []string{metric.Latency + "." + word}
}

// longPercentile returns the percentile that other tools write without its point: p99.9 for p999,
// p99.5 for p995. "" for every other word.
func longPercentile(word string) string {
	digits, ok := strings.CutPrefix(word, "p")
	if !ok || len(digits) < 3 || strings.Trim(digits, "0123456789") != "" || digits[0] != '9' {
		return ""
	}
	return "p" + digits[:2] + "." + digits[2:]
}

// leafNames lists all leaves.
func leafNames(c *metric.Catalogue) []string {
	var names []string
	for _, r := range c.Rows() {
		names = append(names, r.Leaves()...)
	}
	return names
}

// byAlias returns the metric that other tools call by another name: "request_latency",
// "http_req_duration.p95", "rps".
func byAlias(c *metric.Catalogue, path string) string {
	base, stat, _ := strings.Cut(path, ".")
	for _, r := range c.Rows() {
		if !r.IsCalled(base) {
			continue
		}
		if !r.IsDistribution() {
			return r.Name
		}
		if _, _, ok := metric.ParseStat(stat); !ok {
			stat = "p99"
		}
		return r.Name + "." + stat
	}
	if slices.Contains([]string{"rps", "qps", "tps"}, strings.ToLower(path)) {
		return metric.RequestsRate
	}
	return ""
}

// unknownStatistic is the error for a distribution without a statistic, or with one that does not
// exist.
func unknownStatistic(c *metric.Catalogue, r *metric.Row, path, rest string) *NameError {
	e := &NameError{Diagnostic: source.Errorf(codeStat, "").Among("", metric.StatNames())}
	if r.Adjustable() {
		e.Allowed = append(e.Allowed, "adjusted.p99")
	}
	for _, other := range c.Rows() { // the parts that are metrics of their own: send_delay.client
		if part, ok := strings.CutPrefix(other.Name, r.Name+"."); ok {
			e.Allowed = append(e.Allowed, part)
		}
	}
	if rest == "" {
		e.Summary = r.Name + " is a distribution: say which statistic of it"
		e.Detail = "such as " + r.Name + ".p99 or " + r.Name + ".mean"
		return e
	}
	near := ""
	if s, why, _ := metric.ParseStat(rest); s.Adjusted {
		e.Summary = r.Name + " has no adjusted percentiles"
		e.Detail = "times of whole requests have them, such as latency." + rest
		e.Nearest = r.Name + strings.TrimPrefix(rest, "adjusted")
		return e
	} else if why != "" {
		e.Summary, near = why, longPercentile(rest)
	} else {
		e.Summary, near = r.Name+" has no ."+rest, nearestStatistic(rest, e.Allowed)
		e.Nearest = source.Nearest(path, leafNames(c))
	}
	if near != "" {
		e.Nearest = r.Name + "." + near
	}
	return e
}

// statisticOf holds the statistics that other tools name by other words.
var statisticOf = map[string]string{
	"avg": "mean", "average": "mean", "med": "p50", "median": "p50",
	"stddev": "std", "stdev": "std", "sd": "std", "sigma": "std",
	"n": "count", "samples": "count", "total": "count",
	"minimum": "min", "maximum": "max", "worst": "max",
}

// nearestStatistic returns the statistic that was likely meant by another word for it, or by one
// that is misspelt.
func nearestStatistic(word string, allowed []string) string {
	if same := statisticOf[strings.ToLower(word)]; slices.Contains(allowed, same) {
		return same
	}
	return source.Nearest(word, allowed)
}

// The errors about places and variables. A Scope knows which exist; the words are the same whether
// a plan can be compiled or not.

// Missing is the error for a name that does not exist, with the one of names that was likely meant.
func Missing(part Part, name string, names []string, format string, args ...any) *NameError {
	e := Wrong(part, format, args...)
	e.Among(source.Nearest(name, names), names)
	return e
}

// NoVariable is the error for an undeclared variable. It knows the words of other tools:
// ${env.LIM}, ${vars.limit}.
func NoVariable(name string, known []string) *NameError {
	e := Missing("", name, known, "there is no variable %q", name)
	e.Code = codeVariable
	first, rest, dotted := strings.Cut(name, ".")
	switch strings.ToLower(first) {
	case "env", "environ", "secrets":
		if dotted && plainName(rest) {
			lower := strings.ToLower(rest)
			e.Detail = fmt.Sprintf("declare it: vars: {%s: {env: %s}}, and write ${%[1]s}", lower, rest)
		}
		if dotted {
			e.Nearest = ""
		}
	default:
		if dotted && slices.Contains(known, rest) {
			e.Nearest = rest
		}
	}
	return e
}

// NoStage is the error for a stage that the plan does not have.
func NoStage(id string, known []string) *NameError {
	return Missing(InStage, id, known, "there is no stage %q", id)
}

// NeverRuns is the error for a stage of the plan that never runs.
func NeverRuns(id string) *NameError {
	return Wrong(InStage, "stage %q never runs (when: never)", id)
}

// NoPlace is the error for a metric of the plan's own assertions without a stage.
func NoPlace(path string) *NameError {
	if written := stageWritten(path); written != "" {
		e := Wrong("", "a stage is named with stage( )")
		e.Nearest = written
		return e
	}
	return Wrong("", `say of which stage: stage("…").%s`, path)
}

// NoPhase is the error for a phase that a stage does not have.
func NoPhase(stage, name string, known []string) *NameError {
	e := Missing(InPhase, name, known, "stage %q has no phase named %q", stage, name)
	if len(known) == 0 {
		e.Detail = "a phase is a step of a ramp that has a `name`: {to: 500/s, hold: 60s, name: base}"
	}
	return e
}

// NoMix is the error for an entry that the mix of a stage does not have.
func NoMix(stage, name string, known []string) *NameError {
	if len(known) == 0 {
		return Wrong(InMix, "stage %q has no mix", stage)
	}
	return Missing(InMix, name, known, "stage %q has no entry %q in its mix", stage, name)
}

// NoBaseline is the error for a comparison with a baseline that the plan does not name.
func NoBaseline() *NameError {
	e := Wrong(InBaseline, "the plan names no baseline")
	e.Detail = "add `baseline: FILE`, the result.json of an earlier run, or give it with --baseline FILE"
	return e
}
