package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/source"
)

func (a *app) validate() *cobra.Command {
	var o overrides
	var asJSON bool
	c := &cobra.Command{
		Use:   "validate PLAN...",
		Short: "Check plans without any network: every mistake at once",
		Long: "Check plans: shape, names, units, expressions, files. Nothing is sent. Exit 0: no mistake; 2: the plan has\n" +
			"mistakes. Warnings do not change the exit code.",
		Example: "  sluice validate plans/*.yaml\n  sluice validate plan.yaml --json | jq .diagnostics",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return nil
			}
			return onePlan(c, args)
		},
		ValidArgsFunction: completePlan,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.validatePlans(args, o, asJSON)
		},
	}
	o.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print diagnostics as JSON, in the shape of terraform validate -json")
	return c
}

func (a *app) validatePlans(files []string, o overrides, asJSON bool) error {
	var everything source.Diagnostics
	for _, file := range files {
		program, diags := a.load(file, o)
		everything = append(everything, diags...)
		if asJSON {
			continue
		}
		a.diagnose(diags, o)
		if program != nil {
			fmt.Fprintf(a.out, "%s: valid, %s\n", file, plural(len(program.Nodes), "node"))
		}
	}
	if asJSON {
		text, err := source.JSON(everything, o.read)
		if err != nil {
			return fmt.Errorf("write diagnostics: %w", err)
		}
		fmt.Fprintf(a.out, "%s\n", text)
	}
	if everything.HasErrors() {
		return exitError{verdict.CodePlan}
	}
	return nil
}
