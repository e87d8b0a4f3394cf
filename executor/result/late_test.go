package result

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// lateResult has a node whose client sent each of 100 requests 5 ms late.
func lateResult() *Result {
	each := func(name string, v int64) *Metric {
		var list []int64
		for range 100 {
			list = append(list, v)
		}
		return Distribution(row(name), dist(list...), nil)
	}
	latency := each("latency", 25)
	latency.SetBounds(each("latency", 5), each("latency", 30))
	rate := Scalar(row("requests.rate"), 10, true)
	rate.SetBounds(Scalar(row("requests.rate"), 9, true), Scalar(row("requests.rate"), 11, true))
	return &Result{Nodes: []*Node{{
		ID: "late", Outcome: Done, Validity: Validity{OK: true}, Metrics: map[string]*Metric{
			"latency": latency, "requests.rate": rate, "requests.count": Number(metric.Count, 100),
			"send_delay.client": each("send_delay.client", 5), "service_time": each("service_time", 20),
			"connect": each("connect", 1), "in_flight.max": Number(metric.Count, 3),
		},
	}}}
}

// TestLateQuantity: numbers of a late client are intervals, of low and high sets, and stay so when they
// are stored.
func TestLateQuantity(t *testing.T) {
	text, err := json.Marshal(lateResult())
	if err != nil {
		t.Fatal(err)
	}
	r := new(Result)
	if err := json.Unmarshal(text, r); err != nil {
		t.Fatal(err)
	}
	v := Values(r, r.Nodes[0])
	for _, tt := range []struct {
		path       string
		confidence float64
		low, high  float64
	}{
		{"latency.p50", 0, 0.005, 0.030},
		{"latency.mean", 0, 0.005, 0.030},
		{"latency.max", 0, 0.005, 0.030},
		{"latency.p50", 0.95, 0.005, 0.030},
		{"latency.mean", 0.95, 0.005, 0.030},
		{"latency.count", 0, 100, 100},
		{"requests.rate", 0, 9, 11},
		{"connect.p50", 0, 0.001, 0.001},
	} {
		q := v.Demanding(tt.confidence, 0, nil).Quantity(ref(t, "", tt.path))
		near := cmpopts.EquateApprox(0, 1e-9)
		if diff := cmp.Diff([]float64{tt.low, tt.high}, []float64{q.Lo, q.Hi}, near); diff != "" {
			t.Errorf("%s at %v: %s", tt.path, tt.confidence, diff)
		}
		if m := v.Measured().Quantity(ref(t, "", tt.path)); m.Lo != m.V || m.Hi != m.V {
			t.Errorf("%s as measured: %+v", tt.path, m)
		}
	}
	for _, path := range []string{"latency.std", "in_flight.max"} {
		if q := v.Quantity(ref(t, "", path)); !q.Known || expression.Decide(">", q, known(0, 1, 0)) != 0 {
			t.Errorf("%s, which has no bounds: %+v", path, q)
		}
	}
	for op, want := range map[string]int64{"<": 0, ">": 100} {
		if over, n, ok := v.Exceeding(ref(t, "", "latency.p50"), op, 0.028); over != want || n != 100 || !ok {
			t.Errorf("%s: %d of %d over, %v", op, over, n, ok)
		}
	}
}

// TestLateDrops: where a late client made requests find no room, their number has bounds and the rest has
// none, but for errors that no timeout can change.
func TestLateDrops(t *testing.T) {
	r := lateResult()
	drops := Scalar(row("dropped.count"), 10, true)
	drops.SetBounds(Scalar(row("dropped.count"), 8, true), Scalar(row("dropped.count"), 14, true))
	errors := Scalar(row("errors.count"), 3, true)
	r.Nodes[0].Metrics["dropped.count"], r.Nodes[0].Metrics["errors.count"] = drops, errors
	v, inf := Values(r, r.Nodes[0]), math.Inf(1)
	expect := func(path string, low, high float64) {
		t.Helper()
		if q := v.Quantity(ref(t, "", path)); q.Lo != low || q.Hi != high {
			t.Errorf("%s is from %v to %v, want %v to %v", path, q.Lo, q.Hi, low, high)
		}
	}
	expect("dropped.count", 8, 14)
	expect("errors.count", 3, 3)
	expect("latency.p50", -inf, inf)
	expect("requests.rate", -inf, inf)
	expect("connect.p50", 0.001, 0.001)
	if _, _, ok := v.Exceeding(ref(t, "", "latency.p50"), "<", 0.028); ok {
		t.Error("the values over a limit are counted")
	}
	errors.SetBounds(Scalar(row("errors.count"), 2, true), Scalar(row("errors.count"), 4, true))
	expect("errors.count", -inf, inf)
}

// TestExactQuantity: metrics of one set keep no bounds.
func TestExactQuantity(t *testing.T) {
	m := Distribution(row("latency"), dist(1, 2, 3), nil)
	same := Distribution(row("latency"), dist(3, 2, 1), nil)
	m.SetBounds(same, same)
	if m.Low != nil || m.High != nil {
		t.Errorf("%+v", m)
	}
}
