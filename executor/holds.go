package executor

import (
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// hintHolds warns where a distribution or a rate is taken over several holds of a ramp together: a percentile of a base
// load and a spike is that of neither. Ratios and counts are sums, which mean the same over all.
func (b *build) hintHolds(c Check, n *Node) {
	if n == nil {
		return
	}
	spans, detail := 0, "with names, phase(\"…\") takes one of them"
	for _, p := range n.phases() {
		if p.name == phaseRamp {
			continue
		}
		if spans += len(p.spans); p.name != phaseHold {
			detail = "one of them is " + expression.Place{Phase: p.name}.String() + "…"
		}
	}
	if spans < 2 {
		return
	}
	for _, ref := range c.Program.Refs {
		from := ref.Leaf.Row.From
		pos := c.Assertion.That.At(ref.At[0])
		if ref.Node != "" || ref.Phase != "" || ref.Baseline || from != metric.Sample && from != metric.Flow || b.said(pos, codeAllHolds) {
			continue
		}
		b.warn(pos, codeAllHolds, "%s is taken over all %d holds together", ref, spans).Detail = detail
	}
}
