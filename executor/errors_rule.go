package executor

import (
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// DefaultErrors is the id of the built-in errors rule: no plan passes with failures that it did not allow. What a node's
// assertions and `while` say of its errors decides what the rule still asks:
//
//	nothing                                 errors.count == 0
//	something of all: count, ratio          nothing
//	something of a class, a phase, an entry errors.count <= the sum of those counts: no failure beside them
//
// An assertion that compares with a baseline that is not there, and is skipped for it, says nothing.
const DefaultErrors = "default-errors"

// errorsRule adds the rule to a node where it asks something.
func (b *build) errorsRule(n *Node) {
	parts, all := b.spokenErrors(n)
	if all {
		return
	}
	a := scenario.Assertion{
		ID: DefaultErrors, Severity: result.Gate, OnNoData: "inconclusive", Use: n.Stage.IDPos,
		Description: "built in, because nothing here says how many errors are allowed: write one, such as errors.ratio < 0.1%",
		That:        source.Text{Text: metric.ErrorsCount + " == 0", Pos: n.Stage.IDPos},
	}
	if len(parts) > 0 {
		a.Description = "built in, because what is said here of errors is not said of all: write one such as errors.ratio < 0.1% besides"
		a.That.Text = metric.ErrorsCount + " <= " + strings.Join(parts, " + ")
	}
	n.Checks = append(n.Checks, b.check(a, n.scope))
}

// spokenErrors is what a node's expressions say something about: the counts of some of its errors, or all of them.
func (b *build) spokenErrors(n *Node) (parts []string, all bool) {
	for _, c := range slices.Concat(n.Checks, n.While) {
		if c.Program == nil || b.program.unmatched(c, n.ID) != "" {
			continue
		}
		for _, r := range c.Program.Refs {
			if r.Baseline || r.Node != "" && r.Node != n.ID || !r.Leaf.Row.OfErrors() {
				continue
			}
			at, count := r.Place, countOf(r.Leaf.Row.Name)
			at.Node = ""
			if at == (expression.Place{}) && count == metric.ErrorsCount {
				return nil, true
			}
			if part := at.String() + count; !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
	}
	return parts, false
}

// countOf is the row that counts what a row of errors is about.
func countOf(row string) string {
	if row == metric.ErrorsRatio {
		return metric.ErrorsCount
	}
	if class, is := strings.CutPrefix(row, "errors."); is {
		if class, is = strings.CutSuffix(class, ".ratio"); is {
			return metric.ErrorsOf(class)
		}
	}
	return row
}
