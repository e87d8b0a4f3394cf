package program

import (
	"slices"
	"testing"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario"
)

// TestHoldsHint: a percentile over several holds is pointed at, where it stands; sums over them are not.
func TestHoldsHint(t *testing.T) {
	const two = "{to: 10/s, hold: 1s, name: base}, {to: 20/s, hold: 1s, name: peak}"
	for _, c := range []struct {
		ramp, that string
		column     int // of the hint; 0: there is none
	}{
		{two, "latency.p50 < 1s", 15},
		{two, "errors.count == 0 and throughput > 1/s", 37},
		{two, `phase("peak").latency.p50 < 1s`, 0},
		{two, "errors.ratio < 1%", 0},
		{two, "client.cpu < 90%", 0},
		{"{to: 10/s, hold: 1s}, {to: 20/s, hold: 1s}", "latency.p50 < 1s", 15},
		{"{to: 10/s, over: 1s, hold: 1s, name: base}", "latency.p50 < 1s", 0},
	} {
		plan, diags := scenario.Parse("plan.yaml", []byte(`version: 1
target: {backend: kserve, url: "http://localhost:1", model: m}
stages:
  - id: s
    load: {rate: {ramp: [`+c.ramp+`]}}
    assert: ['`+c.that+`']
`), scenario.Overrides{})
		if plan == nil {
			t.Fatal(diags)
		}
		_, diags = Compile(plan, all.Kinds())
		var columns []int
		for _, d := range diags {
			if d.Code == "all-holds" {
				if columns = append(columns, d.Pos.Column); d.Pos.Line != 6 || d.Detail == "" {
					t.Errorf("%s: %+v", c.that, d)
				}
			}
		}
		var want []int
		if c.column > 0 {
			want = []int{c.column}
		}
		if !slices.Equal(columns, want) {
			t.Errorf("%s over %s: hints at %v, want %v (%v)", c.that, c.ramp, columns, want, diags)
		}
	}
}

// TestOneTime: windows are of one phase; other stages and the baseline answer as a whole.
func TestOneTime(t *testing.T) {
	for that, column := range map[string]int{
		`{that: 'phase("a").latency.p50 < phase("b").latency.p50', every: 100ms}`:          47,
		`{that: 'latency.p50 < 2 * phase("b").latency.p50', within: 100ms}`:                40,
		`{that: 'phase("a").latency.p50 < phase("a").latency.p90', every: 100ms}`:          0,
		`{that: 'phase("a").latency.p50 < phase("b").latency.p50'}`:                        0,
		`{that: 'latency.p50 < 2 * stage("before").latency.p50', every: 100ms}`:            0,
		`{that: 'phase("a").latency.p50 < 2 * stage("before").latency.p50', every: 100ms}`: 0,
	} {
		plan, diags := scenario.Parse("plan.yaml", []byte(`version: 1
target: {backend: kserve, url: "http://localhost:1", model: m}
stages:
  - {id: before, load: {concurrency: 1}, for: 1s}
  - id: s
    load: {rate: {ramp: [{to: 10/s, hold: 1s, name: a}, {to: 20/s, hold: 1s, name: b}]}}
    assert: [`+that+`]
`), scenario.Overrides{})
		if plan == nil {
			t.Fatal(diags)
		}
		_, diags = Compile(plan, all.Kinds())
		got := 0
		for _, d := range diags {
			if d.Code == "does-not-fit" {
				got = d.Pos.Column
			}
		}
		if got != column || diags.HasErrors() != (column > 0) {
			t.Errorf("%s: refused at %d, want %d: %v", that, got, column, diags)
		}
	}
}
