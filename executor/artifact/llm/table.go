package llm

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
)

// Table returns the numbers of runs side by side, and under it what a reader must know of them.
func Table(runs []*Run) string {
	var rows [][]string
	row := func(title, stat string, cell func(*Run) string) {
		cells := []string{title, stat}
		for _, r := range runs {
			cells = append(cells, cell(r))
		}
		rows = append(rows, cells)
	}
	row("", "", func(r *Run) string { return short(clean.Line(r.Name), 30) })
	row("measured by", "", func(r *Run) string { return clean.Line(strings.TrimSpace(r.Tool + " " + r.Version)) })
	row("model", "", func(r *Run) string { return short(clean.Line(r.Model), 30) })
	row("load", "", (*Run).load)
	row("requests answered", "", func(r *Run) string { return r.number(RequestCount, "avg", 0) })
	row("failed", "", func(r *Run) string { return strconv.FormatInt(r.Failed, 10) })
	for _, m := range Metrics() {
		for i, stat := range []string{"avg", "p50", "p90", "p99"} {
			title := ""
			if i == 0 {
				title = fmt.Sprintf("%s (%s)", m.Title, m.Unit)
			}
			some := false
			for _, r := range runs {
				_, ok := r.Stat(m.Tag, stat)
				some = some || ok
			}
			if some {
				row(title, stat, func(r *Run) string { return r.number(m.Tag, stat, 2) })
			}
		}
	}
	for _, m := range wholeRun()[:3] {
		if m.Tag != GoodputRate || anyHas(runs, m.Tag) {
			row(fmt.Sprintf("%s (%s)", m.Title, m.Unit), "", func(r *Run) string { return r.number(m.Tag, "avg", 2) })
		}
	}
	var out strings.Builder
	out.WriteString(columns(rows))
	for _, r := range runs {
		for _, note := range r.Notes {
			fmt.Fprintf(&out, "\n%s: %s", short(clean.Line(r.Name), 30), note)
		}
	}
	return strings.TrimSuffix(out.String(), "\n") + "\n"
}

func anyHas(runs []*Run, tag string) bool {
	for _, r := range runs {
		if _, ok := r.Stat(tag, "avg"); ok {
			return true
		}
	}
	return false
}

// columns lays out rows: the first two columns to the left, the others to the right.
func columns(rows [][]string) string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i < 2 {
				line.WriteString(cell + space + "  ")
			} else {
				line.WriteString(space + cell + "  ")
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

func (r *Run) number(tag, stat string, digits int) string {
	if v, ok := r.Stat(tag, stat); ok {
		return fmt.Sprintf("%.*f", digits, v)
	}
	return "-"
}

// load returns the load in words.
func (r *Run) load() string {
	switch {
	case r.Level == 0:
		return "-"
	case r.Closed:
		return fmt.Sprintf("concurrency %g", r.Level)
	}
	return fmt.Sprintf("%.6g/s", r.Level)
}
