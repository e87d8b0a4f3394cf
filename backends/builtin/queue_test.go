package builtin

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// gated is a queue whose executions announce their jobs on began and wait for a token on open.
type gated struct {
	*queue
	began chan int // first byte of each job's input
	open  chan struct{}
}

func newGated(t *testing.T, c Config, count int) *gated {
	g := &gated{began: make(chan int, 1000), open: make(chan struct{})}
	m := &model{name: "m", count: count, run: func(in []tensor) []tensor {
		g.began <- int(in[0].data[0])
		<-g.open
		return in
	}}
	m.attach(c, clock{time.Now()})
	g.queue = m.queue
	t.Cleanup(g.close)
	return g
}

func (g *gated) add(t *testing.T, id, rows int) *job {
	t.Helper()
	j := &job{in: []tensor{{data: []byte{byte(id)}}}, rows: rows, done: make(chan struct{})}
	if err := g.push(j); err != nil {
		t.Fatal(err)
	}
	return j
}

func (g *gated) waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.jobs)
}

func TestQueueIsFirstInFirstOut(t *testing.T) {
	g := newGated(t, Config{}, 1)
	var last *job
	var got, want []int
	for i := range 5000 {
		last = g.add(t, i%251, 1)
		want = append(want, i%251)
		if i >= 4000 { // keeps a backlog, so that the head moves through the slice
			got = append(got, <-g.began)
			g.open <- struct{}{}
		}
	}
	for len(got) < len(want) {
		got = append(got, <-g.began)
		g.open <- struct{}{}
	}
	<-last.done
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := g.stats.snapshot(); n.ExecutionCount != 5000 || n.InferenceCount != 5000 || len(n.BatchStats) != 1 {
		t.Errorf("%+v", n)
	}
}

func TestQueueRunsAsManyAsInstances(t *testing.T) {
	g := newGated(t, Config{Instances: 3}, 1)
	for i := range 10 {
		g.add(t, i, 1)
	}
	for range 3 {
		<-g.began
	}
	if n := g.waiting(); n != 7 || len(g.began) != 0 {
		t.Errorf("%d wait while 3 run, want 7", n)
	}
	close(g.open)
}

func TestQueueGathersFullBatches(t *testing.T) {
	// The delay is never reached: only full batches start.
	g := newGated(t, Config{MaxBatch: 4, QueueDelay: time.Hour}, 1)
	var jobs []*job
	for i, rows := range []int{1, 2, 2, 3, 4} {
		jobs = append(jobs, g.add(t, i, rows))
	}
	close(g.open)
	// 1+2 (2 more do not fit), then 2 (3 do not fit), 3 (4 do not fit), 4.
	for _, j := range jobs {
		<-j.done
	}
	got := map[uint64]uint64{}
	s := g.stats.snapshot()
	for _, b := range s.BatchStats {
		got[b.BatchSize] = b.ComputeInfer.Count
	}
	if diff := cmp.Diff(map[uint64]uint64{2: 1, 3: 2, 4: 1}, got); diff != "" {
		t.Error(diff)
	}
	if s.InferenceCount != 12 || s.ExecutionCount != 4 || s.InferenceStats.ComputeInfer.Count != 5 {
		t.Errorf("%+v", s)
	}
}

func TestQueueDelayLetsAPartBatchGo(t *testing.T) {
	const delay = 20 * time.Millisecond
	g := newGated(t, Config{MaxBatch: 100, QueueDelay: delay}, 2)
	close(g.open)
	a, b := g.add(t, 1, 1), g.add(t, 2, 1)
	<-a.done
	<-b.done
	if wait := time.Duration(a.started - a.queued); wait < delay {
		t.Errorf("the oldest waited %v, want at least %v", wait, delay)
	}
	// A later one has a delay of its own.
	c := g.add(t, 3, 1)
	<-c.done
	if wait := time.Duration(c.started - c.queued); wait < delay {
		t.Errorf("the third waited %v, want at least %v", wait, delay)
	}
}

func TestQueueWithoutDelayTakesWhatIsThere(t *testing.T) {
	g := newGated(t, Config{MaxBatch: 8}, 1)
	g.add(t, 0, 1)
	<-g.began
	var jobs []*job
	for i := range 10 {
		jobs = append(jobs, g.add(t, i, 1))
	}
	close(g.open)
	for _, j := range jobs {
		<-j.done
	}
	if s := g.stats.snapshot(); s.ExecutionCount != 3 || s.InferenceCount != 11 {
		t.Errorf("%+v, want executions of 1, 8 and 2", s)
	}
}

