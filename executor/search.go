package executor

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/trial"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// judged is one trial of a search with what its `while` says.
type judged struct {
	trial.Output
	level  float64
	holds  bool         // as far as it was measured: what the search goes by
	stored result.Trial // as judged: what may be reported
}

// search looks for the largest level at which `while` holds: a trial of its own at each level that
// load.Search asks for, until it is sure. What is reported is the confirmed trial; without one
// there is no capacity.
//
//	trial                        the search goes on as if it      reported
//	holds                        holds                            pass
//	too few samples, no data,    does not hold                    inconclusive
//	  no success, unstable
//	does not hold, or cut short  does not hold                    fail
//	  by an assertion's abort
//	invalid                      is measured again, twice at      inconclusive; the node is invalid if it
//	                             most; then it ends               stays so: the client was the limit
//	interrupted, failed          ends                             as the node's outcome
func (m *member) search(ctx context.Context, first attempt) *repeat {
	var tried []*judged
	var history []load.Trial
	for {
		d := first.load.Search.Next(history)
		if d.Done {
			return m.found(first, tried, d)
		}
		p := m.try(ctx, first, d.Level, &tried)
		at := fmt.Sprintf("trial %d, at %s", len(tried), first.at(d.Level))
		switch o := p.Node.Outcome; {
		case o == result.Failed || o == result.InterruptedNode || m.r.stops.now() != "":
			return m.given(first, tried, at+": "+p.Node.Reason)
		case o == result.Invalid:
			return m.given(first, tried, fmt.Sprintf("%s, was no valid measurement in %d tries: "+
				"the client, not the server, was the limit: %s", at, program.MaxAttempts, p.Node.Reason))
		}
		history = append(history, load.Trial{Level: d.Level, Met: p.holds})
	}
}

// try measures at a level, again while that is not valid: what a busy client measures says nothing
// of the server.
func (m *member) try(ctx context.Context, first attempt, level float64, tried *[]*judged) (p *judged) {
	for range program.MaxAttempts {
		if len(*tried) > 0 {
			m.number++ // what its group agreed on was about the trial before
		}
		a := first.again(level, len(*tried))
		p = m.weigh(a, m.measure(ctx, a))
		*tried = append(*tried, p)
		if p.Node.Outcome != result.Invalid || m.r.stops.now() != "" {
			break
		}
	}
	return p
}

// earlier counts the trials of a node that came before a repeat: those of the repeats before, which had
// a trial or more each.
func (m *member) earlier(n *program.Node, repeat int) int {
	if !n.Searches() {
		return repeat
	}
	count := 0
	for _, r := range m.repeats[n].played {
		count += len(r.Node.Trials)
	}
	return count
}

// again is another attempt at the same node and repeat.
func (a attempt) again(level float64, tried int) attempt {
	a.load.Level, a.tried, a.serial = level, tried, a.serial+tried
	return a
}

// weigh judges a trial by the conditions of its search.
func (m *member) weigh(a attempt, o trial.Output) *judged {
	n := o.Node
	p := &judged{Output: o, level: a.load.Level, holds: n.Outcome == result.Done}
	p.stored = result.Trial{
		Level: p.level, Started: n.Started, Duration: n.Duration, Outcome: n.Outcome, Metrics: n.Metrics,
		Verdict: result.Pass, Reason: n.Reason,
	}
	values := result.Values(m.view(), n)
	for _, c := range a.node.While {
		a := verdict.Judge(c.Assertion, c.Program, circumstances(n), values)
		p.stored.While = append(p.stored.While, a)
		p.holds = p.holds && a.Verdict == result.Pass
		if a.Verdict != result.Pass && p.stored.Verdict == result.Pass {
			p.stored.Verdict, p.stored.Reason = a.Verdict, a.Reason
		}
	}
	if o.Short.That != "" {
		p.holds, p.stored.Verdict, p.stored.Reason = false, result.Fail, o.Short.Why
	}
	if d := n.Metrics[metric.Latency]; d == nil || d.Count == nil || *d.Count == 0 {
		p.holds = false
		if p.stored.Verdict == result.Pass {
			p.stored.Verdict, p.stored.Reason = result.Inconclusive, "no request was answered well"
		}
	}
	return p
}

