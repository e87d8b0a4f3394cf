package artifact

import (
	"math"
	"slices"
	"time"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/metric"
)

var percentiles = []float64{50, 90, 99.9}

// rows are the static catalogue and a server's statistics.
func rowOf(name string) *metric.Row {
	c, err := metric.New(
		metric.SeriesRow("queue", "", "ns", true), metric.SeriesRow("compute_input", "", "ns", true),
		metric.SeriesRow("compute_infer", "", "ns", true),
		metric.SeriesRow("compute_output", "", "ns", true),
		metric.SeriesRow("cache.hit", "", "ns", true), metric.SeriesRow("cache.miss", "", "ns", true),
		metric.SeriesRow("executions", "", "1", false),
		metric.SeriesRow("request", "", "ns", true), metric.SeriesRow("requests", "", "1", false),
		metric.SeriesRow("inferences", "", "1", false),
		metric.SeriesRow("cache.hits", "", "1", false), metric.SeriesRow("cache.misses", "", "1", false),
		metric.GoodputRows()[0], metric.GoodputRows()[1], metric.CapacityRow(metric.Rate),
	)
	if err != nil {
		panic(err)
	}
	row, ok := c.Row(name)
	if !ok {
		panic("no row " + name)
	}
	return row
}

// measure fills a node's metrics: values by name; distributions of n values around the value given,
// all in base units.
func measure(n *result.Node, samples int, values map[string]float64) *result.Node {
	n.Metrics = map[string]*result.Metric{}
	for name, v := range values {
		row := rowOf(name)
		if !row.IsDistribution() {
			n.Metrics[name] = result.Scalar(row, v, true)
			continue
		}
		d := &stats.Dist{}
		for i := range samples {
			d.Add(int64(math.Round(v*1e9)) * int64(1000+i-samples/2) / 1000)
		}
		n.Metrics[name] = result.Distribution(row, d, percentiles)
	}
	return n
}

func ptr(v float64) *float64 { return &v }

