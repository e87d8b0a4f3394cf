package result

import (
	"fmt"
	"math"

	"github.com/sluice-bench/sluice/executor/delay"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Measured returns s with the client taken to have been on time: what is decided so and not otherwise is
// open for the client's delay alone.
func (s Stored) Measured() Stored {
	s.measured = true
	return s
}

// widenByClient widens the bounds of q, which is ref of the source, by what a late client may have done
// to it: its low bound becomes that of the low set, its high one that of the high set.
func (s Stored) widenByClient(q *expression.Quantity, src source, m *Metric, ref expression.Ref) {
	switch ref.Leaf.Bounded() {
	case metric.Exact:
		return
	case metric.Blurred:
		if late := src.node.lateShare(); late > delay.BlurShare {
			q.Lo, q.Hi = math.Inf(-1), math.Inf(1)
			q.Why = fmt.Sprintf("%s has no bounds where %.1f %% of the requests were sent late", ref.Leaf,
				100*late)
		}
		return
	case metric.Due, metric.Sent, metric.Gap, metric.Flowing, metric.Counted:
	}
	if row := ref.Leaf.Row; src.droppedLate() && (!row.OutlivesDrops() || row.OfErrors() && m.Low != nil) {
		q.Lo, q.Hi = math.Inf(-1), math.Inf(1)
		q.Why = fmt.Sprintf("%s has no bounds where a late client made requests find no room", ref.Leaf)
		return
	}
	if s.repeats != nil {
		s.repeats.widenByClient(q, ref)
		return
	}
	if m.Low == nil || m.High == nil {
		return
	}
	excused := src
	excused.excused = true
	low, high := s.boundsOfSet(q, excused, m.Low, ref.Leaf), s.boundsOfSet(q, src, m.High, ref.Leaf)
	q.Lo, q.Hi = min(q.Lo, low.Lo), max(q.Hi, high.Hi)
	if s.confidence <= 0 && q.Why == "" {
		q.Why = lateText
	}
}

// droppedLate reports whether requests were dropped because the client was late: then these counts have bounds.
func (s source) droppedLate() bool {
	drops := s.metrics[metric.DroppedCount]
	if drops == nil {
		drops = s.node.Metrics[metric.DroppedCount]
	}
	return drops != nil && drops.Low != nil
}

// lateText says why a number has bounds.
const lateText = "this client was late or stood still, and on time it would have measured something " +
	"within the bounds"

// boundsOfSet returns the quantity of a leaf in the low or the high set. Where a set has no bounds of
// its own, those of q are moved with the value.
func (s Stored) boundsOfSet(
	q *expression.Quantity, src source, m *Metric, leaf metric.Leaf,
) expression.Quantity {
	v, why := src.value(m, leaf)
	if why != "" { // as little is known as of q
		return expression.Quantity{Lo: math.Inf(-1), Hi: math.Inf(1)}
	}
	set := expression.Quantity{Known: true, V: v, Lo: v, Hi: v, N: q.N}
	switch {
	case leaf.Stat.Adjusted: // it has no other bounds, and may be infinite
	case s.confidence <= 0:
		set.Hi = max(set.Hi, v+q.Hi-q.V) // requests without an outcome
	case leaf.Row.From == metric.Flow || m.Count == nil && leaf.Row.Dim == metric.Count:
		set.Lo, set.Hi = v+q.Lo-q.V, v+q.Hi-q.V
	default:
		src.setBounds(&set, m, leaf, s.confidence)
	}
	return set
}

// lateShare returns the share of a node's requests that the client itself sent late.
func (n *Node) lateShare() float64 {
	own, service := n.Metrics[metric.SendDelayClient], n.Metrics[metric.ServiceTime]
	if own == nil || own.Dist == nil || own.Dist.N() == 0 {
		return 0 // a closed loop without due times
	}
	limit := float64(delay.SendLimit) / 1e9
	if n.Validity.Limits != nil {
		limit = n.Validity.Limits.SendDelay
	}
	if median, ok := service.Stat(metric.Stat{Kind: metric.Percentile, P: 50}); ok {
		limit = max(limit, median/100)
	}
	return float64(own.Dist.Exceeding(limit*own.perUnit(), false)) / float64(own.Dist.N())
}

// widenByClient is that of Stored, for a mean of repeats: its bounds are the means of theirs.
func (r *repeats) widenByClient(q *expression.Quantity, ref expression.Ref) {
	low, why := r.valuesOf(ref, func(m *Metric) *Metric { return m.Low })
	high, also := r.valuesOf(ref, func(m *Metric) *Metric { return m.High })
	if why != "" || also != "" {
		return
	}
	mean := func(list []float64) (sum float64) {
		for _, v := range list {
			sum += v / float64(len(list))
		}
		return sum
	}
	q.Lo, q.Hi = min(q.Lo, mean(low)), max(q.Hi, mean(high))
}

// valuesOf returns the value of a reference in a set of each repeat; where that has none, it is the
// measured one.
func (r *repeats) valuesOf(ref expression.Ref, set func(*Metric) *Metric) (list []float64, why string) {
	return r.eachValue(ref, func(src source, m *Metric) (float64, string) {
		if m != nil && set(m) != nil {
			m = set(m)
		}
		return src.value(m, ref.Leaf)
	})
}
