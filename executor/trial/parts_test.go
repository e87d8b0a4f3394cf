package trial

import (
	"slices"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/measure"
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
