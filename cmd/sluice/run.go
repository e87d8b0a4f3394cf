package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/executor"
	"github.com/sluice-bench/sluice/executor/artifact"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/trial"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

func runCommand(a *app) *cobra.Command {
	var o overrides
	var f outputs
	var profile string
	c := &cobra.Command{
		Use:   "run PLAN",
		Short: "Run a plan; the exit code is the verdict",
		Long: "Run a plan (-: from standard input): open its targets, play its stages, judge its " +
			"assertions, write the artifacts.\n\n" +
			"Exit codes\n" + exitCodeList(),
		Example: "  sluice run plan.yaml --var url=grpc://staging:8001 \\\n" +
			"      --set stages.steady.for=10s --out results\n" +
			"  sluice run plan.yaml --retry-invalid 2 --allow inconclusive  # shared runner",
		Args:              onePlan,
		ValidArgsFunction: completePlan,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			args, err := a.readStdin(args, &o)
			if err != nil {
				return err
			}
			return withCPUProfile(profile, func() error { return a.runPlan(args[0], o, f) })
		},
	}
	o.flags(c, a.env)
	o.onlyFlag(c)
	c.Flags().StringVarP(&f.dir, "out", "o", "", "`DIR` for the artifacts (default sluice-results/NAME-TIME)")
	c.Flags().StringVar(&profile, "cpu-profile", "",
		"write the CPU profile of sluice itself to `FILE`, for go tool pprof")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false,
		"print the verdict and its reason, no progress and no numbers")
	c.Flags().StringSliceVar(&f.formats, "format", nil,
		"artifact `FORMAT,…` instead of the plan's: "+strings.Join(artifact.Formats(), ", ")+
			" (repeatable)")
	c.Flags().IntVar(&f.retry, "retry-invalid", 0,
		"play trials that this machine made invalid, or left open, again, up to `N` times each, within "+
			"max_duration")
	c.Flags().StringVar(&f.allow, "allow", "",
		"`VERDICT` that exits with 0: inconclusive, where an invalid measurement, too few samples or "+
			"bounds around a limit are the cause")
	c.Flags().BoolVar(&f.exec, "allow-exec", false,
		"run the programs whose output is data of the plan (command of a dataset)")
	c.Flags().StringVar(&f.summary, "summary", summaries[0],
		"`FORM` of the summary at the end: "+strings.Join(summaries, ", "))
	offer(c, "out", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
	offer(c, "format", someOf(oneOf(artifact.Formats())))
	offer(c, "summary", oneOf(summaries))
	offer(c, "allow", oneOf(allowedVerdicts))
	return c
}

func exitCodeList() string {
	var b strings.Builder
	for _, c := range verdict.Codes() {
		fmt.Fprintf(&b, "  %3d  %s\n", c.Code, c.Meaning)
	}
	return b.String() + "If several apply, the first of " + verdict.Precedence + " wins."
}

// outputs are the options of a run for its results.
type outputs struct {
	dir     string   // of the artifacts; "": the plan's
	formats []string // of the artifacts; nil: the plan's
	summary string   // one of summaries
	quiet   bool     // print only the verdict and its reason
	retry   int      // how often what is invalid is played again
	exec    bool     // programs that the plan names may run
	allow   string   // verdict that exits with 0; "": pass alone
	// afterWrite writes further files from the artifacts in dir; nil: none.
	afterWrite func(dir string, r *result.Result) error
}

// summaries lists the forms of the summary at the end of a run.
var summaries = []string{"sluice", "perf_analyzer"}

// allowedVerdicts lists the verdicts that may end with exit code 0, besides pass.
var allowedVerdicts = []string{string(result.Inconclusive)}

func (f outputs) check() error {
	for _, word := range f.formats {
		if err := checkWord("format", word, artifact.Formats()); err != nil {
			return err
		}
	}
	if f.allow != "" {
		if err := checkWord("verdict to allow", f.allow, allowedVerdicts); err != nil {
			return err
		}
	}
	if f.retry < 0 {
		return fmt.Errorf("--retry-invalid cannot be %d: a number of further attempts is at least 0", f.retry)
	}
	return checkWord("summary", f.summary, summaries)
}

func (a *app) runPlan(file string, ov overrides, f outputs) error {
	compiled, diags := a.load(file, ov)
	if compiled != nil && !f.exec {
		if refused := executor.Unallowed(compiled); refused != nil {
			diags = append(diags, compiled.Plan.Conceal(refused, ov.Source)...)
			compiled = nil
		}
	}
	a.diagnose(diags, ov.Source)
	if compiled == nil {
		a.noteEarlierResult(f.dir)
		return exitError{verdict.CodePlan}
	}
	plan := compiled.Plan
	if f.dir == "" {
		f.dir = outputDir(plan, time.Now())
	}
	if f.formats == nil {
		f.formats = plan.Output.Formats
	}
	o := artifact.Options{
		Formats: f.formats, Percentiles: plan.Output.Percentiles, Samples: newSamples(plan, f),
		Mixed: mixesLoops(compiled), Configured: configured(compiled),
		Fail: func(r *result.Result, err error) { verdict.RecordWriteError(r, plan.Mask(err.Error())) },
	}
	folder, err := artifact.Open(f.dir, o)
	if err != nil {
		a.noteEarlierResult(f.dir)
		return fmt.Errorf("nothing was sent: %w", err)
	}
	defer folder.Close()
	signals, _ := notifySignals() // until the process ends: no signal may prevent artifacts or exit code
	r, diags := a.play(compiled, folder, f, o.Samples, signals)
	written := make(chan struct{})
	defer close(written)
	go func() {
		select {
		case s := <-signals:
			fmt.Fprintf(a.err, "%s: the artifacts are being written; SIGQUIT leaves them unfinished\n", s)
		case <-written:
		}
	}()
	a.diagnose(plan.Conceal(diags, ov.Source), ov.Source)
	files, err := folder.Write(r, o)
	if err == nil && f.afterWrite != nil {
		err = f.afterWrite(f.dir, r)
	}
	rewrite := func(err error) {
		o.Fail(r, err)
		files, _ = folder.Write(r, o) // removes files that cannot be written: all agree with the exit code
	}
	if err != nil {
		rewrite(err)
	}
	_ = artifact.Summary(a.out, r, artifact.SummaryOptions{ // a.out remembers errors
		Width: a.width, Color: a.color(a.width > 0), Percentiles: plan.Output.Percentiles, Files: files,
		Brief: f.quiet, PerfAnalyzer: f.summary == "perf_analyzer",
	})
	if a.out.err != nil {
		rewrite(fmt.Errorf("write to standard output: %w", a.out.err))
	}
	if r.ExitCode != verdict.CodePass {
		return exitError{r.ExitCode}
	}
	return nil
}

