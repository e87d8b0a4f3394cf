package executor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/trial"
	"github.com/sluice-bench/sluice/scenario/expression"
)

// What proves nothing because of this client is measured again if the user wants it (Env.RetryInvalid), as
// long as max_duration allows: of a stage that runs alone each repeat, a group as a whole, of a search each
// trial (search.go). The schedule, the data and the server stay the same. All attempts are listed, the last one
// counts. A gate of the plan that is open so counts for the last of the stages that it reads.
// A level whose `while` is left open is measured again unasked, as the trial of a search is: what follows
// depends on it.

// mostAttempts returns how often the trial of a search is measured until it is valid, and a level until this
// client does not leave its `while` open.
func (r *runner) mostAttempts() int { return max(program.MaxAttempts, 1+r.env.RetryInvalid) }

// measureValid measures a repeat, again while this client leaves it open.
func (m *member) measureValid(ctx context.Context, a attempt) trial.Output {
	var tried []result.Attempt
	for {
		begun := m.r.clock.Now()
		o := m.measure(ctx, a)
		took := m.r.clock.Now() - begun
		out, why, most := m.openAttempt(a.node, o)
		if a.number >= most-1 || !m.r.hasTimeFor(took, a.deadline) {
			addAttempts(o.Node, tried)
			return o
		}
		last := newAttempt(out, why)
		tried = append(tried, last)
		a.number++
		m.number++ // what its group agreed on was about the attempt before
		text := fmt.Sprintf("%s: attempt %d of at most %d does not count, measuring again: %s", a.node.ID,
			a.number, most, last.Reason)
		m.r.tell(Event{Node: a.node.ID, Phase: PhaseOpen, Text: text})
	}
}

// openAttempt returns an attempt at a node as judged, why it proves nothing because of this client, and how
// often the node is then measured at most; 0 where it may not be measured again.
func (m *member) openAttempt(n *program.Node, o trial.Output) (out *result.Node, why string, most int) {
	wanted := m.r.env.RetryInvalid > 0 && m.first().Stage.Group == nil
	if len(n.While) == 0 && !wanted {
		return nil, "", 0
	}
	out = m.withVerdicts(n, o)
	if why = clientCause(out); why == "" && wanted && n.Stage.Repeat < 2 {
		why = m.r.planCause(m.view().Nodes, out)
	}
	switch {
	case fails(out) || why == "":
	case out.Finding(result.WhileOpen) != nil:
		most = m.r.mostAttempts()
	case wanted:
		most = 1 + m.r.env.RetryInvalid
	}
	return out, why, most
}

// planCause returns why a gate of the plan on the latest nodes, besides those before, is open for the delay
// of this client in the latest. "": none is, as one that reads later nodes, or one is proven false.
func (r *runner) planCause(before []*result.Node, latest ...*result.Node) (why string) {
	all := *r.result
	all.Nodes = slices.Concat(before, latest)
	values := result.Values(&all, nil).Against(r.program.Baseline)
	for _, check := range r.program.Assert {
		reads := func(n *result.Node) bool {
			late := n.Finding(result.ClientLate) != nil || n.Finding(result.ClientPaused) != nil
			return late && slices.ContainsFunc(check.Refs, func(ref expression.Ref) bool {
				return ref.Node == n.ID && !ref.Baseline
			})
		}
		if !slices.ContainsFunc(latest, reads) {
			continue
		}
		a := judgeCheck(r.program, check, worst(check, &all), values, nil)
		switch {
		case a.Severity == result.Warn:
		case a.Verdict == result.Fail:
			return ""
		case a.Cause == result.CauseClient:
			why = cmp.Or(why, fmt.Sprintf("%s: %s", a.ID, a.Reason))
		}
	}
	return why
}

// withVerdicts returns a copy of a node's result with its verdicts.
func (m *member) withVerdicts(n *program.Node, o trial.Output) *result.Node {
	c := *o.Node
	c.Validity.Findings = slices.Clone(c.Validity.Findings)
	m.judge(n, &c, o.Short)
	return &c
}

// playValid plays a unit; a group again as a whole while this client leaves one of its nodes open.
func (r *runner) playValid(ctx context.Context, u *program.Unit) *group {
	g := newGroup(r, u)
	deadline := g.deadline(r.clock.Now())
	for {
		begun := r.clock.Now()
		g.play(ctx)
		if g.attempt == r.env.RetryInvalid {
			return g
		}
		why := g.openByClient()
		if why == "" || !r.hasTimeFor(r.clock.Now()-begun, deadline) {
			return g
		}
		g = r.again(g, u, why)
	}
}

