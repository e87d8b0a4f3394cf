package executor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/trial"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// judged is one trial of a search with what its `while` says.
type judged struct {
	trial.Output
	holds  bool         // as far as it was measured: what the search goes by
	open   bool         // it is not known whether it holds, for this client's delay alone
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
//	invalid, or left open by     is measured again, twice at      inconclusive; the node is invalid if it
//	  a late client              most unless the user wants       stays so: the client was the limit
//	                             more; then it ends
//	interrupted, failed          ends                             as the node's outcome
func (m *member) search(ctx context.Context, first attempt) *repeat {
	var tried []*judged
	var history []load.Trial
	for {
		d := first.load.Search.Next(history)
		if d.Done {
			return found(m.r.program, first, tried, d)
		}
		p := m.try(ctx, first, d.Level, &tried)
		at := fmt.Sprintf("trial %d, at %s", len(tried), first.at(d.Level))
		switch o := p.Node.Outcome; {
		case o == result.Failed || o == result.InterruptedNode || m.r.stops.now() != "":
			return given(m.r.program, first, tried, at+": "+p.Node.Reason)
		case p.unclear():
			return given(m.r.program, first, tried, fmt.Sprintf("%s, was no valid measurement in %d tries: "+
				"the client, not the server, was the limit: %s", at, m.r.mostAttempts(),
				cmp.Or(p.Node.Reason, p.stored.Reason)))
		}
		history = append(history, load.Trial{Level: d.Level, Met: p.holds})
	}
}

// unclear reports whether a trial says nothing of the server, for the client's sake.
func (p *judged) unclear() bool { return p.Node.Outcome == result.Invalid || p.open }

// try measures at a level, again while that is not valid: what a busy client measures says nothing
// of the server.
func (m *member) try(ctx context.Context, first attempt, level float64, tried *[]*judged) (p *judged) {
	for range m.r.mostAttempts() {
		if len(*tried) > 0 {
			m.number++ // what its group agreed on was about the trial before
		}
		a := first
		a.load.Level, a.tried = level, len(*tried)
		p = weigh(a, m.measure(ctx, a), m.view())
		*tried = append(*tried, p)
		if !p.unclear() || m.r.stops.now() != "" {
			break
		}
	}
	return p
}

// weigh judges a trial by the conditions of its search, which may read what the run has measured before.
func weigh(a attempt, o trial.Output, before *result.Result) *judged {
	n := o.Node
	p := &judged{Output: o, holds: n.Outcome == result.Done}
	p.stored = result.Trial{
		Level: a.load.Level, Started: n.Started, Duration: n.Duration, Outcome: n.Outcome, Metrics: n.Metrics,
		Verdict: result.Pass, Reason: n.Reason,
	}
	values := result.Values(before, n)
	for _, c := range a.node.While {
		a := verdict.Judge(c.Assertion, c.Program, circumstances(n), values)
		p.stored.While = append(p.stored.While, a)
		p.holds = p.holds && a.Verdict == result.Pass
		p.open = p.open || a.Cause == result.CauseClient
		if a.Verdict != result.Pass && p.stored.Verdict == result.Pass {
			p.stored.Verdict, p.stored.Reason = a.Verdict, a.Reason
		}
	}
	failed := func(a result.Assertion) bool { return a.Verdict == result.Fail }
	p.open = p.open && !slices.ContainsFunc(p.stored.While, failed) // what is false anyway, is false
	if o.Short.That != "" {
		p.open, p.holds, p.stored.Verdict, p.stored.Reason = false, false, result.Fail, o.Short.Why
	}
	if d := n.Metrics[metric.Latency]; d == nil || d.Count == nil || *d.Count == 0 {
		p.holds = false
		if p.stored.Verdict == result.Pass {
			p.stored.Verdict, p.stored.Reason = result.Inconclusive, "no request was answered well"
		}
	}
	return p
}

// found makes the repeat of a search that is over: the numbers of the best trial that was
// confirmed.
func found(p *program.Program, first attempt, tried []*judged, d load.Decision) *repeat {
	best := -1
	for i, p := range tried {
		if d.Best > 0 && p.stored.Level == d.Best && p.holds {
			best = i
		}
	}
	why := d.Reason + open(first, tried)
	if best < 0 {
		if p := lowest(tried); p != nil && p.stored.Verdict == result.Fail {
			why += ": " + p.stored.Reason
		}
		out := given(p, first, tried, "no level was confirmed: "+why)
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
			return text + ": " + a.enough(low.stored.Level, float64(w.Needed)/float64(w.Samples))
		}
	}
	return text
}

// lowest returns the trial at the lowest level that was taken for one that does not hold; nil: there is none.
func lowest(tried []*judged) (low *judged) {
	for _, p := range tried {
		if p.Node.Outcome != result.Invalid && !p.holds && (low == nil || p.stored.Level < low.stored.Level) {
			low = p
		}
	}
	return low
}

// enough says what to change so that a trial has times as many samples.
func (a attempt) enough(level, times float64) string {
	span := a.node.Span()
	switch {
	case span.Duration > 0:
		seconds := math.Ceil(span.Duration.Seconds()*times*10) / 10
		text := fmt.Sprintf("use a longer `for`, of %v", time.Duration(seconds*float64(time.Second)))
		if a.node.Open {
			text += fmt.Sprintf(", or search from %.3g/s", math.Ceil(level*times))
		}
		return text
	case span.Requests > 0:
		return fmt.Sprintf("use a longer `for`, of %.0f requests", math.Ceil(float64(span.Requests)*times))
	}
	return fmt.Sprintf("use a longer `for`, of about %.3g times", times)
}

// nothingFound says why a search has no numbers; "" where it has.
func nothingFound(out *result.Node) string {
	if slices.ContainsFunc(out.Trials, func(t result.Trial) bool { return t.Used }) {
		return ""
	}
	return out.Reason
}

// given makes the repeat of a search that has no best trial.
func given(p *program.Program, first attempt, tried []*judged, why string) *repeat {
	r := unplayed(p, first.node, result.InterruptedNode, why)
	out := r.Node
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
		invalidates := func(f result.Finding) bool { return f.Severity == result.Invalidating }
		all := tried[len(tried)-1].Node.Validity.Findings
		f := all[slices.IndexFunc(all, invalidates)]
		f.Text = why
		out.Validity.Findings, out.Validity.OK = []result.Finding{f}, false
	}
	if n := len(tried); n > 0 && tried[n-1].open {
		leaveOpen(out, why)
	}
	out.Trials = trials(tried)
	return r
}

// leaveOpen makes a node invalid, as its `while` is left open by this client.
func leaveOpen(out *result.Node, why string) {
	f := result.Finding{Code: result.WhileOpen, Severity: result.Invalidating, Text: why}
	out.Outcome, out.Reason, out.Validity.OK = result.Invalid, why, false
	out.Validity.Findings = append(out.Validity.Findings, f)
}

func trials(tried []*judged) (list []result.Trial) {
	for _, p := range tried {
		list = append(list, p.stored)
	}
	return list
}
