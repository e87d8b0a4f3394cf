package program

import "testing"

// TestLabels: what a node is driven by, in the words of the graph: nothing that changes the load is
// left out.
func TestLabels(t *testing.T) {
	for stage, want := range map[string]string{
		"load: {concurrency: 4}, for: 30s":                                                          "4 in flight for 30s",
		"load: {rate: 0.5/s}, for: 1h":                                                              "0.5/s constant for 1h",
		"load: {rate: 90/min, arrivals: {cv: 2, exact: true}}, for: 1000 requests":                  "90/min cv 2 exact for 1000 requests",
		"load: {rate: 5/s, arrivals: poisson}, for: 1 pass, data: rows":                             "5/s poisson for 1 pass",
		"load: {rate: 5/s}, until: stable":                                                          "5/s constant until stable (3 windows of 5s)",
		"load: {rate: {ramp: [{to: 5/s, over: 1m}, {to: 9/s, hold: 1s}]}}":                          "ramp to 5/s, 9/s constant",
		"load: {concurrency: {search: {from: 1, to: 9, while: latency.p50 < 1s}}}, for: 1m":         "search from 1 to 9 in flight for 1m",
		"load: {intervals: {file: ../testdata/gaps.txt, unit: ms}}, for: 90m, repeat: 3":            "gaps of gaps.txt for 1h30m, 3 repeats",
		"load: {schedule: {file: ../testdata/times.csv, unit: s}}":                                  "times of times.csv",
		"load: {schedule: {file: ../testdata/times.csv, unit: s, from: 1500ms}}":                    "times of times.csv, from 1.5s",
		"load: {schedule: {file: ../testdata/times.csv, unit: s, to: 9s}}":                          "times of times.csv, to 9s",
		"load: {schedule: {file: ../testdata/times.csv, unit: s, from: 2s, to: 9s, speed: 2}}":      "times of times.csv, from 2s to 9s, 2 times as fast",
		"load: {rate: 5/s}, for: 1s, mix: {x: {weight: 3, data: rows}, y: {weight: 1, data: rows}}": "5/s constant, mix of 3 x, 1 y for 1s",
	} {
		p, diags := compiling(t, "datasets: {rows: {file: ../testdata/rows.json}}\nstages:\n  - {id: s, "+stage+"}")
		if diags.HasErrors() {
			t.Errorf("%s: %v", stage, diags)
			continue
		}
		if got := p.Nodes[0].Load.Label; got != want {
			t.Errorf("%s\n got %s\nwant %s", stage, got, want)
		}
	}
}
