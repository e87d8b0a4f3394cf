package perfanalyzer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/executor/result"
)

// Headers as perf_analyzer wrote them in runs against a real server.
func TestHeader(t *testing.T) {
	const (
		head   = "Inferences/Second,"
		server = "Network+Server Send/Recv,Server Queue,Server Compute Input,Server Compute Infer,Server Compute Output,"
		tail   = "Client Recv,p50 latency,p90 latency,p95 latency,p99 latency"
	)
	with := func(kind string, extra map[string]float64) *result.Node {
		values := map[string]float64{"throughput": 10, "requests.rate": 10, "responses.rate": 10, "latency": 0.02}
		for name, v := range extra {
			values[name] = v
		}
		return measure(&result.Node{Outcome: result.Done, Load: result.Load{Kind: kind, Value: 1}}, 9, values)
	}
	queue := map[string]float64{"server.queue.mean": 1e-6}
	cached := map[string]float64{"server.queue.mean": 1e-6, "server.cache.hit.mean": 27e-6, "server.cache.miss.mean": 1e-6}
	tests := []struct {
		name        string
		node        *result.Node
		percentiles []float64
		want        string
	}{
		{"concurrency", with("concurrency", queue), nil, "Concurrency," + head + "Client Send," + server + tail},
		{"rate", with("rate", queue), nil, "Request Rate," + head + "Client Send," + server + tail},
		{"no statistics", with("concurrency", nil), nil, "Concurrency," + head + "Client Send," + tail},
		{"response cache", with("concurrency", cached), nil, "Concurrency," + head + "Client Send," + server + "Server Cache Hit,Server Cache Miss," + tail},
		{
			"decoupled", with("concurrency", map[string]float64{"responses.rate": 50}), nil,
			"Concurrency," + head + "Response Throughput,Client Send," + tail,
		},
		{
			"percentiles", with("concurrency", nil),
			[]float64{99.9, 97, 50, 25, 100},
			"Concurrency," + head + "Client Send,Client Recv,p25 latency,p50 latency,p90 latency,p95 latency,p97 latency,p99 latency",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files, err := Tables(&result.Result{Nodes: []*result.Node{tt.node}}, tt.percentiles)
			if err != nil || len(files) != 2 || files[0].Name != "perf_analyzer.csv" {
				t.Fatalf("%d files (%v)", len(files), err)
			}
			got, _, _ := strings.Cut(string(files[0].Data), "\n")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A level that never got stable has its row, one over its limit has none, as in perf_analyzer's
// file of such a run. The parts add up to the mean latency as they do in perf_analyzer's file:
// 24559 = 74 + 1245 + 114 + 24 + 22957 + 142 + 0 there, off by what it repeats away.
func TestParts(t *testing.T) {
	n := measure(&result.Node{Outcome: result.Done, Load: result.Load{Kind: "concurrency", Value: 1}}, 1, map[string]float64{
		"throughput": 40.52237, "latency": 0.024559, "service_time": 0.024559, "first_response": 0.024559, "send_time": 74e-6,
		"server.queue.mean": 114e-6, "server.compute_input.mean": 24e-6, "server.compute_infer.mean": 0.022957, "server.compute_output.mean": 142e-6,
	})
	much := measure(&result.Node{Outcome: result.Done, Load: result.Load{Kind: "concurrency", Value: 2}}, 1, map[string]float64{
		"throughput": 1234567, "latency": 0.02, "server.queue.mean": 0.5, // the server says more than there was
	})
	unstable := measure(&result.Node{Outcome: result.Unstable, Load: result.Load{Kind: "concurrency", Value: 3}}, 1, map[string]float64{"throughput": 1, "latency": 1})
	over := measure(&result.Node{
		Outcome: result.Done, Load: result.Load{Kind: "concurrency", Value: 5},
		Validity: result.Validity{Findings: []result.Finding{{Code: result.LadderEnd, Text: "latency.mean < 50ms is not true here"}}},
	}, 1, map[string]float64{"throughput": 2, "latency": 1})
	silent := &result.Node{Outcome: result.Done, Load: result.Load{Kind: "concurrency", Value: 4}}
	files, err := Tables(&result.Result{Nodes: []*result.Node{much, unstable, silent, over, n}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"3,1,0,1000000,0,0,0,0,0,1000000,1000000,1000000,1000000",
		"1,40.5224,74,1248,114,24,22957,142,0,24559,24559,24559,24559",
		"2,1.23457e+06,0,0,500000,0,0,0,0,20000,20000,20000,20000",
	}
	_, rows, _ := strings.Cut(strings.TrimSpace(string(files[0].Data)), "\n")
	if diff := cmp.Diff(want, strings.Split(rows, "\n")); diff != "" {
		t.Error(diff)
	}
}

// What a response cache answered and what was computed are shares of a request, so that they add up
// to the latency: perf_analyzer's row of this run has 10629 µs of computing in a latency of 424.
func TestCached(t *testing.T) {
	n := measure(&result.Node{Outcome: result.Done, Load: result.Load{Kind: "concurrency", Value: 1}}, 1, map[string]float64{
		"throughput": 2280.92, "latency": 424e-6, "service_time": 424e-6, "first_response": 423e-6, "send_time": 2e-6,
		"server.requests.count": 100, "server.cache.hits.count": 99, "server.cache.misses.count": 1, "server.queue.mean": 2e-6,
		"server.compute_input.mean": 100e-6, "server.compute_infer.mean": 10600e-6, "server.compute_output.mean": 300e-6,
		"server.cache.hit.mean": 300e-6, "server.cache.miss.mean": 1000e-6,
	})
	files, err := Tables(&result.Result{Nodes: []*result.Node{n}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	// 424 = 2 + 2 + 1 + 106 + 3 + 297 + 10 + 1 and what is left for the network.
	if want, got := "\n1,2280.92,2,2,2,1,106,3,297,10,1,424,", string(files[0].Data); !strings.Contains(got, want) {
		t.Errorf("%q is not in %s", want, got)
	}
}

// The level of a load that changes is what the plan sets, whatever was in flight: the largest
// number, or the rate offered, of gaps a whole one.
func TestLevel(t *testing.T) {
	for _, c := range []struct {
		load        result.Load
		title, cell string
	}{
		{result.Load{Kind: "concurrency", Value: 3}, "Request concurrency: 3", "3"},
		{result.Load{Kind: "concurrency", Periodic: &result.Periodic{From: 2, To: 6, Step: 2}}, "Request concurrency: 6", "6"},
		{result.Load{Kind: "concurrency", Ramp: []result.RampStep{{To: 4}, {To: 7}, {To: 2}}}, "Request concurrency: 7", "7"},
		{result.Load{Kind: "rate", Value: 23.5}, "Request Rate: 23.5 inference requests per second", "23.5"},
		{result.Load{Kind: "rate"}, "Request Rate: 39.6 inference requests per second", "39.6"},
		{result.Load{Kind: "schedule"}, "Request Rate: 39.6 inference requests per second", "39.6"},
		{result.Load{Kind: "intervals", Value: 5 / .125}, "Request Rate: 40 inference requests per second", "40"},
		{result.Load{Kind: "intervals", Value: 3 / .34}, "Request Rate: 8 inference requests per second", "8"},
	} {
		n := measure(&result.Node{ID: "s", Outcome: result.Done, Load: c.load}, 1, map[string]float64{"throughput": 1, "latency": 1, "in_flight.max": 5, "offered.rate": 39.6})
		r := &result.Result{Nodes: []*result.Node{n}}
		if got := string(Report(r)); !strings.Contains(got, "\n"+c.title+"\n") {
			t.Errorf("%+v: %q is not in %s", c.load, c.title, got)
		}
		files, err := Tables(r, nil)
		if err != nil || !strings.Contains(string(files[0].Data), "\n"+c.cell+",1,") {
			t.Errorf("%+v: %s (%v)", c.load, files[0].Data, err)
		}
	}
}

// Rows ascend by throughput, as in the sample of perf_analyzer's documentation, where level 4 comes
// before level 2.
func TestOrder(t *testing.T) {
	var nodes []*result.Node
	for i, v := range []float64{69.2, 87.2, 84.2, 84.2} {
		nodes = append(nodes, measure(&result.Node{Outcome: result.Done, Load: result.Load{Kind: "concurrency", Value: float64(i + 1)}}, 1, map[string]float64{"throughput": v, "latency": 1}))
	}
	files, err := Tables(&result.Result{Nodes: nodes}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(files[0].Data)) {
		cells := strings.Split(line, ",")
		got = append(got, cells[0]+" "+cells[1])
	}
	if diff := cmp.Diff([]string{"Concurrency Inferences/Second", "1 69.2", "3 84.2", "4 84.2", "2 87.2"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestModes(t *testing.T) {
	for kind, want := range map[string]string{"rate": "Request Rate,", "concurrency": "Concurrency,"} {
		files, err := Tables(&result.Result{Nodes: []*result.Node{{Outcome: result.Failed, Load: result.Load{Kind: kind}}}}, nil)
		if err != nil || !strings.HasPrefix(string(files[0].Data), want) {
			t.Errorf("%s that failed: %v (%v)", kind, files, err)
		}
	}
	node := func(kind string) *result.Node {
		return measure(&result.Node{Outcome: result.Done, Load: result.Load{Kind: kind, Value: 1}}, 1, map[string]float64{"throughput": 1, "latency": 1})
	}
	for first, second := range map[string]string{"rate": "concurrency", "concurrency": "request_rate"} {
		other := map[string]string{"rate": "concurrency", "concurrency": "rate"}[first]
		files, err := Tables(&result.Result{Nodes: []*result.Node{node(first), node(other), node(first)}}, nil)
		if err != nil || len(files) != 4 || files[2].Name != "perf_analyzer_"+second+".csv" {
			t.Errorf("%s first: %v (%v)", first, files, err)
			continue
		}
		if n := strings.Count(string(files[0].Data), "\n"); n != 3 {
			t.Errorf("%s: %d lines, want a header and two rows", first, n)
		}
	}
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		sixDigits(1266.9137): "1266.91", sixDigits(100000): "100000", sixDigits(1e6): "1e+06",
		micros(0.0000749999): "74", micros(0.022957): "22957",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestUsersLevel: users are a rate, that of all of them.
func TestUsersLevel(t *testing.T) {
	n := &result.Node{Load: result.Load{Kind: "rate", Value: 20, Of: "users", Users: 8}}
	if got := modeOf(n) + " " + levelOf(n); got != "request_rate 160" {
		t.Error(got)
	}
}
