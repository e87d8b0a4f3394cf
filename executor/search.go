package executor

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// judged is one trial of a search with what its `while` says.
type judged struct {
	*repeat
	level  float64
	holds  bool         // as far as it was measured: what the search goes by
	stored result.Trial // as judged: what may be reported
}

// search looks for the largest level at which `while` holds: a trial of its own at each level that load.Search asks for,
// until it is sure. What is reported is the confirmed trial; without one there is no capacity.
//
//	trial                        the search goes on as if it      reported
//	holds                        holds                            pass
//	too few samples, no data,    does not hold                    inconclusive
//	  no success, unstable
//	does not hold, or cut short  does not hold                    fail
//	  by an assertion's abort
//	invalid                      is measured again, twice at      inconclusive; the node is invalid when it stays so:
//	                             most; then it ends               the client was the limit, and not the server
//	interrupted, failed          ends                             as the node's outcome
func (m *member) search(ctx context.Context, first *trial) *repeat {
	var tried []*judged
	var history []load.Trial
	for {
		d := first.search.Next(history)
		if d.Done {
			return m.found(first, tried, d)
		}
		p := m.try(ctx, first, d.Level, &tried)
		at := fmt.Sprintf("trial %d, at %s", len(tried), first.again(d.Level, 0).at())
		switch o := p.out.Outcome; {
		case o == result.Failed || o == result.InterruptedNode || m.r.stops.now() != "":
			return m.given(first, tried, at+": "+p.out.Reason)
		case o == result.Invalid:
			return m.given(first, tried, fmt.Sprintf("%s, was no valid measurement in %d tries: the client, not the server, was the limit: %s",
				at, program.MaxAttempts, p.out.Reason))
		}
		history = append(history, load.Trial{Level: d.Level, Met: p.holds})
	}
}

// try measures at a level, again while that is not valid: what a busy client measures says nothing of the server.
func (m *member) try(ctx context.Context, first *trial, level float64, tried *[]*judged) (p *judged) {
	for range program.MaxAttempts {
		if len(*tried) > 0 {
			m.number++ // what its group agreed on was about the trial before
		}
		t := first.again(level, len(*tried))
		p = m.weigh(t, t.run(ctx))
		*tried = append(*tried, p)
		if p.out.Outcome != result.Invalid || m.r.stops.now() != "" {
			break
		}
	}
	return p
}

// earlier is how many trials of a node came before a repeat: those of the repeats before, which had a trial or more each.
func (m *member) earlier(n *program.Node, repeat int) int {
	if !n.Searches() {
		return repeat
	}
	count := 0
	for _, r := range m.repeats[n].played {
		count += len(r.out.Trials)
	}
	return count
}

// again is a fresh trial of the same node and repeat.
func (t *trial) again(level float64, tried int) *trial {
	next := &trial{r: t.r, m: t.m, node: t.node, number: t.number, tried: tried, serial: t.serial + tried, aims: t.aims, deadline: t.deadline, in: t.in, out: t.r.blank(t.node)}
	next.level = level
	return next
}

// at is the trial's level in words.
func (t *trial) at() string {
	if t.node.Open {
		return fmt.Sprintf("%.6g/s", t.level)
	}
	return fmt.Sprintf("%.0f in flight", t.level)
}

// weigh judges a trial by the conditions of its search.
func (m *member) weigh(t *trial, r *repeat) *judged {
	p := &judged{repeat: r, level: t.level, holds: r.out.Outcome == result.Done}
	p.stored = result.Trial{
		Level: t.level, Started: r.out.Started, Duration: r.out.Duration, Outcome: r.out.Outcome, Metrics: r.out.Metrics,
		Verdict: result.Pass, Reason: r.out.Reason,
	}
	values := result.Values(m.view(), r.out)
	for _, c := range t.node.While {
		if c.Program == nil {
			continue
		}
		a := verdict.Judge(c.Assertion, c.Program, circumstances(r.out), values)
		p.stored.While = append(p.stored.While, a)
		p.holds = p.holds && a.Verdict == result.Pass
		if a.Verdict != result.Pass && p.stored.Verdict == result.Pass {
			p.stored.Verdict, p.stored.Reason = a.Verdict, a.Reason
		}
	}
	if r.short.that != "" {
		p.holds, p.stored.Verdict, p.stored.Reason = false, result.Fail, r.short.why
	}
	if d := r.out.Metrics[metric.Latency]; d == nil || d.Count == nil || *d.Count == 0 {
		p.holds = false
		if p.stored.Verdict == result.Pass {
			p.stored.Verdict, p.stored.Reason = result.Inconclusive, "no request was answered well"
		}
	}
	return p
}

