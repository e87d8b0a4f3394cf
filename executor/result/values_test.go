package result

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func node(r *Result, id string) *Node {
	for _, n := range r.Nodes {
		if n.ID == id {
			return n
		}
	}
	return nil
}

func TestAbove(t *testing.T) {
	tests := []struct {
		node, path string
		limit      float64
		over, n    int64
		ok         bool
	}{
		{"", "latency.p99", 0.034, 3, 5, true},
		{"", "latency.p99", 0.035, 2, 5, true},        // a value at the limit is not over it
		{"", "latency.p99", 35 * 0.001, 2, 5, true},   // whatever the last bit of the product is
		{"", "latency.p99", 0.0349999999, 3, 5, true}, // a tenth of a ns below is below
		{"", "latency.p50", 1e300, 0, 5, true},
		{"", "latency.p50", -1e300, 5, 5, true},
		{"", "latency.mean", 0.035, 0, 0, false},
		{"", "requests.rate", 1, 0, 0, false},
		{"silent", "latency.p99", 0.035, 0, 0, false},
		{"invalid", "latency.p99", 0.035, 0, 0, false},
		{"gone", "latency.p99", 0.035, 0, 0, false},
	}
	r := sample()
	for _, tt := range tests {
		over, n, ok := Values(r, r.Nodes[0]).Above(ref(t, tt.node, tt.path), tt.limit)
		if over != tt.over || n != tt.n || ok != tt.ok {
			t.Errorf("%s %s > %v: %d of %d, %v; want %d of %d, %v", tt.node, tt.path, tt.limit, over, n,
				ok, tt.over, tt.n, tt.ok)
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
