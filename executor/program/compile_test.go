package program

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// compiling reads and compiles the stages of a plan; lines count from `stages:`, which is line 1.
func compiling(t *testing.T, stages string) (*Program, source.Diagnostics) {
	t.Helper()
	text := "version: 1\ntargets: {main: {backend: kserve, url: \"http://h:1\", model: m}, other: {backend: " +
		"triton, url: \"grpc://h:2\", model: m}}\n" +
		"defaults: {target: main}\n" + strings.TrimPrefix(stages, "\n")
	plan, diags := scenario.Parse("p", []byte(text), scenario.Overrides{})
	if plan == nil {
		t.Fatal(diags)
	}
	p, more := Compile(plan, all.Kinds())
	return p, append(diags, more...).Sorted()
}

// said is diagnostics as "line:column code summary", from `stages:`.
func saidOf(ds source.Diagnostics) string {
	var lines []string
	for _, d := range ds {
		lines = append(lines, fmt.Sprintf("%d:%d %s %s", d.Pos.Line-3, d.Pos.Column, d.Code, d.Summary))
	}
	return strings.Join(lines, "\n")
}

// edgesOf is the graph of a program, one line for each edge.
func edgesOf(p *Program) string {
	var lines []string
	for _, n := range p.Nodes {
		if len(p.Graph.Incoming(n.ID)) == 0 {
			lines = append(lines, n.ID)
		}
		for _, e := range p.Graph.Incoming(n.ID) {
			when := e.When
			if e.Reads {
				when = "reads"
			}
			lines = append(lines, fmt.Sprintf("%s <- %s %s: %s", n.ID, e.From, when, e.Reason))
		}
	}
	return strings.Join(lines, "\n")
}

const short = ", load: {concurrency: 1}, for: 1s"

