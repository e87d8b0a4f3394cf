package program

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestPlanned: how many requests each shape of load sends in hold, with two standard deviations,
// how many outside, how long that takes and how many are open, by arithmetic that can be done by
// hand.
func TestPlanned(t *testing.T) {
	for _, c := range []struct{ stage, want string }{
		{"load: {rate: 100/s}, for: 30s", "3000 outside 0, 30s to 60s, 1024 open"},
		{"load: {rate: 100/s}, for: 30s, drain: 0s", "3000 outside 0, 30s to 30s, 1024 open"},
		{"load: {rate: 100/s}, for: 30s, warmup: 5s", "3000 outside 500, 35s to 65s, 1024 open"},
		{"load: {rate: 100/s}, for: 30s, warmup: 200 requests", "3000 outside 200, 32s to 62s, 1024 open"},
		{"load: {rate: 100/s, arrivals: poisson}, for: 25s", "2500 ± 100 outside 0, 25s to 55s, 1024 open"},
		{"load: {rate: 100/s, arrivals: {cv: 3}}, for: 25s", "2500 ± 300 outside 0, 25s to 55s, 1024 open"},
		{"load: {rate: 100/s, arrivals: {cv: 3, exact: true}}, for: 25s", "2500 outside 0, 25s to 55s, 1024 open"},
		// 0, 1.43, … 8.57 s
		{"load: {rate: 0.7/s, max_in_flight: 3}, for: 10s", "7 outside 0, 10s to 40s, 3 open"},
		{"load: {rate: 100/s, arrivals: poisson}, for: 500 requests", "500 outside 0, 5s to 35s, 1024 open"},
		{
			"load: {rate: 100/s}, until: {stable: {windows: 3, window: 5s, max_windows: 10}}",
			"1500 outside 0, 15s to 80s, 1024 open",
		},
		{
			"load: {concurrency: 4}, until: {stable: {windows: 3, window: 50 requests}}",
			"150 outside 0, 0s to ?, 4 open",
		},
		{"load: {concurrency: 4}, for: 30s", "? outside 0, 30s to 60s, 4 open, decided by server"},
		{
			"load: {concurrency: 4}, for: 30s, max_duration: 10s",
			"? outside 0, 10s to 40s, 4 open, decided by server",
		},
		{"load: {concurrency: 4}, for: 50 requests, warmup: 5 requests", "50 outside 5, 0s to ?, 4 open"},
		// 500/s × 30 s / 2 on the way, held for 60 s; up at once to 2000/s for 10 s.
		{
			"load: {rate: {ramp: [{to: 500/s, over: 30s, hold: 60s}, {to: 2000/s, hold: 10s}]}}",
			"50000 outside 7500, 100s to 130s, 1024 open",
		},
		{
			"load: {rate: {ramp: [{to: 500/s, over: 30s, hold: 60s}]}}, for: 2m",
			"45000 outside 7500, 120s to 150s, 1024 open",
		},
		{
			"load: {rate: {ramp: [{to: 500/s, over: 30s, hold: 60s}]}}, for: 40s",
			"5000 outside 7500, 40s to 70s, 1024 open",
		},
		// without a hold all counts
		{"load: {rate: {ramp: [{to: 500/s, over: 30s}]}}", "7500 outside 0, 30s to 60s, 1024 open"},
		{
			"load: {rate: {ramp: [{to: 100/s, over: 10s, hold: 90s}]}, arrivals: poisson}",
			"9000 ± 190 outside 500, 100s to 130s, 1024 open",
		},
		{
			"load: {concurrency: {ramp: [{to: 64, over: 30s}, {to: 8, hold: 30s}]}}",
			"? outside 0, 60s to 90s, 64 open, decided by server",
		},
		// doubling finds 400 … 800, six halvings bring that to 2 %; each up to three times
		{
			"load: {rate: {search: {from: 100/s, to: 800/s, while: latency.p50 < 1s, confirm: 1}}}, for: 10s, " +
				"drain: 0s",
			"? outside 0, 10s to 300s, 1024 open, decided by server, 1 to 10 trials",
		},
		{
			"load: {intervals: {file: ../testdata/gaps.txt, unit: ms, at_end: stop}}",
			"4 outside 0, 10s to 40s, 1024 open",
		},
		{
			"load: {intervals: {file: ../testdata/gaps.txt, unit: ms, at_end: stop, first: zero}}",
			"5 outside 0, 10s to 40s, 1024 open",
		},
		// 1 3 6 10 | 11 13 16 20 | 21 23 s
		{
			"load: {intervals: {file: ../testdata/gaps.txt, unit: ms}}, for: 25s",
			"10 outside 0, 25s to 55s, 1024 open",
		},
		{"load: {schedule: {file: ../testdata/times.csv, unit: s}}", "4 outside 0, 9s to 39s, 1024 open"},
		{
			"load: {schedule: {file: ../testdata/times.csv, unit: s, speed: 2}}",
			"4 outside 0, 4.5s to 34.5s, 1024 open",
		},
		{
			"load: {schedule: {file: ../testdata/times.csv, unit: s, from: 2s, to: 9s}}",
			"2 outside 0, 3s to 33s, 1024 open",
		},
		{ // three times with its drain
			"load: {rate: {levels: {from: 100/s, to: 200/s, step: 100/s, while: latency.p50 < 1s}}}, for: 10s",
			"1000 outside 0, 10s to 120s, 1024 open",
		},
		{"load: {rate: 100/s}, for: 10s, repeat: 6", "1000 outside 0, 10s to 40s, 1024 open, 6 repeats"},
	} {
		p, diags := compiling(t, "stages:\n  - {id: s, "+c.stage+"}")
		if diags.HasErrors() {
			t.Errorf("%s: %v", c.stage, diags)
			continue
		}
		if got := plannedText(p.Nodes[0].Planned); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.stage, got, c.want)
		}
	}
}

