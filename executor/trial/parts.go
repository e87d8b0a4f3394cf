package trial

import (
	"math"
	"slices"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// storeParts enters the parts of hold of the rows of a place into its metrics.
func storeParts(out *result.Node, timed program.TimedPlace, t *measure.Timeline) {
	metrics := out.Metrics
	if timed.Place != (expression.Place{}) {
		scope := out.Scope(timed.Place.Phase, timed.Place.Mix)
		if scope == nil {
			return
		}
		metrics = scope.Metrics
	}
	for _, row := range timed.Rows {
		if m := metrics[row.Name]; m != nil {
			setParts(m, row, t)
		}
	}
}

// setParts enters the parts of a row into its metric, and into what a late client may have measured.
func setParts(m *result.Metric, row *metric.Row, t *measure.Timeline) {
	if len(t.Parts) == 0 {
		return
	}
	if row.From == metric.Sample {
		measured, low, high := t.Values(row)
		for _, set := range []struct {
			of     *result.Metric
			values *stats.Table
		}{{m, measured}, {m.Low, low}, {m.High, high}} {
			if set.of != nil && set.values != nil {
				set.of.Parts = &result.Parts{Seconds: t.Seconds(), Values: set.values}
			}
		}
		return
	}
	parts := t.Parts
	if row.From != metric.Flow && t.Rest != nil { // shares of parts that need not be of one length
		parts = append(slices.Clip(parts), t.Rest)
	}
	m.Parts = countsByPart(row, t.Seconds(), parts, len(t.Parts))
	if m.Low == nil || row.From == metric.Flow { // whose bounds are moved to what a late client counts
		return
	}
	var lows, highs []*measure.Aggregate
	for _, a := range parts {
		low, high, late := a.Sets()
		if !late {
			low, high = a, a
		}
		lows, highs = append(lows, low), append(highs, high)
	}
	m.Low.Parts = countsByPart(row, t.Seconds(), lows, len(t.Parts))
	m.High.Parts = countsByPart(row, t.Seconds(), highs, len(t.Parts))
}

// countsByPart returns what a rate or a ratio counts in each part. What is beyond the first n belongs to
// the last of these.
func countsByPart(row *metric.Row, seconds float64, parts []*measure.Aggregate, n int) *result.Parts {
	p := &result.Parts{Seconds: seconds}
	for i, a := range parts {
		v, ok := a.Value(row)
		if !ok {
			v = 0
		}
		if row.From == metric.Flow {
			p.Counts = append(p.Counts, int64(math.Round(v*float64(a.Window)/1e9)))
			continue
		}
		of := a.Denominator(row)
		if i < n {
			p.Counts, p.Of = append(p.Counts, 0), append(p.Of, 0)
		}
		last := len(p.Of) - 1
		p.Counts[last] += int64(math.Round(v * float64(of)))
		p.Of[last] += of
	}
	return p
}

// maxPartBytes bounds the distributions by part of a node in result.json.
const maxPartBytes = 56 << 10

// boundParts joins the parts of a node's distributions in pairs, which leaves at least ten, until all of
// them are small enough: entries of a mix and phases have their own.
func boundParts(n *result.Node) {
	var tables []*stats.Table
	collect := func(metrics map[string]*result.Metric) {
		for _, m := range metrics {
			for _, set := range []*result.Metric{m, m.Low, m.High} {
				if set != nil && set.Parts != nil && set.Parts.Values != nil {
					tables = append(tables, set.Parts.Values)
				}
			}
		}
	}
	collect(n.Metrics)
	for i := range n.Scopes {
		collect(n.Scopes[i].Metrics)
	}
	for joined := true; joined; {
		size := 0
		for _, t := range tables {
			text, _ := t.MarshalJSON() // numbers can always be encoded
			size += len(text)
		}
		if joined = false; size <= maxPartBytes {
			return
		}
		for _, t := range tables {
			joined = t.JoinPairs() || joined
		}
	}
}

// trends names what changes over hold and so has no bounds, of what assertions with a confidence read.
func trends(in *Input) (list findings) {
	values := in.Values(in.Result)
	seen := make(map[string]bool)
	look := func(ref expression.Ref, confidence float64) {
		if text := values.Trend(ref, confidence); text != "" && !seen[text] {
			seen[text] = true
			list.note(result.HoldTrend, "%s", text)
		}
	}
	for _, c := range in.Checks {
		if c.Confidence > 0 && c.Window() == 0 && !verdict.ByRepeats(c.Refs) {
			for _, ref := range c.Asked {
				look(ref, c.Confidence)
			}
		}
	}
	if u, ok := in.Node.Stage.Extent.(scenario.UntilPrecise); ok {
		for _, x := range in.Node.Precise {
			look(expression.Ref{Leaf: x.Leaf}, u.Confidence)
		}
	}
	return list
}
