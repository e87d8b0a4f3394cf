package executor

import (
	"math"
	"slices"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// live answers references from what has been folded so far. What other nodes measured stands in their results.
type live struct {
	t          *trial
	now, begin int64            // run clock; begin of hold, or of a window
	until      int64            // end of a window that waits for replies; 0: all of hold so far
	place      expression.Place // of that window
	all        *measure.Aggregate
	scopes     []*measure.Aggregate
	older      int64 // requests without an outcome for longer than the limit that was asked for last
}

var _ verdict.Live = (*live)(nil)

// Own implements verdict.Live.
func (l *live) Own(ref expression.Ref) bool {
	return !ref.Baseline && (ref.Node == "" || ref.Node == l.t.node.ID)
}

// of are the sums that a reference is read from, nil where they are not kept apart.
func (l *live) of(ref expression.Ref) *measure.Aggregate {
	at := expression.Place{Phase: ref.Phase, Mix: ref.Mix}
	if l.until != 0 && at != l.place {
		return nil
	}
	if l.until != 0 || at == (expression.Place{}) {
		return l.all
	}
	if i := slices.Index(l.t.parts.Places, at); i >= 0 {
		return l.scopes[i]
	}
	return nil
}

// Quantity implements expression.Values. Rates are not known before the end.
func (l *live) Quantity(ref expression.Ref) expression.Quantity {
	if !l.Own(ref) {
		return result.Values(l.t.m.view(), l.t.out).Against(l.t.r.program.Baseline).Quantity(ref)
	}
	q := expression.Quantity{Need: 1, Why: "not known while the node runs"}
	if ref.Leaf.Stat.Kind == metric.Percentile {
		q.Need = stats.MinSamples(ref.Leaf.Stat.P)
	}
	a := l.of(ref)
	if a == nil || !ref.Leaf.Row.Summed() || l.until != 0 && ref.Leaf.Stat.Kind != metric.Percentile {
		return q
	}
	sofar := *a
	sofar.Planned = a.Sent + l.notGood(ref)
	l.books(&sofar, ref.Leaf.Row)
	v, ok := sofar.Leaf(ref.Leaf)
	if !ok || math.IsNaN(v) {
		return q
	}
	n := sofar.Of(ref.Leaf.Row)
	if d := a.Dist(ref.Leaf.Row); d != nil {
		n = d.N()
	}
	return expression.Quantity{Known: true, V: v, Lo: v, Hi: v, N: n, Need: q.Need}
}

// books enters what the player knows so far, for the rows that are read from it. What is in flight was due and not dropped.
func (l *live) books(a *measure.Aggregate, row *metric.Row) {
	if row.From != metric.Driver {
		return
	}
	c := &l.t.control
	a.PeakInFlight, a.DroppedPool = c.Peak.Load(), c.Dropped.Load()
	a.Planned = a.Sent + max(c.InFlight.Load(), 0) + a.DroppedPool
}

// notGood is how many requests have no outcome and are not good already, where ref is their share: those that have been open
// for longer than goodput's own bound of latency.
func (l *live) notGood(ref expression.Ref) int64 {
	if ref.Leaf.Row.Name != metric.GoodputRatio {
		return 0
	}
	for _, b := range l.t.node.Goodput {
		if b.Row.Name == metric.Latency {
			l.older = l.waiting(ref.Place, b.Limit)
			return l.older
		}
	}
	return 0
}

// Above implements verdict.Live. Requests that have been open, or due and unsent, for longer than the limit are over it.
func (l *live) Above(ref expression.Ref, limit float64) (over, n int64, ok bool) {
	if !l.Own(ref) {
		return result.Values(l.t.m.view(), l.t.out).Against(l.t.r.program.Baseline).Above(ref, limit)
	}
	a := l.of(ref)
	if a == nil || ref.Leaf.Stat.Kind != metric.Percentile {
		return 0, 0, false
	}
	over, n, ok = a.Above(ref.Leaf.Row, limit)
	if !ok || l.until != 0 && l.now-l.until < limitOf(limit) {
		return 0, 0, false
	}
	if ref.Leaf.Row.Name == metric.Latency {
		l.older = l.waiting(ref.Place, limit)
		over, n = over+l.older, n+l.older
	}
	return over, n, n > 0
}

// waiting is how many requests of a place that were due in hold have no outcome after limit, s.
func (l *live) waiting(at expression.Place, limit float64) (n int64) {
	since := l.now - limitOf(limit)
	spans, entry := l.t.parts.Covers(at)
	if l.until != 0 {
		since, spans = min(since, l.until), nil
	}
	if spans == nil {
		spans = []measure.Span{{To: math.MaxInt64}}
	}
	for _, s := range spans {
		from, to := l.begin+s.From, since
		if s.To < since-l.begin {
			to = l.begin + s.To
		}
		if to <= from {
			continue
		}
		before := l.t.control.UnansweredBefore(from, entry) // first, so that what ends meanwhile makes the difference smaller
		n += max(l.t.control.UnansweredBefore(to, entry)-before, 0)
	}
	return n
}

// limitOf is a limit in ns.
func limitOf(seconds float64) int64 { return int64(math.Ceil(seconds * 1e9)) }