// full is a run with everything in it: a sweep whose levels are not in the order of their
// throughput, an open-loop node with a failed and an unproven assertion, an invalid node, and one
// that was skipped.
func full() *result.Result {
	level := func(text string, value, rate, latency float64) *result.Node {
		n := &result.Node{
			ID: "sweep[concurrency=" + text + "]", Stage: "sweep",
			Point: map[string]string{"concurrency": text}, Target: "main",
			Description: "How it scales.", Labels: map[string]string{"team": "vision", "kind": "sweep"},
			Load: result.Load{
				Kind: "concurrency", Value: value, Batch: 1, Model: "simple",
				Transport: "http",
			},
			Outcome: result.Done, Started: value, Duration: 3.6, Validity: result.Validity{OK: true},
			Assertions: []result.Assertion{{
				ID:       "default-errors",
				That:     "errors.count == 0",
				At:       "plan.yaml:12:5",
				Severity: "gate",
				Verdict:  result.Pass,
				Unit:     "1",
				Op:       "==",
				Observed: ptr(0),
				Limit:    ptr(0),
				Samples:  146,
				Needed:   1,
			}},
		}
		return measure(n, 146, map[string]float64{
			"throughput": rate, "requests.rate": rate, "responses.rate": rate,
			"requests.count": math.Round(rate * 3.6), "errors.count": 0,
			"errors.ratio": 0, "latency": latency, "service_time": latency, "send_time": 74e-6,
			"first_response":    latency - 10e-6,
			"server.queue.mean": 114e-6, "server.compute_input.mean": 24e-6,
			"server.compute_infer.mean":  0.022957,
			"server.compute_output.mean": 142e-6, "server.executions.count": 146,
		})
	}
	steady := measure(&result.Node{
		ID: "steady", Stage: "steady", Target: "main", Outcome: result.Done, Started: 9, Duration: 60,
		Load: result.Load{
			Kind: "rate", Value: 200, Arrivals: "poisson", MaxInFlight: 256,
			Overflow: "wait", Batch: 1, ScheduleHash: "00ff", Model: "simple",
		},
		Slices: []result.Slice{{
			From: 0, To: 1, Sent: 200, OK: 199, Failed: 1, Items: 199, InFlight: 3,
			LatencyP50: ptr(0.02), LatencyP99: ptr(0.03), LatencyMax: ptr(0.04),
		}},
		Errors: []result.ErrorClass{
			{Class: "status", Count: 2, Example: "HTTP 503"},
			{Class: "timeout", Count: 9, Example: "no reply in 1 s"},
			{
				Class: "mismatch", Count: 3, Example: "row 4: output OUT [2] is 5, want 6",
				More: []string{"row 5: output OUT [0] is 1, want 2", "row 9: output OUT is missing"},
			},
		},
		Validity: result.Validity{OK: true, Findings: []result.Finding{
			{
				Code: "pool-full", Severity: result.Note,
				Text: "all 256 slots were taken for 1.2 s (raise max_in_flight)",
			},
		}},
		Assertions: []result.Assertion{
			{
				ID:       "steady/1",
				That:     "latency.p99 < ${limit}",
				At:       "plan.yaml:30:9",
				Severity: "gate",
				Verdict:  result.Fail,
				Unit:     "s",
				Op:       "<",
				Observed: ptr(0.050004),
				Limit:    ptr(0.05),
				Samples:  11980,
				Needed:   299,
				Reason:   "latency.p99 is 50.004 ms, the limit is 50 ms (n = 11980)",
			},
			{
				ID:       "tail",
				That:     "latency.p(99.99) < 80ms",
				At:       "plan.yaml:31:9",
				Severity: "gate",
				Verdict:  result.Inconclusive,
				Unit:     "s",
				Op:       "<",
				Observed: ptr(0.07),
				Limit:    ptr(0.08),
				Samples:  11980,
				Needed:   29956,
				Reason:   "17976 more samples are needed",
			},
			{
				ID:       "soft",
				That:     "errors.ratio < 0.01%",
				At:       "plan.yaml:32:9",
				Severity: "warn",
				Verdict:  result.Fail,
				Unit:     "ratio",
				Op:       "<",
				Observed: ptr(11.0 / 11980),
				Limit:    ptr(0.0001),
				Samples:  11980,
				Needed:   1,
			},
		},
	}, 600, map[string]float64{
		"throughput": 199.6, "requests.rate": 199.6, "requests.count": 11980, "errors.count": 11,
		"errors.ratio": 11.0 / 11980,
		"latency":      0.0312, "service_time": 0.03, "first_response": 0.029, "send_time": 20e-6,
		"offered.rate": 199.9,
	})
	late := measure(&result.Node{
		ID: "burst", Stage: "burst", Target: "main", Outcome: result.Invalid, Started: 70, Duration: 5,
		Load: result.Load{Kind: "rate", Value: 20000, Arrivals: "constant", Batch: 4},
		Validity: result.Validity{Findings: []result.Finding{
			{
				Code: "client-late", Severity: result.Invalidating,
				Text: "the client sent 12 % of the requests more than 1 ms late: lower the rate",
			},
		}},
		Assertions: []result.Assertion{{
			ID:       "burst/1",
			That:     "throughput > 70000/s",
			At:       "plan.yaml:40:9",
			Severity: "gate",
			Verdict:  result.Inconclusive,
			Unit:     "1/s",
			Op:       ">",
			Observed: ptr(72000),
			Limit:    ptr(70000),
			Samples:  90000,
			Needed:   1,
			Reason:   "the measurement is invalid",
		}},
	}, 500, map[string]float64{
		"throughput": 72000, "requests.rate": 18000, "requests.count": 90000, "errors.ratio": 0,
		"latency": 0.001,
	})
	skipped := &result.Node{
		ID: "soak", Stage: "soak", Target: "main", Outcome: result.SkippedNode,
		Reason: `stage "steady" failed`,
		Load:   result.Load{Kind: "concurrency", Value: 8, Batch: 1},
		Assertions: []result.Assertion{{
			ID: "soak/1", That: "throughput > 1/s", At: "plan.yaml:50:9", Severity: "gate",
			Verdict: result.Skipped, Needed: 1,
			Reason: `stage "steady" failed`,
		}},
	}
	return &result.Result{
		Schema: result.Schema, Tool: result.Tool{Name: "sluice", Version: "0.1.0", Go: "go1.26.0"},
		Plan: result.Plan{
			Name: "release-gate", File: "plan.yaml", Fingerprint: "abc123", Seed: 42,
			Resolved: map[string]any{"version": 1},
		},
		Environment: result.Environment{
			OS: "linux", Arch: "amd64", Hostname: "bench-1", CPUs: 2,
			GOMAXPROCS: 3,
		},
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Ended:   time.Date(2026, 1, 2, 3, 5, 35, 500e6, time.UTC),
		Verdict: result.Fail, ExitCode: 1, Reason: "1 assertion failed",
		Clients: []result.Client{{
			CPUSeconds: 12.5, MaxRSS: 40 << 20, CPUShare: 0.21,
			Summary: "This client was the bottleneck in 1 of 4 nodes (late): see there.",
		}},
		Nodes: []*result.Node{
			level("1", 1, 40.5224, 0.024559), level("3", 3, 42.4146, 0.070214),
			level("2", 2, 46.0832, 0.043347), steady, late, skipped,
		},
		Assertions: []result.Assertion{{
			ID:       "plan/1",
			That:     `stage("steady").latency.p50 <= 2 * stage("sweep[concurrency=1]").latency.p50`,
			At:       "plan.yaml:60:5",
			Severity: "gate", Verdict: result.Pass, Unit: "s", Op: "<=", Observed: ptr(0.0312),
			Limit: ptr(0.049118), Samples: 146, Needed: 5,
		}},
	}
}

