package result

import (
	"fmt"
	"math"
	"slices"

	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Bounds with a confidence. Each bound holds with the confidence by itself (both together with
// less): a gate uses one of them, and only so do 299 requests without an error prove less than 1 %
// at 95 %.
//
//	percentile    order statistics, for any distribution; requests without an outcome are larger
//	mean          Student's interval
//	ratio         Clopper and Pearson
//	rate          Student's interval over the complete slices of hold, at least 10
//
// These take requests as independent. Where the node has enough parts (see Parts), the bounds are no
// narrower than the parts say, and unknown where hold is too short for how long requests depend on each
// other, or where its parts show a trend.
//
//	count         the count itself: it is a fact, not an estimate
//	offered.rate  that of the schedule, exact
//	the rest      Student's interval over the repeats of a node; none for min and max, which are extremes

// Demanding returns s with bounds at the given confidence (0: none), and with the samples that the
// plan demands of metrics of requests (0: those that each metric needs), for an expression that reads
// refs. With a confidence an expression that compares nodes, or reads the baseline, is judged on
// repeats, as the requests of one run share disturbances.
func (s Stored) Demanding(confidence float64, samples int, refs []expression.Ref) expression.Values {
	s.confidence, s.minSamples = confidence, int64(samples)
	if confidence > 0 && s.comparesNodes(refs) {
		s.repeats = s.repeatsOf(refs)
	}
	return s
}

// comparesNodes reports whether refs read more than one node or result.
func (s Stored) comparesNodes(refs []expression.Ref) bool {
	first := ""
	for _, r := range refs {
		id := r.Node
		if id == "" && s.node != nil {
			id = s.node.ID
		}
		if r.Baseline || first != "" && id != first {
			return true
		}
		first = id
	}
	return false
}

// twoSided returns the confidence of an interval whose ends each hold with c.
func twoSided(c float64) float64 { return math.Max(2*c-1, 1e-9) }

// boundByRepeats sets the bounds of a quantity by those of the mean of the node's repeats. Bounds of its
// own, which take the requests of all repeats as independent, become as wide. There are none where hold of a
// repeat shows a trend.
func (s Stored) boundByRepeats(q *expression.Quantity, n *Node, ref expression.Ref) {
	if kind := ref.Leaf.Stat.Kind; len(n.Repeats) < 2 || s.window.covers(n, ref.Place) ||
		kind == metric.Min || kind == metric.Max {
		return
	}
	list, two := &repeats{of: s}, n.level(twoSided(s.confidence))
	values, why := list.values(ref)
	if why != "" {
		return
	}
	if why := list.trend(ref, two); why != "" {
		q.Lo, q.Hi, q.Why = math.Inf(-1), math.Inf(1), ref.Leaf.String()+" has no confidence bounds: "+why
		return
	}
	q.Assumed = false
	mean, lo, hi := stats.MeanOf(values, two)
	if q.Why == "" {
		q.Lo, q.Hi = min(q.Lo, max(q.V-(mean-lo), 0)), max(q.Hi, q.V+(hi-mean))
		return
	}
	q.V, q.Lo, q.Hi, q.Why = mean, lo, hi, ""
}

// setBounds sets the bounds of q, which is leaf of the source, or the reason why there are none.
func (s source) setBounds(q *expression.Quantity, m *Metric, leaf metric.Leaf, confidence float64) {
	two := s.node.level(twoSided(confidence))
	lo, hi, why := s.bounds(q, m, leaf, two)
	lo, hi, why = s.widenByParts(q, m, leaf, two, lo, hi, why)
	if why != "" {
		q.Lo, q.Hi, q.Why = math.Inf(-1), math.Inf(1), leaf.String()+" has no confidence bounds: "+why
		return
	}
	// an order statistic of a histogram may be off by a bucket
	q.Lo, q.Hi = math.Min(lo, q.V), math.Max(hi, q.V)
}

func (s source) bounds(q *expression.Quantity, m *Metric, leaf metric.Leaf, two float64) (lo, hi float64,
	why string,
) {
	if m.Count == nil {
		return s.boundsOfValue(q, leaf, two)
	}
	switch leaf.Stat.Kind {
	case metric.N:
		return q.V, q.V, ""
	case metric.Percentile:
		return s.boundsOfPercentile(m, leaf, two)
	case metric.Mean:
		d := m.Dist
		if d == nil {
			return 0, 0, "the result does not hold its distribution"
		}
		lo, hi, ok := stats.MeanBounds(d.Mean(), d.Std(), d.N(), two)
		if !ok {
			return 0, 0, "a mean needs two values"
		}
		return lo / m.perUnit(), hi / m.perUnit(), ""
	case metric.Min, metric.Max, metric.Std, metric.TheValue:
	}
	return 0, 0, "use a percentile or the mean, or leave `confidence` out"
}

func (s source) boundsOfPercentile(m *Metric, leaf metric.Leaf, two float64) (lo, hi float64, why string) {
	if m.Dist == nil {
		return 0, 0, "the result does not hold its distribution"
	}
	l, h, ok := m.Dist.Bounds(leaf.Stat.P, two, s.missing(leaf.Row))
	if !ok {
		return 0, 0, "the largest value has none; p99.9 has"
	}
	lo, hi = 0, math.Inf(1) // times and token counts are not negative
	if l != math.MinInt64 {
		lo = float64(l) / m.perUnit()
	}
	if h != math.MaxInt64 {
		hi = float64(h) / m.perUnit()
	}
	return lo, hi, ""
}

func (s source) boundsOfValue(q *expression.Quantity, leaf metric.Leaf, two float64) (lo, hi float64,
	why string,
) {
	row := leaf.Row
	counted := row.From.Counted()
	switch {
	case counted && row.Dim == metric.Count, row.Name == metric.OfferedRate:
		return q.V, q.V, ""
	case counted && row.Dim == metric.Ratio:
		n := s.denominator(row)
		lo, hi, ok := stats.ClopperPearson(int64(math.Round(q.V*float64(n))), n, two)
		if !ok {
			return 0, 0, "the result does not say of how many requests"
		}
		q.N = n
		return lo, hi, ""
	case row.From == metric.Flow:
		return s.boundsOfRate(row, two)
	}
	return 0, 0, "it is one value; with `repeat`, such as 6, its repeats give some"
}

// denominator returns the number of requests that a ratio is a share of: those sent, or those
// planned if it counts dropped ones.
func (s source) denominator(row *metric.Row) int64 {
	n := s.count(metric.RequestsCount)
	if row.Name == metric.DroppedRatio || row.Name == metric.GoodputRatio {
		n += s.count(metric.DroppedCount)
	}
	return n
}

// minSlices is the least number of slices for bounds of a rate: fewer say little about its
// variation.
const minSlices = 10

// boundsOfRate returns bounds of the mean over the complete slices of hold.
func (s source) boundsOfRate(row *metric.Row, two float64) (lo, hi float64, why string) {
	var of func(Slice) int64
	switch row.Name {
	case metric.RequestsRate:
		of = func(x Slice) int64 { return x.OK }
	case metric.Throughput:
		of = func(x Slice) int64 { return x.Items }
	default:
		return 0, 0, "only " + metric.RequestsRate + " and " + metric.Throughput + " are kept by the second"
	}
	switch {
	case !s.whole:
		return 0, 0, "the rate of a part is not kept by the second"
	case slices.ContainsFunc(s.node.Scopes, func(x Scope) bool { return x.Phase != "" && x.Phase != expression.Steady }):
		return 0, 0, "the load changes, so its seconds are not alike"
	}
	var rates []float64
	for _, x := range s.node.Slices {
		if length := x.To - x.From; length > 0 &&
			length > 0.999*(s.node.Slices[0].To-s.node.Slices[0].From) && s.reported(x) {
			rates = append(rates, float64(of(x))/length)
		}
	}
	if len(rates) < minSlices {
		return 0, 0, fmt.Sprintf("hold has %d whole slices, it needs %d", len(rates), minSlices)
	}
	_, lo, hi = stats.MeanOf(rates, two)
	return math.Max(lo, 0), hi, ""
}

// reported reports whether a slice belongs to the reported measurement: with `until: stable` the
// last windows.
func (s source) reported(x Slice) bool {
	windows, inside := false, false
	for _, w := range s.node.Windows {
		windows = windows || w.Used
		inside = inside || w.Used && x.From >= w.From-1e-9 && x.To <= w.To+1e-9
	}
	return inside || !windows
}
