package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/convert"
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
		Long: "Turn a command line of another load generator into a commented plan. Options without\n" +
			"an equal in plans are named in a comment and on standard error.",
		Example: "  sluice convert perf-analyzer -- \\\n" +
			"      -m resnet50 --concurrency-range 1:4 > plan.yaml",
		Args: cobra.NoArgs,
		RunE: showHelp,
	}
	c.AddCommand(perfAnalyzerCommand(a))
	return c
}

func perfAnalyzerCommand(a *app) *cobra.Command {
	var f convertFlags
	c := &cobra.Command{
		Use:   "perf-analyzer [flags] -- ARGS... | 'COMMAND LINE'",
		Short: "Turn a command line of perf_analyzer into a plan, or run it",
		Long: "Turn a command line of perf_analyzer into a commented plan. The arguments follow --, as\n" +
			"perf_analyzer takes them, or are one quoted text.\n\n" +
			"With --ask the server is asked whether the model keeps sequences, and which inputs\n" +
			"--string-data is for; without it a plan has sequences if the command line has options for\n" +
			"them.\n\n" +
			"With --run it is asked too, and the plan is run at once: the report has perf_analyzer's\n" +
			"labels, the files of -f and --profile-export-file are written to their paths, and the exit\n" +
			"code is that of the run.\n\n" +
			"Exit 2: the command line has mistakes; all of them are shown.",
		Example: "  sluice convert perf-analyzer -o plan.yaml -- \\\n" +
			"      -m resnet50 -i grpc --concurrency-range 1:4 -f perf.csv\n" +
			"  sluice convert perf-analyzer --run -- -m resnet50 --request-count 100\n" +
			"  sluice convert perf-analyzer 'perf_analyzer -m resnet50 --percentile=95'\n" +
			"  sluice convert perf-analyzer -- --help      # every option and its key",
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			return a.convertLine(c.Context(), args, f)
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w\nthe options of perf_analyzer follow --, as in "+
			"`sluice convert perf-analyzer -- -m NAME`; see `%s --help`", err, c.CommandPath())
	})
	c.Flags().StringVarP(&f.out, "out", "o", "",
		"`PATH`: file for the plan (default standard output); with --run, folder for the "+
			"artifacts (default sluice-results/NAME-TIME)")
	c.Flags().StringVar(&f.plan, "plan", "", "with --run: `FILE` to keep the plan in")
	c.Flags().BoolVar(&f.force, "force", false, "overwrite the plan's file")
	c.Flags().BoolVar(&f.run, "run", false, "run the plan")
	c.Flags().BoolVar(&f.ask, "ask", false, "ask the server about the model, as --run and perf_analyzer do")
	return c
}

