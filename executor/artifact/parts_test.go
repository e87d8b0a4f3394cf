package artifact

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/executor/result"
)

// serverTimes are numbers that a server keeps of a model.
func serverTimes(infer float64) map[string]*result.Metric {
	return measure(&result.Node{}, 0, map[string]float64{
		"server.queue.mean": 10e-6, "server.compute_infer.mean": infer, "server.executions.count": 400,
	}).Metrics
}

// parts is a run whose nodes have parts: a ramp with a mix, a search, a node in two repeats, one
// that an assertion ended.
func parts() *result.Result {
	scope := func(phase, mix string, requests, latency float64) result.Scope {
		s := result.Scope{Phase: phase, Mix: mix, Duration: 10}
		if mix != "" {
			s.Target, s.Model, s.Batch = "side", mix+"-model", 2
		}
		s.Metrics = measure(&result.Node{}, int(requests), map[string]float64{
			"requests.count": requests, "requests.rate": requests / 10, "throughput": requests / 10,
			"errors.ratio": 0, "latency": latency, "goodput.ratio": 0.995,
		}).Metrics
		return s
	}
	ramp := measure(&result.Node{
		ID: "spike", Stage: "spike", Target: "main", Outcome: result.Done, Started: 1, Duration: 20,
		Validity: result.Validity{OK: true},
		Load: result.Load{
			Kind: "rate", Arrivals: "constant", Batch: 1, Model: "simple",
			Ramp: []result.RampStep{
				{To: 10, Over: 5, Hold: 10, Name: "base"},
				{To: 30, Hold: 10, Name: "spike"},
			},
		},
		Scopes: []result.Scope{
			scope("ramp", "", 50, 0.01), scope("base", "", 100, 0.011), scope("spike", "", 300, 0.09),
			scope("", "sql", 300, 0.05), scope("", "chat", 100, 0.06), scope("spike", "sql", 225, 0.08),
		},
		Models: []result.Model{
			{Name: "pre", CalledBy: "simple", Calls: ptr(1), Metrics: serverTimes(0.001)},
			{Name: "detect", Version: "2", CalledBy: "simple", Calls: ptr(2.5), Metrics: serverTimes(0.004)},
			{Name: "crop", CalledBy: "detect", Metrics: serverTimes(0.002)},
		},
		Series: []result.Series{{
			Phase: "base", Every: 1, From: 2, To: 12,
			Windows: []result.SeriesWindow{
				{From: 2, To: 3, Metrics: scope("", "", 10, 0.011).Metrics},
				{From: 3, To: 4, Metrics: scope("", "", 10, 0.012).Metrics},
			},
		}},
		Assertions: []result.Assertion{{
			ID: "spike/1", That: `phase("base").latency.p99 < 11ms`, At: "plan.yaml:9:9", Severity: "gate",
			Verdict: result.Fail, Unit: "s", Op: "<",
			Observed: ptr(0.012), Limit: ptr(0.011), Samples: 10, Needed: 1,
			Reason: "true in 1 of 2 windows; the first that is false, 1 s to 2 s: latency.p99 is 12 ms, the limit is 11 ms (n = 10)",
		}},
	}, 400, map[string]float64{
		"requests.count": 400, "requests.rate": 20, "throughput": 20,
		"errors.ratio": 0, "latency": 0.06, "goodput.ratio": 0.99, "goodput": 19.8,
		"server.queue.mean": 20e-6, "server.compute_infer.mean": 0.012,
	})
	trial := func(level float64, v result.Verdict, used bool, reason string) result.Trial {
		return result.Trial{
			Level: level, Verdict: v, Used: used, Reason: reason, Started: level, Duration: 5,
			Outcome: result.Done,
			Metrics: scope("", "", 5*level, 1/level).Metrics,
		}
	}
	search := measure(&result.Node{
		ID: "find", Stage: "find", Target: "main", Outcome: result.Done, Started: 30, Duration: 5,
		Validity: result.Validity{OK: true},
		Load:     result.Load{Kind: "rate", Value: 200, Arrivals: "poisson", Batch: 1, Model: "simple"},
		Trials: []result.Trial{
			trial(100, result.Pass, false, ""),
			trial(400, result.Fail, false, "latency.p99 is 80 ms, the limit is 50 ms"),
			trial(200, result.Pass, true, ""),
			trial(300, result.Inconclusive, false, "no request was answered well"),
		},
	}, 1000, map[string]float64{
		"requests.count": 1000, "requests.rate": 200, "throughput": 200,
		"errors.ratio": 0, "latency": 0.005, "capacity": 200,
	})
	twice := measure(&result.Node{
		ID: "ab[side=canary]", Stage: "ab", Point: map[string]string{"side": "canary"}, Target: "canary",
		Outcome: result.Unstable, Reason: "repeat 2 of 2: not stable", Duration: 40,
		Load:     result.Load{Kind: "concurrency", Value: 2, Batch: 1, Model: "simple"},
		Validity: result.Validity{OK: true},
		Repeats: []result.Repeat{
			{
				Repeat: 0, Started: 40, Duration: 20, Outcome: result.Done,
				Metrics: scope("", "", 150, 0.02).Metrics,
			},
			{
				Repeat: 1, Started: 70, Duration: 20, Outcome: result.Unstable, Reason: "not stable",
				Metrics:  scope("", "", 130, 0.03).Metrics,
				Findings: []result.Finding{{Code: "x", Severity: result.Note, Text: "noted"}},
			},
		},
		Slices: []result.Slice{
			{From: 0, To: 20, Sent: 150, OK: 150},
			{Repeat: 1, From: 0, To: 20, Sent: 130, OK: 130},
		},
	}, 280, map[string]float64{
		"requests.count": 280, "requests.rate": 7, "throughput": 7,
		"errors.ratio": 0, "latency": 0.025,
	})
	ended := measure(&result.Node{
		ID: "gate", Stage: "gate", Target: "main", Outcome: result.InterruptedNode,
		Reason: "interrupted after 3 s of 60 s: latency.p99 < 50ms is certainly false", Duration: 3,
		Load:     result.Load{Kind: "rate", Value: 20, Arrivals: "constant", Batch: 1, Model: "simple"},
		Validity: result.Validity{OK: true},
		Aborted: &result.Abort{
			Assertion: "gate/1", At: 3,
			Reason: "latency.p99 < 50ms is certainly false: 9 of 60 requests so far have latency >= 50 ms", InFlight: 4,
		},
		Assertions: []result.Assertion{{
			ID: "gate/1", That: "latency.p99 < 50ms", At: "plan.yaml:20:9", Severity: "gate",
			Verdict: result.Fail,
			Reason:  "latency.p99 < 50ms is certainly false: 9 of 60 requests so far have latency >= 50 ms",
		}},
	}, 56, map[string]float64{
		"requests.count": 60, "requests.rate": 18, "throughput": 18,
		"errors.ratio": 0, "latency": 0.02,
	})
	r := full()
	r.Nodes, r.Assertions = []*result.Node{ramp, search, twice, ended}, nil
	r.State, r.Reason = result.StatePartial, "2 of 2 assertions failed"
	return r
}

