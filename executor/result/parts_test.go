package result

import (
	"math"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// leaf returns a leaf of the catalogue.
func leafOf(t *testing.T, name string) metric.Leaf {
	t.Helper()
	c, err := metric.New()
	if err != nil {
		t.Fatal(err)
	}
	leaf, ok := c.Leaf(name)
	if !ok {
		t.Fatalf("no leaf %s", name)
	}
	return leaf
}

// latencies returns the metric of 100 latencies about center, ms.
func latencies(leaf metric.Leaf, center int64) *Metric {
	d := new(stats.Dist)
	for i := range int64(100) {
		d.Add((center*100 + i - 50) * 1e4)
	}
	return Distribution(leaf.Row, d, nil)
}

// TestRepeatsWiden: repeats that differ by more than their requests widen the bounds of a node, as the
// requests of one repeat share what makes it differ.
func TestRepeatsWiden(t *testing.T) {
	leaf := leafOf(t, "latency.p50")
	pooled := new(stats.Dist)
	n := &Node{ID: "s", Outcome: Done, Validity: Validity{OK: true}, Metrics: map[string]*Metric{}}
	for _, center := range []int64{10, 12, 14} {
		m := latencies(leaf, center)
		pooled.Merge(m.Dist)
		n.Repeats = append(n.Repeats, Repeat{Outcome: Done, Metrics: map[string]*Metric{metric.Latency: m}})
	}
	n.Metrics[metric.Latency] = Distribution(leaf.Row, pooled, nil)
	bounds := func() expression.Quantity {
		return Values(&Result{Nodes: []*Node{n}}, n).Demanding(0.95, 0, nil).Quantity(expression.Ref{Leaf: leaf})
	}
	q := bounds()
	// 2 ms between them, Student's 95 % point of two degrees of freedom is 2.92
	if lo, hi := 0.012-2.92*0.002/1.732, 0.012+2.92*0.002/1.732; q.Lo > lo+1e-4 || q.Hi < hi-1e-4 {
		t.Errorf("%v … %v … %v, want at least %v … %v", q.Lo, q.V, q.Hi, lo, hi)
	}
	n.Repeats = nil
	alone := bounds()
	if alone.Lo <= q.Lo || alone.Hi >= q.Hi {
		t.Errorf("without repeats %v … %v", alone.Lo, alone.Hi)
	}
	if q.Assumed || !alone.Assumed {
		t.Errorf("requests are taken as independent: %v with repeats, %v without", q.Assumed, alone.Assumed)
	}
}

// TestTrendOfRepeat: where hold of one repeat shows a trend there are no bounds. The bounds of a node that
// ended at a look share their risk with the other looks.
func TestTrendOfRepeat(t *testing.T) {
	leaf := leafOf(t, "latency.p50")
	n := &Node{ID: "s", Outcome: Done, Validity: Validity{OK: true}, Metrics: map[string]*Metric{}}
	bounds := func(slope int64) expression.Quantity {
		n.Repeats = nil
		pooled := new(stats.Dist)
		for i, center := range []int64{1000, 1010, 1020} {
			d, parts := new(stats.Dist), new(stats.Parts)
			for k := range int64(50 * 40) {
				part := k / 40
				v := (center + k*7919%101 + slope*part*int64(i%2)) * 1e4
				d.Add(v)
				parts.Add(int(part), v)
			}
			pooled.Merge(d)
			m := Distribution(leaf.Row, d, nil)
			m.Parts = &Parts{Seconds: 100, Values: parts.Table(0, 50)}
			n.Repeats = append(n.Repeats, Repeat{
				Repeat: i, Outcome: Done, Metrics: map[string]*Metric{metric.Latency: m},
			})
		}
		n.Metrics[metric.Latency] = Distribution(leaf.Row, pooled, nil)
		return Values(&Result{Nodes: []*Node{n}}, n).Demanding(0.95, 0, nil).Quantity(expression.Ref{Leaf: leaf})
	}
	q := bounds(0)
	if q.Why != "" || q.Hi <= q.V || math.IsInf(q.Hi, 0) {
		t.Errorf("without a trend: %+v", q)
	}
	n.Look = &Look{Number: 1, Of: 5}
	if again := bounds(0); again.Hi-again.V < 1.5*(q.Hi-q.V) || math.IsInf(again.Hi, 0) {
		t.Errorf("at one of five looks %v … %v, alone %v … %v", again.Lo, again.Hi, q.Lo, q.Hi)
	}
	n.Look = nil
	const want = "latency.p50 has no confidence bounds: repeat 2: it rises by about"
	if q := bounds(20); !strings.HasPrefix(q.Why, want) || !math.IsInf(q.Lo, -1) || !math.IsInf(q.Hi, 1) {
		t.Errorf("with a trend: %+v\nwant %s…", q, want)
	}
}

// TestRefusals: what parts say in place of bounds.
func TestRefusals(t *testing.T) {
	for want, x := range map[string]stats.Interval{
		"requests depend on each other over about 3.7 s; hold for at least 190 s": {
			Refused: stats.Dependent, Depend: 3.61, NeedHold: 181,
		},
		"hold is too short; hold for at least 42 s": {NeedHold: 42},
		"it rises by about 0.75 % a second over hold: see whether the server warms up, leaks or is throttled": {
			Refused: stats.Trending, Slope: 0.0075123,
		},
		"it falls during the first 5 s of hold: let `warmup` be so much longer": {
			Refused: stats.Trending, Slope: -0.01, Settled: 5,
		},
	} {
		if got := refusalText(x); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// TestLevelOfLooks: the bounds of a node that was looked at several times are wider.
func TestLevelOfLooks(t *testing.T) {
	once, tenth := (&Node{}).level(0.9), (&Node{Look: &Look{Number: 3, Of: 10}}).level(0.9)
	if once != 0.9 || tenth <= 0.98 || tenth >= 1 {
		t.Errorf("level %v, of ten looks %v", once, tenth)
	}
}
