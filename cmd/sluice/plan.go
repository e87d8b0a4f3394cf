package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// overrides holds the flags that change a plan.
type overrides struct {
	scenario.Overrides
	only []string // stages; nil: all
	// a plan that is in no file, and its name in messages
	name string
	text []byte
}

// standardInput is the name in messages of a plan from standard input, "-" on the command line. Its
// paths are relative to the working folder.
const standardInput = "stdin"

// Source returns the text of a file for diagnostics.
func (o overrides) Source(file string) []byte {
	if file == o.name {
		return o.text
	}
	return o.Overrides.Source(file)
}

// read reads the plan with its overrides.
func (o overrides) read(file string) (*scenario.Plan, source.Diagnostics) {
	if file == o.name {
		return scenario.Parse(file, o.text, o.Overrides)
	}
	return scenario.LoadFile(file, o.Overrides)
}

func (o *overrides) flags(c *cobra.Command, env func(string) (string, bool)) {
	o.Env = env // for completion, which reads the plan
	f := c.Flags()
	f.StringSliceVar(&o.Profiles, "profile", nil,
		"apply the plan's profiles `NAME,…` (repeatable; later ones win)")
	f.StringArrayVar(&o.Vars, "var", nil, "set a variable of the plan: `NAME=VALUE` (repeatable)")
	f.StringArrayVar(&o.VarFiles, "var-file", nil,
		"set variables from `FILE`, a YAML or JSON map (repeatable; later ones win, --var wins over all)")
	f.StringArrayVar(&o.Sets, "set", nil,
		"override a scalar of the plan: `PATH=VALUE`, such as stages.steady.for=10s (repeatable)")
	f.StringVar(&o.Baseline, "baseline", "",
		"compare with `FILE`, a result that passed, or the newest one of a folder, "+
			"instead of the plan's baseline")
	offer(c, "profile", someOf(namesIn(func(p scenario.Outline) []string { return p.Profiles })))
	offer(c, "var", completer(completeVar))
	offer(c, "var-file", fileTypes("yaml", "yml", "json"))
	offer(c, "set", completer(o.completeSet))
}

// onlyFlag adds --only, for commands that play a plan or show what would be played.
func (o *overrides) onlyFlag(c *cobra.Command) {
	c.Flags().StringSliceVar(&o.only, "only", nil,
		"play `STAGE,…` and the stages whose results they use, and no other (repeatable)")
	offer(c, "only", someOf(namesIn(func(p scenario.Outline) []string { return p.Stages })))
}

// readStdin reads the plan from standard input if an argument is "-", and returns the arguments
// with its name instead.
func (a *app) readStdin(args []string, o *overrides) ([]string, error) {
	i := slices.Index(args, "-")
	if i < 0 {
		return args, nil
	}
	if slices.Index(args[i+1:], "-") >= 0 {
		return nil, errors.New("only one PLAN can be -, standard input")
	}
	var err error
	if o.text, err = io.ReadAll(io.LimitReader(a.in, source.MaxBytes+1)); err != nil {
		return nil, fmt.Errorf("read the plan from standard input: %w", err)
	}
	o.name = standardInput
	return slices.Concat(args[:i], []string{o.name}, args[i+1:]), nil
}

// load reads and compiles a plan. A plan that this binary cannot run has errors. Diagnostics
// include warnings; with errors the program is nil.
func (a *app) load(file string, o overrides) (*program.Program, source.Diagnostics) {
	o.Env = a.env
	plan, diags := o.read(file)
	if plan == nil || diags.HasErrors() {
		return nil, diags
	}
	if o.only != nil {
		if err := program.Only(plan, all.Kinds(), o.only); err != nil {
			return nil, append(diags, source.Diagnostic{
				Severity: source.Error, Code: "unknown-name", Summary: "--only: " + err.Error(),
				Pos: source.Pos{File: "--only", Line: 1, Column: 1},
			})
		}
	}
	compiled, more := program.Compile(plan, all.Kinds())
	diags = append(diags, append(more, compiled.Missing...)...)
	if !diags.HasErrors() {
		diags = append(diags, a.machine().Exceeded(compiled)...)
	}
	diags = plan.Conceal(diags, o.Source).Sorted()
	if diags.HasErrors() {
		return nil, diags
	}
	return compiled, diags
}
