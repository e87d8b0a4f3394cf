package program

import (
	"cmp"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// LongestPrecise is the longest hold of `until: precise` without a `max_duration`.
const LongestPrecise = 24 * time.Hour

// FirstLook is the length of hold at which `until: precise` is first looked at, unless `max_duration` ends
// it before.
const FirstLook = 10 * time.Second

// Precision is a metric whose bounds must be within a share of its value for hold to end.
type Precision struct {
	Leaf  metric.Leaf
	Share float64
}

// compilePrecise resolves the metrics whose bounds end hold.
func compilePrecise(d *draft, n *Node, u scenario.UntilPrecise) {
	for _, x := range u.Within {
		leaf, err := n.scope.Resolve(expression.Place{}, strings.TrimSpace(x.Metric.Text))
		switch {
		case err != nil:
			d.fail(x.Metric.Pos, "precise-metric", "%s", err)
		case !hasBounds(leaf):
			d.fail(x.Metric.Pos, "precise-metric", "%s has no confidence bounds while a stage runs",
				leaf.String()).
				Detail = "use a percentile, a mean, a rate or a ratio of requests"
		default:
			if leaf.Row.OfErrors() || leaf.Row.Name == metric.DroppedRatio {
				d.warn(x.Metric.Pos, "never-precise",
					"%s may be 0, and no bounds are within a share of 0: `max_duration` alone would end the stage",
					leaf.String()).
					Detail = "let a time or a rate be precise, and limit this by an assertion with `confidence`"
			}
			n.Precise = append(n.Precise, Precision{leaf, x.Share})
		}
	}
	if cmp.Or(n.Stage.MaxDuration, d.Plan.MaxDuration) == 0 {
		d.warnOnce(n.Stage.ExtentPos, "no-max-duration",
			"stage %q is measured until it is precise, and may go on for %s", n.ID,
			source.Duration(LongestPrecise)).
			Detail = "say with `max_duration` how long it may take: near capacity that can be hours"
	}
}

// hasBounds reports whether a leaf has bounds while a node runs.
func hasBounds(leaf metric.Leaf) bool {
	kind := leaf.Stat.Kind
	return measure.IsTimed(leaf.Row) && !leaf.Stat.Adjusted &&
		(kind == metric.Percentile || kind == metric.Mean || kind == metric.TheValue)
}
