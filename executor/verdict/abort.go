package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// PartialValues are the values of a run in progress: quantities, and for percentiles the number of
// requests over a limit. Requests in flight, or waiting to be sent, for longer than the limit count
// as over it, so that a server that hangs is noticed although no request ends.
type PartialValues interface {
	Counted
	// OwnNode reports whether r refers to the running node; the values of other nodes no longer
	// change.
	OwnNode(r expression.Ref) bool
}

// An assertion with `abort` is certainly false if:
//
//	percentile against a constant   samples on the wrong side are so many that chance gives them once in
//	                                200 checks: P(B >= over) <= 0.5 %, B binomial(n, 1-p)
//	ratio                           the 99 % bounds of Wilson exclude the limit, and so do the exact ones,
//	                                which are wider with few requests
//	count                           it has exceeded the limit and can only grow
//	max, min                        they have exceeded the limit and cannot come back
//	the rest                        never: means and rates can recover, see metric.Leaf.Watchable
//
// With fewer than abortSamples or min_samples requests nothing is certain. Of an assertion with `confidence`
// PartialValues count as many requests as independent ones would tell as much. Operands of and, or and
// not are decided separately.
const (
	abortConfidence = 0.99
	abortSamples    = 30
)

// Abort returns why an assertion is certainly false by now, whatever the rest of the run brings, or
// "". Call it once a second: each check is another chance of a wrong decision.
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
	if over, n, ok := countExceeding(t, l); ok {
		wrong := over
		if strings.HasPrefix(t.Op, ">") {
			wrong = n - over
		}
		text = fmt.Sprintf("%s is certainly false: %d of %d requests so far have %s %s %s", a.That.Text, wrong, n,
			t.Ref.Leaf.Row.Name, expression.Opposite(t.Op), expression.Format(t.Dim, t.Limit.V))
	}
	return text
}

// maxWatchedRefs limits the references of an expression whose combinations of values are tried,
// three values each.
const maxWatchedRefs = 6

// CanAbort reports whether an assertion with `abort` can become certainly false while a node runs.
// own reports whether a reference is to that node; others are known by then.
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
	for choice := range combinations(len(names)) { // of nothing, half and all of the greatest value
		e := &extremeValues{at: make(map[string]float64, len(names)), own: own}
		for k, name := range names {
			e.at[name] = float64(choice[k]+1) / 2
		}
		if Abort(a, p, e) != "" {
			return true
		}
	}
	return false
}

// extremeValues are the values of a node with so many requests that chance plays no part. Each
// value is an extreme.
type extremeValues struct {
	at  map[string]float64
	own func(expression.Ref) bool
}

// manyRequests is the number of requests, and the greatest value of anything but a ratio.
const manyRequests = 1e9

// Quantity implements expression.Values.
func (e *extremeValues) Quantity(r expression.Ref) expression.Quantity {
	v := e.at[r.String()]
	if r.Leaf.Dim() != metric.Ratio {
		v *= manyRequests
	}
	return expression.Exactly(v, manyRequests, 1)
}

// Exceeding implements PartialValues.
func (e *extremeValues) Exceeding(r expression.Ref, _ string, _ float64) (over, n int64, ok bool) {
	return int64(e.at[r.String()] * manyRequests), manyRequests, e.own(r)
}

// OwnNode implements PartialValues.
func (e *extremeValues) OwnNode(r expression.Ref) bool { return e.own(r) }

// certainty is PartialValues with bounds that hold for the rest of the run.
type certainty struct {
	PartialValues
	minRequests int64 // with fewer requests nothing is certain
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
		q.Hi = inf
	case stat.Kind == metric.Min:
		q.Lo = -inf
	case counted && row.Dim == metric.Ratio && q.N >= c.minRequests:
		low, _ := shareBounds(q.Lo, q.N)
		_, high := shareBounds(q.Hi, q.N)
		q.Lo, q.Hi = min(low, q.Lo), max(high, q.Hi)
	default:
		q.Lo, q.Hi = -inf, inf
	}
	return q
}

// shareBounds returns the bounds of a share of n requests.
func shareBounds(share float64, n int64) (low, high float64) {
	k := int64(math.Round(share * float64(n)))
	lo, hi, _ := stats.Wilson(k, n, abortConfidence)
	least, greatest, _ := stats.ClopperPearson(k, n, abortConfidence)
	return min(lo, least), max(hi, greatest)
}

// Compare implements expression.Judge: a percentile against a constant is decided by counting.
func (c certainty) Compare(t expression.Truth) (decided expression.Truth, ok bool) {
	_, n, ok := countExceeding(t, c.PartialValues)
	if !ok {
		return t, false
	}
	decided, contrary := t, t
	decided.Why = "not certain yet"
	if n < c.minRequests {
		return decided, true
	}
	contrary.Op = expression.Opposite(t.Op)
	const risk = (1 - abortConfidence) / 2
	switch {
	case refuted(t, c.PartialValues, risk):
		decided.Is = -1
	case refuted(contrary, c.PartialValues, risk):
		decided.Is = 1
	}
	return decided, true
}
