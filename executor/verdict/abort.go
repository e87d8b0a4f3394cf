package verdict

import (
	"fmt"
	"math"

	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Live is what a run knows so far of what its expressions read: the quantities, and for percentiles how many of how many
// requests are over a limit. Requests that have been in flight, or waiting to be sent, for longer than the limit are over
// it: a server that hangs is seen although nothing ends.
type Live interface {
	expression.Values
	Above(r expression.Ref, limit float64) (over, n int64, ok bool)
}

// When an assertion with `abort` is certainly false.
//
//	percentile against a constant   so many samples on the wrong side that chance gives them once in 200 looks:
//	                                P(B >= over) <= 0.5 %, B binomial(n, 1-p)
//	ratio                           the 99 % bounds of Wilson exclude the limit, and the exact ones do, which are wider
//	                                while there are few requests
//	count                           it has passed the limit and can only grow
//	max, min                        they have passed it and can only go further
//	the rest                        never: means and rates come back
//
// None is asked with fewer than abortSamples requests, or fewer than min_samples. Parts that are joined by and, or, not
// are each decided so.
const (
	abortConfidence = 0.99
	abortSamples    = 30
)

// Abort says why an assertion is certainly false by now, whatever the rest of the run brings; "": it is not. Ask once a
// second: each look is another chance to be wrong.
func Abort(a scenario.Assertion, p *expression.Program, l Live) string {
	if !a.Abort || p == nil {
		return ""
	}
	t := p.Truth(certainty{l, int64(max(a.MinSamples, abortSamples))})
	if t.Err != nil || t.Is >= 0 {
		return ""
	}
	shown := t
	shown.Observed.Lo, shown.Observed.Hi = t.Observed.V, t.Observed.V
	text := fmt.Sprintf("%s is certainly false: %s", a.That.Text, measured(scenario.Assertion{}, shown))
	if over, n, ok := counted(t, l); ok {
		text = fmt.Sprintf("%s is certainly false: %d of %d requests so far take longer than %s", a.That.Text, over, n, expression.Format(t.Dim, t.Limit.V))
	}
	return text
}

// certainty is Live with bounds that hold for the whole run.
type certainty struct {
	Live
	least int64 // requests below which nothing is certain
}

// Quantity implements expression.Values.
func (c certainty) Quantity(r expression.Ref) expression.Quantity {
	q := c.Live.Quantity(r)
	if !q.Known {
		return q
	}
	inf := math.Inf(1)
	row := r.Leaf.Row
	counted := row.From.Counted()
	switch stat := r.Leaf.Stat; {
	case r.Baseline: // it does not change any more
	case stat.Kind == metric.Max || stat.Kind == metric.N || counted && row.Dim == metric.Count:
		q.Lo, q.Hi = q.V, inf
	case stat.Kind == metric.Min:
		q.Lo, q.Hi = -inf, q.V
	case counted && row.Dim == metric.Ratio && q.N >= c.least:
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
	_, n, ok := counted(t, c.Live)
	if !ok {
		return expression.Decision{}, false
	}
	d := expression.Decision{Why: "not certain yet"}
	if n < c.least {
		return d, true
	}
	contrary := t
	contrary.Op = map[string]string{"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[t.Op]
	const risk = (1 - abortConfidence) / 2
	switch {
	case refuted(t, c.Live, risk):
		d.Is = -1
	case refuted(contrary, c.Live, risk):
		d.Is = 1
	}
	return d, true
}
