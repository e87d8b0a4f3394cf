package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/secret"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/convert"
	"github.com/sluice-bench/sluice/scenario/convert/shell"
	"github.com/sluice-bench/sluice/scenario/source"
)

// convertFlags holds the flags of convert.
type convertFlags struct {
	out   string // FILE of the plan, or with run DIR of the artifacts
	plan  string // with run: FILE of the plan
	force bool
	run   bool
	ask   bool
}

func convertCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "convert",
		Short: "Turn a command line of another load generator into a plan",
		Long: "Turn a command line of another load generator into a commented plan. Options without " +
			"an equal in plans are named in a comment and on standard error.",
		Example: "  sluice convert perf-analyzer -- \\\n" +
			"      -m resnet50 --concurrency-range 1:4 > plan.yaml",
		Args: cobra.NoArgs,
		RunE: showHelp,
	}
	for _, t := range convert.Tools() {
		c.AddCommand(toolCommand(a, t))
	}
	c.AddCommand(modelAnalyzerCommand(a))
	return c
}

// toolCommand returns the command that converts the lines of one load generator.
func toolCommand(a *app, t convert.Tool) *cobra.Command {
	var f convertFlags
	asks := t.Name == "perf-analyzer"
	name := "sluice convert " + t.Name
	c := &cobra.Command{
		Use:               t.Name + " [flags] -- ARGS... | 'COMMAND LINE'",
		Short:             "Turn a command line of " + t.Program + " into a plan, or run it",
		Long:              languageModelHelp(t),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			return a.convertLine(c.Context(), t, args, f)
		},
	}
	c.Example = "  " + name + " -o plan.yaml -- \\\n      " + t.Example + "\n" +
		"  " + name + " --run -- " + t.Example + "\n" +
		"  " + name + " '" + t.Program + " " + t.Example + "'\n" +
		"  " + name + " -- --help      # every option and its key"
	if asks {
		c.Long = perfAnalyzerHelp
		c.Example = perfAnalyzerExample
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w\nthe options of %s follow --, as in `%s -- %s`; see `%s --help`", err, t.Program,
			name,
			t.Example, c.CommandPath())
	})
	c.Flags().StringVarP(&f.out, "out", "o", "",
		"`PATH`: file for the plan (default standard output); with --run, folder for the "+
			"artifacts (default sluice-results/NAME-TIME)")
	c.Flags().StringVar(&f.plan, "plan", "", "with --run: `FILE` to keep the plan in")
	c.Flags().BoolVar(&f.force, "force", false, "overwrite the plan's file")
	c.Flags().BoolVar(&f.run, "run", false, "run the plan")
	if asks {
		c.Flags().BoolVar(&f.ask, "ask", false, "ask the server about the model, as --run and perf_analyzer do")
	}
	return c
}

const perfAnalyzerHelp = "Turn a command line of perf_analyzer into a commented plan. The arguments " +
	"follow --, as perf_analyzer takes them, or are one quoted text.\n\n" +
	"With --ask the server is asked whether the model keeps sequences, and which inputs " +
	"--string-data is for; without it a plan has sequences if the command line has options for " +
	"them.\n\n" +
	"With --run it is asked too, and the plan is run at once: the report has perf_analyzer's " +
	"labels, the files of -f and --profile-export-file are written to their paths, and convert " +
	"exits with the code of the run.\n\n" +
	"Exit 2: the command line has mistakes, or its plan is refused; all of them are shown."

const perfAnalyzerExample = "  sluice convert perf-analyzer -o plan.yaml -- \\\n" +
	"      -m resnet50 -i grpc --concurrency-range 1:4 -f perf.csv\n" +
	"  sluice convert perf-analyzer --run -- -m resnet50 --request-count 100\n" +
	"  sluice convert perf-analyzer 'perf_analyzer -m resnet50 --percentile=95'\n" +
	"  sluice convert perf-analyzer -- --help      # every option and its key"

