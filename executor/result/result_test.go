package result

import (
	"time"

	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// row is a catalogue row by name.
func row(name string) *metric.Row {
	c, err := metric.New()
	if err != nil {
		panic(err)
	}
	r, ok := c.Row(name)
	if !ok {
		panic("no row " + name)
	}
	return r
}

// dist is a distribution of values in ms.
func dist(ms ...int64) *stats.Dist {
	d := &stats.Dist{}
	for _, v := range ms {
		d.Add(v * 1e6)
	}
	return d
}

var percentiles = []float64{50, 90, 99.9}

// sample is a result with one node of each kind that expressions can meet.
func sample() *Result {
	measured := func(id string, latencies ...int64) *Node {
		return &Node{
			ID: id, Stage: id, Target: "main", Outcome: Done, Validity: Validity{OK: true},
			Load: Load{Kind: "concurrency", Value: 2, Batch: 1}, Started: 1.5, Duration: 10,
			Metrics: map[string]*Metric{
				"latency":        Distribution(row("latency"), dist(latencies...), percentiles),
				"requests.count": Scalar(row("requests.count"), float64(len(latencies)), true),
				"requests.rate":  Scalar(row("requests.rate"), float64(len(latencies))/10, true),
				"errors.count":   Scalar(row("errors.count"), 0, true),
				"offered.rate":   Scalar(row("offered.rate"), 2, true),
				"client.cpu":     Scalar(row("client.cpu"), 0, false),
			},
		}
	}
	silent := measured("silent")
	silent.Metrics["errors.count"] = Scalar(row("errors.count"), 0, true)
	skipped := &Node{ID: "skipped", Stage: "skipped", Outcome: SkippedNode, Reason: `stage "steady" failed`}
	invalid := measured("invalid", 1, 2, 3)
	invalid.Outcome = Invalid
	invalid.Validity = Validity{Findings: []Finding{
		{"sockets", Note, "9 of 10 open"},
		{"client-late", Invalidating, "the client was 3 ms late"},
	}}
	unstable := measured("unstable", 1)
	unstable.Outcome = Unstable
	return &Result{
		Schema: Schema, Tool: Tool{Name: "sluice", Version: "0.1.0", Go: "go1.26"},
		Plan:    Plan{Name: "p", File: "p.yaml", Fingerprint: "f", Resolved: map[string]any{"version": 1}},
		Started: time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600)),
		Ended:   time.Date(2026, 1, 2, 3, 5, 5, 0, time.UTC),
		Verdict: Pass, Nodes: []*Node{
			measured("steady", 15, 20, 35, 40, 50), silent, skipped,
			invalid, unstable,
		},
	}
}
