package llm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Figure is a plot of the runs at some paths. A path is that of a file or folder as Read takes it; PATH#NODE is one node
// of a result of several.
type Figure struct {
	Plot
	Paths []string
	Names []string // of the runs, in order; those that are missing have the names that they give themselves
}

// Config returns figures as a file that ReadConfig reads: GenAI-Perf's configuration of compare, with names.
func Config(figures []Figure) []byte {
	var b strings.Builder
	b.WriteString("# Figures of `sluice compare`. Edit, then run again: sluice compare --config THIS_FILE\n" +
		"# type: " + strings.Join(Types(), ", ") + "\n# metrics: " + strings.Join(MetricNames(), ", ") + "\n" +
		"# Paths are relative to this file; PATH#NODE is one node of a result of several.\n")
	for i, f := range figures {
		fmt.Fprintf(&b, "plot%d:\n", i+1)
		for _, x := range [][2]string{
			{"title", strconv.Quote(f.Title)},
			{"x_metric", strconv.Quote(f.X)},
			{"y_metric", f.Y},
			{"x_label", strconv.Quote(f.XLabel)},
			{"y_label", strconv.Quote(f.YLabel)},
			{"width", strconv.Itoa(f.Width)},
			{"height", strconv.Itoa(f.Height)},
			{"type", f.Type},
		} {
			fmt.Fprintf(&b, "  %s: %s\n", x[0], x[1])
		}
		for _, list := range []struct {
			key   string
			items []string
		}{{"paths", f.Paths}, {"names", f.Names}} {
			if len(list.items) == 0 {
				continue
			}
			b.WriteString("  " + list.key + ":\n")
			for _, item := range list.items {
				b.WriteString("    - " + strconv.Quote(item) + "\n")
			}
		}
	}
	return []byte(b.String())
}

// ReadConfig reads the figures of a configuration, GenAI-Perf's too. Its key output, a folder, has no effect.
func ReadConfig(file string, data []byte) ([]Figure, source.Diagnostics) {
	root, diags := source.Parse(file, data)
	if diags.HasErrors() {
		return nil, diags
	}
	c := &configReader{}
	if root.Kind != source.Map || len(root.Entries) == 0 {
		c.report("wrong-type", root, "a configuration is a map of figures", "such as plot1: {title: …, y_metric: …, type: box, paths: […]}")
		return nil, c.diags
	}
	var figures []Figure
	files := map[string]string{} // keys of figures
	for _, e := range root.Entries {
		f := c.figure(e)
		if other, twice := files[f.FileName()]; twice && f.Title != "" {
			c.report("invalid-value", e.Value, fmt.Sprintf("%s: its file would be that of %s", e.Key, other),
				"give each a title that differs in letters or digits: others are _ in the file's name")
		}
		figures, files[f.FileName()] = append(figures, f), e.Key
	}
	if c.diags.HasErrors() {
		return nil, c.diags.Sorted()
	}
	return figures, nil
}

type configReader struct{ diags source.Diagnostics }

func (c *configReader) report(code string, n *source.Node, summary, help string) {
	c.diags = append(c.diags, source.Errorf(code, "%s", summary).Help(help).At("", n.Pos, len([]rune(n.Text))))
}

func (c *configReader) figure(e source.Entry) Figure {
	f := Figure{Plot: Plot{Width: 1200, Height: 450}}
	if e.Value.Kind != source.Map {
		c.report("wrong-type", e.Value, fmt.Sprintf("%s: a figure is a map", e.Key), "")
		return f
	}
	texts := map[string]*string{
		"title": &f.Title, "x_metric": &f.X, "y_metric": &f.Y, "x_label": &f.XLabel, "y_label": &f.YLabel,
		"type": &f.Type,
	}
	numbers := map[string]*int{"width": &f.Width, "height": &f.Height}
	lists := map[string]*[]string{"paths": &f.Paths, "names": &f.Names}
	known := []string{
		"title", "x_metric", "y_metric", "x_label", "y_label", "type", "width", "height", "paths", "names", "output",
	}
	for _, x := range e.Value.Entries {
		switch {
		case texts[x.Key] != nil && (x.Value.Kind == source.Scalar || x.Value.Kind == source.Null):
			*texts[x.Key] = x.Value.Text
		case numbers[x.Key] != nil && x.Value.Kind == source.Scalar:
			n, err := strconv.Atoi(x.Value.Text)
			if err != nil {
				c.report("invalid-value", x.Value, fmt.Sprintf("%s: %q is no whole number", x.Key, x.Value.Text), "pixels, such as 1200")
			}
			*numbers[x.Key] = n
		case lists[x.Key] != nil && x.Value.Kind == source.List:
			for _, item := range x.Value.Items {
				*lists[x.Key] = append(*lists[x.Key], item.Text)
			}
		case x.Key == "output":
		case slices.Contains(known, x.Key):
			c.report("wrong-type", x.Value, fmt.Sprintf("%s: this form is not allowed", x.Key), "")
		default:
			c.diags = append(c.diags, source.Errorf("unknown-key", "unknown key %q", x.Key).
				Among(source.Nearest(x.Key, known), known).AtKey("", x.KeyPos, x.Key))
		}
	}
	if f.X == plotPositions && f.Y == plotITLs {
		f.Y = plotGaps // GenAI-Perf's name for them
	}
	if err := f.Check(); err != nil {
		c.report("invalid-value", e.Value, fmt.Sprintf("%s: %s", e.Key, err), "")
	}
	if len(f.Paths) == 0 || slices.Contains(f.Paths, "") {
		c.report("missing-key", e.Value, e.Key+": paths: no file to draw", "such as paths: [results/a, results/b]")
	}
	return f
}
