package artifact

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/executor/result"
)

// TestTimeline: a row for each slice of each node, with the server's counters that any has.
func TestTimeline(t *testing.T) {
	p50, p99 := 0.0125, 0.05
	r := &result.Result{Nodes: []*result.Node{
		{ID: "a", Slices: []result.Slice{
			{
				To: 1, Sent: 5, OK: 4, Failed: 1, Items: 8, InFlight: 2, LatencyP50: &p50, LatencyP99: &p99, LatencyMax: &p99,
				Tokens: 64, TTFTP50: &p50, TTFTP99: &p50, Server: map[string]float64{"server.queue.mean": 0.25},
			},
			{From: 1, To: 1.5, Repeat: 1},
		}},
		{ID: "=b"},
	}}
	const want = `node,repeat,from_s,to_s,sent,ok,failed,items,in_flight,latency_p50_ms,latency_p99_ms,latency_max_ms,tokens,ttft_p50_ms,ttft_p99_ms,server_queue_mean
a,1,0,1,5,4,1,8,2,12.5,50,50,64,12.5,12.5,0.25
a,2,1,1.5,0,0,0,0,0,,,,0,,,
`
	got, err := timelineCSV(r, Options{})
	if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
		t.Error(err, diff)
	}
}
