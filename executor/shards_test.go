package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// echo is a lane whose server answers at once, by its stamps when the request was due; what it
// answers depends on the number of the request alone.
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
		Rings: rings, HoldStart: control.HoldStart.Load, HoldEnd: control.StopAt.Load,
		Settled: control.OldestDue.Load, InFlight: control.InFlight.Load,
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
		done <- drive.Open(context.Background(), schedule, src, []drive.Pool{
			pool,
		}, rings, &control, drive.OpenOptions{
			Options: drive.Options{Clock: clock, Start: start, Drain: time.Minute, Shard: part}, MaxInFlight: lanes,
		})
	}()
	for {
		select {
		case p := <-done:
			total := f.Finish(max(clock.Now(), start+length))
			total.Aggregate.PlayerCounts = measure.PlayerCounts{
				Planned: p.Planned, DroppedPool: p.DroppedPool, DroppedStop: p.DroppedStop,
			}
			return total
		case <-time.After(time.Millisecond):
			f.Drain(clock.Now())
		}
	}
}

// shardOutput is what a shard hands over: its measurement and its latencies, of all requests and by
// window.
type shardOutput struct {
	Total   measure.Total
	Latency *stats.Dist
	Windows []*stats.Dist
}

func outputOf(t *testing.T, total measure.Total) (o shardOutput) {
	t.Helper()
	row := mustRow(t, metric.Latency)
	o.Total, o.Latency = total, total.Aggregate.Dist(row).Clone()
	for _, w := range total.Series[0].Windows {
		o.Windows = append(o.Windows, w.Aggregate.Dist(row).Clone())
	}
	return o
}

// merge adds the output of another shard.
func (o *shardOutput) merge(other shardOutput) {
	if o.Latency == nil {
		*o = other
		return
	}
	o.Total.MergeShard(&other.Total)
	o.Latency.Merge(other.Latency)
	for i, w := range other.Windows {
		o.Windows[i].Merge(w)
	}
}

// books are the counts of the node, of each kind of request and of each window, and the latencies.
func (o *shardOutput) books() string {
	var text []any
	for _, a := range append([]*measure.Aggregate{o.Total.Aggregate}, o.Total.Scopes...) {
		text = append(text, a.Counts, a.Planned, a.Window)
	}
	for i, w := range o.Total.Series[0].Windows {
		text = append(text, w.From, w.Aggregate.Counts, o.Windows[i].N())
	}
	for _, s := range o.Total.Slices {
		text = append(text, s.From, s.Sent)
	}
	return fmt.Sprint(append(text, o.Latency.N(), o.Latency.Mean(), o.Latency.Max())...)
}

const shardLength = int64(400 * time.Millisecond)

// playShard plays one part of the run that the tests below cut.
func playShard(t *testing.T, clock backends.Clock, part load.Shard) shardOutput {
	t.Helper()
	return outputOf(t, shard(t, clock, part, clock.Now()+1e6, shardLength))
}

// TestShards: two shards of one plan, each with a player of its own, give together exactly the counts
// of the whole run: of the node, of each kind of request, and of each window.
func TestShards(t *testing.T) {
	clock := backends.Clock{Origin: time.Now().Add(-time.Hour)}
	whole := playShard(t, clock, load.Shard{})
	for _, n := range []int{2, 3} {
		var all shardOutput
		for i := range n {
			part := playShard(t, clock, load.Shard{Index: i, Count: n})
			if sent := part.Total.Aggregate.Sent; sent == 0 || sent >= whole.Total.Aggregate.Sent {
				t.Errorf("shard %d of %d sent %d of %d", i, n, sent, whole.Total.Aggregate.Sent)
			}
			all.merge(part)
		}
		if got, want := all.books(), whole.books(); got != want {
			t.Errorf("%d shards\n%s\nwhole\n%s", n, got, want)
		}
	}
	a := whole.Total.Aggregate
	if a.Failed() == 0 || a.Good != a.OK() || a.Planned != a.Sent || len(whole.Windows) != 4 {
		t.Errorf("whole: %+v, %+v, %d windows", a.Counts, a.PlayerCounts, len(whole.Windows))
	}
}

// shardFile names the file that TestShardProcess writes, in the process that TestShardProcesses starts.
const shardFile = "SLUICE_TEST_SHARD_FILE"

// TestShardProcesses: two processes that share nothing but the plan and their number play a shard
// each. What they write, merged, has exactly the counts of the run of one process.
func TestShardProcesses(t *testing.T) {
	const shards = 2
	var files [shards]string
	var children [shards]*exec.Cmd
	for i := range shards {
		files[i] = filepath.Join(t.TempDir(), "shard.json")
		children[i] = exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestShardProcess$")
		children[i].Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %s", shardFile, i, shards, files[i]))
		if err := children[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	whole := playShard(t, backends.Clock{Origin: time.Now().Add(-time.Hour)}, load.Shard{})
	var all shardOutput
	for i, child := range children {
		if err := child.Wait(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(files[i])
		if err != nil {
			t.Fatal(err)
		}
		var part shardOutput
		if err := json.Unmarshal(text, &part); err != nil {
			t.Fatal(err)
		}
		all.merge(part)
	}
	if got, want := all.books(), whole.books(); got != want {
		t.Errorf("%d processes\n%s\none process\n%s", shards, got, want)
	}
}

// TestShardProcess plays a shard in the child processes of TestShardProcesses, and nothing elsewhere.
func TestShardProcess(t *testing.T) {
	text, child := os.LookupEnv(shardFile)
	if !child {
		return
	}
	var part load.Shard
	var file string
	if _, err := fmt.Sscan(text, &part.Index, &part.Count, &file); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(playShard(t, backends.Clock{Origin: time.Now().Add(-time.Hour)}, part))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out, 0o600); err != nil {
		t.Fatal(err)
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
