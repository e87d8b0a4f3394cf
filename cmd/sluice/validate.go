package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/source"
)

// everyKey is the value of --explain without a path.
const everyKey = "."

func validateCommand(a *app) *cobra.Command {
	var o overrides
	var asJSON bool
	var explain string
	c := &cobra.Command{
		Use:   "validate PLAN...",
		Short: "Check plans without any network: every mistake at once",
		Long: "Check plans: shape, names, units, expressions, files. Nothing is sent. Exit 0: no " +
			"mistake; 2: the plan has mistakes. Warnings do not change the exit code.",
		Example: "  sluice validate plans/*.yaml\n  sluice validate plan.yaml --json | jq .diagnostics\n" +
			"  sluice validate plan.yaml --profile ci --explain=stages.steady",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return nil
			}
			return onePlan(c, args)
		},
		ValidArgsFunction: completePlan,
		RunE: func(_ *cobra.Command, args []string) error {
			args, err := a.readStdin(args, &o)
			if err != nil {
				return err
			}
			return a.validatePlans(args, o, asJSON, explain)
		},
	}
	o.flags(c, a.env)
	c.Flags().BoolVar(&asJSON, "json", false,
		"print diagnostics as JSON, in the shape of terraform validate -json")
	c.Flags().StringVar(&explain, "explain", "",
		"print every value of the plan and its origin; with =`PATH`, those at and below it")
	c.Flags().Lookup("explain").NoOptDefVal = everyKey
	offer(c, "explain", completer(o.keys))
	return c
}

func (a *app) validatePlans(files []string, o overrides, asJSON bool, explain string) error {
	if word := misplacedPath(files, explain); word != "" {
		return fmt.Errorf("%q is not a file: --explain takes its path after an equals sign, --explain=%s",
			word, word)
	}
	var everything source.Diagnostics
	var values []planValue
	for _, file := range files {
		compiled, diags := a.load(file, o)
		everything = append(everything, diags...)
		var here []planValue
		if compiled != nil && explain != "" {
			here = valuesOf(compiled.Plan, explain)
			values = append(values, here...)
			if len(here) == 0 {
				return fmt.Errorf("%s has no value at %q: leave out the path for all of them", file, explain)
			}
		}
		if asJSON {
			continue
		}
		a.diagnose(diags, o.Source)
		if compiled != nil {
			valid := fmt.Sprintf("%s: valid, %s\n", file, plural(len(compiled.Nodes), "node"))
			if err := a.print(valid + valueTable(here)); err != nil {
				return err
			}
		}
	}
	if asJSON {
		var also any
		if explain != "" {
			also = append([]planValue{}, values...)
		}
		text, err := source.JSON(everything, o.Source, also)
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

// misplacedPath returns the argument that is probably the path of --explain after a space; "" if
// there is none.
func misplacedPath(files []string, explain string) string {
	if explain != everyKey {
		return ""
	}
	i := slices.IndexFunc(files, func(file string) bool {
		_, err := os.Stat(file)
		isPlan := file == standardInput || filepath.Ext(file) == ".yaml" || filepath.Ext(file) == ".yml"
		return !isPlan && os.IsNotExist(err)
	})
	if i < 0 {
		return ""
	}
	return files[i]
}