// convertLine converts the arguments, which may be one text that holds all of them.
func (a *app) convertLine(ctx context.Context, args []string, f convertFlags) error {
	if len(args) == 0 {
		return errors.New("no command line to convert\nsee `sluice convert perf-analyzer --help`")
	}
	if len(args) == 1 && strings.ContainsAny(strings.TrimSpace(args[0]), " \t\n") {
		split, err := convert.Split(args[0])
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
	if f.run || f.ask {
		var err error
		// a server that is still starting may answer the run
		if o.Model, err = a.askModel(ctx, o); err != nil {
			a.report("the server did not describe the model: %s\n", err)
		}
	}
	out, diags := convert.PerfAnalyzer(o)
	a.diagnose(diags, lineSource(out))
	switch {
	case out.Usage:
		return a.print("Options of perf_analyzer, and their keys in a plan\n\n" + convert.PerfAnalyzerUsage())
	case out.Version:
		fmt.Fprintf(a.out, "sluice %s\n", tool().Version)
		return nil
	case diags.HasErrors():
		return exitError{verdict.CodePlan}
	}
	if f.file() != "" {
		if err := a.keepPlan(f, out.Plan); err != nil {
			return err
		}
	} else if !f.run {
		_, err := fmt.Fprint(a.out, out.Plan)
		return err
	}
	if f.run {
		return a.runConverted(out, f)
	}
	return nil
}

// lineSource returns the command line as the source of its diagnostics.
func lineSource(out convert.Converted) source.Sources {
	return func(file string) []byte {
		if file == convert.LineFile {
			return []byte(out.Line)
		}
		return nil
	}
}

// file returns the file of the plan; "" means standard output, or none with --run.
func (f *convertFlags) file() string {
	if f.run {
		return f.plan
	}
	return f.out
}

// keepPlan writes the plan to its file.
func (a *app) keepPlan(f convertFlags, plan string) error {
	file, err := createPlan(f.file(), f.force, 0o666)
	if err != nil {
		return fmt.Errorf("write the plan: %w (--force overwrites)", err)
	}
	_, err = file.WriteString(plan)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	if !f.run {
		a.reportWritten(f.out)
	}
	return nil
}

// reportWritten prints the name of a new plan and the next commands.
func (a *app) reportWritten(file string) {
	a.report("%s written; next: sluice validate %s && sluice run %s\n", file, file, file)
}

// convertedPlan is the name in messages of a converted plan without a file. Its paths are relative
// to the working folder.
const convertedPlan = "converted plan"

// runConverted runs a converted plan and writes the files of the command line as perf_analyzer
// does. Like perf_analyzer it refuses to overwrite an export, before anything is sent.
func (a *app) runConverted(out convert.Converted, f convertFlags) error {
	if _, err := os.Lstat(out.Export); out.Export != "" && err == nil {
		return fmt.Errorf("--profile-export-file %q exists; nothing was sent", out.Export)
	}
	for _, f := range [...]struct{ option, path string }{
		{"-f", out.CSV}, {"--profile-export-file", out.Export},
	} {
		if err := writable(f.path); err != nil {
			return fmt.Errorf("%s: %w; nothing was sent", f.option, err)
		}
	}
	file, o := f.plan, overrides{}
	if file == "" {
		file, o.texts = convertedPlan, map[string][]byte{convertedPlan: []byte(out.Plan)}
	}
	if name := a.unbuiltBackend(file, o); name != "" {
		defer a.report("Nothing was sent: this version cannot run targets of %s. What you can do\n"+
			"  keep the plan    -o plan.yaml instead of --run: a later version may run it\n"+
			"  measure today    run the command with perf_analyzer itself; or serve the model\n"+
			"                   over KServe v2, as Triton, MLServer and OpenVINO Model\n"+
			"                   Server do, and leave out --service-kind\n", name)
	}
	return a.runPlan(file, o, outputs{
		dir: f.out, summary: "perf_analyzer",
		afterWrite: func(dir string) error { return keepConverted(dir, out) },
	})
}

// writable returns an error if a file cannot be written; "" is no file. An existing file is not
// changed. A pipe is not tried: its reader would see the end of the file.
func writable(path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	_, missing := os.Lstat(path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil || missing == nil {
		return err
	}
	return os.Remove(path)
}

// unbuiltBackend returns the backend of a plan that is declared and not built, or "".
func (a *app) unbuiltBackend(file string, o overrides) string {
	o.Env = a.env
	plan, _ := o.read(file) // its mistakes are reported when it runs
	if plan == nil {
		return ""
	}
	for _, t := range plan.Targets {
		if k := backendKind(t.Backend); k != nil && k.Open == nil && k.Missing == "" {
			return k.Name
		}
	}
	return ""
}

// keepConverted copies the artifacts in dir to the paths of the command line. With -f DIR/FILE the
// tables of composing models are DIR/MODEL.FILE.
func keepConverted(dir string, out convert.Converted) error {
	var errs []error
	if out.CSV != "" {
		name := "perf_analyzer"
		if out.Wide {
			name += "_verbose"
		}
		errs = append(errs, copyFile(filepath.Join(dir, name+".csv"), out.CSV))
		models, err := filepath.Glob(filepath.Join(dir, "*.perf_analyzer.csv"))
		errs = append(errs, err)
		for _, m := range models {
			model := strings.TrimSuffix(filepath.Base(m), ".perf_analyzer.csv")
			errs = append(errs, copyFile(m, filepath.Join(filepath.Dir(out.CSV),
				model+"."+filepath.Base(out.CSV))))
		}
	}
	if out.Export != "" {
		errs = append(errs, copyFile(filepath.Join(dir, "profile_export.json"), out.Export))
	}
	return errors.Join(errs...)
}

// copyFile copies a file with its mode, and makes the folder. It does nothing if both names are the
// same file: the command line may name the folder of the artifacts.
func copyFile(from, to string) error {
	if a, err := os.Stat(from); err == nil {
		if b, err := os.Stat(to); err == nil && os.SameFile(a, b) {
			return nil
		}
	}
	if err := copyBytes(from, to); err != nil {
		return fmt.Errorf("write %s: %w", to, err)
	}
	return nil
}

func copyBytes(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	w, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(w, in)
	return errors.Join(err, w.Close())
}

// askModel asks the server of a command line what perf_analyzer asks first: whether the model keeps
// sequences, and which inputs are texts. It returns nil without an error if the command line has
// mistakes or its kind of server is not asked.
func (a *app) askModel(ctx context.Context, o convert.Options) (*convert.Model, error) {
	o.Dir = "" // paths are read in this folder
	first, _ := convert.PerfAnalyzer(o)
	if first.Plan == "" {
		return nil, nil
	}
	compiled, _ := a.load(convertedPlan,
		overrides{texts: map[string][]byte{convertedPlan: []byte(first.Plan)}})
	if compiled == nil {
		return nil, nil
	}
	t := compiled.Plan.Targets[0]
	kind := backendKind(t.Backend)
	if kind == nil || kind.Open == nil || t.Model == "" || strings.HasPrefix(t.URL, "builtin://") {
		return nil, nil
	}
	target := program.TargetOf(kind, t)
	sig, err := describeModel(ctx, kind, target)
	if err != nil {
		return nil, err
	}
	m := &convert.Model{Alone: sig.Sequence == backends.NoSequences}
	for _, in := range sig.Inputs {
		m.Inputs = append(m.Inputs, convert.Input{Name: in.Name, Text: in.Type == tensor.Bytes})
	}
	m.Sequences, err = keepsSequences(ctx, kind, target, sig, map[string]bool{})
	return m, err
}

// keepsSequences reports whether a model keeps sequences, or a model that it calls by its configuration.
func keepsSequences(
	ctx context.Context, kind *backends.Kind, t backends.Target, sig backends.Signature, seen map[string]bool,
) (bool, error) {
	if sig.Sequence > backends.NoSequences {
		return true, nil
	}
	for _, c := range sig.Calls {
		if seen[c.Model] {
			continue
		}
		seen[c.Model] = true
		t.Model, t.ModelVersion = c.Model, c.Version
		child, err := describeModel(ctx, kind, t)
		if err != nil {
			return false, err
		}
		if keeps, err := keepsSequences(ctx, kind, t, child, seen); keeps || err != nil {
			return keeps, err
		}
	}
	return false, nil
}
