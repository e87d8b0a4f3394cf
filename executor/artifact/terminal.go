package artifact

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
	"github.com/sluice-bench/sluice/executor/artifact/perfanalyzer"
	"github.com/sluice-bench/sluice/executor/result"
)

// SummaryOptions configure the summary on a terminal or its substitute.
type SummaryOptions struct {
	Width       int  // columns; 0: no limit
	Color       bool // ANSI colours; the caller handles NO_COLOR and pipes
	Percentiles []float64
	Files       []string // files written
	Brief       bool     // only the verdict and its reason
	// PerfAnalyzer writes the numbers in perf_analyzer's words and layout instead of tables.
	PerfAnalyzer bool
}

// look is how a verdict is shown: its mark, and the mark in Markdown.
type look struct{ mark, color, markdown string }

var looks = map[result.Verdict]look{
	result.Pass:         {"✓", "\x1b[32m", "✅"},
	result.Fail:         {"✗", "\x1b[31m", "❌"},
	result.ErrorVerdict: {"✗", "\x1b[31m", "💥"},
	result.Inconclusive: {"?", "\x1b[33m", "❔"},
	result.Interrupted:  {"?", "\x1b[33m", "🛑"},
	result.Skipped:      {"-", faint, "⏭️"},
}

// look returns the look of a judged assertion.
func (j judgedAssertion) look() look {
	if j.Severity == warn && j.Verdict != result.Pass {
		return look{"!", "\x1b[33m", "⚠️"}
	}
	return looks[j.Verdict]
}

const faint = "\x1b[2m"

// Summary writes the summary of a run: the verdict with exit code and reason, numbers, assertions
// with observed values, why something is not proven and what to do about it, findings, files, and
// the verdict once more at the end. Each reason is written once. It returns the error of w.
func Summary(w io.Writer, r *result.Result, o SummaryOptions) error {
	p := &page{o: o}
	title := p.title(r)
	reason := reasonOf(r)
	p.WriteString(title + "\n")
	if reason != "" {
		p.line("  "+reason, "")
	}
	if o.Brief {
		return p.flush(w)
	}
	if o.PerfAnalyzer {
		p.WriteString("\n")
		p.WriteString(Fold(string(perfanalyzer.Report(r)), o.Width))
	} else if err := p.numbers(r); err != nil {
		return err
	}
	if err := p.assertions(assertions(r)); err != nil {
		return err
	}
	p.list("errors", errorLines(r))
	p.list("findings", slices.DeleteFunc(findingLines(r),
		func(line string) bool { return containsFinding(reason, line) }))
	p.list("client", clientLines(r))
	files := make([]string, len(o.Files))
	for i, f := range o.Files {
		files[i] = clean.Line(f)
	}
	p.list("files", files)
	p.WriteString("\n" + title + "\n")
	return p.flush(w)
}

// flush writes the page.
func (p *page) flush(w io.Writer) error {
	if _, err := w.Write(p.Bytes()); err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}

// numbers writes the tables of nodes, of trials, and of the servers' counts.
func (p *page) numbers(r *result.Result) error {
	list, err := sections(r, p.o.Percentiles)
	for i, s := range list {
		p.WriteString("\n")
		if i > 0 {
			p.WriteString(strings.ToLower(s.title) + "\n")
		}
		if err := p.nodes(s.grid); err != nil {
			return err
		}
	}
	return err
}

// page collects the summary in memory, as tablewriter hides errors of its writer.
type page struct {
	bytes.Buffer
	o SummaryOptions
}

func (p *page) paint(text, color string) string {
	if !p.o.Color || color == "" {
		return text
	}
	return color + text + "\x1b[0m"
}

// line writes a text, folded to the terminal.
func (p *page) line(text, color string) {
	p.WriteString(p.paint(Fold(text, p.o.Width), color) + "\n")
}

// title returns the verdict in one line: "✗ fail, exit code 1: gate".
func (p *page) title(r *result.Result) string {
	t := looks[r.Verdict]
	text := fmt.Sprintf("%s, exit code %d", p.paint(t.mark+" "+string(r.Verdict), t.color), r.ExitCode)
	if name := clean.Line(r.Plan.Name); name != "" {
		text += ": " + name
	}
	if r.State == result.StatePartial {
		text += " (partial)"
	}
	if r.Allowed {
		text += " (allowed)"
	}
	return text
}

// reasonOf returns the reason of the run's verdict without text that follows at an assertion or as
// a finding.
func reasonOf(r *result.Result) string {
	text := clean.Line(r.Reason)
	for _, n := range r.Nodes {
		for _, f := range n.Validity.Findings {
			text = strings.Replace(text, ": "+clean.Line(f.Text), ", see findings", 1)
		}
	}
	for _, a := range assertions(r) {
		if reason := reasonUnlessFound(a); reason != "" {
			text = strings.Replace(text, ": "+reason, "", 1)
		}
	}
	return text
}

// containsFinding reports whether the reason of the run contains the text of a finding's line
// ("failed: a: TEXT").
func containsFinding(reason, line string) bool {
	_, text, _ := strings.Cut(line, ": ")
	_, text, found := strings.Cut(text, ": ")
	return found && strings.Contains(reason, text)
}

func (p *page) nodes(g grid) error {
	left := g.narrow(p.o.Width)
	align := make(tw.Alignment, len(g.header))
	for i, h := range g.header {
		align[i] = tw.AlignRight
		if isText(h) {
			align[i] = tw.AlignLeft
		}
	}
	p.fit(g.rows, g.header, 0, narrowest)
	lines, err := draw(g.header, g.rows, align)
	if err != nil {
		return err
	}
	p.WriteString(strings.Join(lines, "\n") + "\n")
	if len(left) > 0 {
		p.line(gap+"no room for: "+strings.Join(left, ", "), faint)
	}
	return nil
}

