package executor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/expression"
)

// candidate is a node of a stage whose best one is asked for.
type candidate struct {
	node  *program.Node
	out   *result.Node
	value expression.Quantity
	where result.Verdict // pass: it may be the best
	why   string         // why it may not
}

// best ranks the nodes of a stage that has ended, and adds which is the best, and the verdict on that: the
// stage has a best one, or the run is inconclusive.
func (r *runner) best(m *member) {
	first := m.Plays[0].Node
	if first.Best == nil || r.result.BestOf(m.Stage) != nil {
		return
	}
	var all []*candidate
	for _, n := range r.program.Nodes {
		if out := nodeOf(m.done, n.ID); n.Stage.ID == m.Stage && n.Best != nil && out != nil {
			all = append(all, m.candidate(n, out))
		}
	}
	slices.SortStableFunc(all, func(a, b *candidate) int { return a.compare(b) })
	best := result.Best{Stage: m.Stage, Text: first.Best.Text(), Unit: first.Best.Dim.Unit()}
	for i, c := range all {
		ranked := result.Ranked{Rank: i + 1, Node: c.out.ID, Where: c.where, Reason: c.why}
		if c.value.Known {
			ranked.Value = &c.value.V
		}
		best.Ranking = append(best.Ranking, ranked)
	}
	passing := slices.DeleteFunc(slices.Clone(all), func(c *candidate) bool { return !c.passes() })
	a := result.Assertion{
		ID: m.Stage + "/best", That: best.Text, At: first.Best.Pos.String(), Severity: result.Gate,
		Unit: best.Unit, Samples: int64(len(passing)), Needed: 1,
	}
	cut := slices.IndexFunc(all, (*candidate).cut)
	switch ran := slices.ContainsFunc(all, func(c *candidate) bool { return !failed(c.out) }); {
	case ran && cut >= 0: // the best one may be among those that were left out
		a.Verdict, a.Cause = result.Inconclusive, result.CauseInterrupted
		a.Reason = fmt.Sprintf("not all nodes were measured: %s: %s", all[cut].out.ID, all[cut].why)
	case len(passing) > 0:
		why := choose(&best, passing)
		a.Verdict, a.Observed, a.Low, a.High = result.Pass, best.Value, best.Low, best.High
		a.Reason = describeBest(&best, all, why)
	case !ran:
		a.Verdict, a.Reason = result.Skipped, "the stage did not run"
	default:
		a.Verdict, a.Cause = result.Inconclusive, result.CauseNoData
		a.Reason = fmt.Sprintf("none of %d nodes may be the best: %s", len(all), reasons(all))
	}
	r.result.Best = append(r.result.Best, best)
	r.result.Assertions = append(r.result.Assertions, a)
}

// candidate evaluates a node.
func (m *member) candidate(n *program.Node, out *result.Node) *candidate {
	c := &candidate{node: n, out: out, value: result.Measured{Node: out, Program: n.Best.Of}.Value()}
	c.where, c.why = m.where(n, out)
	if c.where == result.Pass && !c.value.Known {
		c.where, c.why = result.Inconclusive, cmp.Or(c.value.Why, "it has no value")
	}
	return c
}

// where judges the conditions of a node: they hold, one is false, or it is open whether they do.
func (m *member) where(n *program.Node, out *result.Node) (v result.Verdict, why string) {
	at := circumstances(out)
	if out.Outcome != result.Done || !out.Validity.OK {
		v, why = result.Inconclusive, cmp.Or(out.Cause(), string(out.Outcome))
	} else {
		v = result.Pass
	}
	for _, w := range n.Best.Where {
		switch a := verdict.Judge(w.Assertion, w.Program, at, m.values(out)); {
		case a.Verdict == result.Fail:
			return result.Fail, fmt.Sprintf("%s is false: %s", w.That.Text, a.Reason)
		case a.Verdict != result.Pass && v == result.Pass:
			v, why = result.Inconclusive, fmt.Sprintf("%s is not proven: %s", w.That.Text, a.Reason)
		}
	}
	return v, why
}

// compare orders candidates: those for which the conditions hold first, the best value first, those without
// a value last.
func (c *candidate) compare(d *candidate) int {
	if c.passes() != d.passes() {
		return map[bool]int{true: -1, false: 1}[c.passes()]
	}
	return c.compareValue(d)
}