// outputDir returns the default folder of the artifacts: the plan's, or sluice-results/NAME-TIME.
func outputDir(p *scenario.Plan, now time.Time) string {
	if p.Output.Dir != "" {
		return p.Output.Dir
	}
	return filepath.Join("sluice-results", p.Name+"-"+now.UTC().Format("20060102T150405.000"))
}

// play runs the program. The first signal ends it in order, a second one cancels everything that is
// open.
func (a *app) play(
	compiled *program.Program, folder *artifact.Folder, f outputs, samples *artifact.Samples,
	signals <-chan os.Signal,
) (*result.Result, source.Diagnostics) {
	ctx, cancel := context.WithCancel(context.Background())
	interrupt, finished := make(chan int, 1), make(chan struct{})
	waited := make(chan struct{})
	view := a.progress(compiled, f.quiet)
	go func() {
		defer close(waited)
		for n := 0; ; n++ {
			select {
			case s := <-signals:
				if n > 0 {
					cancel()
					continue
				}
				view.message("%s: ending in order, open requests may finish; once more to cut them off", s)
				interrupt <- int(s.(syscall.Signal)) // as all of notifySignals are
			case <-finished:
				return
			}
		}
	}()
	env := executor.Env{
		Tool: tool(), Alone: !a.sharesProcess, Serve: a.embedded, Interrupt: interrupt, Events: view.event,
		Delay: a.delay, Machine: a.machine(), RetryInvalid: f.retry,
		AllowInconclusive: f.allow == string(result.Inconclusive),
	}
	if f.exec {
		env.Execute = execute
	}
	if folder != nil {
		env.Interim = folder.Running
	}
	if samples != nil {
		env.Record = func(r trial.Recording) trial.Recorder { return samples.Trial(artifact.Trial(r)) }
		env.Replies = samples.Replies()
	}
	r, diags := executor.Run(ctx, compiled, env)
	if samples != nil {
		samples.Close()
	}
	close(finished)
	<-waited
	cancel()
	view.close()
	return r, diags
}

// withCPUProfile runs f and writes its CPU profile to a file; "" means no profile. Standard output
// is for the result.
func withCPUProfile(file string, f func() error) (err error) {
	if file == "" {
		return f()
	}
	w, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("nothing was sent: %w", err)
	}
	if err := pprof.StartCPUProfile(w); err != nil {
		return errors.Join(err, w.Close())
	}
	defer func() {
		pprof.StopCPUProfile()
		if e := w.Close(); e != nil && err == nil {
			err = fmt.Errorf("the CPU profile is incomplete: %w", e)
		}
	}()
	return f()
}

// newSamples returns the writer of single requests; nil if the plan keeps none.
func newSamples(plan *scenario.Plan, f outputs) *artifact.Samples {
	o := artifact.SamplesOptions{
		Table: plan.Output.Samples, Export: slices.Contains(f.formats, artifact.ProfileExport),
		LLM: slices.ContainsFunc(f.formats, func(word string) bool {
			return slices.Contains(artifact.LLMFormats(), word)
		}),
	}
	if len(plan.Secrets) > 0 {
		o.Mask = plan.Mask
	}
	if o.Table == "none" {
		o.Table = ""
	}
	if o.Table == "" && !o.Export && !o.LLM {
		return nil
	}
	return artifact.NewSamples(f.dir, o)
}

// mixesLoops reports whether the plan has both closed and open loops.
func mixesLoops(p *program.Program) bool {
	return slices.ContainsFunc(p.Nodes, func(n *program.Node) bool { return n.Open != p.Nodes[0].Open })
}

// configured lists the models whose configuration the best node of a stage decides.
func configured(p *program.Program) (list []artifact.Configured) {
	for _, c := range p.Configurations() {
		list = append(list, artifact.Configured(c))
	}
	return list
}

// noteEarlierResult prints a note if dir still holds the result of an earlier run, so that it is
// not taken for this one's.
func (a *app) noteEarlierResult(dir string) {
	h := artifact.Earlier(dir)
	if dir == "" || h == nil || h.State == result.StateRunning {
		return
	}
	fmt.Fprintf(a.err, "note: %s still holds the result of an earlier run\n  (%s, %s UTC)\n",
		dir, h.Verdict, h.Started.UTC().Format(time.DateTime))
}
