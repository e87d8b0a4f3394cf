package executor

import (
	"cmp"
	"math"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// tallies are the counts of a measurement as they are stored. Planned is read from the goodput of a
// bound that everything keeps: good/planned.
type tallies struct{ planned, sent, ok, failed, dropped, incomplete int64 }

func booksOf(m map[string]*result.Metric) (b tallies) {
	number := func(name string) float64 {
		v, _ := m[name].Stat(metric.Stat{})
		return v
	}
	b.sent, b.failed = int64(number(metric.RequestsCount)), int64(number(metric.ErrorsCount))
	b.dropped, b.incomplete = int64(number(metric.DroppedCount)), int64(number(metric.Incomplete))
	if d := m[metric.Latency]; d != nil && d.Count != nil {
		b.ok = *d.Count
	}
	if ratio := number(metric.GoodputRatio); ratio > 0 {
		b.planned = int64(math.Round(float64(b.ok) / ratio))
	} else if ratio := number(metric.DroppedRatio); ratio > 0 {
		b.planned = int64(math.Round(float64(b.dropped) / ratio))
	}
	return b
}

// TestBooks: of every shape of load, planned is sent and dropped, and sent is ok, failed and
// stopped; of the node, of its parts, and of its repeats together. Whatever the machine's mood,
// what was planned is what the plan says.
func TestBooks(t *testing.T) {
	t.Parallel()
	// Fails each few requests
	slow := builtin.Config{ServiceTime: &builtin.Dist{Mean: 0.03}, Instances: 2, Errors: 0.2, Seed: 2}
	// With requests in flight, however late they are cut off
	ends := slow
	ends.Stall = &builtin.Stall{At: 250 * time.Millisecond, For: time.Hour}
	for name, c := range map[string]struct {
		keys    string
		planned int64 // 0: depends on the server
		drops   bool
		stops   bool
		config  *builtin.Config // nil: slow
	}{
		"drop": {
			keys: "load: {rate: 200/s, max_in_flight: 3, overflow: drop}, for: 500ms", planned: 100, drops: true,
		},
		"wait": {
			keys: "load: {rate: 200/s, max_in_flight: 3}, for: 500ms, drain: 0s", planned: 100, drops: true,
			stops: true,
		},
		"poisson": {
			keys: "load: {rate: 200/s, arrivals: {cv: 1, exact: true}, max_in_flight: 3, overflow: drop}, for: " +
				"500ms",
			planned: 100, drops: true,
		},
		"warm-up": {
			keys: "warmup: 100ms, load: {rate: 200/s, max_in_flight: 3, overflow: drop}, for: 500ms", planned: 100,
			drops: true,
		},
		"count":         {keys: "load: {rate: 200/s, max_in_flight: 3}, for: 40 requests", planned: 40},
		"closed":        {keys: "load: {concurrency: 3}, for: 400ms, drain: 0s", stops: true, config: &ends},
		"closed, count": {keys: "load: {concurrency: 3}, for: 21 requests", planned: 21},
		"think":         {keys: "load: {concurrency: 3, think: 5ms}, for: 21 requests", planned: 21},
		"ramp": {
			keys: "load: {rate: {ramp: [{to: 100/s, over: 200ms, hold: 300ms, name: a}, {to: 200/s, over: " +
				"100ms, hold: 200ms}]}, max_in_flight: 3, overflow: drop}",
			planned: 70, drops: true,
		},
		"ramp, wait": {
			keys: "load: {rate: {ramp: [{to: 100/s, over: 200ms, hold: 300ms, name: a}, {to: 200/s, over: " +
				"100ms, hold: 200ms}]}, max_in_flight: 3}, drain: 0s",
			planned: 70, drops: true, stops: true,
		},
		"mix": {
			keys: "mix: {a: {weight: 3}, b: {weight: 1}}, load: {rate: 200/s, max_in_flight: 3, overflow: drop}, " +
				"for: 500ms",
			planned: 100, drops: true,
		},
		"repeats": {
			keys: "repeat: 2, load: {rate: 200/s, max_in_flight: 3, overflow: drop}, for: 250ms", planned: 100,
			drops: true,
		},
		"windows": {
			keys: "load: {concurrency: 2}, until: {stable: {window: 100ms, windows: 2, within: 900%, max_windows: 4}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, *cmp.Or(c.config, &slow))
			r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple, ready: 0s}
stages: [{id: s, `+c.keys+`, goodput: {latency: 1h}, assert: [errors.ratio <= 100%]}]
`, s.HTTPURL(), Env{})
			n := r.Nodes[0]
			check := func(where string, b tallies) {
				t.Helper()
				dropped := b.dropped
				if n.Load.Kind == "concurrency" {
					dropped = 0
				}
				stopped := b.sent - b.ok - b.failed
				if b.planned != b.sent+dropped || stopped < 0 || b.incomplete < stopped ||
					b.incomplete > stopped+dropped {
					t.Errorf("%s: %+v", where, b)
				}
			}
			all := booksOf(n.Metrics)
			check("node", all)
			if c.planned > 0 && all.planned != c.planned || c.drops != (all.dropped > 0) ||
				c.stops && all.incomplete == 0 || all.ok == 0 || all.failed == 0 {
				t.Errorf("node: %+v, want %d planned", all, c.planned)
			}
			var phases, entries tallies
			for _, part := range n.Scopes {
				b := booksOf(part.Metrics)
				check(part.Phase+part.Mix, b)
				if part.Phase != "" && part.Phase != scenario.RampPhase {
					phases = phases.plus(b)
				}
				if part.Mix != "" {
					entries = entries.plus(b)
				}
			}
			if phases.sent > 0 && phases != all || entries.sent > 0 && entries != all {
				t.Errorf("phases %+v, entries %+v, node %+v", phases, entries, all)
			}
			var repeats tallies
			for _, x := range n.Repeats {
				repeats = repeats.plus(booksOf(x.Metrics))
			}
			if n.Repeats != nil && repeats != all {
				t.Errorf("repeats %+v, node %+v", repeats, all)
			}
		})
	}
}

func (b tallies) plus(o tallies) tallies {
	return tallies{
		b.planned + o.planned, b.sent + o.sent, b.ok + o.ok, b.failed + o.failed, b.dropped + o.dropped,
		b.incomplete + o.incomplete,
	}
}

// TestLittlesLaw: in a closed loop the requests in flight are the rate of completions times their
// mean latency: as many as the samples themselves say, and never more than there are slots.
func TestLittlesLaw(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 0.02}, Instances: 2})
	for _, slots := range []float64{1, 2, 6} {
		level := map[float64]string{1: "1", 2: "2", 6: "6"}[slots]
		var kept sent
		n := node(t, play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple, ready: 0s}
stages: [{id: s, warmup: 200ms, load: {concurrency: `+level+`}, for: 1500ms}]
`, s.HTTPURL(), Env{Record: keep(&kept)}), "s")
		mean := value(t, n, "latency.mean")
		from, open := int64(math.MaxInt64), int64(0)
		for _, one := range kept.all {
			from = min(from, one.Due) // hold begins before, with slots that are busy with the warm-up
		}
		to := from + int64(n.Duration*1e9)
		for _, one := range kept.all {
			open += max(0, min(one.LastByte, to)-max(one.Due, from))
		}
		// At most one request of each slot stands across each edge of hold.
		average, edge := float64(open)/1e9/n.Duration, 3*slots*value(t, n, "latency.max")/n.Duration
		if l := value(t, n, "requests.rate") * mean; math.Abs(l-average) > edge || l > slots+edge ||
			average > slots {
			t.Errorf("%v slots: %v requests in flight by Little's law (%v/s, %v), %v by the samples, give or take %v",
				slots, l, value(t, n, "requests.rate"), time.Duration(mean*1e9), average, edge)
		}
	}
}
