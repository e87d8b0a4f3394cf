package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// echo is a lane whose server answers at once, by its stamps when the request was due; what it answers depends on the number of
// the request alone.
type echo struct {
	done   chan struct{}
	closed chan struct{}
}

func (e *echo) Send(_ int, c *backends.Call, _ backends.Fields, s *backends.Sample) {
	s.SendStart, s.SendEnd, s.FirstByte, s.LastByte, s.Responses = s.Due, s.Due, s.Due, s.Due+1, 1
	switch {
	case s.N%11 == 3:
		s.Class = backends.Status
	case s.N%17 == 5:
		s.Class = backends.TimedOut
	}
	e.done <- struct{}{}
}

func (e *echo) Recv() (int, bool) {
	select {
	case <-e.done:
		return 0, true
	case <-e.closed:
		return backends.None, false
	}
}

func (*echo) Activity(int) int64 { return 0 }

func (e *echo) Cancel(int, uint32, backends.Cause) {}

func (e *echo) Close() error {
	close(e.closed)
	return nil
}

// shard plays one part of a schedule with a mix of two and gives what it measured.
func shard(t *testing.T, clock backends.Clock, part load.Shard, start, length int64) measure.Total {
	t.Helper()
	const lanes = 4
	rings := measure.NewRings(lanes, 0, 0)
	var control drive.Control
	control.StopAt.Store(start + length)
	latency, _ := mustCatalogue(t).Row(metric.Latency)
	f := measure.New(measure.Config{
		Rings: rings, HoldStart: control.HoldStart.Load, HoldEnd: control.StopAt.Load, Settled: control.OldestDue.Load,
		Slice: length / 5,
		Breakdown: measure.Breakdown{
			Scopes: []measure.Scope{{Entry: 0}, {Entry: 1}}, Goodput: []measure.Bound{{Row: latency, Limit: 3600}},
			Every: []measure.Every{{Length: length / 4, Scope: -1, Rows: []*metric.Row{latency}}},
		},
	})
	var pool drive.Pool
	for range lanes {
		pool.Lanes = append(pool.Lanes, &echo{done: make(chan struct{}, 1), closed: make(chan struct{})})
	}
	pool.Limits, pool.MaxSlots = backends.Limits{Depth: 1, Inline: 1 << 20}, lanes
	calls := func(entry uint16) *feed.Calls {
		return feed.NewCalls([]*backends.Call{{Size: 1, Items: 1, Entry: entry}}, feed.Sequential, false, 1, 0)
	}
	src := feed.NewMix([]feed.MixEntry{{Calls: calls(0), Weight: 3}, {Calls: calls(1), Weight: 1}}, 7)
	schedule := load.Sharded(load.Poisson(2000, load.Seed(1, "s", "")), part)
	done := make(chan drive.Played)
	go func() {
		done <- drive.Open(context.Background(), schedule, src, []drive.Pool{pool}, rings, &control, drive.OpenOptions{
			Options: drive.Options{Clock: clock, Start: start, Drain: time.Minute, Shard: part}, MaxInFlight: lanes,
		})
	}()
	for {
		select {
		case p := <-done:
			total := f.Finish(max(clock.Now(), start+length))
			total.Aggregate.PlayerCounts = measure.PlayerCounts{Planned: p.Planned, DroppedPool: p.DroppedPool, DroppedStop: p.DroppedStop}
			return total
		case <-time.After(time.Millisecond):
			f.Drain(clock.Now())
		}
	}
}

// TestShards: two shards of one plan, each with a player of its own, give together exactly the whole run's counts: of the
// node, of each kind of request, and of each window.
func TestShards(t *testing.T) {
	const length = int64(400 * time.Millisecond)
	clock := backends.Clock{Origin: time.Now().Add(-time.Hour)}
	books := func(total measure.Total) string {
		var text []any
		for _, a := range append([]*measure.Aggregate{total.Aggregate}, total.Scopes...) {
			text = append(text, a.Counts, a.Planned, a.Window)
		}
		for _, w := range total.Series[0].Windows {
			d, err := json.Marshal(w.Aggregate.Dist(mustRow(t, metric.Latency)).N())
			if err != nil {
				t.Fatal(err)
			}
			text = append(text, w.From, w.Aggregate.Counts, string(d))
		}
		for _, s := range total.Slices {
			text = append(text, s.From, s.Sent)
		}
		return fmt.Sprint(text...)
	}
	whole := shard(t, clock, load.Shard{}, clock.Now()+1e6, length)
	for _, n := range []int{2, 3} {
		var all measure.Total
		for i := range n {
			part := shard(t, clock, load.Shard{Index: i, Count: n}, clock.Now()+1e6, length)
			if part.Aggregate.Sent == 0 || part.Aggregate.Sent >= whole.Aggregate.Sent {
				t.Errorf("shard %d of %d sent %d of %d", i, n, part.Aggregate.Sent, whole.Aggregate.Sent)
			}
			all.MergeShard(&part)
		}
		if got, want := books(all), books(whole); got != want {
			t.Errorf("%d shards\n%s\nwhole\n%s", n, got, want)
		}
	}
	a := whole.Aggregate
	if a.Failed() == 0 || a.Good != a.OK() || a.Planned != a.Sent || len(whole.Series[0].Windows) != 4 {
		t.Errorf("whole: %+v, %+v, %d windows", a.Counts, a.PlayerCounts, len(whole.Series[0].Windows))
	}
}

func mustRow(t *testing.T, name string) *metric.Row {
	t.Helper()
	row, ok := mustCatalogue(t).Row(name)
	if !ok {
		t.Fatalf("no metric %s", name)
	}
	return row
}
