package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// build makes stored numbers by catalogue.
type build struct{ c *metric.Catalogue }

func newBuild(t testing.TB) build {
	t.Helper()
	c, err := metric.New(metric.GoodputRows()...)
	if err != nil {
		t.Fatal(err)
	}
	return build{c}
}

// numbers are the metrics of a part: latencies in ms, and failed requests beside them.
func (b build) numbers(failed int, ms ...float64) map[string]*result.Metric {
	d := &stats.Dist{}
	for _, v := range ms {
		d.Add(int64(v * 1e6))
	}
	m := map[string]*result.Metric{metric.Latency: result.Distribution(b.row(metric.Latency), d, nil)}
	sent := float64(len(ms) + failed)
	m[metric.RequestsCount] = b.value(metric.RequestsCount, sent)
	m[metric.ErrorsCount] = b.value(metric.ErrorsCount, float64(failed))
	m[metric.ErrorsRatio] = b.value(metric.ErrorsRatio, float64(failed)/sent)
	m[metric.RequestsRate] = b.value(metric.RequestsRate, float64(len(ms))/10)
	return m
}

func (b build) row(name string) *metric.Row {
	r, ok := b.c.Row(name)
	if !ok {
		panic("no row " + name)
	}
	return r
}

func (b build) value(name string, v float64) *result.Metric {
	return result.Scalar(b.row(name), v, true)
}

// node is one that ran to its end.
func (b build) node(id string, failed int, ms ...float64) *result.Node {
	stage, _, _ := strings.Cut(id, "[")
	return &result.Node{
		ID: id, Stage: stage, Outcome: result.Done, Validity: result.Validity{OK: true}, Duration: 10,
		Metrics: b.numbers(failed, ms...),
	}
}

// repeats is a node of which each repeat has these latencies alone.
func (b build) repeats(id string, ms ...float64) *result.Node {
	n := b.node(id, 0)
	var all []float64
	for i, v := range ms {
		repeat := same(v, 400)
		all = append(all, repeat...)
		n.Repeats = append(n.Repeats, result.Repeat{
			Repeat: i, Outcome: result.Done,
			Metrics: b.numbers(0, repeat...),
		})
	}
	n.Metrics = b.numbers(0, all...)
	return n
}

