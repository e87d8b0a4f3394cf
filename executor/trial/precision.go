package trial

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// precision looks at the bounds of `until: precise`. To look often and to stop at a lucky moment would cost
// the promise of the confidence, so there are few looks, each after half as long again as the one before,
// and the risk of being wrong is shared among them: the bounds of the node are those of the last look.
type precision struct {
	of         *running
	confidence float64
	next, most float64     // s of hold; of the next look and of the last one
	done       result.Look // the last look
	settled    bool        // the bounds are narrow, or there is no further look
	open       []string    // metrics that were not precise at the last look
	shown      []string    // all of them
}

// lookMargin is the time by which the last look is earlier than the end by `max_duration`, s.
const lookMargin = 0.1

// plan plans the looks of a hold that began at begin, run clock.
func (p *precision) plan(begin int64) {
	u, _ := p.of.in.Node.Stage.Extent.(scenario.UntilPrecise)
	p.confidence, p.most = u.Confidence, program.LongestPrecise.Seconds()
	if p.of.in.Deadline > 0 {
		p.most = max(seconds(p.of.in.Deadline-begin)-lookMargin, lookMargin)
	}
	p.next = min(program.FirstLook.Seconds(), p.most)
	p.done.Of = stats.LooksWithin(p.next, p.most)
}

// judge looks at the bounds if it is time, and reports whether hold may end.
func (p *precision) judge(begin, now int64) bool {
	if p.done.Of == 0 {
		p.plan(begin)
	}
	held := seconds(now - begin)
	if p.settled || held < p.next {
		return p.settled
	}
	p.done.Number++
	values := p.values(begin, now)
	p.open, p.shown = nil, nil
	for _, x := range p.of.in.Node.Precise {
		q := values.Quantity(expression.Ref{Leaf: x.Leaf})
		text, precise := p.boundsText(x, q)
		p.shown = append(p.shown, text)
		if !precise {
			p.open = append(p.open, text)
		}
	}
	p.settled = len(p.open) == 0 || p.next >= p.most
	p.next = stats.NextLook(p.next, p.most)
	return p.settled
}

// boundsText says how near the bounds of a metric are to its value: "latency.p99 is 101 ms ± 4.1 %".
func (p *precision) boundsText(x program.Precision, q expression.Quantity) (text string, precise bool) {
	apart := max(q.Hi-q.V, q.V-q.Lo)
	switch {
	case !q.Known:
		return fmt.Sprintf("%s is unknown: %s", x.Leaf, q.Why), false
	case math.IsInf(apart, 0):
		return cmp.Or(q.Why, p.fewText(x.Leaf, q.N)), false
	case apart == 0:
		return fmt.Sprintf("%s is %s", x.Leaf, expression.Format(x.Leaf.Dim(), q.V)), true
	case q.V == 0:
		return fmt.Sprintf("%s is %s and may be %s: no bounds are within a share of 0", x.Leaf,
			expression.Format(x.Leaf.Dim(), 0), expression.Format(x.Leaf.Dim(), q.Hi)), false
	}
	share, _ := expression.FormatApart(metric.Ratio, apart/q.V, x.Share)
	return fmt.Sprintf("%s is %s ± %s", x.Leaf, expression.Format(x.Leaf.Dim(), q.V), share),
		apart <= x.Share*q.V
}

// fewText says why a leaf of n requests has no upper bound at this look.
func (p *precision) fewText(leaf metric.Leaf, n int64) string {
	need := ""
	if leaf.Stat.Kind == metric.Percentile {
		two := stats.LookConfidence(2*p.confidence-1, p.done.Number, p.done.Of)
		need = fmt.Sprintf("it needs at least %d: ", stats.UpperBoundSamples(leaf.Stat.P, two))
	}
	return fmt.Sprintf("%s has no upper bound from %d requests: %sraise `max_duration` or the load", leaf, n,
		need)
}

// values returns the numbers of hold so far with the bounds of this look, for a client on time: what a late
// one leaves open does not become narrower with time.
func (p *precision) values(begin, now int64) expression.Values {
	hold, _ := p.of.folder.Current()
	n := p.of.partial(expression.Place{}, hold, begin, now)
	n.Look = &p.done
	return p.of.in.Values(n).Measured().Demanding(p.confidence, 0, nil)
}

// partial returns a node that is a place of this one in hold so far, whose sums are given: what is kept in
// parts, and the counts that its bounds need.
func (r *running) partial(at expression.Place, hold *measure.Aggregate, begin, now int64) *result.Node {
	sofar := *hold
	sofar.Window, sofar.Planned = now-begin, hold.Sent
	n := &result.Node{
		ID: r.in.Node.ID, Metrics: make(map[string]*result.Metric),
		Outcome: result.Done, Validity: result.Validity{OK: true},
	}
	rows := []string{metric.RequestsCount, metric.ErrorsCount, metric.ServiceTime}
	for _, timed := range r.in.Parts.Timed {
		for _, row := range timed.Rows {
			rows = append(rows, row.Name)
		}
	}
	for _, name := range rows {
		if row, ok := r.in.Node.Catalogue.Row(name); ok && row.Summed() {
			n.Metrics[name] = reading(row, &sofar, nil)
		}
	}
	parts := r.folder.Timelines(begin)
	for i, timed := range r.in.Parts.Timed {
		if timed.Place == at {
			parts[i].Parts = sentParts(parts[i].Parts)
			timed.Place = expression.Place{}
			storeParts(n, timed, &parts[i])
		}
	}
	return n
}

// sentParts returns copies of parts, which go on, in which what was sent was planned.
func sentParts(parts []*measure.Aggregate) (list []*measure.Aggregate) {
	for _, a := range parts {
		sent := *a
		sent.Planned = sent.Sent
		list = append(list, &sent)
	}
	return list
}

// result returns the look that ended hold.
func (p *precision) result() *result.Look {
	done := p.done
	return &done
}

// notes says how long it took to be precise, or what is not.
func (p *precision) notes(held int64) (list findings) {
	at := fmt.Sprintf("after %s of hold, at look %d of at most %d", source.About(time.Duration(held)),
		p.done.Number, p.done.Of)
	if len(p.open) > 0 {
		list.note(result.NotPrecise, "not precise %s: %s", at, strings.Join(p.open, "; "))
	} else {
		list.note(result.IsPrecise, "precise %s: %s", at, strings.Join(p.shown, ", "))
	}
	return list
}