// TestEdges: who comes after whom, and why.
func TestEdges(t *testing.T) {
	for _, c := range []struct{ name, stages, want string }{
		{"the list", `
stages:
  - {id: a` + short + `}
  - {id: b` + short + `}`, `
a
b <- a success: the entry before`},
		{"needs beat the list, ties by the list", `
stages:
  - {id: a, needs: [c]` + short + `}
  - {id: b, needs: []` + short + `}
  - {id: c, needs: []` + short + `}`, `
b
c
a <- c success: needs`},
		{"levels, and who comes after them", `
stages:
  - {id: a, load: {concurrency: [1, 2]}, for: 1s}
  - {id: b, when: always` + short + `}`, `
a[concurrency=1]
a[concurrency=2] <- a[concurrency=1] always: the level before
b <- a[concurrency=2] always: the entry before`},
		{"levels with while", `
stages:
  - {id: a, load: {rate: {levels: {from: 10/s, to: 20/s, while: latency.p50 < 1s}}}, for: 1s}`, `
a[rate=10/s]
a[rate=20/s] <- a[rate=10/s] always: the level before, while its conditions hold`},
		{"points, then their levels", `
stages:
  - {id: a, matrix: {side: [main, other], n: [1, 2]}, target: "${matrix.side}", batch: "${matrix.n}", load: {concurrency: [1, 4]}, for: 1s}`, `
a[side=main,n=1,concurrency=1]
a[side=main,n=1,concurrency=4] <- a[side=main,n=1,concurrency=1] always: the level before
a[side=main,n=2,concurrency=1] <- a[side=main,n=1,concurrency=4] always: the point before
a[side=main,n=2,concurrency=4] <- a[side=main,n=2,concurrency=1] always: the level before
a[side=other,n=1,concurrency=1] <- a[side=main,n=2,concurrency=4] always: the point before
a[side=other,n=1,concurrency=4] <- a[side=other,n=1,concurrency=1] always: the level before
a[side=other,n=2,concurrency=1] <- a[side=other,n=1,concurrency=4] always: the point before
a[side=other,n=2,concurrency=4] <- a[side=other,n=2,concurrency=1] always: the level before`},
		{"a group waits for the entry before, what follows for all of it", `
stages:
  - {id: a` + short + `}
  - parallel:
      - {id: b` + short + `}
      - {id: c, load: {concurrency: 1}, until: others}
  - {id: d` + short + `}`, `
a
b <- a success: the entry before
c <- a success: the entry before
d <- b success: the group before
d <- c success: the group before`},
		{"never is as if absent", `
stages:
  - {id: a` + short + `}
  - {id: b, when: never` + short + `}
  - {id: c` + short + `}`, `
a
c <- a success: the entry before`},
		{"a failure that does not count", `
stages:
  - {id: a, on_fail: continue` + short + `}
  - {id: b` + short + `}
  - {id: c, needs: [a], when: failure` + short + `}`, `
a
b <- a success: the entry before, whose failure does not count (on_fail: continue)
c <- a failure: needs`},
		{"a load from a result comes after it, whatever needs say", `
stages:
  - {id: hold, needs: [], load: {rate: '${0.8 * stage("find").requests.rate}'}, for: 1s}
  - {id: find, needs: []` + short + `}`, `
find
hold <- find reads: its rate`},
		{"an assertion that looks further back", `
stages:
  - {id: a` + short + `}
  - {id: b` + short + `}
  - {id: c, load: {concurrency: 1}, for: 1s, assert: ['latency.p50 < 2 * stage("a").latency.p50', 'latency.p50 < 2 * stage("b").latency.p50']}`, `
a
b <- a success: the entry before
c <- b success: the entry before
c <- a reads: assertion c/1`},
		{"equal matrices: the same point", `
stages:
  - {id: a, matrix: {n: [1, 2]}, batch: "${matrix.n}"` + short + `}
  - {id: b, matrix: {n: [1, 2]}, batch: "${matrix.n}", load: {concurrency: '${2 * stage("a").in_flight.max}'}, for: 1s, assert: ['latency.p50 <= stage("a").latency.p50']}`, `
a[n=1]
a[n=2] <- a[n=1] always: the point before
b[n=1] <- a[n=2] success: the entry before
b[n=1] <- a[n=1] reads: its concurrency
b[n=2] <- b[n=1] always: the point before
b[n=2] <- a[n=2] reads: its concurrency`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, diags := compiling(t, c.stages)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			if diff := cmp.Diff(strings.TrimSpace(c.want), edgesOf(p)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPlays: repeats go forth and back; a ladder that its conditions may end always climbs.
func TestPlays(t *testing.T) {
	for _, c := range []struct{ stage, want string }{
		{`load: {concurrency: 1}`, "0:s 1:s 2:s"},
		{`matrix: {n: [1, 2]}, batch: "${matrix.n}", load: {concurrency: 1}`, "0:1 0:2 1:2 1:1 2:1 2:2"},
		{`load: {concurrency: [1, 2]}`, "0:1 0:2 1:2 1:1 2:1 2:2"},
		{`load: {concurrency: {levels: {from: 1, to: 2, while: latency.p50 < 1s}}}`, "0:1 0:2 1:1 1:2 2:1 2:2"},
		{
			`matrix: {n: [7, 8]}, batch: "${matrix.n}", load: {concurrency: {levels: {from: 1, to: 2, while: ` +
				`latency.p50 < 1s}}}`,
			"0:7,1 0:7,2 0:8,1 0:8,2 1:8,1 1:8,2 1:7,1 1:7,2 2:7,1 2:7,2 2:8,1 2:8,2",
		},
	} {
		p, diags := compiling(t, "stages:\n  - {id: s, repeat: 3, for: 1s, "+c.stage+"}")
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		var got []string
		for _, play := range p.Units[0].Members[0].Plays {
			var at []string
			for _, axis := range play.Node.Point {
				at = append(at, axis.Value)
			}
			if at == nil {
				at = []string{play.Node.ID}
			}
			got = append(got, fmt.Sprintf("%d:%s", play.Repeat, strings.Join(at, ",")))
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.stage, got, c.want)
		}
	}
}

// TestCompileRefuses: what cannot be meant is told at its place.
func TestCompileRefuses(t *testing.T) {
	for _, c := range []struct{ name, stages, want string }{
		{"a circle", `
stages:
  - {id: a, needs: [b]` + short + `}
  - {id: b, needs: [c]` + short + `}
  - {id: c, needs: [a]` + short + `}`, `2:21 needs-cycle the stages need each other in a circle: a → c → b → a`},
		{"a circle through a load", `
stages:
  - {id: a, needs: [b]` + short + `}
  - {id: b, needs: [], load: {rate: '${stage("a").requests.rate}'}, for: 1s}`, `2:21 needs-cycle the stages need each other in a circle: a → b → a`},
		{"a member whose load comes from another", `
stages:
  - parallel:
      - {id: a` + short + `}
      - {id: b, load: {rate: '${stage("a").requests.rate}'}, for: 1s}`, `4:33 needs-cycle stage "b" takes its load from stage "a", which starts together with it`},
		{"its own result", `
stages:
  - {id: a, load: {rate: '${stage("a").requests.rate}'}, for: 1s}`, `2:35 unknown-metric stage "a" cannot take its load from its own result`},
		{"no stage", `
stages:
  - {id: find` + short + `}
  - {id: b, load: {rate: '${stage("fnid").requests.rate}'}, for: 1s}`, `3:35 unknown-metric there is no stage "fnid"`},
		{"a stage that never runs", `
stages:
  - {id: a, when: never` + short + `}
  - {id: b, load: {rate: '${stage("a").requests.rate}'}, for: 1s}`, `3:35 unknown-metric stage "a" never runs (when: never)`},
		{"which node", `
stages:
  - {id: a, load: {concurrency: [1, 2]}, for: 1s}
  - {id: b, load: {rate: '${stage("a").requests.rate}'}, for: 1s}`, `3:35 unknown-metric stage "a" has 2 nodes: name one of them`},
		{"no such point", `
stages:
  - {id: a, load: {concurrency: [1, 2]}, for: 1s}
  - {id: b, load: {concurrency: 1}, for: 1s, assert: ['latency.p50 < stage("a[concurrency=3]").latency.p50']}`, `3:76 unknown-metric stage "a" has no node "a[concurrency=3]"`},
		{"a rate that is a time", `
stages:
  - {id: a` + short + `}
  - {id: b, load: {rate: '${stage("a").latency.p50}'}, for: 1s}`, `3:29 load-from-result this load is a rate, and ${stage("a").latency.p50} is not`},
		{"a rate that is a count", `
stages:
  - {id: a` + short + `}
  - {id: b, load: {rate: '${stage("a").requests.count}'}, for: 1s}`, `3:29 load-from-result this load is a rate, and ${stage("a").requests.count} is not`},
		{"concurrency that is a rate", `
stages:
  - {id: a` + short + `}
  - {id: b, load: {concurrency: '${stage("a").requests.rate}'}, for: 1s}`, `3:36 load-from-result this load is a count, and ${stage("a").requests.rate} is not`},
		{"what may not have run", `
stages:
  - {id: a, needs: []` + short + `}
  - {id: b, needs: [], load: {concurrency: 1}, for: 1s, assert: ['latency.p50 < stage("a").latency.p50']}`, `3:87 unknown-metric stage "a" may not have run by then: add it to ` + "`needs`"},
		{"no phase", `
stages:
  - {id: a, load: {concurrency: 1}, for: 1s, assert: ['phase("base").latency.p50 < 1s']}`, `2:62 unknown-metric stage "a" has no phase named "base"`},
		{"another phase", `
stages:
  - {id: a, load: {rate: {ramp: [{to: 5/s, hold: 9s, name: base}]}}, assert: ['phase("bass").latency.p50 < 1s']}`, `2:86 unknown-metric stage "a" has no phase named "bass"`},
		{"no mix", `
stages:
  - {id: a, load: {concurrency: 1}, for: 1s, assert: ['mix("x").latency.p50 < 1s']}`, `2:60 unknown-metric stage "a" has no mix`},
		{"another entry", `
stages:
  - {id: a, load: {concurrency: 1}, for: 1s, mix: {big: {}, small: {}}, assert: ['mix("bigg").latency.p50 < 1s']}`, `2:87 unknown-metric stage "a" has no entry "bigg" in its mix`},
		{"what an entry has not", `
stages:
  - {id: a, load: {rate: 5/s}, for: 9s, mix: {big: {}, small: {}}, assert: ['mix("big").client.cpu < 50%']}`, `2:78 unknown-metric client.cpu cannot be measured here: it is known for the whole node only, not for a phase or an entry of the mix`},
		{"no baseline", `
stages:
  - {id: a, load: {concurrency: 1}, for: 1s, assert: ['latency.p50 < baseline.latency.p50']}`, `2:70 unknown-metric the plan names no baseline`},
		{"capacity without a search", `
stages:
  - {id: a, load: {rate: 5/s}, for: 9s, assert: ['capacity > 1/s']}`, `2:51 unknown-metric stage "a" has no capacity: it is what a search finds`},
		{"capacity of another dimension", `
stages:
  - {id: a, load: {concurrency: {search: {from: 1, to: 9, while: latency.p50 < 1s}}}, for: 9s, assert: ['capacity > 1/s']}`, `2:106 type-mismatch`},
		{"goodput without bounds", `
stages:
  - {id: a, load: {rate: 5/s}, for: 9s, assert: ['goodput.ratio > 1%']}`, `2:51 unknown-metric stage "a" has no goodput: it does not say which requests are good`},
		{"an axis like its levels", `
stages:
  - {id: a, matrix: {concurrency: [1, 2]}, batch: "${matrix.concurrency}", load: {concurrency: [1, 2]}, for: 1s}`, `2:83 axis-clash stage "a" has an axis concurrency in its matrix and levels of concurrency`},
		{"failure of nothing", `
stages:
  - {id: a, when: failure` + short + `}`, `2:10 never-runs stage "a" never runs: it waits for a failure, and nothing that runs is among its ` + "`needs`"},
		{"success of what only failure starts", `
stages:
  - {id: a` + short + `}
  - {id: why, needs: [a], when: failure` + short + `}
  - {id: b, needs: [a, why]` + short + `}`, `4:10 never-runs stage "b" never runs: it needs stage "why", which only runs when "a" failed`},
		{"the best of one", `
stages:
  - {id: a, best: {max: throughput}` + short + `}`, `2:19 one-node stage "a" has one node: there is no best one`},
		{"the best by another stage", `
stages:
  - {id: a` + short + `}
  - {id: b, best: {max: stage("a").throughput}, load: {concurrency: [1, 2]}, for: 1s}`, `3:25 unknown-metric nodes are ranked by a metric of each as a whole, and stage("a").throughput is none`},
		{"the best of none", `
stages:
  - {id: a, load: {concurrency: [1, 2]}, for: 1s}
  - {id: b, load: {rate: '${stage("a").best}'}, for: 1s}`, `3:29 unknown-metric stage "a" does not say what is the best`},
		{"its own best", `
stages:
  - {id: a, best: {max: throughput}, load: {concurrency: [1, 2]}, for: 1s, assert: [stage("a").best > 1/s]}`, `2:91 unknown-metric stage "a" cannot use its own best: it is known when it has ended`},
		{"the best in another dimension", `
stages:
  - {id: a, best: {min: latency.p99}, load: {concurrency: [1, 2]}, for: 1s}
  - {id: b, load: {rate: '${stage("a").best}'}, for: 1s}`, `3:29 load-from-result this load is a rate, and ${stage("a").best} is not`},
		{"models where none can be loaded", `
stages:
  - {id: a, before: [{load_model: m}]` + short + `}`, `2:22 no-model-control backend kserve cannot load and unload models for this target`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, diags := compiling(t, c.stages)
			if got := saidOf(diags); !strings.HasPrefix(got, c.want) || strings.Count(got, "\n") > 0 {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
