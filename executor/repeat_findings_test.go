package executor

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/trial"
)

// TestRepeatsFindings: what repeats found alike is said once, with the repeats that found it.
func TestRepeatsFindings(t *testing.T) {
	rs := &repeats{planned: 4}
	for _, texts := range [][]string{
		{"always", "late by 3.5 ms"}, {"always"}, {"always", "late by 12 ms", "once"}, {"always"},
	} {
		out := &result.Node{}
		for _, text := range texts {
			out.Validity.Findings = append(out.Validity.Findings,
				result.Finding{Code: "c", Severity: result.Note, Text: text})
		}
		rs.played = append(rs.played, &repeat{Output: trial.Output{Node: out}})
	}
	var got []string
	for _, f := range rs.findings() {
		got = append(got, f.Text)
	}
	want := []string{
		"all 4 repeats: always", "repeats 1, 3 of 4, the first: late by 3.5 ms", "repeat 3 of 4: once",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
