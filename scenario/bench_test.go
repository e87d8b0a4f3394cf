package scenario

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkParse reads a plan of a usual size, and one with a thousand stages: the time must grow with the size only.
func BenchmarkParse(b *testing.B) {
	release := readPlanFile(b, "../testdata/plans/valid/release-gate.yaml")
	var long strings.Builder
	long.WriteString("version: 1\ntarget: {backend: triton, url: \"http://h:1\", model: m}\nstages:\n")
	for i := range 1000 {
		fmt.Fprintf(&long, "  - {id: s%d, load: {concurrency: 1}, for: 1s}\n", i)
	}
	for name, p := range map[string]planFile{"release-gate": release, "1000-stages": {path: "long.yaml", text: long.String()}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if plan, ds := p.parse(); plan == nil {
					b.Fatal(ds)
				}
			}
		})
	}
}
