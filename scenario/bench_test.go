package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/source"
	"github.com/sluice-bench/sluice/schema"
)

// BenchmarkParse reads a plan of a usual size, one with a thousand stages, and one with 500 nodes
// and 5,000 assertions: the time must grow with the size only.
func BenchmarkParse(b *testing.B) {
	release := readPlanFile(b, "../testdata/plans/valid/release-gate.yaml")
	plans := map[string]planFile{
		"release-gate": release, "1000-stages": {path: "long.yaml", text: stagesOf(1000, 0)},
		"5000-assertions": {path: "long.yaml", text: stagesOf(500, 10)},
	}
	for name, p := range plans {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if plan, ds := p.parse(); plan == nil {
					b.Fatal(ds)
				}
			}
		})
	}
}

// BenchmarkSchema is the part of that which the schema takes.
func BenchmarkSchema(b *testing.B) {
	root, _ := source.Parse("long.yaml", []byte(stagesOf(500, 10)))
	for b.Loop() {
		if ds := schema.Check(root); len(ds) > 0 {
			b.Fatal(ds)
		}
	}
}

// stagesOf is a plan of n stages with so many assertions each.
func stagesOf(n, assertions int) string {
	var long strings.Builder
	long.WriteString("version: 1\ntarget: {backend: triton, url: \"http://h:1\", model: m}\nstages:\n")
	for i := range n {
		fmt.Fprintf(&long, "  - {id: s%d, load: {concurrency: 1}, for: 1s, assert: [", i)
		for j := range assertions {
			fmt.Fprintf(&long, "latency.p99 < %dms, ", 50+j)
		}
		long.WriteString("]}\n")
	}
	return long.String()
}
