package program

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// lintPlan warns of what is valid but probably unintended. It reads all that other passes have added.
func lintPlan(d *draft) {
	lintUnused(d)
	for _, s := range d.stages {
		for _, n := range s.nodes {
			for _, c := range n.Checks {
				lintFewSamples(d, c, fmt.Sprintf("stage %q", n.ID))
			}
			lintFewTried(d, n)
			lintSparse(d, n)
			lintRampCut(d, n)
			lintUndrained(d, n)
			lintUnseen(d, n)
			lintCrowded(d, n)
			lintDrops(d, n)
			checkAbilities(d, n)
		}
		lintConditional(d, s)
	}
	for _, c := range d.Assert {
		lintFewSamples(d, c, "the plan")
		lintUnreached(d, c)
	}
}

// lintUnused warns of datasets that no stage names, not even one that never runs.
func lintUnused(d *draft) {
	used := make(map[*scenario.Dataset]bool)
	for _, s := range d.Plan.Stages {
		for _, e := range s.Entries() {
			used[e.Request.Data] = true
		}
	}
	for _, data := range d.Plan.Datasets {
		if !used[data] && data.Pos.Line > 0 {
			d.warn(data.Pos, "unused-entry", "dataset %q is used by no stage", data.Name).
				Detail = "remove it, or name it with `data`"
		}
	}
}

// lintFewTried says where the lowest trial of a search cannot gather the samples that its `while`
// needs: it then counts as one that does not hold, and the search ends there.
func lintFewTried(d *draft, n *Node) {
	q, is := quantity(n.Stage).(scenario.Search)
	if !is {
		return
	}
	planned, lasts := float64(n.Span().Requests), n.Span().Duration.Seconds()
	if n.Open && lasts > 0 && q.From.Expr == nil {
		planned = q.From.Value * lasts
	}
	sd := 0.0 // by chance it may be fewer
	if r, is := n.Stage.Load.(scenario.Rate); is && lasts > 0 && !r.Arrivals.Exact {
		sd = r.Arrivals.CV * math.Sqrt(planned)
	}
	for _, c := range n.While {
		if planned == 0 || float64(c.Needed) <= planned-2*sd {
			continue
		}
		change := fmt.Sprintf("`for: %d requests`", c.Needed)
		if lasts > 0 {
			change += fmt.Sprintf(", or begin at %.0f/s", math.Ceil((float64(c.Needed)+3*sd)/lasts))
		}
		d.warnOnce(c.That.Pos, "few-samples",
			"a trial at %s sends %.0f requests%s, %s needs %d",
			valueText(q.From), math.Floor(planned), byChance(sd), c.That.Text, c.Needed).
			Detail = "it is inconclusive there, which counts as false, and the search ends: use " + change
	}
}

// byChance returns the spread of a number of requests, in words.
func byChance(sd float64) string {
	if sd == 0 {
		return ""
	}
	return fmt.Sprintf(" ± %.0f", 2*sd)
}

// lintFewSamples says where an assertion needs samples that its node, or the plan, cannot gather.
func lintFewSamples(d *draft, c Check, who string) {
	if c.MinSamples > 0 && !verdict.ReadsRequests(c.Program) {
		d.warnOnce(c.That.Pos, "no-effect",
			"\"min_samples\" has no effect: %s is not made of requests", c.That.Text).
			Detail = "it is read once, so there are no samples that could be too few: leave the key out"
	}
	most := c.Planned + 2*c.SD
	if c.Planned < 0 || float64(c.Needed) <= most {
		return
	}
	place := "sends"
	if every := verdict.Every(c.Assertion); every > 0 {
		place = fmt.Sprintf("in %s sends", source.Duration(every))
	}
	detail := "the verdict will be inconclusive: run longer, or set `min_samples`"
	if c.Confidence > 0 {
		detail = "the verdict will be inconclusive: run longer. The number is for independent requests; near " +
			"capacity an assertion with `confidence` needs several times as many"
	}
	d.warnOnce(c.That.Pos, "few-samples",
		"%s %s %.0f requests that this looks at, it needs %d", who, place, math.Floor(c.Planned), c.Needed).
		Detail = detail
}

