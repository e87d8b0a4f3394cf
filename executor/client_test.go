package executor

import (
	"testing"

	"github.com/sluice-bench/sluice/executor/result"
)

// TestClientSummary is the paragraph over all nodes.
func TestClientSummary(t *testing.T) {
	node := func(id string, ok bool, codes ...string) *result.Node {
		n := &result.Node{ID: id, Validity: result.Validity{OK: ok, Summary: "x"}}
		for _, c := range codes {
			n.Validity.Findings = append(n.Validity.Findings, result.Finding{Code: c})
		}
		return n
	}
	skipped := &result.Node{ID: "skipped", Validity: result.Validity{OK: true}}
	for _, row := range []struct {
		nodes []*result.Node
		want  string
	}{
		{nil, "Nothing was measured, so nothing can be said about this client."},
		{[]*result.Node{skipped}, "Nothing was measured, so nothing can be said about this client."},
		{
			[]*result.Node{node("a", true), node("b", true, "pool-full"), skipped},
			"This client was not the bottleneck in any of 2 nodes.",
		},
		{
			[]*result.Node{node("a", true), node("b", true, "client-near-limit"), node("c", true, "busy-machine")},
			"This client, or its machine, may be part of the numbers in 2 of 3 nodes (b, c); nowhere was a limit " +
				"passed.",
		},
		{
			[]*result.Node{node("a", false, "client-late"), node("b", true, "busy-machine")},
			"This client was the bottleneck in 1 of 2 nodes (a): the numbers there may be its own, see their " +
				"validity for what to change. It may be part of the numbers in 1 more (b).",
		},
		{
			[]*result.Node{node("gate", false, "client-late"), skipped},
			"This client was the bottleneck in gate: the numbers there may be its own, see their validity for " +
				"what to change.",
		},
		{
			[]*result.Node{node("gate", true, "busy-machine")},
			"This client, or its machine, may be part of the numbers in gate; nowhere was a limit passed.",
		},
		{
			[]*result.Node{
				node("a", false), node("b", false), node("c", false), node("d", false), node("e", false),
				node("f", false),
			},
			"This client was the bottleneck in 6 of 6 nodes (a, b, c, d, e and 1 more): the numbers there may be " +
				"its own, see their validity for what to change.",
		},
	} {
		if got := clientSummary(row.nodes); got != row.want {
			t.Errorf("got  %s\nwant %s", got, row.want)
		}
	}
}

// TestJoinSummaries: a repeat that is not valid is the one that is spoken of.
func TestJoinSummaries(t *testing.T) {
	good, bad, none := result.Validity{
		OK: true, Summary: "good.",
	}, result.Validity{Summary: "bad."}, result.Validity{OK: true}
	for _, row := range []struct {
		repeats []result.Validity
		want    string
	}{
		{nil, ""},
		{[]result.Validity{none, none}, ""},
		{[]result.Validity{good}, "good."},
		{[]result.Validity{bad}, "bad."},
		{[]result.Validity{good, good}, "The first of 2 measurements, the others alike: good."},
		{[]result.Validity{none, good}, "The first of 2 measurements, the others alike: good."},
		{[]result.Validity{good, bad, good, bad}, "In 2 of 4 measurements: bad."},
		{[]result.Validity{bad, good}, "In 1 of 2 measurements: bad."},
	} {
		if got := joinSummaries(row.repeats); got != row.want {
			t.Errorf("got %q, want %q", got, row.want)
		}
	}
}