func TestQueueIsBounded(t *testing.T) {
	g := newGated(t, Config{QueueSize: 2}, 1)
	g.add(t, 0, 1)
	<-g.began
	g.add(t, 1, 1)
	g.add(t, 2, 1)
	if err := g.push(&job{}); !errors.Is(err, errFull) {
		t.Error(err)
	}
	close(g.open)
}

func TestQueueForgetsWhoLeft(t *testing.T) {
	g := newGated(t, Config{}, 1)
	running := g.add(t, 0, 1)
	<-g.began
	gone := g.add(t, 1, 1)
	stays := g.add(t, 2, 1)
	if g.abandon(running) || !g.abandon(gone) {
		t.Error("leave tells a waiting job from a running one")
	}
	close(g.open)
	<-stays.done
	if next := <-g.began; next != 2 {
		t.Errorf("job %d ran, want 2", next)
	}
}

func TestQueueCloseAnswersAll(t *testing.T) {
	hour := 3600.0
	g := newGated(t, Config{ServiceTime: &Dist{Mean: hour}}, 1)
	close(g.open)
	running, waiting := g.add(t, 0, 1), g.add(t, 1, 1)
	<-g.began
	g.close()
	<-running.done
	<-waiting.done
	if !errors.Is(running.err, errClosed) || !errors.Is(waiting.err, errClosed) ||
		!errors.Is(g.push(&job{}), errClosed) {
		t.Error(running.err, waiting.err)
	}
}

func TestInstantJobsSkipTheQueueOnlyWhereNoneWaits(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   bool
	}{
		{Config{}, true},
		{Config{MaxBatch: 8}, true},
		{Config{QueueDelay: time.Second}, true},
		{Config{MaxBatch: 8, QueueDelay: time.Second}, false},
		{Config{ServiceTime: &Dist{}}, false},
	} {
		g := newGated(t, c.config, 1)
		close(g.open)
		j := &job{in: []tensor{{data: []byte{1}}}, rows: 1, done: make(chan struct{})}
		ran, err := g.runAtOnce(j)
		if ran != c.want || err != nil || (j.out != nil) != c.want {
			t.Errorf("%+v: %v %v", c.config, ran, err)
		}
		g.close()
		if ran, err := g.runAtOnce(j); ran != c.want || c.want != errors.Is(err, errClosed) {
			t.Errorf("%+v after close: %v %v", c.config, ran, err)
		}
	}
}

func TestServiceTimesAreRepeatable(t *testing.T) {
	draws := func(seed uint64, name string) (d []time.Duration) {
		m := &model{name: name}
		m.attach(Config{Seed: seed, ServiceTime: &Dist{Shape: "exponential", Mean: 1}}, clock{})
		for range 4 {
			d = append(d, m.queue.draw())
		}
		m.queue.reseed(m.random(seed))
		if again := m.queue.draw(); again != d[0] {
			t.Errorf("%v after reseeding, %v before", again, d[0])
		}
		return d
	}
	a := draws(1, "a")
	if diff := cmp.Diff(a, draws(1, "a")); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(a, draws(2, "a")) || cmp.Equal(a, draws(1, "b")) {
		t.Error("seed or model makes no difference")
	}
}

func TestTimerIsNeverEarly(t *testing.T) {
	tm, err := newTimer()
	if err != nil {
		t.Fatal(err)
	}
	c := clock{time.Now()}
	for i := range 200 {
		due := c.now() + int64(i)*3000
		if !tm.waitUntil(c, due) || c.now() < due {
			t.Fatalf("woke %d ns before %d", due-c.now(), due)
		}
	}
	late := make(chan bool)
	go func() { late <- tm.waitUntil(c, c.now()+int64(time.Hour)) }()
	tm.close()
	if <-late {
		t.Error("a closed timer claims to have waited")
	}
}

// BenchmarkTimer shows how late a service time of 2 ms ends: its p50 is the server's own error.
func BenchmarkTimer(b *testing.B) {
	tm, err := newTimer()
	if err != nil {
		b.Fatal(err)
	}
	defer tm.close()
	c := clock{time.Now()}
	var late []int64
	for b.Loop() {
		due := c.now() + int64(2*time.Millisecond)
		tm.waitUntil(c, due)
		late = append(late, c.now()-due)
	}
	b.ReportMetric(float64(percentile(late, 0.5)), "p50-late-ns")
	b.ReportMetric(float64(percentile(late, 0.99)), "p99-late-ns")
}