func same(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// upTo are from … to in steps of 1.
func upTo(from, to int) []float64 {
	var out []float64
	for v := from; v <= to; v++ {
		out = append(out, float64(v))
	}
	return out
}

// TestMinSamples is a row for each kind of metric that an assertion with min_samples may read.
func TestMinSamples(t *testing.T) {
	b := newBuild(t)
	values := func(ms ...float64) result.Stored {
		n := b.node("steady", 0, ms...)
		n.Metrics[metric.Capacity] = result.Number(metric.Rate, 120)
		n.Metrics[metric.ClientCPU] = b.value(metric.ClientCPU, 0.2)
		return result.Values(&result.Result{Nodes: []*result.Node{n}}, n)
	}
	for _, row := range []stored{
		{
			"above", "latency.p99 < 50ms",
			scenario.Assertion{MinSamples: 5000},
			values(same(31.2, 1200)...),
			result.Inconclusive,
			"3800 more requests needed for p99 (have 1200 of 5000): so far latency.p99 is 31.2 ms, the limit is 50 ms",
		},
		{
			"below", "latency.p99 < 50ms",
			scenario.Assertion{MinSamples: 50},
			values(same(30, 60)...),
			result.Pass, "latency.p99 is 30 ms, the limit is 50 ms (n = 60)",
		},
		{
			"proof", "latency.p99 < 50ms",
			scenario.Assertion{MinSamples: 5000},
			values(same(61.2, 1200)...),
			result.Fail, "latency.p99 is 61.2 ms, the limit is 50 ms (n = 1200)",
		},
		{
			"what has no samples", "capacity >= 100/s",
			scenario.Assertion{MinSamples: 50},
			values(same(30, 120)...),
			result.Pass, "capacity is 120/s, the limit is 100/s (n = 1)",
		},
		{
			"a count", "requests.count >= 100",
			scenario.Assertion{MinSamples: 50},
			values(same(30, 120)...),
			result.Pass, "requests.count is 120, the limit is 100 (n = 120)",
		},
		{
			"the client", "client.cpu < 85%",
			scenario.Assertion{MinSamples: 50},
			values(same(30, 120)...),
			result.Pass, "client.cpu is 20 %, the limit is 85 % (n = 1)",
		},
	} {
		row.test(t)
	}
}

type stored struct {
	name, that string
	a          scenario.Assertion
	v          result.Stored
	verdict    result.Verdict
	reason     string
}

func (row stored) test(t *testing.T) {
	t.Helper()
	t.Run(row.name, func(t *testing.T) {
		row.a.That.Text = row.that
		got := Judge(row.a, compile(t, row.that), Context{}, row.v)
		reason := row.reason
		if got.AsIndependent { // these results hold no parts
			reason += " (requests taken as independent)"
		}
		if got.Verdict != row.verdict || got.Reason != reason {
			t.Errorf("%s\ngot  %s: %s\nwant %s: %s", row.that, got.Verdict, got.Reason,
				row.verdict, reason)
		}
		if got.AsIndependent && row.a.Confidence == 0 {
			t.Errorf("%s has no bounds that take requests as independent", row.that)
		}
		n := node(1)
		n.Assertions = []result.Assertion{got}
		code, _, _ := Exit(run(n), RunOutcome{})
		want := map[result.Verdict]int{result.Pass: 0, result.Fail: 1, result.Inconclusive: 3}[row.verdict]
		if got.Observed == nil && row.verdict == result.Pass {
			want = 3 // without data, by on_no_data: nothing was judged
		}
		if code != want {
			t.Errorf("exit code %d, want %d", code, want)
		}
	})
}

// TestConfidence: bounds decide, and an open one says how many more requests are likely to.
func TestConfidence(t *testing.T) {
	b := newBuild(t)
	at := scenario.Assertion{Confidence: .95}
	on := func(n *result.Node) result.Stored { return result.Values(&result.Result{Nodes: []*result.Node{n}}, n) }
	good := func(n, failed int) result.Stored { return on(b.node("s", failed, same(10, n)...)) }
	slow := append(same(10, 980), same(80, 20)...)
	sliced := b.node("s", 0, same(10, 1000)...)
	for i := range 11 {
		x := result.Slice{From: float64(i), To: float64(i + 1), OK: 100 + int64(i%2)}
		if i == 10 {
			x.To, x.OK = 10.1, 1
		}
		sliced.Slices = append(sliced.Slices, x)
	}
	ramp := b.node("s", 0, same(10, 1000)...)
	ramp.Slices, ramp.Scopes = sliced.Slices, []result.Scope{{Phase: "spike"}}
	stuck := b.node("s", 0, same(10, 400)...)
	stuck.Metrics[metric.Incomplete] = b.value(metric.Incomplete, 3)
	offered := b.node("s", 0, same(10, 1000)...)
	offered.Metrics[metric.OfferedRate] = b.value(metric.OfferedRate, 100)
	offered.Slices = sliced.Slices
	offered.Metrics[metric.GoodputRatio] = b.value(metric.GoodputRatio, .97)
	offered.Metrics[metric.DroppedCount] = b.value(metric.DroppedCount, 20)
	with := func(n *result.Node, cpu ...float64) *result.Node {
		n.Metrics[metric.ClientCPU] = b.value(metric.ClientCPU, cpu[0])
		for i := range n.Repeats {
			n.Repeats[i].Metrics[metric.ClientCPU] = b.value(metric.ClientCPU, cpu[i])
		}
		return n
	}
	for _, row := range []stored{
		{
			"no error of 299", "errors.ratio < 1%", at, good(299, 0), result.Pass,
			"errors.ratio is 0 % (0 % … 0.9969 % at 95 %), the limit is 1 % (n = 299)",
		},
		{
			"no error of 298", "errors.ratio < 1%", at, good(298, 0), result.Inconclusive,
			"the limit lies within the confidence bounds: errors.ratio is 0 % (0 % … 1.0002 % at 95 %), the limit is 1 % (n = 298); if it stays so, one more request decides it",
		},
		{
			"no error of 100", "errors.ratio < 1%", at, good(100, 0), result.Inconclusive,
			"the limit lies within the confidence bounds: errors.ratio is 0 % (0 % … 2.951 % at 95 %), the limit is 1 % (n = 100); if it stays so, about 199 more requests decide it",
		},
		{
			"as many errors as allowed", "errors.ratio < 1%", at, good(297, 3), result.Inconclusive,
			"the limit lies within the confidence bounds: errors.ratio is 1 % (0.2731 % … 2.564 % at 95 %), the limit is 1 % (n = 300); it is too close to the limit for more requests to decide it",
		},
		{
			"too many errors", "errors.ratio < 1%", at, good(290, 10), result.Fail,
			"errors.ratio is 3.333 % (1.819 % … 5.588 % at 95 %), the limit is 1 % (n = 300)",
		},
		{
			"few errors of few", "errors.ratio < 1%", at, good(998, 2), result.Pass,
			"errors.ratio is 0.2 % (0.03555 % … 0.6282 % at 95 %), the limit is 1 % (n = 1000)",
		},
		{
			"a count is what happened", "errors.count == 0", at, good(20, 0), result.Pass,
			"errors.count is 0, it must be 0 (n = 20)",
		},
		{
			"p99 of 299", "latency.p99 < 50ms", at, good(299, 0), result.Pass,
			"latency.p99 is 10 ms, the limit is 50 ms (n = 299); 0 of 299 are not below it, 0 may be",
		},
		{
			"p99 of 298", "latency.p99 < 50ms", at, good(298, 0), result.Inconclusive,
			"the limit lies within the confidence bounds: latency.p99 is 10 ms (at least 10 ms at 95 %), the limit is 50 ms (n = 298); if it stays so, one more request decides it",
		},
		{
			"p99 of 50", "latency.p99 < 50ms", at, good(50, 0), result.Inconclusive,
			"the limit lies within the confidence bounds: latency.p99 is 10 ms (at least 10 ms at 95 %), the limit is 50 ms (n = 50); if it stays so, about 249 more requests decide it",
		},
		{
			"p99 with more than allowed over it", "latency.p99 < 50ms", at, on(b.node("s", 0, slow...)),
			result.Fail,
			"latency.p99 is 80 ms, the limit is 50 ms (n = 1000); 20 of 1000 are not below it, 4 may be",
		},
		{
			"p98 at its limit", "latency.p98 < 50ms", at, on(b.node("s", 0, slow...)), result.Inconclusive,
			"the limit lies within the confidence bounds: latency.p98 is 10 ms (10 ms … 80 ms at 95 %), the limit is 50 ms (n = 1000); 20 of 1000 are not below it, 12 may be; it is too close to the limit for more requests to decide it",
		},
		{
			"p95 of 1 to 1000", "latency.p95 < 965ms", at, on(b.node("s", 0, upTo(1, 1000)...)), result.Pass,
			"latency.p95 is 950 ms (938 ms … 962 ms at 95 %), the limit is 965 ms (n = 1000); 36 of 1000 are not below it, 38 may be",
		},
		{
			"a lower limit", "latency.p50 > 1ms", at, good(5, 0), result.Pass,
			"latency.p50 is 10 ms, the limit is 1 ms (n = 5)",
		},
		{
			"min_samples beside", "latency.p99 < 50ms",
			scenario.Assertion{Confidence: .95, MinSamples: 1000},
			good(299, 0), result.Inconclusive,
			"701 more requests needed for p99 (have 299 of 1000): so far latency.p99 is 10 ms, the limit is 50 ms",
		},
		{
			"99 %", "latency.p99 < 50ms",
			scenario.Assertion{Confidence: .99},
			good(299, 0),
			result.Inconclusive,
			"the limit lies within the confidence bounds: latency.p99 is 10 ms (at least 10 ms at 99 %), the limit is 50 ms (n = 299); if it stays so, about 160 more requests decide it",
		},
		{
			"no outcome", "latency.p95 < 50ms", at, on(stuck), result.Pass,
			"latency.p95 is 10 ms, the limit is 50 ms (n = 400); 3 of 403 are not below it, 12 may be",
		},
		{
			"no outcome, p99", "latency.p99 < 50ms", at, on(stuck), result.Inconclusive,
			"the limit lies within the confidence bounds: latency.p99 is 10 ms (at least 10 ms at 95 %), the limit is 50 ms (n = 400); 3 of 403 are not below it, 0 may be; if it stays so, about 4004 more requests decide it",
		},
		{
			"mean", "latency.mean < 510ms", at, on(b.node("s", 0, upTo(1, 1000)...)), result.Inconclusive,
			"the limit lies within the confidence bounds: latency.mean is 500.5 ms (485.5 ms … 515.5 ms at 95 %), the limit is 510 ms (n = 1000); if it stays so, about 1506 more requests decide it",
		},
		{
			"mean, wide", "latency.mean < 520ms", at, on(b.node("s", 0, upTo(1, 1000)...)), result.Pass,
			"latency.mean is 500.5 ms (485.5 ms … 515.5 ms at 95 %), the limit is 520 ms (n = 1000)",
		},
		{
			"max", "latency.max < 2s", at, good(1000, 0), result.Inconclusive,
			"latency.max has no confidence bounds: use a percentile or the mean, or leave `confidence` out: latency.max is 10 ms, the limit is 2 s (n = 1000)",
		},
		{
			"max and no data passes", "latency.max < 2s",
			scenario.Assertion{Confidence: .95, OnNoData: "pass"},
			good(1000, 0), result.Inconclusive,
			"latency.max has no confidence bounds: use a percentile or the mean, or leave `confidence` out: latency.max is 10 ms, the limit is 2 s (n = 1000)",
		},
		{
			"rate", "requests.rate >= 0.99 * offered.rate", at, on(offered), result.Pass,
			"requests.rate is 100/s (100/s … 100.8/s at 95 %), the limit is 99/s = 0.99 * offered.rate (n = 1000)",
		},
		{
			"rate that is not reached", "requests.rate >= 1.1 * offered.rate", at, on(offered), result.Fail,
			"requests.rate is 100/s (100/s … 100.8/s at 95 %), the limit is 110/s = 1.1 * offered.rate (n = 1000)",
		},
		{
			"rate of a short hold", "requests.rate > 1/s", at, good(100, 0), result.Inconclusive,
			"requests.rate has no confidence bounds: hold has 0 whole slices, it needs 10: requests.rate is 10/s, the limit is 1/s (n = 100)",
		},
		{
			"rate of a ramp", "requests.rate > 1/s", at, on(ramp), result.Inconclusive,
			"requests.rate has no confidence bounds: the load changes, so its seconds are not alike: requests.rate is 100/s, the limit is 1/s (n = 1000)",
		},
		{
			"goodput counts the dropped", "goodput.ratio > 95%", at, on(offered), result.Pass,
			"goodput.ratio is 97 % (95.92 % … 97.79 % at 95 %), the limit is 95 % (n = 1020)",
		},
		{
			"what is read once", "client.cpu < 50%", at, on(with(b.node("s", 0, 10), .2)),
			result.Inconclusive,
			"client.cpu has no confidence bounds: it is one value; with `repeat`, such as 6, its repeats give some: client.cpu is 20 %, the limit is 50 % (n = 1)",
		},
		{
			"what is read once in a repeat", "client.cpu < 50%", at,
			on(with(b.repeats("s", 10, 10, 10), .2, .3, .25)), result.Pass,
			"client.cpu is 25 % (16.57 % … 33.43 % at 95 %), the limit is 50 % (n = 1)",
		},
		{
			"rate of repeats", "requests.rate > 1/s", at, on(b.repeats("s", 10, 11)), result.Pass,
			"requests.rate is 40/s, the limit is 1/s (n = 800)",
		},
		{
			"max of repeats", "latency.max < 1s", at, on(b.repeats("s", 10, 11)), result.Inconclusive,
			"latency.max has no confidence bounds: use a percentile or the mean, or leave `confidence` out: latency.max is 11 ms, the limit is 1 s (n = 800)",
		},
		{
			"two metrics of one node", "latency.p50 < 2 * latency.mean", at,
			on(b.node("s", 0, upTo(1, 1000)...)), result.Pass,
			"latency.p50 is 500 ms (474 ms … 527 ms at 95 %), the limit is 1.001 s (970.9 ms … 1.031 s at 95 %) = 2 * latency.mean (n = 1000)",
		},
		{
			"nothing sent", "errors.ratio < 1%", at, good(0, 0), result.Inconclusive,
			"no data: errors.ratio has no value",
		},
		{
			"every request failed", "latency.p99 < 50ms", at, good(0, 500), result.Inconclusive,
			"no data: latency.p99 has no value",
		},
	} {
		row.test(t)
	}
}

// TestGivenUp: of 100 requests four have no outcome, and two of these were never sent. They took
// longer than those that have one: a statistic that they can change is not known, and they are over
// every limit.
func TestGivenUp(t *testing.T) {
	b := newBuild(t)
	n := b.node("s", 0, upTo(1, 96)...)
	n.Metrics[metric.RequestsCount] = b.value(metric.RequestsCount, 98)
	n.Metrics[metric.Incomplete] = b.value(metric.Incomplete, 4)
	for _, name := range []string{metric.ServiceTime, metric.FirstResponse} {
		d := &stats.Dist{}
		for _, ms := range upTo(1, 96) {
			d.Add(int64(ms * 1e6))
		}
		n.Metrics[name] = result.Distribution(b.row(name), d, nil)
	}
	on := result.Values(&result.Result{Nodes: []*result.Node{n}}, n)
	few := scenario.Assertion{MinSamples: 5}
	for _, row := range []stored{
		{
			"the largest", "latency.max < 1s", few, on, result.Inconclusive,
			"no data: latency.max: 4 requests that were due have no outcome, so the max of all of them is not known",
		},
		{
			"the mean", "latency.mean < 1s", few, on, result.Inconclusive,
			"no data: latency.mean: 4 requests that were due have no outcome, so the mean of all of them is not known",
		},
		{
			"the spread", "latency.std < 1s", few, on, result.Inconclusive,
			"no data: latency.std: 4 requests that were due have no outcome, so the std of all of them is not known",
		},
		{
			"the smallest", "latency.min < 2ms", few, on, result.Pass,
			"latency.min is 1 ms, the limit is 2 ms (n = 96)",
		},
		{
			"a percentile that they do not reach", "latency.p90 < 91ms", few, on, result.Pass,
			"latency.p90 is 90 ms, the limit is 91 ms (n = 96)",
		},
		{
			"a percentile that they move", "latency.p95 < 94.5ms", few, on, result.Fail,
			"latency.p95 is 95 ms, the limit is 94.5 ms (n = 96)",
		},
		{
			"a percentile that they are", "latency.p97 < 1s", few, on, result.Inconclusive,
			"no data: latency.p97: 4 of 100 requests that were due have no outcome, so the p97 of all of them is not known",
		},
		{
			"the service time of those sent", "service_time.max < 1s", few, on, result.Inconclusive,
			"no data: service_time.max: 2 requests that were due have no outcome, so the max of all of them is not known",
		},
		{
			"a percentile of the service time", "service_time.p97 < 1s", few, on, result.Pass,
			"service_time.p97 is 96 ms, the limit is 1 s (n = 96)",
		},
		{
			"the first response of those sent", "first_response.p99 < 1s", few, on, result.Inconclusive,
			"no data: first_response.p99: 2 of 98 requests that were due have no outcome, so the p99 of all of them is not known",
		},
		{
			"what does not wait for them", "requests.count == 98", few, on, result.Pass,
			"requests.count is 98, it must be 98 (n = 98)",
		},
	} {
		row.test(t)
	}
}

// TestRepeats: two nodes, or a node and the baseline, are compared by their repeats.
func TestRepeats(t *testing.T) {
	b := newBuild(t)
	at := scenario.Assertion{Confidence: .95}
	of := func(nodes ...*result.Node) result.Stored {
		return result.Values(&result.Result{Nodes: nodes},
			nil)
	}
	old := func(nodes ...*result.Node) *result.Baseline {
		return &result.Baseline{File: "main.json", Result: &result.Result{Nodes: nodes}}
	}
	const ab = `stage("ab[side=new]").latency.p99 <= 1.1 * stage("ab[side=old]").latency.p99`
	const base = `latency.p95 <= max(1.1 * baseline.latency.p95, baseline.latency.p95 + 1ms)`
	steady := b.repeats("s", 50, 51, 50, 49, 50, 50)
	short := b.repeats("ab[side=new]", 50, 51)
	short.Repeats[1].Outcome = result.InterruptedNode
	quiet := b.repeats("ab[side=new]", 50, 51)
	quiet.Repeats[1].Metrics = b.numbers(0)
	here := func(base *result.Baseline) result.Stored {
		return result.Values(&result.Result{Nodes: []*result.Node{steady}}, steady).Against(base)
	}
	for _, row := range []stored{
		{
			"alike", ab, at, of(b.repeats("ab[side=old]", 50, 60, 55, 70),
				b.repeats("ab[side=new]", 51, 61, 56, 71)), result.Pass,
			`stage("ab[side=new]").latency.p99 is 59.75 ms, the limit is 64.63 ms = 1.1 * stage("ab[side=old]").latency.p99; over 4 repeats their difference is -4.875 ms (-5.88 ms … -3.87 ms at 95 %) (n = 1600)`,
		},
		{
			"what disturbs both is not their difference",
			`stage("ab[side=new]").latency.p99 > stage("ab[side=old]").latency.p99`, at,
			of(b.repeats("ab[side=old]", 50, 60, 55, 70), b.repeats("ab[side=new]", 51, 61.1, 56, 71)),
			result.Pass,
			`stage("ab[side=new]").latency.p99 is 59.77 ms, the limit is 58.75 ms = stage("ab[side=old]").latency.p99; over 4 repeats their difference is 1.025 ms (966.2 µs … 1.084 ms at 95 %) (n = 1600)`,
		},
		{
			"slower", ab, at, of(b.repeats("ab[side=old]", 50, 51, 52, 50),
				b.repeats("ab[side=new]", 60, 62, 61, 60)), result.Fail,
			`stage("ab[side=new]").latency.p99 is 60.75 ms, the limit is 55.83 ms = 1.1 * stage("ab[side=old]").latency.p99; over 4 repeats their difference is 4.925 ms (3.911 ms … 5.939 ms at 95 %) (n = 1600)`,
		},
		{
			"too much noise", ab, at, of(b.repeats("ab[side=old]", 50, 70, 52, 50),
				b.repeats("ab[side=new]", 60, 50, 71, 50)), result.Inconclusive,
			`the repeats do not agree which side of the limit it is on: stage("ab[side=new]").latency.p99 is 57.75 ms, the limit is 61.05 ms = 1.1 * stage("ab[side=old]").latency.p99; over 4 repeats their difference is -3.3 ms (-23.97 ms … 17.37 ms at 95 %) (n = 1600); if it stays so, about 153 more repeats decide it`,
		},
		{
			"two repeats", ab, at, of(b.repeats("ab[side=old]", 50, 51), b.repeats("ab[side=new]", 50, 51)),
			result.Pass,
			`stage("ab[side=new]").latency.p99 is 50.5 ms, the limit is 55.55 ms = 1.1 * stage("ab[side=old]").latency.p99; over 2 repeats their difference is -5.05 ms (-5.366 ms … -4.734 ms at 95 %) (n = 800)`,
		},
		{
			"one repeat", ab, at, of(b.node("ab[side=old]", 0, same(50, 400)...),
				b.node("ab[side=new]", 0, same(50, 400)...)), result.Inconclusive,
			"stage \"ab\" ran once: `repeat: 6` there gives repeats to judge by: stage(\"ab[side=new]\").latency.p99 is 50 ms, the limit is 55 ms = 1.1 * stage(\"ab[side=old]\").latency.p99 (n = 400)",
		},
		{
			"a repeat was cut short", ab, at, of(b.repeats("ab[side=old]", 50, 51), short),
			result.Inconclusive,
			`repeat 2 of stage "ab[side=new]" is interrupted: stage("ab[side=new]").latency.p99 is 51 ms, the limit is 56.1 ms = 1.1 * stage("ab[side=old]").latency.p99 (n = 800)`,
		},
		{
			"a repeat has no data", ab, at, of(b.repeats("ab[side=old]", 50, 51), quiet),
			result.Inconclusive,
			`repeat 2: latency.p99 has no value: stage("ab[side=new]").latency.p99 is 51 ms, the limit is 55.55 ms = 1.1 * stage("ab[side=old]").latency.p99 (n = 800)`,
		},
		{
			"points without confidence", ab,
			scenario.Assertion{},
			of(b.node("ab[side=old]", 0, same(50, 400)...), b.node("ab[side=new]", 0, same(54, 400)...)),
			result.Pass,
			`stage("ab[side=new]").latency.p99 is 54 ms, the limit is 55 ms = 1.1 * stage("ab[side=old]").latency.p99 (n = 400)`,
		},
		{
			"two stages", `stage("b").latency.p99 <= stage("a").latency.p99`, at,
			of(b.repeats("a", 50, 51, 52, 50), b.repeats("b", 40, 41, 42)), result.Pass,
			`stage("b").latency.p99 is 41 ms, the limit is 50.75 ms = stage("a").latency.p99; over 7 repeats their difference is -9.75 ms (-11.31 ms … -8.186 ms at 95 %) (n = 1200)`,
		},
		{
			"baseline, alike", base, at, here(old(b.repeats("s", 50, 50, 51, 50, 49, 50))), result.Pass,
			"latency.p95 is 50 ms, the limit is 55 ms = max(1.1 * baseline.latency.p95, baseline.latency.p95 + 1ms); over 12 repeats their difference is -5 ms (-5.696 ms … -4.304 ms at 95 %) (n = 2400)",
		},
		{
			"baseline, slower", base, at, here(old(b.repeats("s", 40, 41, 40, 40, 41, 40))), result.Fail,
			"latency.p95 is 50 ms, the limit is 44.37 ms = max(1.1 * baseline.latency.p95, baseline.latency.p95 + 1ms); over 12 repeats their difference is 5.633 ms (5.004 ms … 6.263 ms at 95 %) (n = 2400)",
		},
		{
			"baseline, once", base, at, here(old(b.node("s", 0, same(50, 400)...))), result.Inconclusive,
			"the baseline has stage \"s\" once: it must be made with `repeat`, such as 6: latency.p95 is 51 ms, the limit is 55 ms = max(1.1 * baseline.latency.p95, baseline.latency.p95 + 1ms) (n = 2400)",
		},
		{
			"baseline, points", base,
			scenario.Assertion{},
			here(old(b.node("s", 0, same(50, 400)...))),
			result.Pass,
			"latency.p95 is 51 ms, the limit is 55 ms = max(1.1 * baseline.latency.p95, baseline.latency.p95 + 1ms) (n = 2400)",
		},
		{
			"the same value in all repeats", base, at,
			result.Values(&result.Result{}, b.repeats("s", 50, 50)).Against(old(b.repeats("s", 50, 50))),
			result.Pass,
			"latency.p95 is 50 ms, the limit is 55 ms = max(1.1 * baseline.latency.p95, baseline.latency.p95 + 1ms); over 4 repeats their difference is -5 ms (n = 800)",
		},
	} {
		row.test(t)
	}
}

// TestBaseline: what may be compared with, and what is no evidence.
func TestBaseline(t *testing.T) {
	b := newBuild(t)
	steady := b.node("s", 0, same(50, 400)...)
	with := func(change func(r *result.Result, n *result.Node)) result.Stored {
		n := b.node("s", 0, same(48, 400)...)
		r := &result.Result{
			Nodes:   []*result.Node{n, b.node("other", 0, same(30, 400)...)},
			Verdict: result.Pass,
		}
		change(r, n)
		return result.Values(&result.Result{Nodes: []*result.Node{steady}},
			steady).Against(&result.Baseline{File: "main.json", Result: r})
	}
	none := result.Values(&result.Result{Nodes: []*result.Node{steady}}, steady)
	const that = "latency.p95 <= 1.1 * baseline.latency.p95"
	for _, row := range []stored{
		{
			"good", that,
			scenario.Assertion{},
			with(func(*result.Result, *result.Node) {}), result.Pass,
			"latency.p95 is 50 ms, the limit is 52.8 ms = 1.1 * baseline.latency.p95 (n = 400)",
		},
		{
			"another node", `latency.p95 <= 2 * baseline.stage("other").latency.p95`,
			scenario.Assertion{},
			with(func(*result.Result, *result.Node) {}), result.Pass,
			`latency.p95 is 50 ms, the limit is 60 ms = 2 * baseline.stage("other").latency.p95 (n = 400)`,
		},
		{
			"not there", that,
			scenario.Assertion{},
			none.Against(&result.Baseline{File: "main.json", Missing: "there is no such file"}),
			result.Inconclusive,
			"no data: baseline.latency.p95: there is no baseline main.json: there is no such file",
		},
		{
			"not named", that,
			scenario.Assertion{},
			none, result.Inconclusive,
			"no data: baseline.latency.p95: the plan names no baseline",
		},
		{
			"without the node", `latency.p95 <= baseline.stage("new").latency.p95`,
			scenario.Assertion{},
			with(func(*result.Result, *result.Node) {}), result.Inconclusive,
			`no data: baseline.stage("new").latency.p95: the baseline main.json has no stage "new"`,
		},
		{
			"partial", that,
			scenario.Assertion{},
			with(func(r *result.Result, _ *result.Node) {
				r.State, r.Reason = result.StatePartial, "interrupted by SIGINT: the result is partial"
			}), result.Inconclusive,
			"no data: baseline.latency.p95: the baseline main.json is not a whole run: interrupted by SIGINT: the result is partial",
		},
		{
			"in error", that,
			scenario.Assertion{},
			with(func(r *result.Result, _ *result.Node) { r.Verdict = result.ErrorVerdict }),
			result.Inconclusive,
			"no data: baseline.latency.p95: the baseline main.json is not a whole run: it ended in error",
		},
		{
			"invalid", that,
			scenario.Assertion{},
			with(func(_ *result.Result, n *result.Node) {
				n.Outcome, n.Reason = result.Invalid, "the client was 3 ms late"
			}), result.Inconclusive,
			`no data: baseline.latency.p95: in the baseline, stage "s" has no valid measurement: the client was 3 ms late`,
		},
		{
			"failed its own gate", that,
			scenario.Assertion{},
			with(func(r *result.Result, n *result.Node) {
				r.Verdict = result.Fail
				n.Assertions = []result.Assertion{{
					ID: "default-errors", Verdict: result.Fail,
					Severity: "gate", Reason: "errors.count is 9, it must be 0",
				}}
			}), result.Inconclusive,
			`no data: baseline.latency.p95: in the baseline, stage "s" failed its own gate default-errors: errors.count is 9, it must be 0`,
		},
		{
			"invalid, and no data passes", that,
			scenario.Assertion{OnNoData: "pass"},
			with(func(_ *result.Result, n *result.Node) { n.Outcome, n.Reason = result.Invalid, "late" }),
			result.Inconclusive,
			`no data: baseline.latency.p95: in the baseline, stage "s" has no valid measurement: late`,
		},
		{
			"not there, and no data passes", that,
			scenario.Assertion{OnNoData: "pass"},
			none.Against(&result.Baseline{File: "main.json", Missing: "there is no such file"}),
			result.Pass,
			"no data, and on_no_data is pass: baseline.latency.p95: there is no baseline main.json: there is no such file",
		},
		{
			"only warned", that,
			scenario.Assertion{},
			with(func(_ *result.Result, n *result.Node) {
				n.Assertions = []result.Assertion{{ID: "s/1", Verdict: result.Fail, Severity: "warn"}}
			}), result.Pass,
			"latency.p95 is 50 ms, the limit is 52.8 ms = 1.1 * baseline.latency.p95 (n = 400)",
		},
		{
			"inconclusive itself", that,
			scenario.Assertion{},
			with(func(r *result.Result, _ *result.Node) { r.Verdict = result.Inconclusive }), result.Pass,
			"latency.p95 is 50 ms, the limit is 52.8 ms = 1.1 * baseline.latency.p95 (n = 400)",
		},
		{
			"another node failed", that,
			scenario.Assertion{},
			with(func(r *result.Result, _ *result.Node) {
				r.Verdict = result.Fail
				r.Nodes[1].Assertions = []result.Assertion{{
					ID: "other/1", Verdict: result.Fail,
					Severity: "gate",
				}}
			}), result.Pass,
			"latency.p95 is 50 ms, the limit is 52.8 ms = 1.1 * baseline.latency.p95 (n = 400)",
		},
		{
			"made of failed requests", "errors.ratio <= baseline.errors.ratio",
			scenario.Assertion{},
			with(func(_ *result.Result, n *result.Node) { n.Metrics = b.numbers(400) }),
			result.Inconclusive,
			`no data: baseline.errors.ratio: in the baseline, no request of stage "s" was answered well`,
		},
	} {
		row.test(t)
	}
}

// TestParts: phases, entries of a mix, and what was not measured apart.
func TestParts(t *testing.T) {
	b := newBuild(t)
	n := b.node("s", 0, same(50, 800)...)
	n.Scopes = []result.Scope{
		{Phase: "spike", Metrics: b.numbers(40, same(90, 360)...)},
		{Mix: "sql", Metrics: b.numbers(0, same(20, 100)...)},
		{Phase: "spike", Mix: "sql", Metrics: b.numbers(0)},
	}
	on := result.Values(&result.Result{Nodes: []*result.Node{n}}, n)
	plan := result.Values(&result.Result{Nodes: []*result.Node{n}}, nil)
	for _, row := range []stored{
		{
			"phase", `phase("spike").latency.p99 < 50ms`,
			scenario.Assertion{},
			on, result.Fail,
			`phase("spike").latency.p99 is 90 ms, the limit is 50 ms (n = 360)`,
		},
		{
			"phase of a stage", `stage("s").phase("spike").errors.ratio < 5%`,
			scenario.Assertion{},
			plan,
			result.Fail, `stage("s").phase("spike").errors.ratio is 10 %, the limit is 5 % (n = 400)`,
		},
		{
			"mix, too few", `mix("sql").latency.p99 < 50ms`,
			scenario.Assertion{},
			on, result.Inconclusive,
			`199 more requests needed for p99 (have 100 of 299): so far mix("sql").latency.p99 is 20 ms, the limit is 50 ms`,
		},
		{
			"mix with confidence", `mix("sql").latency.p95 < 50ms`,
			scenario.Assertion{Confidence: .95},
			on,
			result.Pass,
			`mix("sql").latency.p95 is 20 ms, the limit is 50 ms (n = 100); 0 of 100 are not below it, 1 may be`,
		},
		{
			"rate of a phase with confidence", `phase("spike").requests.rate > 1/s`,
			scenario.Assertion{Confidence: .95},
			on, result.Inconclusive,
			`requests.rate has no confidence bounds: the rate of a part is not kept by the second: phase("spike").requests.rate is 36/s, the limit is 1/s (n = 400)`,
		},
		{
			"nothing sent in it", `phase("spike").mix("sql").errors.count == 0`,
			scenario.Assertion{},
			on,
			result.Inconclusive, `no data: phase("spike").mix("sql").errors.count: no request was sent`,
		},
		{
			"not there", `phase("base").latency.p99 < 50ms`,
			scenario.Assertion{},
			on, result.Inconclusive,
			`no data: phase("base").latency.p99: phase("base") was not measured apart`,
		},
		{
			"not measured apart", `model("detect").latency.p99 < 50ms`,
			scenario.Assertion{},
			on,
			result.Inconclusive,
			`no data: model("detect").latency.p99: the server's statistics have no composing model "detect"`,
		},
		{
			"one part against another", `phase("spike").latency.p50 < 2 * latency.p50`,
			scenario.Assertion{},
			on, result.Pass,
			`phase("spike").latency.p50 is 90 ms, the limit is 100 ms = 2 * latency.p50 (n = 360)`,
		},
	} {
		row.test(t)
	}
}

// TestWindows is `every`, `allow` and `within` on a node of which each second has one latency.
func TestWindows(t *testing.T) {
	b := newBuild(t)
	// series has a window a second; 0 is one without a request, below 0 one with few requests that
	// take so long.
	series := func(ms ...float64) result.Stored {
		n := b.node("s", 0, same(50, 800)...)
		s := result.Series{Phase: "recover", Every: 1, From: 40, To: 40 + float64(len(ms))}
		for i, v := range ms {
			numbers := b.numbers(0, same(v, 100)...)
			switch {
			case v == 0:
				numbers = b.numbers(0)
			case v < 0:
				numbers = b.numbers(0, same(-v, 9)...)
			}
			s.Windows = append(s.Windows, result.SeriesWindow{From: 40 + float64(i), To: 41 +
				float64(i), Metrics: numbers})
		}
		n.Series = []result.Series{s}
		return result.Values(&result.Result{Nodes: []*result.Node{n}}, n)
	}
	lost := series(10, 10)
	const p95 = `phase("recover").latency.p95 < 60ms`
	every := scenario.Assertion{Every: time.Second}
	allow := scenario.Assertion{Every: time.Second, Allow: .25}
	within := scenario.Assertion{Within: 3 * time.Second}
	for _, row := range []stored{
		{
			"every, true", p95, every, series(10, 20, 30, 40), result.Pass,
			`true in 4 of 4 windows; the closest, 3 s to 4 s: phase("recover").latency.p95 is 40 ms, the limit is 60 ms (n = 100)`,
		},
		{
			"every, one is false", p95, every, series(10, 70, 80, 40), result.Fail,
			`true in 2 of 4 windows; the first that is false, 1 s to 2 s: phase("recover").latency.p95 is 70 ms, the limit is 60 ms (n = 100)`,
		},
		{
			"every, an empty window", p95, every, series(10, 0, 30, 40), result.Inconclusive,
			"true in 3 of 4 windows, 1 open; the first, 1 s to 2 s: no data: latency.p95 has no value",
		},
		{
			"every, an empty window that may be", p95,
			scenario.Assertion{Every: time.Second, OnNoData: "pass"},
			series(10, 0, 30, 40), result.Pass,
			`true in 4 of 4 windows; the closest, 3 s to 4 s: phase("recover").latency.p95 is 40 ms, the limit is 60 ms (n = 100)`,
		},
		{
			"every, few in a window", p95, every, series(10, -20, 30, 40), result.Inconclusive,
			`true in 3 of 4 windows, 1 open; the first, 1 s to 2 s: 50 more requests needed for p95 (have 9 of 59): so far phase("recover").latency.p95 is 20 ms, the limit is 60 ms`,
		},
		{
			"every, few and slow in a window", p95, every, series(10, -70, 30, 40), result.Fail,
			`true in 3 of 4 windows; the first that is false, 1 s to 2 s: phase("recover").latency.p95 is 70 ms, the limit is 60 ms (n = 9)`,
		},
		{
			"allow, as many", p95, allow, series(10, 70, 30, 40), result.Pass,
			`true in 3 of 4 windows, 25 % of them may be false; the first that is false, 1 s to 2 s: phase("recover").latency.p95 is 70 ms, the limit is 60 ms (n = 100)`,
		},
		{
			"allow, more", p95, allow, series(10, 70, 30, 80), result.Fail,
			`true in 2 of 4 windows, 25 % of them may be false; the first that is false, 1 s to 2 s: phase("recover").latency.p95 is 70 ms, the limit is 60 ms (n = 100)`,
		},
		{
			"allow, perhaps more", p95, allow, series(10, 70, 30, 0), result.Inconclusive,
			"true in 2 of 4 windows, 25 % of them may be false, 1 open; the first, 3 s to 4 s: no data: latency.p95 has no value",
		},
		{
			"every, with confidence", p95,
			scenario.Assertion{Every: time.Second, Confidence: .95},
			series(10, 20, 30, 40), result.Pass,
			`true in 4 of 4 windows; the closest, 3 s to 4 s: phase("recover").latency.p95 is 40 ms, the limit is 60 ms (n = 100); 0 of 100 are not below it, 1 may be`,
		},
		{
			"every, no window", p95, every, series(), result.Inconclusive,
			"no data: its scope has no whole window of 1 s",
		},
		{
			"every, not kept", p95,
			scenario.Assertion{Every: 2 * time.Second},
			lost, result.Inconclusive,
			"no data: the windows of 2 s were not kept",
		},
		{
			"within, at once", p95, within, series(10, 20, 30, 40), result.Pass,
			"it is true from the start on, it must be from 3 s on",
		},
		{
			"within, in time", p95, within, series(90, 80, 70, 40, 30), result.Pass,
			`it is true from 3 s on, it must be from 3 s on; before, 2 s to 3 s: phase("recover").latency.p95 is 70 ms, the limit is 60 ms (n = 100)`,
		},
		{
			"within, too late", p95, within, series(90, 80, 70, 70, 30), result.Fail,
			`it is true from 4 s on, it must be from 3 s on; before, 3 s to 4 s: phase("recover").latency.p95 is 70 ms, the limit is 60 ms (n = 100)`,
		},
		{
			"within, and back again", p95, within, series(90, 10, 10, 10, 90), result.Fail,
			`it is not true at the end of its scope; the last window, 4 s to 5 s: phase("recover").latency.p95 is 90 ms, the limit is 60 ms (n = 100)`,
		},
		{
			"within, and one later", p95, within, series(90, 10, 10, 10, 90, 10), result.Fail,
			`it is true from 5 s on, it must be from 3 s on; before, 4 s to 5 s: phase("recover").latency.p95 is 90 ms, the limit is 60 ms (n = 100)`,
		},
		{
			"within, not known then", p95, within, series(90, 80, 10, 0, 30), result.Inconclusive,
			"it is not known from when on it is true; before, 3 s to 4 s: no data: latency.p95 has no value",
		},
		{
			"within, not known in time", p95, within, series(90, 0, 10, 10, 30), result.Pass,
			"it is true from 2 s on, it must be from 3 s on; before, 1 s to 2 s: no data: latency.p95 has no value",
		},
		{
			"within, not known at the end", p95, within, series(90, 10, 10, 10, 0), result.Inconclusive,
			"it is not known from when on it is true; the last window, 4 s to 5 s: no data: latency.p95 has no value",
		},
		{
			"the last 60 of 1020 fail: k6#2379", `phase("recover").errors.ratio < 50%`, every,
			series(10, 10, 10), result.Pass,
			`true in 3 of 3 windows; the closest, 0 s to 1 s: phase("recover").errors.ratio is 0 %, the limit is 50 % (n = 100)`,
		},
	} {
		row.test(t)
	}
}
