package result

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/metric"
)

func TestMetricJSON(t *testing.T) {
	few := Distribution(row("latency"), dist(15, 20, 35, 40, 50), []float64{99.9, 50, 5})
	few.Dist = nil
	tests := []struct {
		name string
		m    *Metric
		want string
	}{
		{"value", Scalar(row("throughput"), 199.6, true), `{"unit":"1/s","value":199.6}`},
		{"value of zero", Scalar(row("errors.ratio"), 0, true), `{"unit":"ratio","value":0}`},
		{"no value", Scalar(row("throughput"), 7, false), `{"unit":"1/s","value":null}`},
		{"not a number", Scalar(row("throughput"), math.NaN(), true), `{"unit":"1/s","value":null}`},
		{"infinite", Scalar(row("throughput"), math.Inf(1), true), `{"unit":"1/s","value":null}`},
		{
			"distribution", few,
			`{"unit":"s","count":5,"min":0.015,"mean":0.032,"std":0.014404860290887934,"p5":0.015,"p50":0.035,"p99.9":0.05,"max":0.05}`,
		},
		{
			"empty distribution", &Metric{
				Unit: "s", Count: new(int64),
				Percentiles: map[string]*float64{"p50": nil},
			},
			`{"unit":"s","count":0,"min":null,"mean":null,"std":null,"p50":null,"max":null}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := json.Marshal(tt.m)
			if err != nil || string(text) != tt.want {
				t.Fatalf("got  %s (%v)\nwant %s", text, err, tt.want)
			}
			var back Metric
			if err := json.Unmarshal(text, &back); err != nil {
				t.Fatal(err)
			}
			again, err := json.Marshal(&back)
			if err != nil || string(again) != tt.want {
				t.Errorf("read and written again: %s (%v)", again, err)
			}
		})
	}
}

// A stored distribution answers every percentile, also those that no table shows; without one the
// members do.
func TestMetricStat(t *testing.T) {
	whole := Distribution(row("latency"), dist(15, 20, 35, 40, 50), []float64{50})
	stored := Distribution(row("latency"), dist(15, 20, 35, 40, 50), []float64{50})
	stored.Dist = nil
	tests := []struct {
		stat          string
		whole, stored float64
		ok, okStored  bool
	}{
		{"p50", 0.035, 0.035, true, true},
		{"p99", 0.05, 0, true, false},
		{"min", 0.015, 0.015, true, true},
		{"max", 0.05, 0.05, true, true},
		{"mean", 0.032, 0.032, true, true},
		{"count", 5, 5, true, true},
	}
	for _, tt := range tests {
		s, _, ok := metric.ParseStat(tt.stat)
		if !ok {
			t.Fatal(tt.stat)
		}
		if v, ok := whole.Stat(s); ok != tt.ok || v != tt.whole {
			t.Errorf("%s of the distribution = %v, %v", tt.stat, v, ok)
		}
		if v, ok := stored.Stat(s); ok != tt.okStored || v != tt.stored {
			t.Errorf("%s of the members = %v, %v", tt.stat, v, ok)
		}
	}
	var missing *Metric
	if _, ok := missing.Stat(metric.Stat{}); ok {
		t.Error("a missing metric has a value")
	}
	if v, ok := Distribution(row("latency"), &stats.Dist{}, nil).Stat(metric.Stat{Kind: metric.Mean}); ok {
		t.Errorf("mean of nothing = %v", v)
	}
}

func TestMetricRefusesNonsense(t *testing.T) {
	for _, text := range []string{
		`{"unit":"s","count":1,"p50":"fast"}`, `{"unit":"s","count":1.5}`, `{"unit":7}`, `[]`,
		`{"unit":"s","value":1e999}`,
	} {
		if err := json.Unmarshal([]byte(text), new(Metric)); err == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}

func TestPercentileNames(t *testing.T) {
	got := []string{}
	for _, name := range strings.Fields("p50 p99.9 p100 p0 p101 p-1 p pp p1e1 p0x9 p.5 std p5") {
		if _, ok := percentile(name); ok {
			got = append(got, name)
		}
	}
	if diff := cmp.Diff(strings.Fields("p50 p99.9 p100 p5"), got); diff != "" {
		t.Error(diff)
	}
}
