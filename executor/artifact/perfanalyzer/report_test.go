package perfanalyzer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/executor/result"
)

// ensemble is a result of an ensemble that calls a model twice, with the numbers of a run of
// perf_analyzer: 2 requests in flight, 802.854 inferences a second.
func ensemble() *result.Result {
	calls := 2.0
	own := measure(&result.Node{ID: "s", Stage: "s", Target: "main", Outcome: result.Done, Load: result.Load{Kind: "concurrency", Value: 2, Batch: 1, Transport: "grpc"}}, 1, map[string]float64{
		"throughput": 802.854, "latency": 0.002459, "service_time": 0.002459, "first_response": 0.002455, "send_time": 5e-6, "requests.count": 2959,
		"server.queue.mean": 2e-6, "server.compute_input.mean": 32e-6, "server.compute_infer.mean": 410e-6, "server.compute_output.mean": 248e-6,
		"server.request.mean": 1362e-6, "server.requests.count": 2959, "server.inferences.count": 2959, "server.executions.count": 2959,
	})
	child := measure(&result.Node{}, 1, map[string]float64{
		"server.queue.mean": 329e-6, "server.compute_input.mean": 16e-6, "server.compute_infer.mean": 205e-6, "server.compute_output.mean": 124e-6,
		"server.request.mean": 676e-6, "server.requests.count": 5918, "server.inferences.count": 5918, "server.executions.count": 5918,
	})
	own.Models = []result.Model{{Name: "simple", Version: "1", CalledBy: "ensemble", Calls: &calls, Metrics: child.Metrics}}
	return &result.Result{Nodes: []*result.Node{own}, Plan: result.Plan{Resolved: map[string]any{
		"targets": map[string]any{"main": map[string]any{"backend": "triton"}},
	}}}
}

