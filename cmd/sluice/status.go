package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/executor"
	"github.com/sluice-bench/sluice/executor/result"
)

// part is a piece of the live line. Of a line that is too long the parts of the highest rank are left out first.
type part struct {
	text string
	rank int
}

// status is the live line of a node that is running, in at most so many columns.
func status(head string, e executor.Event, columns int) string {
	parts := append([]part{{head + string(e.Phase), 0}}, progressed(e)...)
	parts = append(parts, numbers(e)...)
	for rank := 9; rank > 0; rank-- {
		if text := joined(parts, rank); len([]rune(text)) <= columns {
			return text
		}
	}
	return short(joined(parts, 0), columns)
}

// joined are the parts up to a rank.
func joined(parts []part, rank int) string {
	var texts []string
	for _, p := range parts {
		if p.rank <= rank && p.text != "" {
			texts = append(texts, p.text)
		}
	}
	return strings.Join(texts, "  ")
}

// progressed says how far the phase is.
func progressed(e executor.Event) []part {
	switch {
	case e.Total > 0:
		const cells = 20
		filled := min(int(cells*e.Elapsed/e.Total), cells)
		bar := strings.Repeat("█", filled) + strings.Repeat("░", cells-filled)
		return []part{{bar, 5}, {clock(min(e.Elapsed, e.Total)) + "/" + clock(e.Total), 1}}
	case e.Elapsed > 0:
		return []part{{clock(e.Elapsed), 1}}
	}
	return nil
}

// numbers are those of the last second.
func numbers(e executor.Event) []part {
	l := e.Live
	if l == nil || l.At == 0 {
		return nil
	}
	parts := []part{{result.Format("1/s", l.Rate), 2}}
	if l.N > 0 {
		parts = append(parts, part{"p50 " + result.Format("s", float64(l.P50)/1e9), 4}, part{"p99 " + result.Format("s", float64(l.P99)/1e9), 3})
	}
	parts = append(parts, part{fmt.Sprintf("%d in flight", l.InFlight), 6})
	if l.Failed > 0 || l.N > 0 {
		parts = append(parts, part{fmt.Sprintf("%d failed", l.Failed), 1})
	}
	return parts
}

// clock is a time that goes on: tenths below ten seconds, so that one sees that it does.
func clock(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	}
	return d.Truncate(time.Second).String()
}

// short cuts a text to so many columns.
func short(text string, columns int) string {
	if r := []rune(text); len(r) > max(columns, 1) {
		return string(r[:max(columns-1, 0)]) + "…"
	}
	return text
}
