package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
)

// table is rows of text under heads.
type table struct{ lines [][]string }

func (t *table) head(cells ...string) { t.lines = append(t.lines, nil, cells) }

// row takes numbers and texts.
func (t *table) row(cells ...any) {
	line := make([]string, len(cells))
	for i, c := range cells {
		if v, ok := c.(float64); ok {
			line[i] = number(v)
		} else {
			line[i] = fmt.Sprint(c)
		}
	}
	t.lines = append(t.lines, line)
}

func (t *table) print(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, line := range t.lines {
		for _, c := range line {
			fmt.Fprint(tw, c, "\t")
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
}

// number has three digits that count.
func number(v float64) string {
	switch {
	case v >= 100 || v <= -100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10 || v <= -10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func atMost(v, bar float64) string { return judged(v <= bar, "≤", bar) }

func atLeast(v, bar float64) string { return judged(v >= bar, "≥", bar) }

func judged(holds bool, sign string, bar float64) string {
	text := sign + " " + strconv.FormatFloat(bar, 'g', -1, 64)
	if holds {
		return text + " holds"
	}
	return text + " MISSED"
}
