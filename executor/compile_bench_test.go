package executor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario"
)

// longPlan is a plan of 500 nodes and 5,000 assertions. Their limits are all different where apart says so, and some look
// at other stages, so that little can be shared.
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

// BenchmarkCompile is what Compile adds to reading a long plan, and both together: the load of a plan of 500 nodes and
// 5,000 assertions is to take less than 700 ms, of which Compile less than 500.
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
