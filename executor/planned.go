package executor

import (
	"math"
	"slices"

	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// plan fills what each node will do, labels the graph, and warns where that cannot prove what is asserted.
func (b *build) plan() {
	for _, n := range b.program.Nodes {
		n.Planned = planned(n)
		b.program.Graph.Label(n.ID, n.label())
		b.warnFew(n)
	}
}

func planned(n *Node) Planned {
	p := Planned{Requests: -1, Longest: -1, InFlight: int(n.Level.Value)}
	rate, isRate := n.Stage.Load.(scenario.Rate)
	if isRate {
		p.InFlight = rate.Pool.MaxInFlight
	}
	warm := n.Stage.Warmup
	p.Shortest = warm.Duration.Seconds()
	if isRate {
		p.Shortest += float64(warm.Requests) / n.Level.Value
	}
	drain := n.Stage.Drain.Seconds()
	switch e := n.Stage.Extent.(type) {
	case scenario.For:
		p.Shortest += e.Span.Duration.Seconds()
		switch {
		case e.Span.Requests > 0:
			p.Requests = float64(e.Span.Requests)
			if isRate {
				p.Shortest += p.Requests / n.Level.Value
				p.Longest = p.Shortest + drain
			}
		case isRate:
			p.Requests = n.Level.Value * e.Span.Duration.Seconds()
			if rate.Arrivals.CV > 0 {
				p.SD = math.Sqrt(p.Requests)
			} else {
				from := int64(warm.Duration)
				p.Requests = float64(load.Count(load.Constant(n.Level.Value), from, from+int64(e.Span.Duration)))
			}
			fallthrough
		default:
			if warm.Requests == 0 || isRate {
				p.Longest = p.Shortest + drain
			}
		}
	case scenario.UntilStable:
		w := e.Window.Duration.Seconds()
		if isRate {
			w += float64(e.Window.Requests) / n.Level.Value
		}
		p.Shortest += float64(e.Windows) * w
		if w > 0 {
			p.Longest = n.Stage.Warmup.Duration.Seconds() + float64(e.MaxWindows)*w + drain
		}
	}
	return p
}

// warnFew says where a node cannot gather the samples that an assertion needs.
func (b *build) warnFew(n *Node) {
	p := n.Planned
	if p.Requests < 0 {
		return
	}
	for _, c := range n.Checks {
		if most := p.Requests + 2*p.SD; float64(c.Needed) > most && !b.said(c.Assertion.That.Pos, codeFewSamples) {
			b.warn(c.Assertion.That.Pos, codeFewSamples, "stage %q sends %.0f requests, this needs %d", n.ID, p.Requests, c.Needed).
				Detail = "the verdict will be inconclusive: run longer, or set `min_samples`"
		}
	}
	if !n.Open && p.Requests < n.Level.Value && !b.said(n.Level.Pos, codeNeverFull) {
		b.warn(n.Level.Pos, codeNeverFull, "stage %q sends %.0f requests, so %d are never in flight at once",
			n.ID, p.Requests, int(n.Level.Value))
	}
}

// said reports whether this was warned of already: the levels of a ladder share one line of the plan.
func (b *build) said(pos source.Pos, code string) bool {
	return slices.ContainsFunc(b.diags, func(d source.Diagnostic) bool { return d.Pos == pos && d.Code == code })
}