// assertions writes a line per assertion and, for those that did not pass, the reason and what to
// do.
func (p *page) assertions(list []judgedAssertion) error {
	if len(list) == 0 {
		return nil
	}
	rows := make([][]string, len(list))
	for i, a := range list {
		t := a.look()
		observed, limit := sides(a.Assertion)
		if limit != "" {
			limit = "limit " + limit
		}
		if a.Verdict == result.Skipped {
			observed, limit = "skipped", ""
		}
		rows[i] = []string{p.paint(t.mark, t.color), a.where(), clean.Line(a.Statement()), observed, limit}
	}
	const where, text, readable = 1, 2, 36
	none := make([]string, 5)
	p.fit(rows, none, text, readable) // a cut expression follows in full, a node is above
	p.fit(rows, none, where, narrowest)
	p.fit(rows, none, text, narrowest)
	lines, err := draw(nil, rows, tw.Alignment{
		tw.AlignLeft, tw.AlignLeft, tw.AlignLeft, tw.AlignRight,
		tw.AlignLeft,
	})
	if err != nil {
		return err
	}
	p.WriteString("\n")
	last := ""
	for i, line := range lines {
		p.WriteString(line + "\n")
		a := list[i]
		if whole := clean.Line(a.Statement()); rows[i][text] != whole { // it was cut
			p.line("       "+whole, faint)
		}
		reason := reasonUnlessFound(a)
		if reason != "" && reason != last { // once for all assertions of an invalid node
			p.line("       "+reason, faint)
		}
		last = reason
		if tip := advice(a.Assertion, a.node); tip != "" {
			p.line("       → "+tip, "")
		}
	}
	return nil
}

// reasonUnlessFound returns the reason of a verdict without text that the findings of the node
// contain.
func reasonUnlessFound(a judgedAssertion) string {
	reason := reasonText(a.Assertion)
	switch {
	case reason == "" || a.node == nil:
	case a.node.Outcome != result.Done && a.node.Outcome != result.Invalid && a.node.Reason != "" &&
		strings.Contains(reason, clean.Line(a.node.Reason)):
		return ""
	case a.node.Outcome == result.Invalid && !a.node.Validity.OK:
		return invalidNode
	}
	return reason
}

// invalidNode replaces the reason of an assertion whose node's findings explain why its measurement
// is invalid.
const invalidNode = "the measurement is invalid, see findings"

func (p *page) list(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	p.WriteString("\n" + title + "\n")
	for _, l := range lines {
		p.line("  "+l, "")
	}
}

// narrowest is the least width of a cut column.
const narrowest = 16

// fit cuts the texts of one column, to a width of at least least, so that the table fits the
// terminal, if that is enough.
func (p *page) fit(rows [][]string, header []string, column, least int) {
	width := widths(rows, header)
	total := tableWidth(width)
	if p.o.Width <= 0 || total <= p.o.Width {
		return
	}
	room := max(width[column]-(total-p.o.Width), least)
	for _, r := range rows {
		r[column] = cutMiddle(r[column], room)
	}
}

// widths returns the widths of a table's columns.
func widths(rows [][]string, header []string) []int {
	width := make([]int, len(header))
	for i, h := range header {
		for _, part := range strings.Split(h, "\n") {
			width[i] = max(width[i], twwidth.Width(part))
		}
	}
	for _, r := range rows {
		for i, c := range r {
			width[i] = max(width[i], twwidth.Width(c))
		}
	}
	return width
}

// tableWidth returns the width of a table with such columns.
func tableWidth(width []int) (total int) {
	for _, n := range width {
		total += n + len(gap)
	}
	return total
}

// cutMiddle cuts s to a width by leaving out its middle: the end of a node's id contains its level.
func cutMiddle(s string, width int) string {
	if twwidth.Width(s) <= width {
		return s
	}
	tail := []rune(s)
	for len(tail) > 0 && twwidth.Width(string(tail)) > width/2 {
		tail = tail[1:]
	}
	head := twwidth.Truncate(s, width-1-twwidth.Width(string(tail)))
	return head + "…" + string(tail)
}

// gap precedes every column: draw writes the first one's, the others' are padding of the column
// before.
const gap = "  "

// draw formats a table without lines: two spaces between aligned columns, no trailing spaces. The
// header has one or more lines, each row one.
func draw(header []string, rows [][]string, align tw.Alignment) ([]string, error) {
	var b bytes.Buffer
	cell := tw.CellPadding{Global: tw.Padding{Right: gap, Overwrite: true}}
	section := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Alignment:  tw.CellAlignment{PerColumn: align},
		Padding:    cell,
	}
	t := tablewriter.NewTable(&b,
		tablewriter.WithConfig(tablewriter.Config{Header: section, Row: section}),
		tablewriter.WithHeaderAutoFormat(tw.Off), tablewriter.WithRowAutoFormat(tw.Off),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Settings: tw.Settings{Lines: tw.LinesNone, Separators: tw.SeparatorsNone},
		})),
	)
	if header != nil {
		t.Header(header)
	}
	if err := t.Bulk(rows); err != nil {
		return nil, fmt.Errorf("draw table: %w", err)
	}
	if err := t.Render(); err != nil {
		return nil, fmt.Errorf("draw table: %w", err)
	}
	lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(gap+l, " ")
	}
	return lines, nil
}
