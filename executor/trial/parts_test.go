package trial

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// TestClosedAsPlanned: a request that the client closed as planned is no part of a share of errors or of
// good requests, neither in the value nor in the stored parts.
func TestClosedAsPlanned(t *testing.T) {
	a := &measure.Aggregate{
		Window: 1e9, HasGoodput: true,
		Counts:       measure.Counts{Sent: 100, Good: 30},
		PlayerCounts: measure.PlayerCounts{Planned: 110},
	}
	a.Class[backends.Closed], a.Class[backends.Status], a.Class[backends.OK] = 50, 10, 40
	catalogue, err := metric.New(metric.GoodputRows()...)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][3]int64{ // errors or good ones, of, 1000 × value
		"errors.ratio":        {10, 50, 200},
		"errors.status.ratio": {10, 50, 200},
		"goodput.ratio":       {30, 60, 500},
	} {
		row, ok := catalogue.Row(name)
		if !ok {
			t.Fatalf("no row %s", name)
		}
		v, _ := a.Value(row)
		p := countsByPart(row, 1, []*measure.Aggregate{a, a}, 2)
		if int64(v*1000+0.5) != want[2] || !slices.Equal(p.Counts, []int64{want[0], want[0]}) ||
			!slices.Equal(p.Of, []int64{want[1], want[1]}) {
			t.Errorf("%s is %v, parts %v of %v, want %v", name, v, p.Counts, p.Of, want)
		}
	}
}

// TestBoundParts: the parts of a node with many scopes are joined until they are small, and hold the same
// values; those of a few metrics stay as they are.
func TestBoundParts(t *testing.T) {
	for scopes, want := range map[int]int{2: 60, 8: 60, 20: 30, 100: 15} {
		n := &result.Node{Metrics: map[string]*result.Metric{}}
		for range scopes {
			n.Scopes = append(n.Scopes, result.Scope{Metrics: map[string]*result.Metric{
				"latency": {Parts: &result.Parts{Seconds: 1, Values: drawTable(uint64(scopes))}},
				"ttft":    {Low: &result.Metric{Parts: &result.Parts{Seconds: 1, Values: drawTable(1)}}},
				"itl":     {},
			}})
		}
		boundParts(n)
		size := 0
		for _, s := range n.Scopes {
			for _, of := range []*result.Metric{s.Metrics["latency"], s.Metrics["ttft"].Low} {
				table := of.Parts.Values
				text, err := table.MarshalJSON()
				if size += len(text); err != nil || table.Parts() != want {
					t.Fatalf("%d scopes: %d parts, want %d: %v", scopes, table.Parts(), want, err)
				}
				if all := sum(table.Counts()); all != 6000 {
					t.Errorf("%d scopes: %d values", scopes, all)
				}
			}
		}
		if want > 15 && size > maxPartBytes {
			t.Errorf("%d scopes take %d bytes", scopes, size)
		}
	}
}

// drawTable returns a table of 60 parts with 100 values each.
func drawTable(seed uint64) *stats.Table {
	var p stats.Parts
	r := rand.New(rand.NewPCG(seed, 3))
	for i := range 6000 {
		p.Add(i/100, int64(5e6*(1+r.ExpFloat64())))
	}
	return p.Table(0, stats.MaxParts)
}

func sum(list []int64) (n int64) {
	for _, v := range list {
		n += v
	}
	return n
}
