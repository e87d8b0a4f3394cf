package artifact

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
	"github.com/sluice-bench/sluice/executor/result"
)

// Limits that keep summary.md under 1 MiB: GitHub drops larger step summaries as a whole.
const (
	maxNodes      = 200
	maxAssertions = 400
	maxLines      = 200
)

// summaryMarkdown returns the summary for a pull request: the verdict first, then numbers,
// assertions and findings.
func summaryMarkdown(r *result.Result, o Options) ([]byte, error) {
	numbers, err := sections(r, o.Percentiles)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	line := func(parts ...string) { b.WriteString(strings.Join(parts, "") + "\n") }
	line("## ", looks[r.Verdict].markdown, " ", escape(string(r.Verdict)), " — ",
		escape(clean.Line(r.Plan.Name)), "\n")
	if reason := reasonOf(r); reason != "" {
		line(escape(reason), "\n")
	}
	if r.Plan.Description != "" {
		line(escape(clean.Line(r.Plan.Description)), "\n")
	}
	if r.State == result.StatePartial {
		line("**The run is partial: something is missing below.**\n")
	}
	for _, s := range numbers {
		line("### ", s.title, "\n")
		table(&b, s.grid, maxNodes)
	}
	if list := assertions(r); len(list) > 0 {
		line("### Assertions\n")
		table(&b, assertionGrid(list), maxAssertions)
	}
	bullets(&b, "Errors", errorLines(r))
	bullets(&b, "Findings", findingLines(r))
	bullets(&b, "Client", clientLines(r))
	line(strings.Join(origin(r), " · "))
	return b.Bytes(), nil
}

// origin returns the plan and machine of the summary.
func origin(r *result.Result) []string {
	var parts []string
	add := func(name, text string) {
		if text = clean.Line(text); text != "" {
			parts = append(parts, name+code(text))
		}
	}
	add("plan ", r.Plan.File)
	add("fingerprint ", r.Plan.Fingerprint)
	add("seed ", strconv.FormatUint(r.Plan.Seed, 10))
	add("made by ", strings.TrimSpace(r.Tool.Name+" "+r.Tool.Version))
	add("labels ", point(r.Plan.Labels))
	exit := "exit code " + whole(int64(r.ExitCode))
	if r.Allowed {
		exit += " (allowed)"
	}
	return append(parts, exit)
}

// assertionGrid returns one row per assertion.
func assertionGrid(list []judgedAssertion) grid {
	g := grid{header: []string{"", "node", "assertion", "observed", "limit", "why"}}
	last := ""
	for _, a := range list {
		observed, limit := sides(a.Assertion)
		reason := reasonText(a.Assertion)
		if reason != "" && reason == last {
			reason = "as above"
		} else {
			last = reason
		}
		if tip := advice(a.Assertion, a.node); tip != "" {
			reason = strings.TrimPrefix(reason+"; "+tip, "; ")
		}
		g.rows = append(g.rows, []string{
			a.look().markdown, a.where(), "\x00" + cut(clean.Line(a.Statement()), maxText),
			observed, limit, reason,
		})
	}
	return g
}

// table writes g as a GitHub table of at most n rows. A cell that begins with NUL is formatted as
// code.
func table(b *bytes.Buffer, g grid, n int) {
	row := func(cells []string) {
		b.WriteString("|")
		for _, c := range cells {
			if text, isCode := strings.CutPrefix(c, "\x00"); isCode {
				c = strings.ReplaceAll(code(text), "|", `\|`)
			} else {
				c = escape(c)
			}
			b.WriteString(" " + c + " |")
		}
		b.WriteString("\n")
	}
	header := make([]string, len(g.header))
	for i, h := range g.header {
		header[i] = strings.ReplaceAll(h, "\n", ".")
	}
	row(header)
	b.WriteString("|")
	for _, h := range g.header {
		if isText(h) {
			b.WriteString(" --- |")
		} else {
			b.WriteString(" ---: |")
		}
	}
	b.WriteString("\n")
	for _, r := range g.rows[:min(n, len(g.rows))] {
		row(r)
	}
	b.WriteString("\n")
	more(b, len(g.rows)-n)
}

func bullets(b *bytes.Buffer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString("### " + title + "\n\n")
	for _, l := range lines[:min(maxLines, len(lines))] {
		b.WriteString("- " + escape(l) + "\n")
	}
	b.WriteString("\n")
	more(b, len(lines)-maxLines)
}

func more(b *bytes.Buffer, n int) {
	if n > 0 {
		b.WriteString(whole(int64(n)) + " more are in result.json.\n\n")
	}
}

// markdown escapes the markup of Markdown and HTML.
var markdown = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "|", `\|`, `\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[",
	`\[`, "]", `\]`,
	"~", `\~`, "#", `\#`, "@", "&#64;",
)

// escape makes s plain text in Markdown, also in a table. An @ in it mentions no user.
func escape(s string) string { return markdown.Replace(s) }

// code formats s as a code span; in a table | must still be escaped.
func code(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		s = " " + s + " "
	}
	return fence + s + fence
}
