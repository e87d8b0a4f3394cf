package observe

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario/metric"
)

var series = []backends.Series{
	{Name: "requests", Unit: "1"},
	{Name: "request", Unit: "ns", Per: "requests"},
	{Name: "queue.count", Unit: "1"},
	{Name: "queue", Unit: "ns", Per: "queue.count"},
	{Name: "compute_infer.count", Unit: "1"},
	{Name: "compute_infer", Unit: "ns", Per: "compute_infer.count"},
	{Name: "inferences", Unit: "1"},
	{Name: "executions", Unit: "1"},
}

func TestGrowth(t *testing.T) {
	none := math.NaN()
	tests := []struct {
		name string
		a, b []int64
		want map[string]float64
		why  string
	}{
		{
			"grown",
			[]int64{100, 5000, 100, 1000, 100, 3000, 400, 50},
			[]int64{110, 5_000_005_000, 110, 1_000_001_000, 108, 3_200_003_000, 440, 60},
			map[string]float64{
				"server.requests.count": 10, "server.request.mean": 0.5, "server.queue.count": 10,
				"server.queue.mean":          0.1,
				"server.compute_infer.count": 8, "server.compute_infer.mean": 0.4,
				"server.inferences.count": 40, "server.executions.count": 10,
				"server.overhead.mean": 0.08, "server.batch.mean": 4,
			},
			"",
		},
		{
			"nothing happened",
			[]int64{1, 2, 3, 4, 5, 6, 7, 8},
			[]int64{1, 2, 3, 4, 5, 6, 7, 8},
			map[string]float64{
				"server.requests.count": 0, "server.request.mean": none, "server.queue.count": 0,
				"server.queue.mean":          none,
				"server.compute_infer.count": 0, "server.compute_infer.mean": none,
				"server.inferences.count": 0, "server.executions.count": 0,
				"server.overhead.mean": none, "server.batch.mean": none,
			},
			"",
		},
		{
			"parts larger than the whole",
			[]int64{0, 0, 0, 0, 0, 0, 0, 0},
			[]int64{10, 1000, 10, 600, 10, 500, 10, 10},
			map[string]float64{
				"server.requests.count": 10, "server.request.mean": 100e-9, "server.queue.count": 10,
				"server.queue.mean":          60e-9,
				"server.compute_infer.count": 10, "server.compute_infer.mean": 50e-9,
				"server.inferences.count": 10, "server.executions.count": 10,
				"server.overhead.mean": none, "server.batch.mean": 1,
			},
			"the server's queue and compute times (1100 ns) add up to more than its request time (1000 ns)",
		},
		{
			"restarted",
			[]int64{100, 5000, 100, 1000, 100, 3000, 400, 50},
			[]int64{110, 5010, 9, 90, 8, 3, 4, 5},
			nil,
			"the server's counter queue.count went back from 100 to 9: was it restarted?",
		},
		{"cut short", []int64{1}, []int64{2}, nil, "the server's statistics are incomplete"},
		{"never read", nil, []int64{1, 2, 3, 4, 5, 6, 7, 8}, nil, "the server's statistics are incomplete"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			readings := Growth(series, Snapshot{Values: tt.a}, Snapshot{Values: tt.b})
			if len(readings) != len(Rows(series)) {
				t.Fatalf("%d readings for %d rows", len(readings), len(Rows(series)))
			}
			why := ""
			for i, r := range readings {
				if r.Reason != "" {
					why = r.Reason
				}
				if row := Rows(series)[i].Name; r.Row.Name != row {
					t.Errorf("reading %d is of %s, want %s", i, r.Row.Name, row)
				}
				want, listed := tt.want[r.Row.Name]
				if tt.want == nil {
					want, listed = none, true
				}
				if !listed || r.OK == math.IsNaN(want) || r.OK && math.Abs(r.V-want) > 1e-12*math.Abs(want) {
					t.Errorf("%s = %v, %v; want %v", r.Row.Name, r.V, r.OK, want)
				}
			}
			if why != tt.why {
				t.Errorf("why = %q, want %q", why, tt.why)
			}
		})
	}
}

// The rows of a server fit into the catalogue, whatever it counts.
func TestRowsFitTheCatalogue(t *testing.T) {
	if _, err := metric.New(Rows(series)...); err != nil {
		t.Error(err)
	}
	var names []string
	for _, row := range Rows(series[2:4]) { // without a request time there is no overhead
		names = append(names, row.Name)
	}
	if diff := cmp.Diff([]string{"server.queue.count", "server.queue.mean"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestTake(t *testing.T) {
	s, err := Take(context.Background(), 2, func(_ context.Context, into []int64) (int64, error) {
		copy(into, []int64{3, 4})
		return 99, nil
	})
	if diff := cmp.Diff(Snapshot{At: 99, Values: []int64{3, 4}}, s); diff != "" || err != nil {
		t.Error(diff, err)
	}
	_, err = Take(context.Background(), 2,
		func(context.Context, []int64) (int64, error) { return 0, errors.New("404") })
	if err == nil || !strings.HasSuffix(err.Error(), "read server statistics: 404") {
		t.Errorf("error = %v", err)
	}
}