// A part of a node is a row of its own in stages.csv, with what it has of its own, so are its
// repeats and trials. Each row names the plan, and a column is there only where a row has data.
func TestPartsInStages(t *testing.T) {
	result := parts()
	result.Plan.Labels, result.Nodes[0].Labels = map[string]string{"team": "vision", "kind": "plan"},
		map[string]string{"kind": "spike"}
	text, err := stagesCSV(result, Options{Percentiles: percentiles})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	var got []string
	for _, r := range rows[1:] {
		got = append(got, strings.Join([]string{
			r[at["node"]], r[at["scope"]], r[at["target"]],
			r[at["requests_count"]], r[at["duration_s"]], r[at["verdict"]],
		}, "|"))
	}
	want := []string{
		"spike||main|400|20|fail", "spike|phase=ramp|main|50|10|", "spike|phase=base|main|100|10|",
		"spike|phase=spike|main|300|10|",
		"spike|mix=sql|side|300|10|", "spike|mix=chat|side|100|10|",
		"spike|mix=sql phase=spike|side|225|10|",
		"spike|model=pre|main||20|",
		"spike|model=detect:2|main||20|",
		"spike|model=crop|main||20|",
		"find||main|1000|5|", "find|trial=1|main|500|5|pass", "find|trial=2|main|2000|5|fail",
		"find|trial=3|main|1000|5|pass",
		"find|trial=4|main|1500|5|inconclusive",
		"ab[side=canary]||canary|280|40|", "ab[side=canary]|repeat=1|canary|150|20|",
		"ab[side=canary]|repeat=2|canary|130|20|",
		"gate||main|60|3|fail",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for i, name := range rows[0] {
		if i > at["started_at"] && !slices.ContainsFunc(rows[1:],
			func(r []string) bool { return r[i] != "" }) {
			t.Errorf("no row has data in column %s", name)
		}
	}
	first := rows[1]
	if first[at["plan"]] != "release-gate" || first[at["started_at"]] == "" ||
		first[at["labels"]] != "kind=spike team=vision" {
		t.Errorf("plan %q, started at %q, labels %q", first[at["plan"]], first[at["started_at"]],
			first[at["labels"]])
	}
}

// Ten thousand assertions and findings: JUnit has a case for each and is well-formed, and the
// summary stays below the size from which GitHub drops it.
func TestTenThousandAssertions(t *testing.T) {
	r := full()
	n := r.Nodes[3]
	n.Assertions, n.Errors = nil, nil
	long := strings.Repeat("latency.p99 < 50ms and ", 12) + "errors.count == 0"
	for i := range 10_000 {
		v := []result.Verdict{
			result.Pass, result.Fail, result.Inconclusive, result.Skipped,
			result.ErrorVerdict,
		}[i%5]
		n.Assertions = append(n.Assertions, result.Assertion{
			ID: fmt.Sprintf("steady/%d", i+1), That: long, At: "plan.yaml:30:9", Severity: "gate",
			Verdict: v, Unit: "s", Op: "<",
			Observed: ptr(0.06), Limit: ptr(0.05), Samples: 11980, Needed: 299,
			Reason: fmt.Sprintf("it is not so, for reason %d | <b>%s", i, strings.Repeat("&", 400)),
		})
		n.Validity.Findings = append(n.Validity.Findings, result.Finding{
			Code: "x", Severity: result.Note,
			Text: fmt.Sprint("finding ", i, strings.Repeat(" <x>", 300)),
		})
		n.Scopes = append(n.Scopes, result.Scope{Mix: fmt.Sprint("entry", i), Metrics: n.Metrics})
		n.Trials = append(n.Trials, result.Trial{Level: float64(i), Verdict: v, Metrics: n.Metrics})
	}
	text, err := summaryMarkdown(r, Options{Percentiles: percentiles})
	if err != nil {
		t.Fatal(err)
	}
	if len(text) >= 1<<20 {
		t.Errorf("summary.md has %d bytes", len(text))
	}
	checkTables(t, string(text))
	text, err = junitXML(r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, cases := xml.NewDecoder(bytes.NewReader(text)), 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, is := token.(xml.StartElement); is && e.Name.Local == "testcase" {
			cases++
		}
	}
	if cases < 10_000 {
		t.Errorf("%d cases", cases)
	}
}
