package executor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/trial"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// repeat holds the output of one play of a node.
type repeat struct {
	trial.Output
	capacity float64 // of a search; 0: none
}

// repeats collects the plays of a node. Their numbers are pooled when the last has ended.
type repeats struct {
	node    *program.Node
	planned int
	begun   int              // how often it was measured, in earlier attempts of its group too
	tried   []result.Attempt // those, which do not count
	played  []*repeat
	cut     string       // why repeats were left out
	silent  bool         // all were, without a trace
	result  *result.Node // of all, once complete
}

// skip leaves out this repeat and those after it. What was played before is reported as far as it goes.
func (rs *repeats) skip(r *runner, why string) {
	if rs.cut = why; len(rs.played) == 0 && !rs.silent {
		rs.result = unplayed(r.program, rs.node, result.SkippedNode, why).Node
		if r.needs(rs.node.Stage) == notNeeded {
			note(rs.result, result.NotNeeded, why)
		}
	}
}

// unplayed returns a repeat that measured nothing.
func unplayed(p *program.Program, n *program.Node, how result.Outcome, why string) *repeat {
	out := blank(p, n)
	out.Outcome, out.Reason = how, why
	return &repeat{Output: trial.Output{Node: out}}
}

// short returns how the first repeat that was cut short was.
func (rs *repeats) short() (s trial.CutShort) {
	for _, r := range rs.played {
		s = cmp.Or(s, r.Short)
	}
	return s
}

// complete reports that no repeat follows.
func (rs *repeats) complete() bool { return rs.cut != "" || len(rs.played) == rs.planned }

// sofar returns what is known of the node; nil: it was left out.
func (rs *repeats) sofar() *result.Node {
	switch {
	case rs.result != nil:
		return rs.result
	case len(rs.played) == 0:
		return nil
	case rs.planned == 1:
		return rs.played[0].Node
	}
	return rs.joined()
}

// joined is one result of several repeats: their numbers pooled, the worst of their outcomes, their
// findings.
func (rs *repeats) joined() *result.Node {
	first := rs.played[0].Node
	out := *first
	out.Metrics, out.Labels = make(map[string]*result.Metric), maps.Clone(first.Labels)
	out.Duration, out.Reason, out.Windows, out.Trials, out.Attempts = 0, "", nil, nil, nil
	out.Validity = validity(rs.node.Stage)
	out.Outcome = result.Done
	var read *trial.Readings
	var fared []result.Validity
	for i, r := range rs.played {
		rs.take(&out, i, r)
		fared = append(fared, r.Node.Validity)
		if r.Readings == nil {
			continue
		}
		if read == nil {
			read = r.Readings.Before()
		}
		read.Join(r.Readings, i)
	}
	if read != nil {
		read.Fill(&out)
	}
	out.Validity.Summary = joinSummaries(fared)
	out.Validity.Findings = rs.findings()
	rs.capacity(&out)
	if rs.cut != "" && worse(result.InterruptedNode, out.Outcome) {
		out.Outcome = result.InterruptedNode
		out.Reason = fmt.Sprintf("interrupted after %d of %d repeats: %s", len(rs.played), rs.planned, rs.cut)
	}
	return &out
}

// take enters one repeat into the list, and what it means for all.
func (rs *repeats) take(out *result.Node, i int, r *repeat) {
	n := r.Node
	out.Repeats = append(out.Repeats, result.Repeat{
		Repeat: i, Started: n.Started, Duration: n.Duration, Outcome: n.Outcome, Reason: n.Reason,
		Metrics: n.Metrics, Scopes: n.Scopes, Findings: n.Validity.Findings,
	})
	out.Duration += n.Duration
	if n.Aborted != nil {
		out.Aborted = n.Aborted
	}
	out.Trials = append(out.Trials, n.Trials...)
	for _, x := range n.Attempts {
		x.Repeat = i
		out.Attempts = append(out.Attempts, x)
	}
	out.Validity.OK = out.Validity.OK && n.Validity.OK
	if worse(n.Outcome, out.Outcome) {
		out.Outcome, out.Reason = n.Outcome, fmt.Sprintf("repeat %d of %d: %s", i+1, rs.planned, n.Reason)
	}
}

// capacity of several searches is the mean of what they found, and nothing when one of them found
// nothing.
func (rs *repeats) capacity(out *result.Node) {
	m := out.Metrics[metric.Capacity]
	if m == nil {
		return
	}
	sum := 0.0
	for _, r := range rs.played {
		if r.capacity == 0 {
			return
		}
		sum += r.capacity
	}
	mean := sum / float64(len(rs.played))
	m.Value = &mean
}

// worse reports whether outcome a says less for a node than b.
func worse(a, b result.Outcome) bool {
	order := []result.Outcome{
		result.Done, result.Unstable, result.Invalid, result.SkippedNode, result.InterruptedNode,
		result.Failed,
	}
	return slices.Index(order, a) > slices.Index(order, b)
}

// findings returns the findings of all repeats. Those that are alike but for their numbers are reported
// once, with the text of the first; each repeat keeps its own.
func (rs *repeats) findings() []result.Finding {
	list := []result.Finding{}
	var keys []string
	var at [][]int // by finding: its repeats, from 1
	var first []string
	for i, r := range rs.played {
		for _, f := range r.Node.Validity.Findings {
			key := f.Code + " " + f.Severity + " " + withoutNumbers(f.Text)
			j := slices.Index(keys, key)
			if j < 0 {
				j = len(keys)
				keys, list, at, first = append(keys, key), append(list, f), append(at, nil), append(first, "")
			}
			if !slices.Contains(at[j], i+1) {
				at[j] = append(at[j], i+1)
			}
			if f.Text != list[j].Text {
				first[j] = ", the first"
			}
		}
	}
	for j := range list {
		list[j].Text = rs.inRepeats(at[j]) + first[j] + ": " + list[j].Text
	}
	return list
}

// inRepeats names repeats: "repeat 2 of 4", "repeats 1, 3 of 4", "all 4 repeats".
func (rs *repeats) inRepeats(at []int) string {
	switch len(at) {
	case 1:
		return fmt.Sprintf("repeat %d of %d", at[0], rs.planned)
	case rs.planned:
		return fmt.Sprintf("all %d repeats", rs.planned)
	}
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(at), " ", ", "), "[]")
	return fmt.Sprintf("repeats %s of %d", list, rs.planned)
}

// withoutNumbers returns the text that tells two findings apart.
func withoutNumbers(text string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c == '.' || c == '-' {
			return -1
		}
		return c
	}, text)
}
