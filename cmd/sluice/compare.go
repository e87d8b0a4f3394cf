package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/executor/artifact/llm"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/source"
)

// compareFlags holds the flags of compare.
type compareFlags struct {
	out     string
	config  string
	formats []string
	names   []string
	force   bool
}

// figureFormats lists the formats of figures.
var figureFormats = []string{"svg", "png"}

// configName is the file that compare writes beside its figures.
const configName = "config.yaml"

func compareCommand(a *app) *cobra.Command {
	var f compareFlags
	c := &cobra.Command{
		Use:   "compare RESULT...",
		Short: "Draw the figures of LLM runs side by side",
		Long: "Show the numbers of runs against servers of text side by side, and draw GenAI-Perf's five " +
			"figures of them: time to first token, request latency, time to first token against input length, " +
			"time between tokens against their position, input against output length.\n\n" +
			"RESULT is a folder or a file: a result of sluice, GenAI-Perf's profile_export_genai_perf.json or " +
			"profile_export.json, AIPerf's profile_export.jsonl or profile_export_aiperf.json, a result of vLLM's " +
			"bench with --save-result. RESULT#NODE is one node of a result of several. Requests of a warm-up are " +
			"left out. Figures of single requests need a file that has them.\n\n" +
			"The figures and config.yaml, which describes them, go into a folder. With --config they are drawn " +
			"again as config.yaml says, after editing; GenAI-Perf's own files are read too.\n\n" +
			"Exit 2: a file cannot be read, or the configuration has mistakes.",
		Example: "  sluice compare results/a results/b\n" +
			"  sluice compare artifacts/gpt2 run/profile_export.jsonl --names old,new\n" +
			"  sluice compare --config compare/config.yaml",
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return a.compare(args, f) },
	}
	c.Flags().StringVarP(&f.out, "out", "o", "",
		"`DIR` for the figures (default compare, with --config the folder of FILE)")
	c.Flags().StringVar(&f.config, "config", "", "draw the figures of `FILE`")
	c.Flags().StringSliceVar(&f.formats, "format", figureFormats[:1],
		"`FORMAT,…` of the figures: "+strings.Join(figureFormats, ", ")+" (repeatable)")
	c.Flags().StringSliceVar(&f.names, "names", nil, "`NAME,…` of the runs in figures, in their order")
	c.Flags().BoolVar(&f.force, "force", false,
		"overwrite figures, and a "+configName+" that was edited or is of other runs")
	offer(c, "config", completePlan)
	offer(c, "format", someOf(oneOf(figureFormats)))
	offer(c, "names", cobra.NoFileCompletions)
	offer(c, "out", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
	return c
}

func (a *app) compare(args []string, f compareFlags) error {
	for _, format := range f.formats {
		if err := checkWord("format", format, figureFormats); err != nil {
			return err
		}
	}
	switch {
	case f.config != "" && len(args) > 0:
		return errors.New("--config names the files to compare: leave RESULT out")
	case f.config != "" && len(f.names) > 0:
		return errors.New("--config names the runs: edit `names` of its figures, and leave --names out")
	case f.config != "":
		return a.compareAgain(f)
	case len(args) == 0:
		return errors.New("compare takes at least one RESULT\nsee `sluice compare --help`")
	}
	if f.out == "" {
		f.out = "compare"
	}
	runs, err := llm.ReadAll(args)
	if err != nil {
		return err
	}
	if len(f.names) > len(runs) {
		return fmt.Errorf("--names has %d names for %d runs", len(f.names), len(runs))
	}
	for i, name := range f.names {
		runs[i].Name = name
	}
	var figures []llm.Figure
	paths, names, err := places(f.out, runs)
	if err != nil {
		return err
	}
	for _, p := range llm.Plots(len(runs)) {
		figures = append(figures, llm.Figure{Plot: p, Paths: paths, Names: names})
	}
	if err := a.print(llm.Table(runs)); err != nil {
		return err
	}
	config := filepath.Join(f.out, configName)
	if err := os.MkdirAll(f.out, 0o777); err != nil {
		return fmt.Errorf("write %s: %w", config, err)
	}
	text := llm.Config(figures)
	old, err := os.ReadFile(config)
	same := err == nil && bytes.Equal(old, text) // these figures are drawn again
	if err == nil && !same && !f.force {
		return fmt.Errorf("%s exists and may have been edited: draw its figures with --config, choose another --out, or "+
			"overwrite it with --force", config)
	}
	if err := f.keeps(figures, same); err != nil {
		return err
	}
	if err := os.WriteFile(config, text, 0o666); err != nil {
		return fmt.Errorf("write %s: %w", config, err)
	}
	for _, x := range figures {
		if err := a.draw(x.Plot, runs, f); err != nil {
			return err
		}
	}
	a.report("%s: the figures and %s; edit it, then: sluice compare --config %s\n", f.out, configName, config)
	return nil
}

