package program

import (
	"strconv"

	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// lintAllHolds warns where a distribution or a rate is taken over several holds of a ramp together:
// a percentile of a base load and a spike is that of neither. Ratios and counts are sums, which
// mean the same over all.
func lintAllHolds(d *draft, c Check, n *Node) {
	if n == nil {
		return
	}
	spans, detail := 0, "with names, phase(\"…\") takes one of them"
	for _, p := range n.phases {
		if p.name == scenario.RampPhase {
			continue
		}
		if spans += len(p.spans); p.name != scenario.HoldPhase {
			detail = "one of them is " + expression.Place{Phase: p.name}.String() + "…"
		}
	}
	if spans < 2 {
		return
	}
	for _, ref := range c.Program.Refs {
		from := ref.Leaf.Row.From
		if ref.Node == "" && ref.Phase == "" && !ref.Baseline && (from == metric.Sample || from == metric.Flow) {
			d.warnOnce(c.Assertion.That.At(ref.At[0]), "all-holds",
				"%s is taken over all %d holds together", ref, spans).
				Detail = detail
		}
	}
}

// checkOneTime refuses windows of two phases: no window lies in both.
func checkOneTime(d *draft, c Check) {
	if verdict.Every(c.Assertion) == 0 {
		return
	}
	first := -1
	for i, ref := range c.Program.Refs {
		switch {
		case ref.Baseline:
		case first < 0:
			first = i
		case ref.Node == c.Program.Refs[first].Node && ref.Phase != c.Program.Refs[first].Phase:
			d.fail(c.Assertion.That.At(ref.At[0]), "does-not-fit", "windows of %s cannot be compared with windows of %s",
				phaseWords(c.Program.Refs[first].Phase), phaseWords(ref.Phase)).
				Detail = "`every` and `within` judge windows of one phase, or of the whole stage: leave them out here"
		}
	}
}

func phaseWords(name string) string {
	if name == "" {
		return "the whole stage"
	}
	return "phase " + strconv.Quote(name)
}