// lintSparse warns of closed loops whose slots have hardly anything to do.
func lintSparse(d *draft, n *Node) {
	requests, slots, span := n.Planned.Requests, slotsOf(n, n.Level), n.Span()
	if n.Open || span.IsZero() || span.Duration > 0 || requests < 0 || slots == 0 || requests >= 3*slots {
		return
	}
	if requests < slots {
		d.warnOnce(n.Level.Pos, "never-reached-concurrency",
			"stage %q sends %.0f requests, so %.0f are never in flight at once", n.ID, requests, slots).
			Detail = fmt.Sprintf("ask for at least %.0f requests, or fewer in flight", 3*slots)
		return
	}
	d.warnOnce(n.Level.Pos, "few-requests",
		"stage %q sends %.0f requests with %.0f in flight: start and end are most of what is measured",
		n.ID, requests, slots).
		Detail = fmt.Sprintf("ask for at least %.0f requests, three for each slot", 3*slots)
}

// lintRampCut warns of ramps that end before they are over.
func lintRampCut(d *draft, n *Node) {
	r, _ := quantity(n.Stage).(scenario.Ramp)
	if length, end := rampLength(r), n.Span().Duration.Seconds(); end > 0 && length > end {
		d.warn(n.Stage.ExtentPos, "ramp-cut",
			"the ramp of stage %q takes %s and is cut after %s", n.ID, inTime(length), inTime(end)).
			Detail = "what comes later is never reached: lengthen `for`, shorten the steps, or leave " +
			"`for` out"
	}
}

// lintUndrained warns of closed loops in time whose open requests are cancelled at the end: with
// all slots taken, these requests have no outcome, and an assertion that allows no more errors
// than that is not certain.
func lintUndrained(d *draft, n *Node) {
	if span := n.Span(); n.Open || n.Stage.Drain > 0 || !span.IsZero() && span.Duration == 0 {
		return
	}
	slots := max(n.Level.Value, 1)
	for _, c := range n.Checks {
		if slices.ContainsFunc(c.Refs, func(r expression.Ref) bool { return !counted(r) }) ||
			c.Truth(openAtEnd(slots)).Is != 0 {
			continue
		}
		d.warnOnce(n.Stage.DrainPos, "no-drain",
			"stage %q cancels the requests that are open at its end, up to %.0f: whether %s holds is "+
				"then not known",
			n.ID, slots, c.That.Text).
			Detail = "the verdict will be inconclusive: leave `drain` out, end with `for: N requests`, " +
			"or allow some, as in errors.ratio < 1%"
	}
}

// counted reports whether a reference is a number of this node's errors.
func counted(r expression.Ref) bool {
	return r.Leaf.Row.OfErrors() && r.Leaf.Row.Dim == metric.Count && r.Node == "" && !r.Baseline
}

// openAtEnd answers with counts of errors to which up to n may be added.
type openAtEnd float64

func (n openAtEnd) Quantity(expression.Ref) expression.Quantity {
	return expression.Quantity{Known: true, Hi: float64(n), N: 1}
}

// lintUnseen warns of assertions on windows that leave the end of their scope out: only whole
// windows are judged.
func lintUnseen(d *draft, n *Node) {
	for _, c := range n.Checks {
		every := verdict.Every(c.Assertion)
		if every == 0 || len(c.Refs) == 0 {
			continue
		}
		rest := phaseLength(n, c.Refs[0].Phase) % every
		if rest == 0 {
			continue
		}
		d.warnOnce(c.That.Pos, "unseen-rest",
			"the last %v are in no window of %v: nothing here looks at them",
			source.Duration(rest), source.Duration(every)).
			Detail = "let the length be a multiple of `every`, which is 1s where only `within` is given"
	}
}

// phaseLength returns the length of a phase, "" the whole of hold; 0 where it is not written.
func phaseLength(n *Node, phase string) time.Duration {
	if r, ramp := quantity(n.Stage).(scenario.Ramp); ramp {
		for _, s := range r.Steps {
			if phase != "" && s.Name == phase {
				return s.Hold
			}
		}
		return 0
	}
	return n.Span().Duration
}