// The table of the model has perf_analyzer's name and columns; the ensemble's own row has the queue
// of its models, which perf_analyzer leaves out: 660 = 2 + 2 × 329.
func TestModels(t *testing.T) {
	files, err := Tables(ensemble(), nil)
	if err != nil || len(files) != 3 {
		t.Fatalf("%d files (%v)", len(files), err)
	}
	got := map[string]string{}
	for _, f := range files {
		got[f.Name] = string(f.Data)
	}
	want := map[string]string{
		"perf_analyzer.csv": `Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,Server Compute Input,Server Compute Infer,Server Compute Output,Client Recv,p50 latency,p90 latency,p95 latency,p99 latency
2,802.854,5,1100,660,32,410,248,4,2459,2459,2459,2459
`,
		"perf_analyzer_verbose.csv": `Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,Server Compute Input,Server Compute Infer,Server Compute Output,Client Recv,p50 latency,p90 latency,p95 latency,p99 latency,Avg latency,request/response,response wait
2,802.854,5,1100,660,32,410,248,4,2459,2459,2459,2459,2459,9,2450
`,
		"simple_v1.perf_analyzer.csv": `Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,Server Compute Input,Server Compute Infer,Server Compute Output,Client Recv
2,1605.71,0,2,329,16,205,124,0
`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	r := ensemble()
	infer := 1350e-6 // the calls are in it
	r.Nodes[0].Metrics["server.compute_infer.mean"].Value = &infer
	files, err = Tables(r, nil)
	if err != nil || !strings.Contains(string(files[0].Data), "\n2,802.854,5,818,2,32,1350,") {
		t.Errorf("a model that calls others from its own code: %s (%v)", files[0].Data, err)
	}
}

// The report has perf_analyzer's labels, in its order.
func TestReport(t *testing.T) {
	want := `*** Measurement Settings ***
  Batch size: 1
  Service Kind: TRITON
  Using asynchronous calls for inference

Request concurrency: 2
  Client: 
    Request count: 2959
    Throughput: 802.854 infer/sec
    Avg latency: 2459 usec (standard deviation 0 usec)
    p50 latency: 2459 usec
    p90 latency: 2459 usec
    p95 latency: 2459 usec
    p99 latency: 2459 usec
    Avg gRPC time: 2459 usec ((un)marshal request/response 9 usec + response wait 2450 usec)
  Server: 
    Inference count: 2959
    Execution count: 2959
    Successful request count: 2959
    Avg request latency: 1362 usec (overhead 12 usec + queue 660 usec + compute input 32 usec + compute infer 410 usec + compute output 248 usec)

  Composing models: 
  simple, version: 1
      Inference count: 5918
      Execution count: 5918
      Successful request count: 5918
      Avg request latency: 676 usec (overhead 2 usec + queue 329 usec + compute input 16 usec + compute infer 205 usec + compute output 124 usec)
Inferences/Second vs. Client Average Batch Latency
Concurrency: 2, throughput: 802.854 infer/sec, latency 2459 usec
`
	if diff := cmp.Diff(want, string(Report(ensemble()))); diff != "" {
		t.Error(diff)
	}
}

// A response cache, windows, a percentile that decides, a rate that was not kept, a level that
// never got stable.
func TestReportOfOthers(t *testing.T) {
	p95 := 0.01
	cached := measure(&result.Node{ID: "s", Stage: "s", Target: "main", Outcome: result.Done, Duration: 10, Load: result.Load{Kind: "rate", Value: 50, Batch: 4, Arrivals: "poisson", Transport: "http"}}, 1, map[string]float64{
		"throughput": 37.96, "latency": 0.0295, "requests.count": 380, "late.ratio": 0.0949, "server.requests.count": 381, "server.inferences.count": 1,
		"server.cache.hits.count": 380, "server.cache.misses.count": 1, "server.cache.hit.mean": 3e-6, "server.cache.miss.mean": 27e-6,
		"server.request.mean": 50e-6, "server.queue.mean": 2e-6, "server.compute_infer.mean": 10629e-6,
	})
	cached.Windows = []result.Window{{Values: map[string]*float64{"latency.p50": &p95, "latency.p90": &p95, "latency.p95": &p95}}}
	lost := &result.Node{Stage: "s", Outcome: result.Unstable, Reason: "not stable", Load: result.Load{Kind: "rate", Value: 60}, Windows: make([]result.Window, 4)}
	unstable := measure(&result.Node{Stage: "s", Outcome: result.Unstable, Reason: "not stable", Load: result.Load{Kind: "rate", Value: 70}, Windows: make([]result.Window, 4)}, 1, map[string]float64{"throughput": 65.5, "latency": 0.07})
	over := measure(&result.Node{
		Stage: "s", Outcome: result.Done, Load: result.Load{Kind: "rate", Value: 80},
		Validity: result.Validity{Findings: []result.Finding{{Code: result.LadderEnd, Text: "latency.mean < 50ms is not true here"}}},
	}, 1, map[string]float64{"throughput": 75.5, "latency": 0.08})
	stage := map[string]any{
		"id": "s", "warmup": "5 requests", "load": map[string]any{"rate": map[string]any{"search": map[string]any{}}},
		"until": map[string]any{"stable": map[string]any{"window": "1500ms"}},
	}
	r := &result.Result{Nodes: []*result.Node{cached, lost, unstable, over}, Plan: result.Plan{Resolved: map[string]any{
		"stages":  []any{map[string]any{"parallel": []any{stage}}},
		"targets": map[string]any{"main": map[string]any{"backend": "openai"}},
	}}}
	got := string(Report(r))
	for _, want := range []string{
		"  Batch size: 4\n  Service Kind: OPENAI\n  Sending 5 warmup request(s)\n  Using \"time_windows\" mode for stabilization\n  Stabilizing using p95 latency and throughput\n  Measurement window: 1500 msec\n  Using poisson distribution on request generation\n  Using Binary Search algorithm\n",
		"Request Rate: 50 inference requests per second\n", "    Avg send request rate: 38.00 infer/sec\n", "9.49% of the requests were delayed",
		"    Cache hit count: 380\n    Cache miss count: 1\n", "(overhead 17 usec + queue 2 usec + cache hit/miss 30 usec)\n",
		"      Average Cache Hit Latency: 3 usec\n", "      Average Cache Miss Latency: 10656 usec (cache lookup/insertion 27 usec + ",
		"Failed to obtain stable measurement within 4 measurement windows. not stable\n",
		"Inferences/Second vs. Client p95 Batch Latency\nRequest Rate: 50, throughput: 37.96 infer/sec, latency 29500 usec\nRequest Rate: 70, throughput: 65.5 infer/sec, latency 70000 usec (not stable)\n",
		"Request Rate: 70 inference requests per second\n  Failed to obtain stable measurement within 4 measurement windows. not stable\n  Client: \n",
		"Request Rate: 80 inference requests per second\n  latency.mean < 50ms is not true here\n  Client: \n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if before, _, _ := strings.Cut(got, "Request Rate: 60"); strings.Contains(before, "Avg latency: ") {
		t.Error("the mean is shown, a percentile decides")
	}
	if strings.Contains(got, "Request Rate: 80, throughput") {
		t.Errorf("a level over its limit is among those that were reached\n%s", got)
	}
}

// In process there is no protocol that took a time: perf_analyzer leaves the line empty.
func TestReportInProcess(t *testing.T) {
	for _, responses := range []float64{4, 8} {
		n := measure(&result.Node{ID: "s", Stage: "s", Target: "main", Outcome: result.Done, Load: result.Load{Kind: "concurrency", Value: 1, Batch: 1}}, 1, map[string]float64{
			"throughput": 4, "requests.rate": 4, "responses.rate": responses, "latency": 0.2, "service_time": 0.2, "first_response": 0.1, "requests.count": 20, "server.requests.count": 20,
		})
		if got := string(Report(&result.Result{Nodes: []*result.Node{n}})); strings.Contains(got, " time: ") || !strings.Contains(got, " usec\n    \n  Server: \n") {
			t.Errorf("%v responses:\n%s", responses, got)
		}
	}
}

// The latency of a decoupled model is that of its last response, and the report says so; the first
// has a line of its own.
func TestReportDecoupled(t *testing.T) {
	n := measure(&result.Node{ID: "s", Stage: "s", Target: "main", Outcome: result.Done, Load: result.Load{Kind: "concurrency", Value: 1, Batch: 1, Transport: "grpc"}}, 1, map[string]float64{
		"throughput": 4, "requests.rate": 4, "responses.rate": 8, "latency": 0.2042, "service_time": 0.2042, "first_response": 0.0042, "response_gap": 0.2, "send_time": 12e-6, "requests.count": 20,
	})
	want := `  Using asynchronous calls for inference
  Detected decoupled model, latency is that of the last response

Request concurrency: 1
  Client: 
    Request count: 20
    Throughput: 4 infer/sec
    Response Throughput: 8 infer/sec
    Avg latency: 204200 usec (standard deviation 0 usec)
    p50 latency: 204200 usec
    p90 latency: 204200 usec
    p95 latency: 204200 usec
    p99 latency: 204200 usec
    Avg first response: 4200 usec
    Avg response gap: 200000 usec
    Avg gRPC time: 204200 usec (send 12 usec + response wait 4188 usec + first to last response 200000 usec)
`
	if got := string(Report(&result.Result{Nodes: []*result.Node{n}})); !strings.Contains(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

// gpus are readings of GPUs by family and id.
func gpus(t *testing.T, values map[string]map[string][]float64) *result.Node {
	t.Helper()
	x := result.Scrape{}
	for family, ids := range values {
		for id, list := range ids {
			s := result.Scraped{Name: family, Labels: map[string]string{"gpu_uuid": id}}
			for _, v := range list {
				s.Values = append(s.Values, &v)
			}
			x.Series = append(x.Series, s)
		}
	}
	return &result.Node{Scrapes: []result.Scrape{x}}
}

// The cells that perf_analyzer's own tests expect.
func TestGPUs(t *testing.T) {
	const util, power, used, total = "nv_gpu_utilization", "nv_gpu_power_usage", "nv_gpu_memory_used_bytes", "nv_gpu_memory_total_bytes"
	type values = map[string]map[string][]float64
	for _, tt := range []struct {
		values values
		want   string
	}{
		{values{}, ",,,"},
		{values{util: {"a": {1}}, power: {"a": {2.2}}, used: {"a": {3}}, total: {"a": {4}}}, "a:1;,a:2.2;,a:3;,a:4;"},
		{values{util: {"a": {1}}, used: {"a": {3}}, total: {"a": {4}}}, "a:1;,,a:3;,a:4;"},
		{values{util: {"a": {1}, "z": {100}}, power: {"a": {2.2}, "z": {222.2}}, used: {"a": {3}, "z": {45}}, total: {"a": {4}, "z": {89}}}, "a:1;z:100;,a:2.2;z:222.2;,a:3;z:45;,a:4;z:89;"},
		{values{util: {"a": {1}}, power: {"z": {222.2}}, used: {"a": {3}, "z": {45}}, total: {"a": {4}, "z": {89}}}, "a:1;,z:222.2;,a:3;z:45;,a:4;z:89;"},
		{values{used: {"a": {13958643712, 75000000}}, total: {"a": {85899345920}}}, ",,a:13958643712;,a:85899345920;"}, // all digits, as perf_analyzer's
		{values{util: {"a": {.45, .52}}, power: {"a": {70, 84.5}}, used: {"a": {10000, 12000}}, total: {"a": {100000, 100000}}}, "a:0.485;,a:77.25;,a:12000;,a:100000;"},
		{values{util: {"a": {.45, .52, .56}, "b": {.23, .27, .30}}, used: {"a": {10, 12, 15}, "b": {55, 47}}, total: {"a": {10, 12, 15}, "b": {84, 47}}}, "a:0.51;b:0.266667;,,a:15;b:55;,a:10;b:84;"},
		{values{util: {"a": {.45, .52, .56}, "b": {.23, .30}}, power: {"a": {70, 84.5}}, used: {"a": {10, 15, 12}, "b": {55, 84, 47}}, total: {"b": {84, 47}}}, "a:0.51;b:0.265;,a:77.25;,a:15;b:84;,b:84;"},
	} {
		n := gpus(t, tt.values)
		var cells []string
		for _, c := range gpuColumns([]*result.Node{n}) {
			cells = append(cells, c.of(n))
		}
		if got := strings.Join(cells, ","); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.values, got, tt.want)
		}
	}
	if gpuColumns([]*result.Node{{}}) != nil {
		t.Error("columns of metrics that nobody asked for")
	}
	p := &page{}
	p.gpus(gpus(t, values{util: {"gpu0": {.45}, "gpu1": {.52}}, power: {"gpu0": {70}, "gpu1": {84.5}}, used: {"gpu0": {10000}, "gpu1": {12000}}, total: {"gpu0": {100000}, "gpu1": {100000}}}))
	const want = `  Server Prometheus Metrics: 
    Avg GPU Utilization:
      gpu0 : 45%
      gpu1 : 52%
    Avg GPU Power Usage:
      gpu0 : 70 watts
      gpu1 : 84.5 watts
    Max GPU Memory Usage:
      gpu0 : 10000 bytes
      gpu1 : 12000 bytes
    Total GPU Memory:
      gpu0 : 100000 bytes
      gpu1 : 100000 bytes
`
	if diff := cmp.Diff(want, p.String()); diff != "" {
		t.Error(diff)
	}
	p = &page{}
	if p.gpus(&result.Node{Scrapes: []result.Scrape{{}}}); p.Len() != 0 {
		t.Errorf("without GPUs: %s", p.String())
	}
	many := map[string][]float64{}
	for id := range strings.SplitSeq("abcdefghijklmnopq", "") {
		many[id] = []float64{1}
	}
	p = &page{}
	if p.gpus(gpus(t, values{util: many})); !strings.Contains(p.String(), "Too many GPUs") {
		t.Errorf("%s", p.String())
	}
}
