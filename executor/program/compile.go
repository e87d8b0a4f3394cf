package program

import (
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Compile makes a program of a plan for the backends there are. With any error among the
// diagnostics the program is not to be run; it is still as complete as it can be, for printing.
func Compile(p *scenario.Plan, kinds []backends.Kind) (*Program, source.Diagnostics) {
	d := newDraft(p, kinds)
	for _, pass := range passes() {
		pass(d)
	}
	return d.Program, d.diags.Sorted()
}

// passes lists the steps of Compile in their order. What each reads and adds is in its comment. The
// graph can be printed after each.
func passes() []func(*draft) {
	return []func(*draft){
		bindTargets,        // targets.go: kinds, schemes, keys
		makeNodes,          // nodes.go: points and levels
		compileBests,       // best.go: what the best node of a stage is
		compileAmounts,     // amounts.go: loads that come from results
		orderStages,        // order.go: needs, groups and the list; cycles
		connectNodes,       // edges.go: who waits for whom
		checkReach,         // reach.go: who can run at all
		makeUnits,          // order.go: who runs when
		checkActions,       // actions.go: calls before and after stages
		readFiles,          // files.go: files that the plan names
		readBaseline,       // baseline.go: the stored result that the plan names
		formSequences,      // sequences.go: requests that belong together
		compileLoads,       // load.go: how the load of each node goes
		checkIDs,           // sequences.go: whether ids are enough
		compileExpressions, // expressions.go: assertions, while, stability metrics
		checkComparisons,   // baseline.go: whether anything is compared with the baseline
		compileGoodput,     // goodput.go: what makes a request good
		planNodes,          // planned.go: requests, durations
		addErrorsRules,     // errors_rule.go: where the plan leaves errors without a limit
		planChecks,         // samples.go: requests that each check looks at
		lintPlan,           // lints.go: what is valid but probably unintended
		collectMissing,     // missing.go: what this binary was built without
	}
}
