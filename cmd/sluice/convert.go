package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/executor/artifact/llm"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
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
		return fmt.Errorf("%w\nthe options of %s follow --, as in `%s -- %s`; see `%s --help`", err, t.Program, name,
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

const perfAnalyzerHelp = "Turn a command line of perf_analyzer into a commented plan. The arguments follow --, as " +
	"perf_analyzer takes them, or are one quoted text.\n\n" +
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
	return "Turn a command line of " + t.Program + " into a commented plan. The arguments follow --, as " + t.Program +
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
	if (f.run || f.ask) && t.Name == "perf-analyzer" {
		var err error
		// a server that is still starting may answer the run
		if o.Model, err = a.askModel(ctx, o); err != nil {
			a.report("the server did not describe the model: %s\n", err)
		}
	}
	out, diags := t.Convert(o)
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
	} else if !f.run {
		_, err := fmt.Fprint(a.out, out.Plan)
		return err
	}
	if f.run {
		return a.runConverted(t, out, f)
	}
	a.reportWritten(f.out)
	return nil
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

// runConverted runs a converted plan and writes the files of the command line as perf_analyzer
// does. Like perf_analyzer it refuses to overwrite an export, before anything is sent.
func (a *app) runConverted(t convert.Tool, out convert.Converted, f convertFlags) error {
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
	if len(out.Files) > 0 {
		if err := writable(filepath.Join(out.Folder, out.Files[0].Name)); err != nil {
			return fmt.Errorf("folder of the artifacts: %w; nothing was sent", err)
		}
	}
	if out.Dated {
		out.Files = dated(out, time.Now())
	}
	file, o := f.plan, overrides{}
	if file == "" {
		file, o = convertedPlan, overrides{name: convertedPlan, text: []byte(out.Plan)}
	}
	summary := ""
	if t.Name == "perf-analyzer" {
		summary = "perf_analyzer"
	}
	return a.runPlan(file, o, outputs{
		dir: f.out, summary: summary,
		afterWrite: func(dir string, r *result.Result) error {
			if len(llm.MeasuredNodes(r)) == 0 { // what an earlier run has left is better than nothing
				a.report("nothing was measured: the files of the command line are not written\n")
				return nil
			}
			return keepConverted(dir, out)
		},
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
	copyFile := copyFile
	if out.Append {
		copyFile = appendFile
	}
	for _, f := range out.Files {
		errs = append(errs, copyFile(filepath.Join(dir, f.Result), filepath.Join(out.Folder, f.Name)))
		further, err := filepath.Glob(filepath.Join(dir, "*."+f.Result)) // of a sweep's further nodes
		errs = append(errs, err)
		for _, file := range further {
			node := strings.TrimSuffix(filepath.Base(file), f.Result)
			errs = append(errs, copyFile(file, filepath.Join(out.Folder, node+f.Name)))
		}
	}
	return errors.Join(errs...)
}

// dated returns the files of a tool whose names end with the time, and with a number if another run has that time.
func dated(out convert.Converted, now time.Time) []convert.File {
	list := slices.Clone(out.Files)
	for i := range list {
		ending := filepath.Ext(list[i].Name)
		stem := strings.TrimSuffix(list[i].Name, ending) + "-" + now.Format("20060102-150405")
		list[i].Name = stem + ending
		for n := 2; exists(filepath.Join(out.Folder, list[i].Name)); n++ {
			list[i].Name = fmt.Sprintf("%s-%d%s", stem, n, ending)
		}
	}
	return list
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// copyFile copies a file with its mode, and makes the folder. It does nothing if both names are the
// same file: the command line may name the folder of the artifacts.
func copyFile(from, to string) error { return transfer(from, to, os.O_TRUNC) }

// appendFile is copyFile for a file of lines that grows with each run.
func appendFile(from, to string) error { return transfer(from, to, os.O_APPEND) }

func transfer(from, to string, how int) error {
	if a, err := os.Stat(from); err == nil {
		if b, err := os.Stat(to); err == nil && os.SameFile(a, b) {
			return nil
		}
	}
	err := os.MkdirAll(filepath.Dir(to), 0o777)
	if err == nil {
		err = copyBytes(from, to, how)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", to, err)
	}
	return nil
}

func copyBytes(from, to string, how int) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	access := os.O_WRONLY
	if how == os.O_APPEND {
		access = os.O_RDWR
	}
	w, err := os.OpenFile(to, os.O_CREATE|access|how, info.Mode().Perm())
	if err != nil {
		return err
	}
	if how == os.O_APPEND {
		err = endLine(w)
	}
	if err != nil {
		return errors.Join(err, w.Close())
	}
	_, err = io.Copy(w, in)
	return errors.Join(err, w.Close())
}

// endLine ends the last line of a file, as vLLM's own files do not.
func endLine(f *os.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, info.Size()-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = f.WriteString("\n")
	return err
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
	compiled, _ := a.load(convertedPlan, overrides{name: convertedPlan, text: []byte(first.Plan)})
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