// cut reports whether the node was left out, or ended early.
func (c *candidate) cut() bool {
	return c.out.Outcome == result.SkippedNode || c.out.Outcome == result.InterruptedNode
}

func (c *candidate) passes() bool { return c.where == result.Pass }

// compareValue orders by value alone.
func (c *candidate) compareValue(d *candidate) int {
	switch {
	case c.value.Known != d.value.Known:
		return map[bool]int{true: -1, false: 1}[c.value.Known]
	case !c.value.Known:
		return 0
	case c.node.Best.Min:
		return cmp.Compare(c.value.V, d.value.V)
	}
	return cmp.Compare(d.value.V, c.value.V)
}

// choose enters the best of the candidates, which are ordered, and how far the others are from it, or returns
// why that is unknown.
func choose(b *result.Best, list []*candidate) (why string) {
	winner := list[0]
	b.Node, b.Value = winner.out.ID, &winner.value.V
	if winner.value.Lo != winner.value.Hi {
		b.Low, b.High = &winner.value.Lo, &winner.value.Hi
	}
	if len(list) < 2 || winner.node.Stage.Repeat < 2 {
		return "unknown without `repeat`"
	}
	others := make([]result.Measured, len(list)-1)
	for i, c := range list[1:] {
		others[i] = result.Measured{Node: c.out, Program: c.node.Best.Of}
	}
	apart, why := result.Differences(result.Measured{Node: winner.out, Program: winner.node.Best.Of}, others)
	if why != "" {
		return "unknown: " + why
	}
	separated := true
	for i, d := range apart {
		b.Ranking[i+1].Difference = d
		if better := d.Value < 0 == winner.node.Best.Min; !d.Apart || !better {
			separated = false
			b.Tied = append(b.Tied, b.Ranking[i+1].Node)
		}
	}
	b.Separated = &separated
	return ""
}

// describeBest says in words which node is the best, and how sure that is; why says why it is not known whether
// the others differ.
func describeBest(b *result.Best, all []*candidate, why string) string {
	text := fmt.Sprintf("%s is the best of %d", b.Node, len(b.Ranking))
	var open []string
	for _, c := range all {
		better := c.where == result.Inconclusive && c.value.Known && all[0].compareValue(c) > 0
		if better {
			open = append(open, c.out.ID)
		}
	}
	switch {
	case b.Separated != nil && *b.Separated:
		text += ", separated from each other one (95 %)"
	case b.Separated != nil:
		text += tied(b)
	case candidates(b) < 2:
		text += ", and the only one for which the conditions hold"
	default:
		text += "; whether it differs from the others is " + why
	}
	if len(open) > 0 {
		text += "; a better value, whose conditions are not proven, has " + strings.Join(open, ", ")
	}
	return text
}

// tied says which candidates may be as good, and of which that is unknown.
func tied(b *result.Best) (text string) {
	var chance, unknown []string
	for _, x := range b.Ranking {
		switch d := x.Difference; {
		case d == nil || !slices.Contains(b.Tied, x.Node):
		case d.Unknown != "":
			unknown = append(unknown, fmt.Sprintf("%s (%s)", x.Node, d.Unknown))
		default:
			chance = append(chance, x.Node)
		}
	}
	if len(chance) > 0 {
		text = ", tied with " + strings.Join(chance, ", ") + ": their differences may be chance (95 %)"
	}
	if len(unknown) > 0 {
		text += "; the repeats cannot tell it from " + strings.Join(unknown, ", ")
	}
	return text
}

func candidates(b *result.Best) (n int) {
	for _, x := range b.Ranking {
		if x.Where == result.Pass {
			n++
		}
	}
	return n
}

// reasons says why the first of the candidates may not be the best, and how many others.
func reasons(all []*candidate) string {
	var list []string
	for _, c := range all {
		list = append(list, fmt.Sprintf("%s: %s", c.out.ID, c.why))
	}
	const most = 3
	if len(list) > most {
		list = append(list[:most], fmt.Sprintf("and %d more", len(all)-most))
	}
	return strings.Join(list, "; ")
}
