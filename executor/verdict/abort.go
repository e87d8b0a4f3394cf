package verdict

import (
	"fmt"
	"math"
	"slices"

	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Live is what a run knows so far of what its expressions read: the quantities, and for percentiles how many of how many
// requests are over a limit. Requests that have been in flight, or waiting to be sent, for longer than the limit are over
// it: a server that hangs is seen although nothing ends.
type PartialValues interface {
	expression.Values
	Above(r expression.Ref, limit float64) (over, n int64, ok bool)
	// Own reports whether r is of the node that runs; what it says of others does not change any more.
	OwnNode(r expression.Ref) bool
}

// When an assertion with `abort` is certainly false.
//
//	percentile against a constant   so many samples on the wrong side that chance gives them once in 200 looks:
//	                                P(B >= over) <= 0.5 %, B binomial(n, 1-p)
//	ratio                           the 99 % bounds of Wilson exclude the limit, and the exact ones do, which are wider
//	                                while there are few requests
//	count                           it has passed the limit and can only grow
//	max, min                        they have passed it and can only go further
//	the rest                        never: means and rates come back, see metric.Leaf.Watchable
//
// None is asked with fewer than abortSamples requests, or fewer than min_samples. Parts that are joined by and, or, not
// are each decided so.
const (
	abortConfidence = 0.99
	abortSamples    = 30
)

// Abort says why an assertion is certainly false by now, whatever the rest of the run brings; "": it is not. Ask once a
// second: each look is another chance to be wrong.
func Abort(a scenario.Assertion, p *expression.Program, l PartialValues) string {
	if !a.Abort || p == nil {
		return ""
	}
	t := p.Truth(certainty{l, int64(max(a.MinSamples, abortSamples))})
	if t.Err != nil || t.Is >= 0 {
		return ""
	}
	shown := t
	shown.Observed.Lo, shown.Observed.Hi = t.Observed.V, t.Observed.V
	text := fmt.Sprintf("%s is certainly false: %s", a.That.Text, measuredText(scenario.Assertion{}, shown))
	if over, n, ok := countAbove(t, l); ok {
		text = fmt.Sprintf("%s is certainly false: %d of %d requests so far take longer than %s", a.That.Text, over, n, expression.Format(t.Dim, t.Limit.V))
	}
	return text
}

// mostWatched is how many references of one expression are tried in all their values, three each.
const maxWatchedRefs = 6

// Watched reports whether an assertion with `abort` can become certainly false while a node runs, in whatever way it runs.
// own reports whether a reference is to that node; the others are known by then.
func CanAbort(a scenario.Assertion, p *expression.Program, own func(expression.Ref) bool) bool {
	var names []string
	for _, r := range p.Refs {
		if !slices.Contains(names, r.String()) {
			names = append(names, r.String())
		}
	}
	if len(names) > maxWatchedRefs {
		return true
	}
	a.Abort, a.MinSamples = true, 0
	total := 1
	for range names {
		total *= len(extremes)
	}
	for i := range total {
		e := &extremeValues{at: make(map[string]float64, len(names)), own: own}
		for k, rest := 0, i; k < len(names); k, rest = k+1, rest/len(extremes) {
			e.at[names[k]] = extremes[rest%len(extremes)]
		}
		if Abort(a, p, e) != "" {
			return true
		}
	}
	return false
}

// extremes are the least, a middle and the greatest value that Watched tries of each reference, as shares of the greatest.
var extremes = [...]float64{0, 0.5, 1}

// extreme is a node after so many requests that chance plays no part, each of whose numbers is at an extreme.
type extremeValues struct {
	at  map[string]float64
	own func(expression.Ref) bool
}

// endless is the greatest number of requests, and of anything that a ratio is not.
const manyRequests = 1e9

// Quantity implements expression.Values.
func (e *extremeValues) Quantity(r expression.Ref) expression.Quantity {
	v := e.at[r.String()]
	if r.Leaf.Dim() != metric.Ratio {
		v *= manyRequests
	}
	return expression.Quantity{Known: true, V: v, Lo: v, Hi: v, N: manyRequests, Need: 1}
}

// Above implements Live.
func (e *extremeValues) Above(r expression.Ref, _ float64) (over, n int64, ok bool) {
	return int64(e.at[r.String()] * manyRequests), manyRequests, e.own(r)
}

// Own implements Live.
func (e *extremeValues) OwnNode(r expression.Ref) bool { return e.own(r) }

// certainty is Live with bounds that hold for the whole run.
type certainty struct {
	PartialValues
	minRequests int64 // requests below which nothing is certain
}

// Quantity implements expression.Values.
func (c certainty) Quantity(r expression.Ref) expression.Quantity {
	q := c.PartialValues.Quantity(r)
	if !q.Known {
		return q
	}
	inf := math.Inf(1)
	row := r.Leaf.Row
	counted := row.From.Counted()
	switch stat := r.Leaf.Stat; {
	case !c.OwnNode(r):
	case stat.Kind == metric.Max || stat.Kind == metric.N || counted && row.Dim == metric.Count:
		q.Lo, q.Hi = q.V, inf
	case stat.Kind == metric.Min:
		q.Lo, q.Hi = -inf, q.V
	case counted && row.Dim == metric.Ratio && q.N >= c.minRequests:
		k := int64(math.Round(q.V * float64(q.N)))
		lo, hi, _ := stats.Wilson(k, q.N, abortConfidence)
		least, greatest, _ := stats.ClopperPearson(k, q.N, abortConfidence)
		q.Lo, q.Hi = min(lo, least, q.V), max(hi, greatest, q.V)
	default:
		q.Lo, q.Hi = -inf, inf
	}
	return q
}

// Compare implements expression.Judge: a percentile against a constant is decided by counting.
func (c certainty) Compare(t expression.Truth) (expression.Decision, bool) {
	_, n, ok := countAbove(t, c.PartialValues)
	if !ok {
		return expression.Decision{}, false
	}
	d := expression.Decision{Why: "not certain yet"}
	if n < c.minRequests {
		return d, true
	}
	contrary := t
	contrary.Op = map[string]string{"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[t.Op]
	const risk = (1 - abortConfidence) / 2
	switch {
	case refuted(t, c.PartialValues, risk):
		d.Is = -1
	case refuted(contrary, c.PartialValues, risk):
		d.Is = 1
	}
	return d, true
}
