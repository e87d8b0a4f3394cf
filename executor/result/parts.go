package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Parts holds a metric in equal consecutive parts of the time in which it was measured, at most
// stats.MaxParts. Requests that wait for each other tell less than independent ones, and parts show how
// much less. A metric that an assertion with `confidence` reads has them, and latency with it, so that a
// stored result is judged as it was when it was measured; others have none, to keep results small.
type Parts struct {
	Seconds float64      `json:"seconds"`          // of all parts together
	Values  *stats.Table `json:"values,omitempty"` // of a distribution
	Counts  []int64      `json:"counts,omitempty"` // by part, what a rate or a ratio counts
	Of      []int64      `json:"of,omitempty"`     // by part, the requests that a ratio is a share of
}

// UnmarshalJSON decodes parts. It returns an error if their numbers contradict each other.
func (p *Parts) UnmarshalJSON(text []byte) error {
	type plain Parts
	if err := json.Unmarshal(text, (*plain)(p)); err != nil {
		return err
	}
	negative := func(n int64) bool { return n < 0 }
	switch {
	case string(text) == "null": // by convention no change
		return nil
	case p.Seconds <= 0:
		return fmt.Errorf("read parts: they last %v s, not longer than 0", p.Seconds)
	case len(p.Counts) > stats.MaxParts:
		return fmt.Errorf("read parts: %d counts, at most %d", len(p.Counts), stats.MaxParts)
	case p.Of != nil && len(p.Of) != len(p.Counts):
		return fmt.Errorf("read parts: %d counts of %d numbers of requests", len(p.Counts), len(p.Of))
	case slices.ContainsFunc(p.Counts, negative) || slices.ContainsFunc(p.Of, negative):
		return errors.New("read parts: a count is negative")
	}
	return nil
}

// Look says that hold ended at one of several looks at it, as soon as bounds were narrow enough: the risk
// of being wrong is shared among the looks.
type Look struct {
	Number int `json:"number"` // from 1
	Of     int `json:"of"`
}

// level returns the confidence of bounds of a node such that all looks together hold with the confidence
// given.
func (n *Node) level(confidence float64) float64 {
	if n.Look == nil {
		return confidence
	}
	return stats.LookConfidence(confidence, n.Look.Number, n.Look.Of)
}

// interval returns the bounds of a leaf, in its base unit, from the parts of hold. false: there are none,
// or too few.
func (s source) interval(m *Metric, leaf metric.Leaf, two float64) (x stats.Interval, ok bool) {
	p := m.Parts
	if p == nil {
		return x, false
	}
	hold := stats.Hold{Seconds: p.Seconds}
	if queue := s.metrics[metric.Latency]; queue != nil && queue.Parts != nil {
		hold.Beside = queue.Parts.Values
	}
	kind := leaf.Stat.Kind
	switch {
	case p.Values == nil && p.Of != nil:
		x = hold.Ratio(p.Counts, p.Of, two)
	case p.Values == nil:
		x = hold.Rate(p.Counts, two)
	case m.Dist == nil:
		return x, false
	case kind == metric.Percentile:
		x = hold.Percentile(m.Dist, s.missing(leaf.Row), p.Values, leaf.Stat.P, two)
	case kind == metric.Mean:
		x = hold.Mean(m.Dist, p.Values, two)
	default:
		return x, false
	}
	unit := m.perUnit()
	x.Lo, x.Hi = max(x.Lo/unit, 0), x.Hi/unit // nothing with parts is negative
	return x, x.Refused != stats.FewParts
}

// widenByParts widens the bounds of q, which is leaf of the source, by what the parts of hold say. Where
// these give none it returns why. Bounds of independent requests are lo and hi; without them, as whyNot
// says, those of the parts are taken alone.
func (s source) widenByParts(
	q *expression.Quantity, m *Metric, leaf metric.Leaf, two, lo, hi float64, whyNot string,
) (low, high float64, why string) {
	x, ok := s.interval(m, leaf, two)
	if ok && q.N > 1 {
		q.Worth = max(min(int64(math.Round(x.Effective)), q.N), 1)
	}
	switch {
	case !ok:
		q.Assumed = whyNot == "" && lo != hi && leaf.Row.From != metric.Flow // which has bounds by its slices
		return lo, hi, whyNot
	case x.Refused != stats.Known:
		return lo, hi, refusalText(x)
	}
	if x.NeedHold > 0 { // one bound is unknown
		q.Why = refusalText(x)
	}
	switch {
	case whyNot != "":
		return x.Lo, x.Hi, ""
	}
	return min(lo, x.Lo), max(hi, x.Hi), ""
}

// refusalText says why the parts of hold give no bounds, and what to do.
func refusalText(x stats.Interval) string {
	if x.Refused == stats.Trending {
		return "it " + trendText(x)
	}
	need := "hold for at least " + Format("s", roundUp(x.NeedHold))
	if x.Depend <= 0 {
		return "hold is too short; " + need
	}
	return fmt.Sprintf("requests depend on each other over about %s; %s", Format("s", roundUp(x.Depend)), need)
}

// trendText says how a value changes over hold.
func trendText(x stats.Interval) string {
	way := "rises"
	if x.Slope < 0 {
		way = "falls"
	}
	if x.Settled > 0 {
		return fmt.Sprintf("%s during the first %s of hold: let `warmup` be so much longer", way,
			Format("s", roundUp(x.Settled)))
	}
	return fmt.Sprintf("%s by about %.2g %% a second over hold: see whether the server warms up, leaks or is "+
		"throttled", way, 100*math.Abs(x.Slope))
}

// roundUp rounds a duration up to two digits, as it is an estimate.
func roundUp(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return v
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return math.Ceil(v/unit-1e-9) * unit
}

// Trend says how a reference changes over hold, if it has no bounds at the confidence for that; else "".
func (s Stored) Trend(ref expression.Ref, confidence float64) string {
	src, why := s.source(ref.Place)
	m := src.metrics[ref.Leaf.Row.Name]
	if why != "" || m == nil {
		return ""
	}
	x, ok := src.interval(m, ref.Leaf, src.node.level(twoSided(confidence)))
	if !ok || x.Refused != stats.Trending {
		return ""
	}
	return ref.String() + " " + trendText(x)
}
