package program

import (
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Compile makes a program of a plan for the backends there are. With any error among the
// diagnostics the program is not to be run; it is still as complete as it can be, for printing.
func Compile(p *scenario.Plan, kinds []backends.Kind) (*Program, source.Diagnostics) {
	d := newDraft(p, kinds)
	for _, pass := range passes() {
		pass.do(d)
	}
	d.program.Warnings = slices.DeleteFunc(slices.Clone(d.diags), func(diag source.Diagnostic) bool {
		return diag.Severity == source.Error
	})
	return d.program, d.diags.Sorted()
}

// pass is one of the steps of Compile. The graph can be printed after each.
type pass struct {
	name string
	do   func(*draft)
}

// passes lists the steps of Compile in their order. What each reads and adds is in its comment.
func passes() []pass {
	return []pass{
		{"targets", bindTargets},            // targets.go: kinds, schemes, keys
		{"nodes", makeNodes},                // nodes.go: points and levels
		{"amounts", compileAmounts},         // amounts.go: loads that come from results
		{"order", orderStages},              // order.go: needs, groups and the list; cycles
		{"edges", connectNodes},             // edges.go: who waits for whom
		{"reach", checkReach},               // reach.go: who can run at all
		{"units", makeUnits},                // order.go: who runs when
		{"actions", checkActions},           // actions.go: calls before and after stages
		{"files", readFiles},                // files.go: files that the plan names
		{"baseline", readBaseline},          // baseline.go: the stored result that the plan names
		{"sequences", formSequences},        // sequences.go: requests that belong together
		{"loads", compileLoads},             // load.go: how the load of each node goes
		{"ids", checkIDs},                   // sequences.go: whether ids are enough
		{"expressions", compileExpressions}, // expressions.go: assertions, while, stability metrics
		{"comparisons", checkComparisons},   // baseline.go: whether anything is compared with the baseline
		{"goodput", compileGoodput},         // goodput.go: what makes a request good
		{"plan", planNodes},                 // planned.go: requests, durations
		{"errors", addErrorsRules},          // errors_rule.go: where the plan leaves errors without a limit
		{"samples", planChecks},             // samples.go: requests that each check looks at
		{"lints", lintPlan},                 // lints.go: what is valid but probably unintended
		{"later", collectLater},             // later.go: what cannot be run yet
	}
}
