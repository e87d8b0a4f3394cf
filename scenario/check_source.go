package scenario

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/layer"
	"github.com/sluice-bench/sluice/scenario/source"
)

// checkSource checks where the rows of a dataset come from, generated ones aside.
func checkSource(c *checker, ds *language.Dataset) {
	for _, f := range ds.File.All() {
		c.file(f)
	}
	if ds.File != nil && ds.File.One == nil && len(ds.File.Many) == 0 && !c.Doubtful(ds.File.At.Path) {
		c.at(ds.File.At, missing("file names no file"))
	}
	c.folder(ds.Dir)
	checkBodies(c, ds.Bodies)
	empty(c, ds.At, "rows", ds.Rows, "rows is empty")
	empty(c, ds.At, "command", ds.Command, "command names no program")
	for _, e := range ds.Columns.Items() {
		if m := columnField(e.Key); m != nil {
			c.under(ds.Columns.At, e.Key, m)
		}
	}
	if p := ds.Prompts; p != nil {
		checkPrompts(c, p)
	}
}

// checkBodies checks that a pattern finds files.
func checkBodies(c *checker, pattern *language.Val[string]) {
	if pattern == nil {
		return
	}
	found, err := filepath.Glob(layer.ResolvePath(layer.FolderOf(c.planFile, pattern.At.Node), pattern.V))
	switch {
	case err != nil:
		c.at(pattern.At, source.Errorf(source.CodeValue, "%q is no pattern of files", pattern.V).
			Help("* is any text, ? any character, [a-z] one of them"))
	case len(found) == 0:
		c.at(pattern.At, source.Errorf(source.CodeFile, "no file matches %q", pattern.V).
			Help("paths are relative to the folder of the plan"))
	}
}

// columnField says what is wrong with a field that a column is read as; nil: nothing.
func columnField(name string) *source.Diagnostic {
	fields := strings.Fields("prompt messages input output_tokens image session_id delay timestamp id")
	for _, open := range [...]string{"parameters.", "inputs.", "outputs."} {
		if rest, ok := strings.CutPrefix(name, open); ok && rest != "" {
			return nil
		}
	}
	m := language.OneWord(name, "columns", fields)
	if m != nil {
		m.Summary, m.Detail = fmt.Sprintf("%q is no field of a row",
			name), "or parameters.NAME, inputs.NAME, outputs.NAME"
	}
	return m
}

// checkPrompts checks synthetic text.
func checkPrompts(c *checker, p *language.Prompts) {
	for _, d := range [...]*language.Dist[int64, language.Number]{p.InputTokens, p.OutputTokens, p.Turns} {
		checkDist(c, d)
		checkLength(c, d, 0)
	}
	checkDist(c, p.Delay)
	c.file(p.Corpus)
	if i := p.Images; i != nil {
		checkDist(c, i.Width)
		checkDist(c, i.Height)
	}
	if a := p.Audio; a != nil {
		checkDist(c, a.Seconds)
	}
	if p.ExactOutput.Or(false) && p.OutputTokens == nil && c.Absent(p.At, "output_tokens") {
		c.under(
			p.At, "exact_output",
			missing("\"exact_output\" needs \"output_tokens\" beside it"),
		)
	}
}
