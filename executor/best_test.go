package executor

import (
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
)

// noLimits are limits of the client that no machine exceeds.
const noLimits = "validity: {send_delay: 1s, pause: 900ms, paused: 99%}"

// TestBest: the best node is the one with the largest or the smallest value among those for which the
// conditions hold; a later load may take its value; without one the run is inconclusive.
func TestBest(t *testing.T) {
	const head = `
version: 1
` + noLimits + `
target: {backend: triton, url: URL, model: simple}
stages:
  - {id: s, matrix: {n: [10, 40, 160]}, load: {concurrency: 1}, for: "${matrix.n} requests", best: BEST}
`
	const later = `
  - {id: later, load: {concurrency: '${stage("s").best}'}, for: 40 requests}`
	for _, c := range []struct {
		name, best, more string
		exit             int
		node, ranking    string // ids without "s[n=", with the verdict of the conditions
		reason           string // part of that of the verdict
	}{
		{
			"max", `{max: requests.count}`, `
assert: [stage("s").best > 100]`, 0,
			"160", "160 pass, 40 pass, 10 pass", "whether it differs from the others is unknown without `repeat`",
		},
		{
			"max where", `{max: requests.count / 4, where: [requests.count < 80, errors.ratio < 1%]}`, later, 0,
			"40", "40 pass, 10 pass, 160 fail", "s[n=40] is the best of 3",
		},
		{
			"min", `{min: requests.count, where: requests.count < 20}`, "", 0,
			"10", "10 pass, 40 fail, 160 fail", "the only one for which the conditions hold",
		},
		{
			"false on all", `{max: requests.count, where: requests.count < 1}`, later, 3,
			"", "160 fail, 40 fail, 10 fail", "none of 3 nodes may be the best: s[n=160]: requests.count < 1 is false",
		},
		{
			"not proven", `{max: requests.count, where: latency.p99.9 < 60s}`, "", 3,
			"", "160 inconclusive, 40 inconclusive, 10 inconclusive", "is not proven",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, builtin.Config{})
			r := play(t, strings.Replace(head, "BEST", c.best, 1)+c.more, s.HTTPURL(), Env{})
			if len(r.Best) != 1 || r.ExitCode != c.exit {
				t.Fatalf("exit %d: %s; %+v", r.ExitCode, r.Reason, r.Best)
			}
			b, short := r.Best[0], strings.NewReplacer("s[n=", "", "]", "")
			var ranking []string
			for i, x := range b.Ranking {
				if x.Rank != i+1 || x.Value == nil || x.Difference != nil || (x.Reason == "") != (x.Where == result.Pass) {
					t.Errorf("%+v", x)
				}
				ranking = append(ranking, short.Replace(x.Node)+" "+string(x.Where))
			}
			if got := strings.Join(ranking, ", "); short.Replace(b.Node) != c.node || got != c.ranking {
				t.Errorf("best %s of %s, want %s of %s", b.Node, got, c.node, c.ranking)
			}
			if a := r.Assertions[0]; a.ID != "s/best" || !strings.Contains(a.Reason, c.reason) {
				t.Errorf("%s: %s, want %s", a.ID, a.Reason, c.reason)
			}
			later := nodeOf(r.Nodes, "later")
			if later != nil && (later.Outcome == result.SkippedNode) != (c.node == "") {
				t.Errorf("later: %s %s", later.Outcome, later.Reason)
			}
		})
	}
}

// playBest ranks the nodes of a stage that keeps matrix.live requests in flight, four repeats each.
func playBest(t *testing.T, matrix string) (*result.Result, *result.Best) {
	t.Helper()
	r := play(t, `
version: 1
`+noLimits+`
target: {backend: triton, url: URL, model: slow4}
stages:
  - {id: s, load: {concurrency: "${matrix.live}"}, repeat: 4, best: {max: throughput}, matrix: `+matrix+`}
`, serve(t, builtin.Config{}).HTTPURL(), Env{})
	return r, r.BestOf("s")
}

// TestBestRepeated: with repeats the differences to the others are judged together.
func TestBestRepeated(t *testing.T) {
	t.Parallel()
	r, b := playBest(t, "{live: [1, 4], again: [1, 2]}, for: 10 requests")
	if b == nil || b.Separated == nil || len(b.Ranking) != 4 {
		t.Fatalf("exit %d: %s; %+v", r.ExitCode, r.Reason, b)
	}
	for i, x := range b.Ranking {
		switch d := x.Difference; {
		case i == 0 && d != nil || i > 0 && d == nil:
			t.Errorf("%+v", x)
		case i > 0 && (d.Low == nil || d.High == nil || *d.Low > d.Value || *d.High < d.Value):
			t.Errorf("%s: %+v", x.Node, d)
		}
	}
	if tied := len(b.Tied) > 0; tied == *b.Separated {
		t.Errorf("tied with %v, separated %v", b.Tied, *b.Separated)
	}
}

// TestBestSeparated: of two nodes one of which answers four times as much, in every repeat, the larger one is the best
// beyond chance.
func TestBestSeparated(t *testing.T) {
	t.Parallel()
	r, b := playBest(t, "{live: [1, 4]}, for: 40 requests")
	if b == nil || b.Node != "s[live=4]" || b.Separated == nil || !*b.Separated || len(b.Tied) > 0 || len(b.Ranking) != 2 {
		t.Fatalf("exit %d: %s; %+v", r.ExitCode, r.Reason, b)
	}
	if d := b.Ranking[1].Difference; d == nil || !d.Apart || d.Low == nil || *d.Low <= 0 {
		t.Errorf("difference %+v", d)
	}
}

// TestTied: candidates that may be as good by chance, and those that the repeats cannot tell apart, are named.
func TestTied(t *testing.T) {
	ranked := func(node string, d *result.Difference) result.Ranked {
		return result.Ranked{Node: node, Where: result.Pass, Difference: d}
	}
	b := &result.Best{Tied: []string{"b", "d"}, Ranking: []result.Ranked{
		ranked("a", nil), ranked("b", &result.Difference{Value: 1}), ranked("c", &result.Difference{Value: 9, Apart: true}),
		ranked("d", &result.Difference{Value: 2, Unknown: "repeat 3 has no value"}),
	}}
	const want = ", tied with b: their differences may be chance (95 %); the repeats cannot tell it from d (repeat 3 has no value)"
	if got := tied(b); got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}