// found makes the repeat of a search that came to its end: the numbers of the best trial that was confirmed.
func (m *member) found(first *trial, tried []*judged, d load.Decision) *repeat {
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
		out.out.Outcome, out.out.Validity.OK = result.Done, true
		out.note("search", out.out.Reason)
		return out
	}
	tried[best].stored.Used = true
	r := &repeat{out: tried[best].out, read: tried[best].read, capacity: d.Best}
	if c := r.out.Metrics[metric.Capacity]; c != nil {
		c.Value = &r.capacity
	}
	r.out.Trials = trials(tried)
	r.note("search", fmt.Sprintf("%d trials: %s", len(tried), why))
	return r
}

// lowest is the trial at the lowest level that was taken for one that does not hold; nil: there is none.
func lowest(tried []*judged) (low *judged) {
	for _, p := range tried {
		if p.out.Outcome != result.Invalid && !p.holds && (low == nil || p.level < low.level) {
			low = p
		}
	}
	return low
}

// open says what the lowest trial that was taken for one that does not hold lacks, where nothing is known to be false
// there, and what to change: the limit may be higher. "": it is false.
func open(t *trial, tried []*judged) string {
	low := lowest(tried)
	if low == nil || low.stored.Verdict != result.Inconclusive {
		return ""
	}
	text := "; there nothing is proven: " + low.stored.Reason
	for _, a := range low.stored.While {
		if a.Verdict == result.Inconclusive && a.Samples > 0 && a.Samples < a.Needed {
			return text + ": " + t.enough(low.level, float64(a.Needed)/float64(a.Samples))
		}
	}
	return text
}

// enough says what to change so that a trial has so many times as many samples.
func (t *trial) enough(level, times float64) string {
	text := fmt.Sprintf("use a longer `for`, of about %.3g times", times)
	if e, ok := t.node.Stage.Extent.(scenario.For); ok && e.Span.Duration > 0 {
		text = fmt.Sprintf("use a longer `for`, of %v", time.Duration(math.Ceil(e.Span.Duration.Seconds()*times*10)/10*float64(time.Second)))
		if t.node.Open {
			text += fmt.Sprintf(", or search from %.3g/s", math.Ceil(level*times))
		}
	}
	if e, ok := t.node.Stage.Extent.(scenario.For); ok && e.Span.Requests > 0 {
		text = fmt.Sprintf("use a longer `for`, of %.0f requests", math.Ceil(float64(e.Span.Requests)*times))
	}
	return text
}

// nothingFound is why a search has no numbers; "" where it has.
func nothingFound(out *result.Node) string {
	for _, p := range out.Trials {
		if p.Used {
			return ""
		}
	}
	return out.Reason
}

// given makes the repeat of a search that has no best trial.
func (m *member) given(first *trial, tried []*judged, why string) *repeat {
	out := m.r.blank(first.node)
	out.Outcome, out.Reason = result.InterruptedNode, why
	if n := len(tried); n > 0 {
		last := tried[n-1].out
		out.Started = tried[0].out.Started
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
		fared = append(fared, p.out.Validity)
	}
	out.Validity.Summary = joinSummaries(fared)
	if out.Outcome == result.Invalid {
		for _, f := range tried[len(tried)-1].out.Validity.Findings {
			if f.Severity == result.Invalidating {
				out.Validity.Findings = append(out.Validity.Findings, result.Finding{Code: f.Code, Severity: f.Severity, Text: why})
				break
			}
		}
		out.Validity.OK = false
	}
	out.Trials = trials(tried)
	return &repeat{out: out}
}

func trials(tried []*judged) (list []result.Trial) {
	for _, p := range tried {
		list = append(list, p.stored)
	}
	return list
}

// note adds a finding to a repeat's result.
func (r *repeat) note(code, text string) {
	r.out.Validity.Findings = append(r.out.Validity.Findings, result.Finding{Code: code, Severity: result.Note, Text: text})
}