// languageModelHelp returns the help of a tool for language models.
func languageModelHelp(t convert.Tool) string {
	return "Turn a command line of " + t.Program + " into a commented plan. The arguments follow --, as " +
		t.Program +
		" takes them, or are one quoted text. A YAML file of its settings can be given instead.\n\n" +
		"The tokenizer is looked for here and in the cache of Hugging Face; nothing is downloaded.\n\n" +
		"With --run the plan is run at once, the files that " + t.Program + " writes are written to the folder " +
		"that it names, and convert exits with the code of the run.\n\n" +
		"Exit 2: the command line has mistakes, or its plan is refused; all of them are shown."
}

// convertLine converts the arguments, which may be one text that holds all of them.
func (a *app) convertLine(ctx context.Context, t convert.Tool, args []string, f convertFlags) error {
	if len(args) == 0 {
		return fmt.Errorf("no command line to convert\nsee `sluice convert %s --help`", t.Name)
	}
	if len(args) == 1 && strings.ContainsAny(strings.TrimSpace(args[0]), " \t\n") {
		split, err := shell.Split(args[0])
		if err != nil {
			return fmt.Errorf("the command line cannot be read: %w", err)
		}
		args = split
	}
	if f.plan != "" && !f.run {
		return errors.New("--plan is for --run: without it --out is the plan's file")
	}
	o := convert.Options{Args: args}
	if file := f.file(); file != "" {
		o.Dir = filepath.Dir(file)
	}
	if (f.run || f.ask) && t.Name == "perf-analyzer" {
		var err error
		// a server that is still starting may answer the run
		if o.Model, err = a.askModel(ctx, o); err != nil {
			a.report("the server did not describe the model: %s\n", err)
		}
	}
	out, diags := t.Convert(o)
	a.env = withSecrets(a.env, out.Secrets)
	if out.Plan != "" {
		diags = append(diags, out.Mistakes(a.refused(cmp.Or(f.file(), convertedPlan), out.Plan))...)
	}
	a.diagnose(diags, func(file string) []byte {
		if file == convert.LineFile {
			return []byte(out.Line)
		}
		return nil // a file of settings is not shown: its name may be that of any file
	})
	switch {
	case out.Usage:
		return a.print("Options of " + t.Program + ", and their keys in a plan\n\n" + t.Usage())
	case out.Version:
		fmt.Fprintf(a.out, "sluice %s\n", tool().Version)
		return nil
	case diags.HasErrors():
		return exitError{verdict.CodePlan}
	}
	if file := f.file(); file != "" {
		if err := createPlan(file, out.Plan, f.force); err != nil {
			return err
		}
	}
	if f.file() != "" || !f.run {
		a.reportSecrets(out.Secrets)
	}
	switch {
	case f.run:
		return a.runConverted(t, out, f)
	case f.out == "":
		_, err := fmt.Fprint(a.out, out.Plan)
		return err
	}
	a.reportWritten(f.out)
	return nil
}

// withSecrets returns an environment that has the secrets of a command line too.
func withSecrets(env func(string) (string, bool), secrets []secret.Secret) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, s := range secrets {
			if s.Env == name && s.Value != "" {
				return s.Value, true
			}
		}
		return env(name)
	}
}

// reportSecrets prints what the environment must have for a plan.
func (a *app) reportSecrets(secrets []secret.Secret) {
	for _, s := range secrets {
		a.report("%s: the plan reads this secret from the environment: set %s to %s\n", s.Option, s.Env, s.Form)
	}
}

// refused returns the mistakes of a converted plan of the name file.
func (a *app) refused(file, text string) source.Diagnostics {
	o := overrides{name: file, text: []byte(text)}
	o.Env = a.env
	plan, diags := o.read(file)
	if plan == nil || diags.HasErrors() {
		return diags
	}
	_, diags = program.Compile(plan, all.Kinds())
	return plan.Conceal(diags, o.Source)
}

// file returns the file of the plan; "" means standard output, or none with --run.
func (f *convertFlags) file() string {
	if f.run {
		return f.plan
	}
	return f.out
}

// reportWritten prints the name of a new plan and the next commands.
func (a *app) reportWritten(file string) {
	a.report("%s written; next: sluice validate %s && sluice run %s\n", file, file, file)
}

// convertedPlan is the name in messages of a converted plan without a file. Its paths are relative
// to the working folder.
const convertedPlan = "converted plan"
