package trial

import (
	"math"
	"slices"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// progress answers references from what has been folded so far, those to other nodes from their results.
type progress struct {
	*abortWatch
	now, begin int64            // run clock; begin of hold, or of a window
	until      int64            // end of a window that waits for replies; 0: all of hold so far
	place      expression.Place // of that window
	all        *measure.Aggregate
	scopes     []*measure.Aggregate
	older      int64 // requests without an outcome for longer than the limit that was asked for last
}

var _ verdict.PartialValues = (*progress)(nil)

// Own implements verdict.Live.
func (p *progress) OwnNode(ref expression.Ref) bool {
	return !ref.Baseline && (ref.Node == "" || ref.Node == p.in.Node.ID)
}

// of returns the sums that a reference is read from, nil where they are not kept apart.
func (p *progress) of(ref expression.Ref) *measure.Aggregate {
	at := expression.Place{Phase: ref.Phase, Mix: ref.Mix}
	if p.until != 0 && at != p.place {
		return nil
	}
	if p.until != 0 || at == (expression.Place{}) {
		return p.all
	}
	if i := slices.Index(p.in.Parts.Places, at); i >= 0 {
		return p.scopes[i]
	}
	return nil
}

// Quantity implements expression.Values. Rates are not known before the end.
func (p *progress) Quantity(ref expression.Ref) expression.Quantity {
	if !p.OwnNode(ref) {
		return p.in.Values(p.in.Result).Quantity(ref)
	}
	q := expression.Quantity{Need: 1, Why: "not known while the node runs"}
	if ref.Leaf.Stat.Kind == metric.Percentile {
		q.Need = stats.MinSamples(ref.Leaf.Stat.P)
	}
	a := p.of(ref)
	if a == nil || !ref.Leaf.Row.Summed() || p.until != 0 && ref.Leaf.Stat.Kind != metric.Percentile {
		return q
	}
	sofar := *a
	sofar.Planned = a.Sent + p.notGood(ref)
	p.books(&sofar, ref.Leaf.Row)
	v, ok := sofar.LeafValue(ref.Leaf)
	if !ok || math.IsNaN(v) {
		return q
	}
	n := sofar.Denominator(ref.Leaf.Row)
	if d := a.Dist(ref.Leaf.Row); d != nil {
		n = d.N()
	}
	return expression.Quantity{Known: true, V: v, Lo: v, Hi: v, N: n, Need: q.Need}
}

// books enters what the player knows so far, for the rows that are read from it. What is in flight
// was due and not dropped.
func (p *progress) books(a *measure.Aggregate, row *metric.Row) {
	if row.From != metric.Driver {
		return
	}
	c := p.control
	a.PeakInFlight, a.DroppedPool = c.Peak.Load(), c.Dropped.Load()
	a.Planned = a.Sent + max(c.InFlight.Load(), 0) + a.DroppedPool
}

// notGood counts the requests that have no outcome and are not good already, where ref is their
// share: those that have been open for longer than goodput's own bound of latency.
func (p *progress) notGood(ref expression.Ref) int64 {
	if ref.Leaf.Row.Name != metric.GoodputRatio {
		return 0
	}
	for _, b := range p.in.Node.Goodput {
		if b.Row.Name == metric.Latency {
			p.older = p.waiting(ref.Place, b.Limit)
			return p.older
		}
	}
	return 0
}

// Above implements verdict.Live. Requests that have been open, or due and unsent, for longer than
// the limit are over it.
func (p *progress) Above(ref expression.Ref, limit float64) (over, n int64, ok bool) {
	if !p.OwnNode(ref) {
		return p.in.Values(p.in.Result).Above(ref, limit)
	}
	a := p.of(ref)
	if a == nil || ref.Leaf.Stat.Kind != metric.Percentile {
		return 0, 0, false
	}
	over, n, ok = a.Above(ref.Leaf.Row, limit)
	if !ok || p.until != 0 && p.now-p.until < limitOf(limit) {
		return 0, 0, false
	}
	if ref.Leaf.Row.Name == metric.Latency {
		p.older = p.waiting(ref.Place, limit)
		over, n = over+p.older, n+p.older
	}
	return over, n, n > 0
}

// waiting counts the requests of a place that were due in hold and have no outcome after limit, s.
func (p *progress) waiting(at expression.Place, limit float64) (n int64) {
	since := p.now - limitOf(limit)
	spans, entry := p.in.Parts.Covers(at)
	if p.until != 0 {
		since, spans = min(since, p.until), nil
	}
	if spans == nil {
		spans = []measure.Span{{To: math.MaxInt64}}
	}
	for _, s := range spans {
		from, to := p.begin+s.From, p.begin+min(s.To, since-p.begin)
		if to <= from {
			continue
		}
		// The earlier one first: what ends meanwhile makes the difference smaller.
		before := p.control.UnansweredBefore(from, entry)
		n += max(p.control.UnansweredBefore(to, entry)-before, 0)
	}
	return n
}

// limitOf converts a limit from seconds to ns.
func limitOf(seconds float64) int64 { return int64(math.Ceil(seconds * 1e9)) }
