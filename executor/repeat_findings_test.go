package executor

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sluice-bench/sluice/executor/result"
)

// TestRoundsFindings: what rounds found alike is said once, with the rounds that found it.
func TestRoundsFindings(t *testing.T) {
	rs := &rounds{planned: 4}
	for _, texts := range [][]string{
		{"always", "late by 3.5 ms"}, {"always"}, {"always", "late by 12 ms", "once"}, {"always"},
	} {
		out := &result.Node{}
		for _, text := range texts {
			out.Validity.Findings = append(out.Validity.Findings, result.Finding{Code: "c", Severity: result.Note, Text: text})
		}
		rs.add(&round{out: out})
	}
	var got []string
	for _, f := range rs.findings() {
		got = append(got, f.Text)
	}
	want := []string{"all 4 rounds: always", "rounds 1, 3 of 4, the first: late by 3.5 ms", "round 3 of 4: once"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
