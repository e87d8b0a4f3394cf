package program

import (
	"math"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// DefaultErrors is the id of the built-in errors rule: no plan passes with failures that it did not
// allow. What a node's gates and its `while` limit decides what the rule still asks:
//
//	nothing                                 errors.count == 0
//	all errors: count, ratio                nothing
//	errors of a class, a phase, an entry    errors.count <= the sum of those counts: no failure beside them
//
// A condition limits the errors that it names if it is false when every request fails with one of
// them: errors.count >= 0 limits none. `errors.ratio <= 100%` limits none either, and is how a plan
// allows any share. Assertions of severity warn limit nothing, nor does one that compares with a
// baseline that is not there and is skipped for it.
const DefaultErrors = "default-errors"

// addErrorsRules adds the rule to the checks of each node where it asks something. It reads the
// checks and how many requests are planned.
func addErrorsRules(d *draft) {
	for _, n := range d.Nodes {
		if parts, all := limitedErrors(d.Program, n); n.scope != nil && !all {
			addErrorsRule(d, n, parts)
		}
	}
}

// addErrorsRule adds the rule to a node whose gates limit parts of the errors.
func addErrorsRule(d *draft, n *Node, parts []string) {
	a := scenario.Assertion{
		ID: DefaultErrors, Severity: result.Gate, OnNoData: "inconclusive", Use: n.Stage.IDPos,
		Description: "built in, because no gate here says how many errors are allowed: write one, such as " +
			"errors.ratio < 0.1%",
		That: source.Text{Text: metric.ErrorsCount + " == 0", Pos: n.Stage.IDPos},
	}
	if len(parts) > 0 {
		a.Description = "built in, because the gates here limit some errors and not all: write one such as " +
			"errors.ratio < 0.1% besides"
		a.That.Text = metric.ErrorsCount + " <= " + strings.Join(parts, " + ")
	}
	n.Checks = appendCheck(d, n.Checks, a, n.scope)
	for _, c := range gatesOf(n) {
		lintNoLimit(d, n, c)
	}
}

// limitedErrors lists the counts of the errors that a node's gates limit; all: they limit every error.
func limitedErrors(p *Program, n *Node) (parts []string, all bool) {
	for _, c := range gatesOf(n) {
		if p.Unmatched(c, n.ID) != "" {
			continue
		}
		for _, part := range limitedBy(c, n) {
			if part == metric.ErrorsCount {
				return nil, true
			}
			if !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
	}
	return parts, false
}

// gatesOf lists the conditions that decide about a node: assertions that gate, its `while`, and the `where`
// of `best`.
func gatesOf(n *Node) []Check {
	checks := slices.Concat(n.Checks, n.While)
	if n.Best != nil {
		checks = append(checks, n.Best.Where...)
	}
	return slices.DeleteFunc(checks, func(c Check) bool {
		return c.Severity == result.Warn || c.ID == DefaultErrors
	})
}

// lintNoLimit warns of a condition that names errors of n and limits none.
func lintNoLimit(d *draft, n *Node, c Check) {
	at := slices.IndexFunc(c.Refs, func(r expression.Ref) bool { return ofErrors(r, n) })
	if at < 0 || d.Unmatched(c, n.ID) != "" || len(limitedBy(c, n)) > 0 {
		return
	}
	d.warnOnce(c.That.At(0), "no-error-limit",
		"this is not false when every request fails: it limits no errors").
		Detail = "errors.count == 0 is asked besides: write a budget, such as errors.ratio < 1%"
}

// limitedBy lists the counts of the errors on n that a condition limits: of all, of a class, or of
// a part of the node.
func limitedBy(c Check, n *Node) (parts []string) {
	if !slices.ContainsFunc(c.Refs, func(r expression.Ref) bool { return ofErrors(r, n) }) {
		return nil
	}
	classes := falseFor(c, n)
	for _, r := range c.Refs {
		if !ofErrors(r, n) {
			continue
		}
		at, class := r.Place, classOf(r.Leaf.Row.Name)
		at.Node = ""
		limited := []string{class}
		switch {
		case allowsAny(c, n), class == "" && len(classes) == len(metric.ErrorClasses()):
		case class == "":
			limited = classes
		case !slices.Contains(classes, class):
			continue
		}
		for _, one := range limited {
			parts = append(parts, at.String()+countOf(one))
		}
	}
	return parts
}

// allowsAny reports whether a condition says outright that any share of some errors is
// fine: errors.ratio <= 100%.
func allowsAny(c Check, n *Node) bool {
	t := c.Truth(allFail{n, c, "", 0})
	return len(c.Refs) == 1 && t.Ref != nil && t.Ref.Leaf.Row.Dim == metric.Ratio && t.Op == "<=" &&
		t.Limit.Need == 0 && t.Limit.V == 1
}

// falseFor lists the classes of errors for which a condition is false when every request of n fails
// with that class. All that the condition does not name are alike to it.
func falseFor(c Check, n *Node) (classes []string) {
	named := map[string]bool{}
	for _, r := range c.Refs {
		named[classOf(r.Leaf.Row.Name)] = r.Leaf.Row.OfErrors()
	}
	is := func(class string) int8 {
		return max(c.Truth(allFail{n, c, class, 0}).Is, c.Truth(allFail{n, c, class, 1}).Is)
	}
	others := is("")
	for _, class := range metric.ErrorClasses() {
		truth := others
		if named[class] {
			truth = is(class)
		}
		if truth < 0 {
			classes = append(classes, class)
		}
	}
	return classes
}

// ofErrors reports whether a reference is to errors of node n.
func ofErrors(r expression.Ref, n *Node) bool { return n.Owns(r) && r.Leaf.Row.OfErrors() }

// countOf returns the row that counts the errors of a class; of "" all.
func countOf(class string) string {
	if class == "" {
		return metric.ErrorsCount
	}
	return metric.ErrorsOf(class)
}

// allFail answers references as if every request of a node failed with one class, "" one that no
// reference names, and none of any other node. What is made of replies, or of this machine, is unknown.
type allFail struct {
	node  *Node
	check Check
	class string
	more  float64 // further requests, so that no condition is about one number alone
}

// manyRequests are taken to fail where their number is not planned.
const manyRequests = 1000

// Quantity implements expression.Values.
func (f allFail) Quantity(r expression.Ref) expression.Quantity {
	unknown := expression.Quantity{Need: 1, Why: "no request succeeds"}
	row := r.Leaf.Row
	own := f.node.Owns(r)
	failed := row.OfErrors() && own && (classOf(row.Name) == "" || classOf(row.Name) == f.class)
	v := 0.0
	switch {
	case failed && row.Dim == metric.Ratio:
		v = 1
	case failed, row.Name == metric.RequestsCount:
		v = manyRequests
		if planned := plannedFor(f.node, r.Place, f.check.Assertion); own && planned >= 1 {
			v = math.Floor(planned)
		}
		v += f.more * (v + 1)
	case row.OfErrors():
	case own &&
		slices.Contains([]string{metric.RequestsRate, metric.Throughput, metric.Goodput, metric.GoodputRatio},
			row.Name):
	default:
		return unknown
	}
	return expression.Quantity{Known: true, V: v, Lo: v, Hi: v, N: manyRequests, Need: 1}
}

// classOf returns the class whose errors a row counts; "": all.
func classOf(row string) string {
	class, _, one := strings.Cut(strings.TrimPrefix(row, "errors."), ".")
	if !one {
		return ""
	}
	return class
}
