package llm

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// TestWindows: the requests of a ramp are those of its holds, as in the numbers of its node, and of repeats
// those of each.
func TestWindows(t *testing.T) {
	const s = int64(1e9)
	ramp := []result.RampStep{{To: 10, Over: 1, Hold: 2}, {To: 20, Over: 3}, {To: 30, Hold: 1}, {To: 5, Over: 1}}
	for name, c := range map[string]struct {
		node result.Node
		want []Window
	}{
		"no ramp": {result.Node{Started: 1, Duration: 4}, []Window{{s, 5 * s}}},
		"a ramp without holds": {
			result.Node{Started: 1, Duration: 2, Load: result.Load{Ramp: []result.RampStep{{To: 10, Over: 2}}}},
			[]Window{{s, 3 * s}},
		},
		"the last step is kept": {
			result.Node{Started: 1, Duration: 12, Load: result.Load{Ramp: ramp}},
			[]Window{{2 * s, 4*s - 1}, {7 * s, 8*s - 1}, {9 * s, 13 * s}},
		},
		"it ends within a hold": {
			result.Node{Started: 1, Duration: 2, Load: result.Load{Ramp: ramp}}, []Window{{2 * s, 3 * s}},
		},
		"repeats": {
			result.Node{Duration: 8, Load: result.Load{Ramp: ramp}, Repeats: []result.Repeat{
				{Started: 1, Duration: 3}, {Started: 101, Duration: 3},
			}},
			[]Window{{2 * s, 4*s - 1}, {102 * s, 104*s - 1}},
		},
	} {
		got := Windows(&c.node)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// thinking returns an answered request, sent at ms since 1970, of some tokens, of which some are reasoning.
func thinking(at int64, output, thought int64) Request {
	q := NewRequest()
	q.Sent, q.Due, q.First, q.Latency, q.End = at*1e6, at*1e6, 2e6, 10e6, 10e6
	q.Input, q.Output, q.Thought = 5, output, thought
	return q
}

// aggregate returns what a file says: numbers of the whole run, and was_cancelled.
func aggregate(t *testing.T, r *Run) (values map[string]float64, cancelled bool) {
	t.Helper()
	data, err := AIPerfJSON(r)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	values = map[string]float64{}
	for name, text := range doc {
		var x struct{ Avg *float64 }
		if json.Unmarshal(text, &x) == nil && x.Avg != nil {
			values[name] = *x.Avg
		}
	}
	if err := json.Unmarshal(doc["was_cancelled"], &cancelled); err != nil {
		t.Fatal(err)
	}
	back := readAIPerf(doc)
	if v, ok := back.Stat(GoodputRate, "avg"); ok != (values["goodput"] != 0) || v != values["goodput"] {
		t.Errorf("goodput is read back as %g", v)
	}
	return values, cancelled
}

// TestAIPerfAggregate: tokens of answers are those that are no reasoning, all rates are divided by the time
// of the requests, without what lies between two windows, and a run that was cut says so.
func TestAIPerfAggregate(t *testing.T) {
	number := func(v float64) *result.Metric { return &result.Metric{Value: &v} }
	node := &result.Node{ID: "s", Outcome: result.Done, Metrics: map[string]*result.Metric{
		metric.RequestsCount: number(4), metric.Goodput: number(77), metric.GoodputRatio: number(0.75),
	}}
	r := Describe(&result.Result{}, node)
	tally := Tally{Windows: []Window{{1000e6, 1050e6}, {9000e6, 9050e6}}}
	for _, q := range []Request{
		thinking(1000, 8, 3), thinking(1030, 6, 6), thinking(9000, 7, 0), thinking(9020, 5, Unknown),
	} {
		tally.Add(&q)
	}
	tally.Sum(r)
	got, cancelled := aggregate(t, r)
	const seconds = 0.040 + 0.030
	for name, want := range map[string]float64{
		"benchmark_duration": seconds, "request_throughput": 4 / seconds, "output_token_throughput": 26 / seconds,
		"goodput": 3 / seconds, "good_request_count": 3, "total_osl": 26, "total_output_tokens": 5 + 7 + 5,
		"total_reasoning_tokens": 9, "output_token_count": 17.0 / 3, "reasoning_token_count": 3, "total_isl": 20,
	} {
		if math.Abs(got[name]-want) > 1e-9*want {
			t.Errorf("%s is %g, want %g", name, got[name], want)
		}
	}
	if cancelled {
		t.Error("it was not cancelled")
	}
	node.Outcome, node.Reason = result.InterruptedNode, "interrupted after 3s"
	if _, cancelled = aggregate(t, Describe(&result.Result{}, node)); !cancelled {
		t.Error("it was interrupted")
	}
	node.Outcome, node.Aborted = result.Done, &result.Abort{}
	if _, cancelled = aggregate(t, Describe(&result.Result{}, node)); !cancelled {
		t.Error("it was aborted")
	}
}

// TestEndpoints: GenAI-Perf and AIPerf have words of their own for servers of tensors and of ranks.
func TestEndpoints(t *testing.T) {
	for endpoint, want := range map[string][2]string{
		"chat":        {`{"type":"chat","streaming":false,"url":"","service_kind":"openai"}`, "chat"},
		"vllm":        {`{"type":"kserve","streaming":false,"url":"","service_kind":"triton","backend":"vllm"}`, "raw"},
		"triton":      {`{"type":"kserve","streaming":false,"url":"","service_kind":"triton"}`, "raw"},
		"rankings":    {`{"type":"rankings","streaming":false,"url":"","service_kind":"openai"}`, "nim_rankings"},
		"tensorrtllm": {`{"type":"kserve","streaming":false,"url":"","service_kind":"triton","backend":"tensorrtllm"}`, "raw"},
	} {
		r := &Run{Endpoint: endpoint}
		if text, err := encode(r.endpoint()); err != nil || string(text) != want[0] || r.aiperfEndpoint() != want[1] {
			t.Errorf("%s: %s, %s, %v", endpoint, text, r.aiperfEndpoint(), err)
		}
	}
}
