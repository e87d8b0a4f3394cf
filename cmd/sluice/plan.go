package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/executor"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// overrides are the flags that change a plan.
type overrides struct {
	vars []string
	sets []string
}

func (o *overrides) flags(c *cobra.Command) {
	c.Flags().StringArrayVar(&o.vars, "var", nil, "set a variable of the plan: `NAME=VALUE` (repeatable)")
	c.Flags().StringArrayVar(&o.sets, "set", nil, "override a scalar of the plan: `PATH=VALUE`, such as stages.steady.for=10s (repeatable)")
}

// load reads and compiles a plan. Warnings are in the diagnostics too; with errors the program is nil.
func (a *app) load(file string, o overrides) (*executor.Program, source.Diagnostics) {
	plan, diags := scenario.LoadFile(file, scenario.Overrides{Vars: o.vars, Sets: o.sets, Env: a.env})
	if plan == nil || diags.HasErrors() {
		return nil, diags
	}
	program, more := executor.Compile(plan, all.Kinds())
	diags = append(diags, more...).Sorted()
	if diags.HasErrors() {
		return nil, diags
	}
	return program, diags
}

// completePlan offers YAML files to the shell.
func completePlan(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}
