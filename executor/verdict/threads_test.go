package verdict

import (
	"testing"
	"time"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// TestThreads is what users of other tools reported of gates that passed or failed wrongly, as
// results: with the verdict, the words and the exit code that are right. Those that are wrong plans
// are in package expression.
func TestThreads(t *testing.T) {
	b := newBuild(t)
	with := func(n *result.Node, name string, v float64) *result.Node {
		n.Metrics[name] = b.value(name, v)
		return n
	}
	ok := func(n int) *result.Node {
		return with(b.node("s", 0, same(10, n)...),
			metric.ErrorsOf("status"), 0)
	}
	without := func(n *result.Node, name string, v *result.Metric) *result.Node {
		n.Metrics[name] = v
		return n
	}
	// 17 windows of 60 requests, of which those in the last fail.
	outage := b.node("s", 60, same(10, 960)...)
	series := result.Series{Every: 10, To: 170}
	for i := range 17 {
		m := b.numbers(0, same(10, 60)...)
		if i == 16 {
			m = b.numbers(60)
		}
		series.Windows = append(series.Windows,
			result.SeriesWindow{From: float64(10 * i), To: float64(10*i + 10), Metrics: m})
	}
	outage.Series = []result.Series{series}
	stalled := b.node("s", 0, same(10, 100)...)
	stalled.Series = []result.Series{{Every: 1, To: 2, Windows: []result.SeriesWindow{
		{From: 0, To: 1, Metrics: b.numbers(0, same(10, 100)...)}, {From: 1, To: 2, Metrics: b.numbers(0)},
	}}}
	for _, row := range []struct {
		from    string
		that    string
		a       scenario.Assertion
		n       *result.Node
		code    int
		verdict result.Verdict
		reason  string
	}{
		{
			"k6#1053: a counter that nothing counted", "errors.status.count > 500",
			scenario.Assertion{},
			ok(400), 1, result.Fail, "errors.status.count is 0, the limit is 500 (n = 400)",
		},
		{
			"k6#1346: a metric without samples", "connect.p95 < 5ms",
			scenario.Assertion{},
			ok(400), 3,
			result.Inconclusive, "no data: connect was not measured",
		},
		{
			"k6#2540: a share of nothing", "errors.ratio < 1%",
			scenario.Assertion{},
			b.node("s", 0), 3,
			result.Inconclusive, "no data: errors.ratio has no value",
		},
		{
			"k6#4283: every iteration failed before its check", "100% - errors.ratio >= 90%",
			scenario.Assertion{},
			b.node("s", 400), 1, result.Fail,
			"100% - errors.ratio is 0 %, the limit is 90 % (n = 400)",
		},
		{
			"k6#1498: 515 of 521 pass, 95 % must", "100% - errors.ratio >= 95%",
			scenario.Assertion{},
			b.node("s", 6, same(10, 515)...), 0, result.Pass,
			"100% - errors.ratio is 98.85 %, the limit is 95 % (n = 521)",
		},
		{
			"k6#1526: failed checks are a gate", "errors.count == 0",
			scenario.Assertion{},
			b.node("s", 6, same(10, 515)...), 1, result.Fail, "errors.count is 6, it must be 0 (n = 521)",
		},
		{
			"vayu#1536: 5,999 of 5,999 failed", "latency.p99 <= 200ms",
			scenario.Assertion{},
			b.node("s", 5999), 3, result.Inconclusive, "no data: latency.p99 has no value",
		},
		{
			"NBomber#798: a metric that may be missing", "connect.p95 < 5ms",
			scenario.Assertion{OnNoData: "pass"},
			ok(400), 3, result.Pass,
			"no data, and on_no_data is pass: connect was not measured",
		},
		{
			"argo-rollouts#4535: a body without a number", "throughput > 1/s",
			scenario.Assertion{},
			without(ok(400), metric.Throughput, &result.Metric{Unit: "1/s"}), 3, result.Inconclusive,
			"no data: throughput has no value",
		},
		{
			"artillery#1287: 320 and 422 ms, 100 and 200 were allowed",
			"latency.p95 < 100ms and latency.max < 200ms",
			scenario.Assertion{},
			b.node("s", 0, append(same(320, 99), 422)...), 1, result.Fail,
			"latency.p95 is 320 ms, the limit is 100 ms (n = 100)",
		},
		{
			"artillery#375: a percentile of few", "latency.p99 < 1s",
			scenario.Assertion{},
			b.node("s", 0, 10, 11, 12), 3, result.Inconclusive,
			"296 more requests needed for p99 (have 3 of 299): so far latency.p99 is 12 ms, the limit is 1 s",
		},
		{
			"taurus#1941: 99.9 % errors", "errors.ratio < 1%",
			scenario.Assertion{},
			b.node("s", 999, 10), 1,
			result.Fail, "errors.ratio is 99.9 %, the limit is 1 % (n = 1000)",
		},
		{
			"gatling#2991: a failed assertion", "latency.max < 5ms",
			scenario.Assertion{},
			ok(400), 1,
			result.Fail, "latency.max is 10 ms, the limit is 5 ms (n = 400)",
		},
		{
			"serving#14429: 719,998 of 720,000", "requests.count >= 0.999 * 720000",
			scenario.Assertion{},
			with(ok(400), metric.RequestsCount, 719998), 0, result.Pass,
			"requests.count is 719998, the limit is 719280 (n = 1)",
		},
		{
			"perf-tests#986: one slow call of less than 100", "latency.p99 < 1s",
			scenario.Assertion{},
			b.node("s", 0, append(same(10, 89), 1500)...), 3, result.Inconclusive,
			"209 more requests needed for p99 (have 90 of 299): so far latency.p99 is 1.5 s, the limit is 1 s",
		},
		{
			"versus#13: the middle of three", "latency.p50 < 50ms",
			scenario.Assertion{MinSamples: 3},
			b.node("s", 0, 42.8, 42.9, 425.7), 0, result.Pass,
			"latency.p50 is 42.9 ms, the limit is 50 ms (n = 3)",
		},
		{
			"k6#2379: 60 of 1,020 fail, as a whole", "errors.ratio < 6%",
			scenario.Assertion{},
			outage, 0,
			result.Pass, "errors.ratio is 5.882 %, the limit is 6 % (n = 1020)",
		},
		{
			"k6#2379: 60 of 1,020 fail, by the window", "errors.ratio < 6%",
			scenario.Assertion{Every: 10 * time.Second},
			outage, 1, result.Fail,
			"true in 16 of 17 windows; the first that is false, 160 s to 170 s: errors.ratio is 100 %, the limit is 6 % (n = 60)",
		},
		{
			"k6#223: fewer than 100 a second", "requests.rate >= 100/s",
			scenario.Assertion{},
			b.node("s", 0, same(10, 990)...), 1, result.Fail,
			"requests.rate is 99/s, the limit is 100/s (n = 990)",
		},
		{
			"aiperf#1171: a window in which nothing came back", "latency.p50 < 1s",
			scenario.Assertion{Every: time.Second},
			stalled, 3, result.Inconclusive,
			"true in 1 of 2 windows, 1 open; the first, 1 s to 2 s: no data: latency.p50 has no value",
		},
		{
			"locust#560: one failure in thousands, within its budget", "errors.ratio < 0.1%",
			scenario.Assertion{},
			b.node("s", 1, same(10, 3821)...), 0, result.Pass,
			"errors.ratio is 0.02616 %, the limit is 0.1 % (n = 3822)",
		},
		{
			"timings#7: a limit and a baseline are two things", "latency.p95 < 1.1 * baseline.latency.p95",
			scenario.Assertion{},
			ok(400), 3, result.Inconclusive,
			"no data: baseline.latency.p95: the plan names no baseline",
		},
	} {
		t.Run(row.from, func(t *testing.T) {
			row.a.That.Text, row.a.Severity = row.that, "gate"
			r := &result.Result{Nodes: []*result.Node{row.n}}
			got := Judge(row.a, compile(t, row.that), Context{}, result.Values(r, row.n))
			row.n.Assertions = []result.Assertion{got}
			code, _, _ := Exit(r, RunOutcome{})
			if got.Verdict != row.verdict || got.Reason != row.reason || code != row.code {
				t.Errorf("%s\ngot  %d %s: %s\nwant %d %s: %s", row.that, code, got.Verdict, got.Reason,
					row.code, row.verdict, row.reason)
			}
			row.n.Assertions = nil
		})
	}
}

// TestThreadAborts: nothing is stopped before there is something to see (xk6-browser#1399),
// whatever else is known.
func TestThreadAborts(t *testing.T) {
	for _, that := range []string{
		"latency.p95 < 5ms", "errors.ratio < 1%", "errors.count == 0",
		"connect.p95 < 5ms",
	} {
		if why := Abort(scenario.Assertion{Abort: true}, compile(t, that), sofar{}); why != "" {
			t.Errorf("%s is given up with nothing known: %s", that, why)
		}
	}
}
