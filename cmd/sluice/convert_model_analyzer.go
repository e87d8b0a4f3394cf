package main

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/convert/modelanalyzer"
	"github.com/sluice-bench/sluice/scenario/regular"
	"github.com/sluice-bench/sluice/scenario/source"
)

// modelAnalyzerCommand returns the command that converts a configuration of Model Analyzer.
func modelAnalyzerCommand(a *app) *cobra.Command {
	var out string
	var force bool
	c := &cobra.Command{
		Use:   "model-analyzer [flags] FILE",
		Short: "Turn a configuration of Model Analyzer into a plan",
		Long: "Turn a configuration of Model Analyzer (its YAML) into a commented plan: each model is a stage, " +
			"what is swept an axis of its matrix or a level of its load, the objective `best`, " +
			"constraints its `where`. " +
			"Settings without an equal are named on standard error.\n\n" +
			"Exit 2: the file has mistakes; all of them are shown.",
		Example: "  sluice convert model-analyzer config.yaml > plan.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := regular.Read(args[0], 1<<20)
			if err != nil {
				return fmt.Errorf("read the configuration: %w", err)
			}
			plan, diags := modelanalyzer.Convert(args[0], data)
			a.env = withSecrets(a.env, plan.Secrets)
			if plan.Text != "" {
				for _, d := range a.refused(cmp.Or(out, convertedPlan), plan.Text) {
					if d.Severity == source.Error {
						d.Summary, d.Hidden = "the plan of this configuration: "+d.Summary, true
						diags = append(diags, d.At("", source.Pos{File: args[0], Line: 1, Column: 1}, 0))
					}
				}
			}
			a.diagnose(diags, func(string) []byte { return data })
			if diags.HasErrors() {
				return exitError{verdict.CodePlan}
			}
			a.reportSecrets(plan.Secrets)
			if out == "" {
				_, err = fmt.Fprint(a.out, plan.Text)
				return err
			}
			if err := createPlan(filepath.Clean(out), plan.Text, force); err != nil {
				return err
			}
			a.reportWritten(out)
			return nil
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "`FILE` for the plan (default standard output)")
	c.Flags().BoolVar(&force, "force", false, "overwrite the plan's file")
	return c
}
