package result

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// ref is a reference to a leaf of node ("": the judged one).
func ref(t testing.TB, node, path string) expression.Ref {
	t.Helper()
	c, err := metric.New(metric.SeriesRow("queue", "", "ns", true))
	if err != nil {
		t.Fatal(err)
	}
	l, ok := c.Leaf(path)
	if !ok {
		t.Fatalf("no leaf %s", path)
	}
	return expression.Ref{Place: expression.Place{Node: node}, Leaf: l}
}

func known(v float64, n, need int64) expression.Quantity {
	return expression.Quantity{Known: true, V: v, Lo: v, Hi: v, N: n, Need: need}
}

func unknown(need int64, why string) expression.Quantity {
	return expression.Quantity{Need: need, Why: why}
}

func TestQuantity(t *testing.T) {
	tests := []struct {
		judged, node, path string
		want               expression.Quantity
	}{
		{"steady", "", "latency.p50", known(0.035, 5, 5)},
		{"steady", "", "latency.p99", known(0.05, 5, 299)},
		{"steady", "", "latency.p(99.9)", known(0.05, 5, 2995)},
		{"steady", "", "latency.mean", known(0.032, 5, 1)},
		{"steady", "", "latency.count", known(5, 1, 1)},
		{"steady", "", "requests.rate", known(0.5, 5, 1)},
		{"steady", "", "requests.count", known(5, 1, 1)},
		{"steady", "", "errors.count", known(0, 5, 1)},
		{"steady", "", "offered.rate", known(2, 1, 1)},
		{"steady", "", "client.cpu", unknown(1, "client.cpu has no value")},
		{"steady", "", "server.queue.mean", unknown(1, "server.queue.mean was not measured")},
		{"steady", "steady", "latency.p50", known(0.035, 5, 5)},
		{"silent", "steady", "latency.p50", known(0.035, 5, 5)},
		// Nothing was sent: an empty set of requests proves nothing, and its size is known.
		{"silent", "", "latency.p50", unknown(5, "latency.p50 has no value")},
		{"silent", "", "latency.count", unknown(1, "no request was sent")},
		{"silent", "", "errors.count", unknown(1, "no request was sent")},
		{"silent", "", "requests.rate", unknown(1, "no request was sent")},
		{"silent", "", "requests.count", known(0, 1, 1)},
		{"steady", "silent", "errors.count", unknown(1, `stage "silent": no request was sent`)},
		// What another node measured counts when it can be trusted; the judged node's own numbers
		// are verdict's to weigh.
		{
			"steady", "skipped", "latency.p50",
			unknown(5, `stage "skipped" was skipped: stage "steady" failed`),
		},
		{
			"steady", "invalid", "latency.p50",
			unknown(5, `stage "invalid" has no valid measurement: the client was 3 ms late`),
		},
		{"steady", "unstable", "latency.p50", unknown(5, `stage "unstable" did not become stable`)},
		{"invalid", "", "latency.p50", known(0.002, 3, 5)},
		{"steady", "gone", "latency.p50", unknown(5, `there is no stage "gone" in the result`)},
		{"", "", "latency.p50", unknown(5, "no stage is named")},
		{"", "steady", "latency.p50", known(0.035, 5, 5)},
	}
	// The stored form decides, so the values are asked from what was written and read.
	r, err := Read(strings.NewReader(text(t, sample())))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.judged+"/"+tt.node+"/"+tt.path, func(t *testing.T) {
			if diff := cmp.Diff(tt.want,
				Values(r, node(r, tt.judged)).Quantity(ref(t, tt.node, tt.path))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestQuantityOfErrors: requests without an outcome may have failed.
func TestQuantityOfErrors(t *testing.T) {
	const some = "3 of the requests have no outcome, and may have failed: they were still open after the drain"
	for _, c := range []struct {
		path         string
		sent, failed float64
		unsent       float64 // of those without an outcome
		lo, hi       float64
		why          string
	}{
		{"errors.count", 8, 0, 0, 0, 3, some},
		{"errors.count", 8, 0, 4, 0, 3, some}, // what was never sent is no error either
		{"errors.ratio", 20, 12, 0, 0.6, 0.75, some},
		{"errors.timeout.count", 8, 0, 0, 0, 3, some},
		{"errors.timeout.ratio", 8, 0, 0, 0, 0.375, some},
		{"errors.count", 5, 0, 0, 0, 0, ""},
		{
			"errors.count", 6, 0, 2, 0, 1,
			"1 of the requests has no outcome, and may have failed: it was still open after the drain",
		},
		{"requests.count", 8, 0, 0, 8, 8, ""},
	} {
		r := sample()
		n := node(r, "steady")
		n.Metrics["service_time"] = n.Metrics["latency"]
		answered := float64(*n.Metrics["latency"].Count)
		n.Metrics["requests.count"] = Number(metric.Count, c.sent)
		n.Metrics["errors.count"] = Number(metric.Count, c.failed)
		n.Metrics["errors.ratio"] = Number(metric.Ratio, c.failed/c.sent)
		n.Metrics["errors.timeout.count"] = Number(metric.Count, 0)
		n.Metrics["errors.timeout.ratio"] = Number(metric.Ratio, 0)
		n.Metrics["incomplete.count"] = Number(metric.Count, c.sent-c.failed-answered+c.unsent)
		q := Values(r, n).Quantity(ref(t, "", c.path))
		if !q.Known || q.Lo != c.lo || q.Hi != c.hi || q.V != c.lo || q.Why != c.why {
			t.Errorf("%+v: %+v", c, q)
		}
	}
}

// TestQuantityOfTokenTimes: a request without an outcome is slower than all others in times of tokens too.
func TestQuantityOfTokenTimes(t *testing.T) {
	r := sample()
	n := node(r, "steady")
	for _, row := range []string{"ttft", "ttst", "latency_content", "ttft_answer", "tpot", "ntpot"} {
		var d stats.Dist
		for v := range int64(9) {
			d.Add((v + 1) * 1e7)
		}
		n.Metrics = map[string]*Metric{
			row:               Distribution(ref(t, "", row+".p50").Leaf.Row, &d, nil),
			metric.Incomplete: Number(metric.Count, 1),
		}
		if q := Values(r, n).Quantity(ref(t, "", row+".p50")); !q.Known || q.V != 0.05 {
			t.Errorf("%s.p50: %+v", row, q)
		}
		if q := Values(r, n).Quantity(ref(t, "", row+".p99")); q.Known || !strings.Contains(q.Why, "no outcome") {
			t.Errorf("%s.p99: %+v", row, q)
		}
	}
}

// TestAdjustedCountsEach: of 20 requests that were due 10 were answered, 2 failed and 3 hang; 5 were dropped,
// of which 1 was due when the node ended.
func TestAdjustedCountsEach(t *testing.T) {
	r := sample()
	n := node(r, "steady")
	var d stats.Dist
	for range 10 {
		d.Add(100e6)
	}
	times := Distribution(ref(t, "", "latency.p50").Leaf.Row, &d, nil)
	n.Metrics = map[string]*Metric{
		metric.Latency: times, metric.ServiceTime: times,
		metric.RequestsCount: Number(metric.Count, 15), metric.ErrorsCount: Number(metric.Count, 2),
		metric.DroppedCount: Number(metric.Count, 5), metric.Incomplete: Number(metric.Count, 4),
	}
	for path, want := range map[string]float64{
		"latency.adjusted.p50": 0.1, "latency.adjusted.p51": math.Inf(1),
	} {
		if q := Values(r, n).Quantity(ref(t, "", path)); q.V != want || q.N != 20 {
			t.Errorf("%s is %v of %d, want %v of 20", path, q.V, q.N, want)
		}
	}
}

// TestQuantityOfSome: which requests have a value is not known of one without an outcome.
func TestQuantityOfSome(t *testing.T) {
	r := sample()
	n := node(r, "steady")
	for _, row := range []string{"ttft_cached", "ttft_uncached"} {
		var d stats.Dist
		d.Add(1e7)
		at := ref(t, "", row+".p50")
		n.Metrics = map[string]*Metric{row: Distribution(at.Leaf.Row, &d, nil)}
		if q := Values(r, n).Quantity(at); !q.Known || q.V != 0.01 {
			t.Errorf("%s: %+v", row, q)
		}
		n.Metrics[metric.Incomplete] = Number(metric.Count, 1)
		if q := Values(r, n).Quantity(at); q.Known || !strings.Contains(q.Why, "no outcome") {
			t.Errorf("%s with a request without an outcome: %+v", row, q)
		}
		if _, _, ok := Values(r, n).Exceeding(at, "<", 1); ok {
			t.Errorf("%s: values above a limit were counted", row)
		}
	}
}

// TestInteractivityOfAll: the slow readers among nine of ten may be those whose requests have no outcome.
func TestInteractivityOfAll(t *testing.T) {
	r := sample()
	n := node(r, "steady")
	of := func(open float64, keep bool) expression.Quantity {
		var d stats.Dist
		for v := range int64(18) {
			d.Add((v + 1) * 1e7)
		}
		n.Metrics = map[string]*Metric{
			metric.Interactivity: Number(metric.Rate, 1/0.17), metric.Incomplete: Number(metric.Count, open),
		}
		if keep {
			n.Metrics[metric.NTPOT] = Distribution(ref(t, "", "ntpot.p50").Leaf.Row, &d, nil)
		}
		return Values(r, n).Quantity(ref(t, "", metric.Interactivity))
	}
	if q := of(0, true); !q.Known || q.V != 1/0.17 {
		t.Errorf("all have an outcome: %+v", q)
	}
	if q := of(2, true); !q.Known || math.Abs(q.V-1/0.18) > 1e-3 {
		t.Errorf("two of 20 have none: %+v", q)
	}
	for _, q := range []expression.Quantity{of(3, true), of(1, false)} {
		if q.Known || !strings.Contains(q.Why, "no outcome") {
			t.Errorf("not known: %+v", q)
		}
	}
}

// TestQuantityAdjusted: nine requests of 100 ms, and one that failed, was dropped or has no outcome.
func TestQuantityAdjusted(t *testing.T) {
	inf := math.Inf(1)
	for _, cause := range []string{metric.ErrorsCount, metric.DroppedCount, metric.Incomplete} {
		r := sample()
		n := node(r, "steady")
		var d stats.Dist
		for range 9 {
			d.Add(100e6)
		}
		n.Metrics = map[string]*Metric{
			"latency": Distribution(ref(t, "", "latency.p50").Leaf.Row, &d, nil), cause: Number(metric.Count, 1),
		}
		for path, want := range map[string]float64{
			"latency.adjusted.p50": 0.1, "latency.adjusted.p90": 0.1, "latency.adjusted.p95": inf,
			"latency.adjusted.p100": inf,
		} {
			l := ref(t, "", path)
			q := Values(r, n).Quantity(l)
			if !q.Known || q.V != want || q.Lo != want || q.Hi != want || q.N != 10 {
				t.Errorf("%s with %s: %+v, want %v", path, cause, q, want)
			}
			if less := expression.Decide("<", q, expression.Exactly(1e9, 0, 0)); less > 0 != (want < inf) {
				t.Errorf("%s with %s: below the limit %d", path, cause, less)
			}
			bounded := Values(r, n).Demanding(0.95, 0, nil).Quantity(l)
			if !strings.Contains(bounded.Why, "leave `confidence` out") || !math.IsInf(bounded.Lo, -1) {
				t.Errorf("%s with confidence: %+v", path, bounded)
			}
		}
		if over, all, _ := Values(r, n).Exceeding(ref(t, "", "latency.adjusted.p95"), "<", 1); over != 1 || all != 10 {
			t.Errorf("with %s %d of %d are over 1 s", cause, over, all)
		}
		if q := Values(r, n).Quantity(ref(t, "", "latency.p90")); cause != metric.Incomplete && q.V != 0.1 {
			t.Errorf("latency.p90 with %s: %+v", cause, q)
		}
	}
	r := sample()
	n := node(r, "steady")
	n.Metrics = map[string]*Metric{
		"latency":          Distribution(ref(t, "", "latency.p50").Leaf.Row, new(stats.Dist), nil),
		metric.ErrorsCount: Number(metric.Count, 3),
	}
	if q := Values(r, n).Quantity(ref(t, "", "latency.adjusted.p50")); q.V != inf || q.N != 3 {
		t.Errorf("where all failed: %+v", q)
	}
}

func node(r *Result, id string) *Node {
	for _, n := range r.Nodes {
		if n.ID == id {
			return n
		}
	}
	return nil
}

// TestExceeding: a value at the limit makes < false and >= true, <= true and > false.
func TestExceeding(t *testing.T) {
	tests := []struct {
		node, path string
		limit      float64
		over       int64 // with <= and >
		equal      int64 // with < and >=
		n          int64
		ok         bool
	}{
		{"", "latency.p99", 0.034, 3, 3, 5, true},
		{"", "latency.p99", 0.035, 2, 3, 5, true},
		{"", "latency.p99", 35 * 0.001, 2, 3, 5, true},   // whatever the last bit of the product is
		{"", "latency.p99", 0.0349999999, 3, 3, 5, true}, // a tenth of a ns below is below
		{"", "latency.p50", 1e300, 0, 0, 5, true},
		{"", "latency.p50", -1e300, 5, 5, 5, true},
		{"", "latency.mean", 0.035, 0, 0, 0, false},
		{"", "requests.rate", 1, 0, 0, 0, false},
		{"silent", "latency.p99", 0.035, 0, 0, 0, false},
		{"invalid", "latency.p99", 0.035, 0, 0, 0, false},
		{"gone", "latency.p99", 0.035, 0, 0, 0, false},
	}
	r := sample()
	for _, tt := range tests {
		for op, want := range map[string]int64{"<=": tt.over, ">": tt.over, "<": tt.equal, ">=": tt.equal} {
			over, n, ok := Values(r, r.Nodes[0]).Exceeding(ref(t, tt.node, tt.path), op, tt.limit)
			if over != want || n != tt.n || ok != tt.ok {
				t.Errorf("%s %s %s %v: %d of %d, %v; want %d of %d, %v", tt.node, tt.path, op, tt.limit, over, n,
					ok, want, tt.n, tt.ok)
			}
		}
	}
}

func TestFormatIsThatOfExpressions(t *testing.T) {
	for d := metric.Duration; d <= metric.Number; d++ {
		if got, want := Format(d.Unit(), 0.0312), expression.Format(d, 0.0312); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}