// places returns the paths of runs relative to the folder of their configuration, and their names.
func places(dir string, runs []*llm.Run) (paths, names []string, err error) {
	base, err := filepath.Abs(dir)
	for _, r := range runs {
		path := r.Path
		if file, e := filepath.Abs(r.File); e == nil {
			if rel, e := filepath.Rel(base, file); e == nil {
				path = rel + strings.TrimPrefix(r.Path, r.File) // and its node
			}
		}
		paths, names = append(paths, path), append(names, r.Name)
	}
	return paths, names, err
}

// compareAgain draws the figures of a configuration.
func (a *app) compareAgain(f compareFlags) error {
	data, err := os.ReadFile(f.config)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	figures, diags := llm.ReadConfig(f.config, data)
	a.diagnose(diags, func(string) []byte { return data })
	if diags.HasErrors() {
		return exitError{verdict.CodePlan}
	}
	base := filepath.Dir(f.config)
	if f.out == "" {
		f.out = base
	}
	if err := f.keeps(figures, filepath.Clean(f.out) == filepath.Clean(base)); err != nil {
		return err
	}
	for _, x := range figures {
		var paths []string
		for _, p := range x.Paths {
			paths = append(paths, besideOrHere(base, p))
		}
		runs, err := llm.ReadAll(paths)
		if err != nil {
			return err
		}
		for i, name := range x.Names {
			if i < len(runs) {
				runs[i].Name = name
			}
		}
		if err := a.draw(x.Plot, runs, f); err != nil {
			return err
		}
	}
	a.report("%s: %d figures\n", f.out, len(figures))
	return nil
}

// besideOrHere returns a path of a configuration: relative to its folder, or if that has no such file to the working
// folder, as in GenAI-Perf's.
func besideOrHere(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	beside := filepath.Join(base, path)
	file, _, _ := llm.SplitNode(beside)
	if _, err := os.Stat(file); err == nil {
		return beside
	}
	return path
}

// keeps refuses to overwrite figures, unless they are those of the configuration in their folder.
func (f *compareFlags) keeps(figures []llm.Figure, own bool) error {
	for _, x := range figures {
		for _, format := range f.formats {
			file := f.file(x.Plot, format)
			if _, err := os.Lstat(file); err == nil && !own && !f.force {
				return fmt.Errorf("%s exists, and may be a figure of other runs: choose another --out, or "+
					"overwrite it with --force", file)
			}
		}
	}
	return nil
}

// file returns the path of a figure.
func (f *compareFlags) file(p llm.Plot, format string) string {
	return filepath.Join(f.out, p.FileName()+"."+format)
}

// draw writes a figure in each format.
func (a *app) draw(p llm.Plot, runs []*llm.Run, f compareFlags) error {
	if missing := p.Missing(runs); len(missing) > 0 {
		a.report("%s: no data of %s\n", p.Title, source.QuoteAll(missing, "and"))
	}
	if err := os.MkdirAll(f.out, 0o777); err != nil {
		return fmt.Errorf("write figures: %w", err)
	}
	for _, format := range f.formats {
		data := p.SVG(runs)
		if format == "png" {
			var err error
			if data, err = p.PNG(runs); err != nil {
				return err
			}
		}
		file := f.file(p, format)
		if err := os.WriteFile(file, data, 0o666); err != nil {
			return fmt.Errorf("write %s: %w", file, err)
		}
	}
	return nil
}
