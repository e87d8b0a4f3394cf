package program

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario"
)

// longPlan is a plan of 500 nodes and 5,000 assertions. Their limits are all different where apart
// says so, and some look at other stages, so that little can be shared.
func longPlan(apart bool) string {
	var b strings.Builder
	b.WriteString("version: 1\ntarget: {backend: triton, url: \"http://h:1\", model: m}\nstages:\n")
	for i := range 500 {
		fmt.Fprintf(&b, "  - {id: s%d, load: {rate: 100/s}, for: 10s, assert: [", i)
		for j := range 10 {
			limit := 50 + j
			if apart {
				limit += 10 * i
			}
			if j == 9 && i > 0 {
				fmt.Fprintf(&b, "'latency.p99 < 2 * stage(\"s%d\").latency.p99', ", i/2)
				continue
			}
			fmt.Fprintf(&b, "latency.p99 < %dms, ", limit)
		}
		b.WriteString("]}\n")
	}
	return b.String()
}

// BenchmarkCompile is what Compile adds to reading a long plan, and both together: the load of a
// plan of 500 nodes and 5,000 assertions is to take less than 700 ms, of which Compile less than
// 500.
func BenchmarkCompile(b *testing.B) {
	for name, apart := range map[string]bool{"alike": false, "apart": true} {
		text := []byte(longPlan(apart))
		b.Run(name, func(b *testing.B) {
			plan, ds := scenario.Parse("long.yaml", text, scenario.Overrides{})
			if plan == nil {
				b.Fatal(ds)
			}
			for b.Loop() {
				if p, ds := Compile(plan, all.Kinds()); ds.HasErrors() || len(p.Nodes) != 500 {
					b.Fatal(ds)
				}
			}
		})
		b.Run(name+" with reading", func(b *testing.B) {
			for b.Loop() {
				plan, ds := scenario.Parse("long.yaml", text, scenario.Overrides{})
				if plan == nil {
					b.Fatal(ds)
				}
				if _, ds := Compile(plan, all.Kinds()); ds.HasErrors() {
					b.Fatal(ds)
				}
			}
		})
	}
}

// manyStages is a plan of n stages of one line each.
func manyStages(n int) []byte {
	var b strings.Builder
	b.WriteString("version: 1\ntarget: {backend: kserve, url: \"http://h:1\", model: m}\nstages:\n")
	for i := range n {
		fmt.Fprintf(&b, "- {id: s%d, load: {concurrency: 1}, for: 1s}\n", i)
	}
	return []byte(b.String())
}

// BenchmarkStages reads and compiles plans of many stages: 8,000 are to take at most 2.2 times as
// long as 4,000, which are to take less than a second.
func BenchmarkStages(b *testing.B) {
	for _, n := range []int{1000, 4000, 8000} {
		text := manyStages(n)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				plan, ds := scenario.Parse("stages.yaml", text, scenario.Overrides{})
				if plan == nil {
					b.Fatal(ds)
				}
				if _, ds := Compile(plan, all.Kinds()); ds.HasErrors() {
					b.Fatal(ds)
				}
			}
		})
	}
}

// TestStagesAreLinear: eight times as many stages cost eight times the work, and not its square: 64
// times.
func TestStagesAreLinear(t *testing.T) {
	cost := func(n int) time.Duration {
		text, best := manyStages(n), time.Hour
		for range 3 { // the least is the one that nothing else held up
			begun := time.Now()
			plan, ds := scenario.Parse("stages.yaml", text, scenario.Overrides{})
			if plan == nil {
				t.Fatal(ds)
			}
			if _, ds := Compile(plan, all.Kinds()); ds.HasErrors() {
				t.Fatal(ds)
			}
			best = min(best, time.Since(begun))
		}
		return best
	}
	if few, many := cost(400), cost(3200); many > 24*few {
		t.Errorf("400 stages take %v, 3,200 take %v", few, many)
	}
}