// found makes the repeat of a search that came to its end: the numbers of the best trial that was
// confirmed.
func (m *member) found(first attempt, tried []*judged, d load.Decision) *repeat {
	best := -1
	for i, p := range tried {
		if d.Best > 0 && p.level == d.Best && p.holds {
			best = i
		}
	}
	why := d.Reason + open(first, tried)
	if best < 0 {
		if p := lowest(tried); p != nil && p.stored.Verdict == result.Fail {
			why += ": " + p.stored.Reason
		}
		out := m.given(first, tried, "no level was confirmed: "+why)
		out.Node.Outcome, out.Node.Validity.OK = result.Done, true
		note(out.Node, "search", out.Node.Reason)
		return out
	}
	tried[best].stored.Used = true
	r := &repeat{Output: tried[best].Output, capacity: d.Best}
	if c := r.Node.Metrics[metric.Capacity]; c != nil {
		c.Value = &r.capacity
	}
	r.Node.Trials = trials(tried)
	note(r.Node, "search", fmt.Sprintf("%d trials: %s", len(tried), why))
	return r
}

// lowest returns the trial at the lowest level that was taken for one that does not hold; nil: there is none.
func lowest(tried []*judged) (low *judged) {
	for _, p := range tried {
		if p.Node.Outcome != result.Invalid && !p.holds && (low == nil || p.level < low.level) {
			low = p
		}
	}
	return low
}

// open says what the lowest trial that was taken for one that does not hold lacks, where nothing is
// proven false there, and what to change: the limit may be higher. "": it is false.
func open(a attempt, tried []*judged) string {
	low := lowest(tried)
	if low == nil || low.stored.Verdict != result.Inconclusive {
		return ""
	}
	text := "; there nothing is proven: " + low.stored.Reason
	for _, w := range low.stored.While {
		if w.Verdict == result.Inconclusive && w.Samples > 0 && w.Samples < w.Needed {
			return text + ": " + a.enough(low.level, float64(w.Needed)/float64(w.Samples))
		}
	}
	return text
}

// enough says what to change so that a trial has times as many samples.
func (a attempt) enough(level, times float64) string {
	text := fmt.Sprintf("use a longer `for`, of about %.3g times", times)
	if e, ok := a.node.Stage.Extent.(scenario.For); ok && e.Span.Duration > 0 {
		seconds := math.Ceil(e.Span.Duration.Seconds()*times*10) / 10
		text = fmt.Sprintf("use a longer `for`, of %v", time.Duration(seconds*float64(time.Second)))
		if a.node.Open {
			text += fmt.Sprintf(", or search from %.3g/s", math.Ceil(level*times))
		}
	}
	if e, ok := a.node.Stage.Extent.(scenario.For); ok && e.Span.Requests > 0 {
		text = fmt.Sprintf("use a longer `for`, of %.0f requests", math.Ceil(float64(e.Span.Requests)*times))
	}
	return text
}

// nothingFound says why a search has no numbers; "" where it has.
func nothingFound(out *result.Node) string {
	for _, p := range out.Trials {
		if p.Used {
			return ""
		}
	}
	return out.Reason
}

// given makes the repeat of a search that has no best trial.
func (m *member) given(first attempt, tried []*judged, why string) *repeat {
	out := blank(m.r.program, first.node)
	out.Outcome, out.Reason = result.InterruptedNode, why
	if n := len(tried); n > 0 {
		last := tried[n-1].Node
		out.Started = tried[0].Node.Started
		if last.Outcome == result.Failed || last.Outcome == result.Invalid {
			out.Outcome = last.Outcome
		}
	}
	for _, row := range first.node.Catalogue.Rows() {
		if row.From == metric.Search {
			out.Metrics[row.Name] = result.Scalar(row, 0, false)
		}
	}
	var fared []result.Validity
	for _, p := range tried {
		fared = append(fared, p.Node.Validity)
	}
	out.Validity.Summary = joinSummaries(fared)
	if out.Outcome == result.Invalid {
		for _, f := range tried[len(tried)-1].Node.Validity.Findings {
			if f.Severity == result.Invalidating {
				f.Text = why
				out.Validity.Findings = append(out.Validity.Findings, f)
				break
			}
		}
		out.Validity.OK = false
	}
	out.Trials = trials(tried)
	return &repeat{Output: trial.Output{Node: out}}
}

func trials(tried []*judged) (list []result.Trial) {
	for _, p := range tried {
		list = append(list, p.stored)
	}
	return list
}