func plannedText(p Planned) string {
	var b strings.Builder
	number := func(v float64) string {
		if v < 0 {
			return "?"
		}
		return fmt.Sprintf("%.0f", v)
	}
	b.WriteString(number(p.Requests))
	if p.SD > 0 {
		fmt.Fprintf(&b, " ± %.0f", 2*p.SD)
	}
	longest := "?"
	if !math.IsInf(p.Longest, 1) {
		longest = fmt.Sprintf("%gs", p.Longest)
	}
	fmt.Fprintf(&b, " outside %s, %gs to %s, %.0f open", number(p.Outside), p.Shortest, longest, p.InFlight)
	if p.Decides != "" {
		b.WriteString(", decided by " + p.Decides)
	}
	if p.MostTrials > 0 {
		fmt.Fprintf(&b, ", %d to %d trials", p.Trials, p.MostTrials)
	}
	if p.Repeats > 1 {
		fmt.Fprintf(&b, ", %d repeats", p.Repeats)
	}
	return b.String()
}

// TestShares: how many requests an assertion looks at.
func TestShares(t *testing.T) {
	for _, c := range []struct{ stage, assert, want string }{
		{"load: {rate: 100/s}, for: 10s", "latency.p99 < 1s", "1000 of 299"},
		{"load: {rate: 100/s}, for: 10s, repeat: 4", "latency.p99 < 1s", "4000 of 299"},
		{"load: {rate: 100/s}, for: 10s", "{that: latency.p50 < 1s, every: 1s}", "100 of 5"},
		{
			"load: {rate: 100/s}, for: 10s, mix: {a: {}, b: {}, c: {}, d: {}}", `mix("a").latency.p90 < 1s`,
			"250 of 29",
		},
		// 2 √(750 × ¼)
		{
			"load: {rate: 100/s}, for: 10s, mix: {a: {weight: 1}, b: {weight: 3}}", `mix("b").latency.p90 < 1s`,
			"750 ± 27 of 29",
		},
		{
			"load: {rate: 100/s, arrivals: poisson}, for: 10s, mix: {a: {weight: 1}, b: {weight: 3}}",
			`mix("b").latency.p90 < 1s`, "750 ± 55 of 29",
		},
		{
			"load: {rate: {ramp: [{to: 10/s, hold: 10s, name: x}, {to: 20/s, hold: 10s, name: y}]}}",
			`phase("y").latency.p50 < phase("x").latency.p50`, "100 of 5",
		},
		{
			"load: {rate: {ramp: [{to: 10/s, hold: 10s, name: x}, {to: 20/s, hold: 10s, name: y}]}}",
			`phase("y").latency.p50 < 1s`, "200 of 5",
		},
		{"load: {concurrency: 4}, for: 10s", "latency.p99 < 1s", "? of 299"},
		// .99^298 is over 5 %, .99^299 is not; one side of the limit is proven by no request, the other
		// by all.
		{"load: {rate: 100/s}, for: 10s", "{that: errors.ratio < 1%, confidence: 95%}", "1000 of 299"},
		{"load: {rate: 100/s}, for: 10s", "{that: 1% > errors.ratio, confidence: 95%}", "1000 of 299"},
		{"load: {rate: 100/s}, for: 10s", "{that: not (errors.ratio >= 1%), confidence: 95%}", "1000 of 299"},
		{"load: {rate: 100/s}, for: 10s", "{that: errors.ratio > 99%, confidence: 95%}", "1000 of 299"},
		{"load: {rate: 100/s}, for: 10s", "{that: not (errors.ratio > 99%), confidence: 95%}", "1000 of 1"},
		{"load: {rate: 100/s}, for: 10s", "{that: errors.timeout.ratio <= 0.1%, confidence: 99%}", "1000 of 4603"},
		{
			"load: {rate: 100/s}, for: 10s, goodput: {latency: 1s}", "{that: goodput.ratio >= 99%, confidence: 95%}",
			"1000 of 299",
		},
		{"load: {rate: 100/s}, for: 10s", "{that: errors.ratio < 1%, confidence: 95%, every: 1s}", "100 of 299"},
		{
			"load: {rate: 100/s}, for: 10s", "{that: errors.ratio < 1% and latency.p50 < 1s, confidence: 95%}",
			"1000 of 299",
		},
		{
			"load: {rate: 100/s}, for: 10s", "{that: errors.ratio < 1% and late.ratio < 5%, confidence: 95%}",
			"1000 of 299",
		},
		{
			"load: {rate: 100/s}, for: 10s", "{that: errors.ratio < 1% or late.ratio < 5%, confidence: 95%}",
			"1000 of 59",
		},
		{
			"load: {rate: 100/s}, for: 10s", "{that: errors.ratio < 1%, confidence: 95%, min_samples: 500}",
			"1000 of 500",
		},
		{
			"load: {rate: 100/s}, for: 10s", "{that: errors.ratio < 1%, confidence: 95%, min_samples: 50}",
			"1000 of 299",
		},
		{
			"load: {rate: 100/s}, for: 10s", "{that: latency.p99 < 1s, confidence: 95%, min_samples: 50}",
			"1000 of 299",
		},
		{"load: {rate: 100/s}, for: 10s", "errors.ratio < 1%", "1000 of 0"},
	} {
		p, diags := compiling(t, fmt.Sprintf("stages:\n  - {id: s, %s, assert: [%s]}", c.stage, quoted(c.assert)))
		if diags.HasErrors() {
			t.Errorf("%s: %v", c.stage, diags)
			continue
		}
		check := p.Nodes[0].Checks[0]
		got := "?"
		if check.Planned >= 0 {
			got = fmt.Sprintf("%.0f", check.Planned)
		}
		if check.SD > 0 {
			got += fmt.Sprintf(" ± %.0f", 2*check.SD)
		}
		if got += fmt.Sprintf(" of %d", check.Needed); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.stage, c.assert, got, c.want)
		}
	}
}

// quoted puts an expression into quotes; a map stays.
func quoted(assert string) string {
	if strings.HasPrefix(assert, "{") {
		return assert
	}
	return "'" + assert + "'"
}
