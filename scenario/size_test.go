//go:build !race

// With the race detector more is allocated.

package scenario

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestTooLarge: a plan of more nodes or assertions than there may be is refused at the stage that
// goes over, before anything is made of it.
func TestTooLarge(t *testing.T) {
	const head = "version: 1\ntarget: {backend: kserve, url: \"http://h:1\", model: m}\n"
	stages := func(n int, keys string) string {
		var b strings.Builder
		b.WriteString("stages:\n")
		for i := range n {
			fmt.Fprintf(&b, "- {id: s%d%s}\n", i, keys)
		}
		return b.String()
	}
	asserts := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "  - latency.p50 < %dms\n", i+1)
		}
		return b.String()
	}
	const load = ", load: {concurrency: 1}, for: 1s"
	const nodes, checks = "the plan has more than 10000 nodes: points of matrices times levels", "the plan has more than 100000 assertions on its nodes: assertions times nodes"
	for _, c := range []struct {
		name, text, want string
		line             int
	}{
		{"stages", head + stages(10_500, load), nodes, 4 + 10_000},
		{
			"a matrix",
			head + stages(50,
				", matrix: {a: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16], b: [1, 2, 3, 4, 5, 6, 7, 8, "+
					"9, 10, 11, 12, 13, 14, 15, 16]}"+load),
			nodes, 4 + 39,
		},
		{
			"assertions of defaults",
			head + "defaults:\n  load: {concurrency: 1}\n  for: 1s\n  assert:\n" +
				asserts(200) + stages(5000, ""),
			checks, 8 + 200 + 500,
		},
		{
			"assertions of an slo",
			head + "slos:\n  all:\n" + asserts(200) + stages(600, load+", assert: [{slo: all}]"), checks,
			6 + 200 + 500,
		},
		{
			"groups",
			head + "stages:\n" + strings.Repeat("- parallel:\n  - {id: a"+load+"}\n  - {id: b"+load+"}\n", 5001),
			nodes, 3 + 15_002,
		},
		{"a list", head + stages(1251, ", load: {concurrency: [1, 2, 3, 4, 5, 6, 7, 8]}, for: 1s"), nodes, 4 + 1250},
		{"levels", head + stages(1000, ", load: {concurrency: {levels: {from: 1, to: 1000}}}, for: 1s"), nodes, 4 + 10},
		{
			"levels by a factor",
			head + stages(910, ", load: {rate: {levels: {from: 60/min, to: 1024/s, factor: 2}}}, for: 1s"),
			nodes, 4 + 909,
		},
		{
			"levels of a variable",
			head + "vars: {n: 1000}\n" + stages(20,
				", load: {concurrency: {levels: {from: 1, to: \"${n}\"}}}, for: 1s"),
			nodes, 5 + 10,
		},
		{
			"assertions on levels",
			head + stages(1, ", load: {concurrency: {levels: {from: 1, to: 1000}}}, for: 1s, assert: ["+
				strings.Repeat("latency.p50 < 1s, ", 101)+"]"), checks, 4,
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		plan, diags := Parse("plan.yaml", []byte(c.text), Overrides{})
		runtime.ReadMemStats(&after)
		if plan != nil || len(diags) != 1 || diags[0].Summary != c.want || diags[0].Pos.Line != c.line {
			t.Errorf("%s: %v, want line %d: %s", c.name, diags, c.line, c.want)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 128<<20 {
			t.Errorf("%s: %d MB were allocated", c.name, took>>20)
		}
	}
	for name, text := range map[string]string{
		"as many nodes as there may be": head + stages(100,
			", load: {concurrency: {levels: {from: 1, to: 100}}}, for: 1s"),
		"levels of variables": head + "vars: {n: 3}\n" + stages(2,
			", load: {concurrency: {levels: {from: 1, to: \"${n}\"}}}, for: 1s"),
	} {
		if plan, diags := Parse("plan.yaml", []byte(text), Overrides{}); plan == nil {
			t.Errorf("%s: %v", name, diags)
		}
	}
}
