package trial

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/executor/delay"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
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
	// If not 0, percentiles and ratios have as few requests as independent ones would tell as much, at this
	// confidence.
	confidence float64
}

var _ verdict.PartialValues = (*progress)(nil)

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
	if ref.Leaf.Dim() == metric.Ratio && v != 0 && v != 1 {
		n = int64(float64(n) / p.dependence(ref))
	}
	q = expression.Quantity{Known: true, V: v, Lo: v, Hi: v, N: n, Need: q.Need}
	if p.hasNoBounds(ref) {
		q.Lo, q.Hi = math.Inf(-1), math.Inf(1)
	} else {
		widenByClient(&q, &sofar, ref.Leaf, p.in.Node.Stage.Validity.SendDelay)
	}
	return q
}

// hasNoBounds reports whether a reference is one whose value says nothing, as a late client made arrivals find
// no room.
func (p *progress) hasNoBounds(ref expression.Ref) bool {
	return p.control.DroppedMore.Load() > 0 && !ref.Leaf.Row.OutlivesDrops()
}

// widenByClient sets the bounds of a quantity where this client was late or stood still. Requests whose
// delay is not final yet are in neither set: they may be good.
func widenByClient(q *expression.Quantity, a *measure.Aggregate, leaf metric.Leaf, limit time.Duration) {
	low, high, late := a.Sets()
	bound := leaf.Bounded()
	if !late || bound == metric.Exact || bound == metric.Blurred && !a.Blurred(limit) {
		return
	}
	most := *high
	most.Good += a.Sent - high.Sent
	lo, known := low.LeafValue(leaf)
	hi, too := most.LeafValue(leaf)
	if !known || !too || bound == metric.Blurred {
		q.Lo, q.Hi = math.Inf(-1), math.Inf(1)
		return
	}
	q.Lo, q.Hi = min(q.Lo, lo), max(q.Hi, hi)
}

// books enters what the player knows so far, for the rows that are read from it. What is in flight
// was due and not dropped.
func (p *progress) books(a *measure.Aggregate, row *metric.Row) {
	if row.From != metric.Driver {
		return
	}
	c := p.control
	a.PeakInFlight, a.DroppedPool = c.Peak.Load(), c.Dropped.Load()
	a.DroppedLate, a.DroppedMore = min(c.DroppedLate.Load(), a.DroppedPool), c.DroppedMore.Load()
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

// Exceeding implements verdict.Counted. Requests that have been open, or due and unsent, for longer than
// the limit are over it; where this client was late, for longer than that by what it may have added.
func (p *progress) Exceeding(ref expression.Ref, op string, limit float64) (over, n int64, ok bool) {
	if !p.OwnNode(ref) {
		return p.in.Values(p.in.Result).Exceeding(ref, op, limit)
	}
	a := p.of(ref)
	if a == nil || ref.Leaf.Stat.Kind != metric.Percentile || p.hasNoBounds(ref) {
		return 0, 0, false
	}
	equal := expression.TakesEqual(op)
	over, n, ok = a.Exceeding(ref.Leaf.Row, limit, equal)
	if low, high, late := a.Sets(); late && strings.HasPrefix(op, "<") {
		over, _, _ = low.Exceeding(ref.Leaf.Row, limit, equal)
	} else if late {
		most, of, _ := high.Exceeding(ref.Leaf.Row, limit, equal)
		over = n - (of - most)
	}
	if !ok || p.until != 0 && p.now-p.until < limitOf(limit) {
		return 0, 0, false
	}
	if ref.Leaf.Row.Name == metric.Latency {
		d := p.host.Client.Of(p.now-limitOf(limit), p.now, delay.SliceLength(0), !p.in.Node.Open)
		p.older = p.waiting(ref.Place, limit+seconds(4*d.E+d.R))
		over, n = over+p.older, n+p.older
	}
	if over != 0 && over != n { // else all are alike
		of, few := float64(n), p.dependence(ref)
		within := int64((of - float64(over)) / few)
		over, n = int64(float64(over)/few), int64(of/few)
		if !strings.HasPrefix(op, "<") {
			over = n - within
		}
	}
	return over, n, n > 0
}

// dependence returns how many requests tell as much as one independent one, by the parts of hold so far: a
// wait that many share is one event. It is infinite where too few parts are over. Without a confidence, and
// where nothing is kept in parts, it is 1.
func (p *progress) dependence(ref expression.Ref) float64 {
	at := expression.Place{Phase: ref.Phase, Mix: ref.Mix}
	kept := slices.ContainsFunc(p.in.Parts.Timed, func(t program.TimedPlace) bool {
		return t.Place == at && slices.Contains(t.Rows, ref.Leaf.Row)
	})
	if p.confidence == 0 || !kept {
		return 1
	}
	n := p.partial(at, p.of(ref), p.begin, p.now)
	q := p.in.Values(n).Measured().Demanding(p.confidence, 0, nil).Quantity(expression.Ref{Leaf: ref.Leaf})
	if q.Worth == 0 {
		return math.Inf(1)
	}
	return float64(q.N) / float64(q.Worth)
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
	return p.scopes[slices.Index(p.in.Parts.Places, at)] // which has the place of every reference
}

// OwnNode implements verdict.PartialValues.
func (p *progress) OwnNode(ref expression.Ref) bool { return p.in.Node.Owns(ref) }

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
