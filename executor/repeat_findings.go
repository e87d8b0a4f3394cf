package executor

import (
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
)

// findings returns those of all repeats. What several repeats found alike, but for the numbers, is said
// once with the text of the first of them; each repeat keeps its own.
func (rs *repeats) findings() []result.Finding {
	list := []result.Finding{}
	var keys []string
	var at [][]int // by finding: its repeats, from 1
	var first []string
	for i, r := range rs.played {
		for _, f := range r.Node.Validity.Findings {
			key := f.Code + " " + f.Severity + " " + withoutNumbers(f.Text)
			known := -1
			for j, k := range keys {
				if k == key {
					known = j
				}
			}
			switch {
			case known < 0:
				keys, list, at, first = append(keys, key), append(list, f), append(at, []int{i + 1}), append(first, "")
				continue
			case at[known][len(at[known])-1] != i+1:
				at[known] = append(at[known], i+1)
			}
			if f.Text != list[known].Text {
				first[known] = ", the first"
			}
		}
	}
	for j := range list {
		list[j].Text = rs.inRepeats(at[j]) + first[j] + ": " + list[j].Text
	}
	return list
}

// inRepeats names repeats: "repeat 2 of 4", "repeats 1, 3 of 4", "all 4 repeats".
func (rs *repeats) inRepeats(at []int) string {
	switch len(at) {
	case 1:
		return fmt.Sprintf("repeat %d of %d", at[0], rs.planned)
	case rs.planned:
		return fmt.Sprintf("all %d repeats", rs.planned)
	}
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(at), " ", ", "), "[]")
	return fmt.Sprintf("repeats %s of %d", list, rs.planned)
}

// withoutNumbers returns the text that tells two findings apart.
func withoutNumbers(text string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c == '.' || c == '-' {
			return -1
		}
		return c
	}, text)
}