// lintCrowded warns of open loops that would fill their slots before their own limit of latency is
// reached.
func lintCrowded(d *draft, n *Node) {
	pool, rate := &n.Load.Stored, peakRate(n)
	limit, c := smallestLimit(n)
	if !n.Open || rate == 0 || limit == 0 || rate*limit <= float64(pool.MaxInFlight) {
		return
	}
	what := "wait for a slot, which is in their latency"
	if pool.Overflow == "drop" {
		what = "are dropped"
	}
	d.warn(n.Stage.LoadPos, "max-in-flight-too-low",
		"at %s %.6g requests a second may be %.0f in flight, and max_in_flight is %d",
		inTime(limit), rate, math.Ceil(rate*limit), pool.MaxInFlight).
		Detail = fmt.Sprintf("%s allows a latency at which requests %s: raise `max_in_flight`",
		c.That.Text, what)
}

func inTime(seconds float64) string {
	return source.Duration(time.Duration(seconds * float64(time.Second)))
}

// lintDrops warns of open loops that may drop any share of their requests: what was never sent is
// no error, and no gate is about it.
func lintDrops(d *draft, n *Node) {
	if n.Load.Stored.Overflow != "drop" {
		return
	}
	for _, c := range gatesOf(n) {
		if slices.ContainsFunc(c.Refs, func(r expression.Ref) bool {
			return strings.HasPrefix(r.Leaf.Row.Name, "dropped.") ||
				slices.Contains([]string{metric.GoodputRatio, metric.OfferedRate}, r.Leaf.Row.Name)
		}) {
			return
		}
	}
	d.warnOnce(n.Stage.LoadPos, "no-drop-limit", "no gate of stage %q limits the requests that it drops",
		n.ID).
		Detail = "what was dropped is no error, and in no latency: assert dropped.ratio < 1%, or use " +
		"`overflow: wait`"
}

// peakRate returns the highest rate that the plan itself writes; 0: there is none.
func peakRate(n *Node) float64 {
	peak := n.Level.Value
	r, _ := quantity(n.Stage).(scenario.Ramp)
	for _, s := range r.Steps {
		if s.Hold > 0 {
			peak = max(peak, s.To.Value)
		}
	}
	return peak
}

// smallestLimit returns the smallest limit that an assertion of the node sets on its latency, in
// seconds; 0: none does.
func smallestLimit(n *Node) (limit float64, by Check) {
	for _, c := range n.Checks {
		if len(c.Refs) != 1 || c.Refs[0].Node != "" {
			continue
		}
		if name := c.Refs[0].Leaf.Row.Name; name != metric.Latency && name != metric.ServiceTime {
			continue
		}
		t := c.Truth(atOnce{})
		if strings.HasPrefix(t.Op, "<") && t.Limit.Known && t.Limit.V > 0 &&
			(limit == 0 || t.Limit.V < limit) {
			limit, by = t.Limit.V, c
		}
	}
	return limit, by
}

// atOnce are values that let a comparison show its limit.
type atOnce struct{}

func (atOnce) Quantity(expression.Ref) expression.Quantity {
	return expression.Quantity{Known: true, N: 1}
}

// lintConditional warns of gates on a stage that a good run skips, and of stages that wait for one.
func lintConditional(d *draft, s *stagePoints) {
	if s.When == "failure" && len(s.Assert) > 0 {
		d.warn(s.Assert[0].Use, "may-be-skipped",
			"stage %q only runs when something has failed: this never gates a good run", s.ID).
			Detail = "assert on a stage that always runs, or use `when: always`"
	}
	if s.When != "success" || d.reported[place(s.IDPos, "never-runs")] {
		return
	}
	for _, need := range s.Needs {
		if other := d.byID[need.ID]; other != nil && other.When == "failure" &&
			other.OnFail != "continue" {
			d.warn(s.IDPos, "may-be-skipped",
				"stage %q needs %q, which only runs when something has failed: a good run skips "+
					"both", s.ID, other.ID).
				Detail = "name what it waits for, such as `needs: [ID]`, or use `when: always`"
			return
		}
	}
}

// lintUnreached warns of an assertion of the plan on nodes that a good run may skip.
func lintUnreached(d *draft, c Check) {
	for _, r := range c.Refs {
		if n := d.byNode[r.Node]; n != nil && !r.Baseline && n.Stage.When == "failure" {
			d.warn(c.That.At(r.At[0]), "may-be-skipped",
				"stage %q only runs when something has failed: this is skipped in a good run", n.Stage.ID).
				Detail = "assert on a stage that always runs"
		}
	}
}
