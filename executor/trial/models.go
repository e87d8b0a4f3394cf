package trial

import (
	"cmp"
	"context"
	"slices"

	"github.com/sluice-bench/sluice/executor/observe"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// tally holds the counters of a server at one moment: of a stage's own models together, then of
// each that they call.
type tally []observe.Snapshot

// count takes a snapshot of everything.
func (in *Requests) count(ctx context.Context) (tally, error) {
	counters, all := []Counters{in.Counters}, tally{}
	for _, c := range in.Called {
		counters = append(counters, c.Counters)
	}
	for _, c := range counters {
		s, err := observe.Take(ctx, len(in.Series), c)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// same reports whether nothing was counted between two moments.
func (c tally) same(o tally) bool {
	return slices.EqualFunc(c, o, func(a, b observe.Snapshot) bool {
		return slices.Equal(a.Values, b.Values)
	})
}

// models returns the numbers of the models that are called, in the order of the calls.
func (m *Readings) models() (list []result.Model) {
	if m.began == nil || m.ended == nil {
		return nil
	}
	own := 0.0
	for _, g := range m.growth() {
		if g.Row.Name == metric.ServerRequests {
			own = g.V
		}
	}
	for i, c := range m.in.Requests.Called {
		out := result.Model{
			Name: c.Name, Version: cmp.Or(c.Version, c.Only), CalledBy: c.By,
			Metrics: map[string]*result.Metric{},
		}
		for _, g := range observe.Growth(m.in.Requests.Series, m.began[i+1], m.ended[i+1]) {
			out.Metrics[g.Row.Name] = result.Scalar(&g.Row, g.V, g.OK)
			if g.Row.Name == metric.ServerRequests && g.OK && own > 0 {
				calls := g.V / own
				out.Calls = &calls
			}
		}
		list = append(list, out)
	}
	return list
}