// interrupted is what is there when Ctrl-C ends the second of three nodes.
func interrupted() *result.Result {
	r := full()
	r.Nodes = []*result.Node{r.Nodes[0], r.Nodes[3], r.Nodes[5]}
	r.State, r.Verdict, r.ExitCode, r.Reason = result.StatePartial, result.Interrupted, 130,
		"interrupted by SIGINT after 12 s"
	n := r.Nodes[1]
	n.Outcome, n.Reason, n.Duration = result.InterruptedNode, "interrupted after 12 s of 60 s", 12
	for i := range n.Assertions {
		n.Assertions[i].Verdict, n.Assertions[i].Reason = result.Inconclusive, n.Reason
	}
	r.Nodes[2].Reason = "the run was interrupted"
	r.Nodes[2].Assertions[0].Reason = r.Nodes[2].Reason
	r.Assertions[0].Verdict, r.Assertions[0].Observed, r.Assertions[0].Limit = result.Inconclusive, nil, nil
	r.Assertions[0].Samples, r.Assertions[0].Reason = 0, `stage "steady" was interrupted`
	return r
}

// hostile has text of a server and a plan that means harm to every format.
func hostile() *result.Result {
	const evil = "a|b <script>alert('x')</script> \x1b[2J\x00 & \"q\" `code` _x_ @all\r\n=cmd|'/c calc' \u202egpj.exe 漢字 \xff"
	n := measure(&result.Node{
		ID: "n", Stage: "n", Target: "=1+1", Outcome: result.Failed, Reason: evil, Duration: 1,
		Load:   result.Load{Kind: "rate", Value: 1e6, Arrivals: "constant", Batch: 1, Model: evil},
		Errors: []result.ErrorClass{{Class: "status", Count: 1, Example: evil}},
		Validity: result.Validity{Findings: []result.Finding{
			{Code: "x", Severity: result.Invalidating, Text: evil},
		}},
		Assertions: []result.Assertion{{
			ID: "n/1", That: "latency.p99 < 1s # `|` " + evil, At: "p:1:1", Severity: "gate",
			Verdict: result.ErrorVerdict, Reason: evil,
		}},
	}, 3, map[string]float64{"throughput": 1.5e6, "requests.count": 3, "latency": 1e-7})
	n.Metrics["errors.ratio"] = result.Scalar(rowOf("errors.ratio"), 0, false)
	return &result.Result{
		Plan: result.Plan{Name: evil, File: evil, Fingerprint: "f"}, Verdict: result.ErrorVerdict,
		ExitCode: 4, Reason: evil,
		Environment: result.Environment{Hostname: evil}, Nodes: []*result.Node{n},
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 7200)),
		Ended:   time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC),
	}
}

// empty is a run that ended before it had a node.
func empty() *result.Result {
	return &result.Result{
		Plan: result.Plan{Name: "p"}, Verdict: result.ErrorVerdict, ExitCode: 4,
		Reason:  "target main: connection refused",
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Ended:   time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

// stored are the formats that a result alone is enough for.
func stored() []string {
	return slices.DeleteFunc(Formats(), func(f string) bool {
		return f == ProfileExport || slices.Contains(LLMFormats(), f)
	})
}