// deadline returns when all attempts of a group that begins now must have ended, on the run's clock, by the
// max_duration of its members' plays; 0: it has none.
func (g *group) deadline(now int64) (at int64) {
	for _, m := range g.members {
		end := now
		for _, p := range m.Plays {
			end += int64(p.Node.Stage.MaxDuration)
		}
		limited := !slices.ContainsFunc(m.Plays,
			func(p program.Play) bool { return p.Node.Stage.MaxDuration == 0 })
		if limited && (at == 0 || end < at) {
			at = end
		}
	}
	return at
}

// openByClient returns why this client leaves a node of a group open, or a gate of the plan on them; "" where
// it does not, or something else went wrong.
func (g *group) openByClient() (why string) {
	var all []*result.Node
	for _, m := range g.members {
		if m.first().Stage.Group == nil || m.setUp+m.internal != "" || slices.ContainsFunc(m.done, fails) {
			return ""
		}
		for _, n := range m.done {
			why = cmp.Or(why, prefix(n.ID, clientCause(n)))
		}
		all = append(all, m.done...)
	}
	r := g.members[0].r
	return cmp.Or(why, r.planCause(r.result.Nodes, all...))
}

// again returns a group for another attempt, which keeps what is known of this one, and why it is open.
func (r *runner) again(g *group, u *program.Unit, why string) *group {
	next := newGroup(r, u)
	next.attempt = g.attempt + 1
	for i, m := range g.members {
		for n, rs := range m.repeats {
			now := next.members[i].repeats[n]
			now.begun, now.tried = rs.begun, rs.tried
			if rs.result == nil {
				continue
			}
			now.tried = append(now.tried, newAttempt(rs.result, cmp.Or(clientCause(rs.result), why)))
			if in := r.inputs[n.Stage]; in != nil {
				in.probes += rs.result.Probes
			}
		}
	}
	return next
}

// hasTimeFor reports whether another attempt of a length, ns, ends before the deadline (run clock; 0: none)
// and the run's max_duration.
func (r *runner) hasTimeFor(length, deadline int64) bool {
	end := r.clock.Now() + length
	limit := int64(r.stops.limit)
	return (limit == 0 || end <= limit) && (deadline == 0 || end <= deadline) && r.stops.now() == ""
}

// clientCause returns why a judged node proves nothing because of this client: it is invalid, or a gate or
// `while` of it lies within what the client's delay leaves open. "": it does not. It is measured again only if
// no gate of it is proven false.
func clientCause(n *result.Node) string {
	if n.Outcome == result.Invalid {
		return cmp.Or(n.Cause(), "the measurement is invalid")
	}
	for _, a := range slices.Concat(n.Assertions, n.While) {
		if a.Severity != result.Warn && a.Cause == result.CauseClient {
			return fmt.Sprintf("%s: %s", a.ID, a.Reason)
		}
	}
	return ""
}

// fails reports whether a gate of a node is proven false, or the node could not be set up.
func fails(n *result.Node) bool { return n.Outcome != result.SkippedNode && failure(n) != "" }

// newAttempt returns what is kept of an attempt at a node, and why it does not count.
func newAttempt(n *result.Node, why string) result.Attempt {
	return result.Attempt{
		Started: n.Started, Duration: n.Duration, Outcome: n.Outcome, Metrics: n.Metrics,
		Reason: cmp.Or(n.Reason, why), Findings: n.Validity.Findings,
	}
}

// addAttempts lists the attempts at a node before the one that counts, if any, and that one.
func addAttempts(n *result.Node, tried []result.Attempt) {
	if len(tried) == 0 {
		return
	}
	last := newAttempt(n, "")
	last.Used = true
	n.Attempts = append(tried, last)
	reasons := make([]string, len(tried))
	for i, x := range tried {
		reasons[i] = fmt.Sprintf("attempt %d: %s", i+1, x.Reason)
	}
	note(n, result.MeasuredAgain, fmt.Sprintf("measured %d times, the last counts; %s", len(n.Attempts),
		strings.Join(reasons, "; ")))
}
