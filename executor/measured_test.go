package executor

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/trial"
)

// TestCountIsOverItsTime: the rate of a counted span is over the time from the start of the clock
// to its last reply, and not over a multiple of the time after which somebody looks.
func TestCountIsOverItsTime(t *testing.T) {
	t.Parallel()
	times := file(t, "times.csv",
		"timestamp\n"+strings.Repeat("0\n", 20)+strings.Repeat("20\n", 20)+strings.Repeat("40\n", 20))
	for _, load := range []string{
		"load: {concurrency: 1}, for: 60 requests", "load: {concurrency: 3}, for: 60 requests",
		"load: {rate: 400/s}, for: 60 requests",
		"load: {rate: 400/s, max_in_flight: 1}, for: 60 requests",
		"load: {schedule: {file: " + times + ", unit: ms}}",
	} {
		for _, transport := range []string{"http", "grpc"} {
			s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 1e-3}})
			url := map[string]string{"http": s.HTTPURL(), "grpc": s.GRPCURL()}[transport]
			var kept sent
			n := node(t, play(t, `
version: 1
target: {backend: kserve, url: URL, model: slow, ready: 0s}
stages: [{id: s, `+load+`}]
`, url, Env{Record: keep(&kept)}), "s")
			first, last := int64(math.MaxInt64), int64(0)
			for _, one := range kept.all {
				first, last = min(first, one.Due), max(last, one.LastByte)
			}
			took := float64(last-first) / 1e9
			rate, wide := value(t, n, "requests.rate"), n.Duration-took // by how much the first was late
			if len(kept.all) != 60 || math.Abs(rate*n.Duration-60) > 1e-6 || wide < -1e-9 || wide > 0.5 {
				t.Errorf("%s %s: %v/s in %v s; %d requests took %v s",
					transport, load, rate, n.Duration, len(kept.all), took)
			}
		}
	}
}

// byNode keeps when the requests of each node were sent and answered.
type byNode struct {
	mu          sync.Mutex
	first, last map[string]int64
}

func (b *byNode) record(r trial.Recording) trial.Recorder { return endless{nodeSink{b, r.Node}} }

type nodeSink struct {
	of   *byNode
	node string
}

// Write implements measure.Sink.
func (k nodeSink) Write(s *backends.Sample) error {
	k.of.mu.Lock()
	defer k.of.mu.Unlock()
	if at := k.of.first[k.node]; at == 0 || s.SendStart < at {
		k.of.first[k.node] = s.SendStart
	}
	k.of.last[k.node] = max(k.of.last[k.node], s.LastByte)
	return nil
}

// TestLevelsDoNotOverlap: a level begins when all requests of the one before are answered, so that
// none of a higher level is in what is measured of a lower one.
func TestLevelsDoNotOverlap(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ transport, keys, load string }{
		"http":   {"http", "model: slow", "concurrency: [8, 1]"},
		"grpc":   {"grpc", "model: slow", "concurrency: [8, 1]"},
		"stream": {"grpc", "model: slow, streaming: true", "concurrency: [8, 1]"},
		"rate":   {"http", "model: slow", "rate: [500/s, 50/s]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 4e-3}})
			url := map[string]string{"http": s.HTTPURL(), "grpc": s.GRPCURL()}[c.transport]
			seen := &byNode{first: map[string]int64{}, last: map[string]int64{}}
			r := play(t, `
version: 1
target: {backend: triton, url: URL, `+c.keys+`, statistics: none}
stages: [{id: s, load: {`+c.load+`}, for: 500ms}]
`, url, Env{Record: seen.record})
			high, low := r.Nodes[0].ID, r.Nodes[1].ID
			if seen.last[high] == 0 || seen.first[low] < seen.last[high] {
				t.Errorf("%s is sent from %d ns on, the last of %s is answered at %d",
					low, seen.first[low], high, seen.last[high])
			}
		})
	}
}

// TestHopelessLevel: a level at which `while` is false in every window is over when there are as
// many as must agree, stable or not; one at which it holds goes on to be stable, or to the last
// window.
func TestHopelessLevel(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 2e-3}})
	for limit, want := range map[string]int{"1ms": 3, "1h": 6} { // perf_analyzer's row 43
		r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: slow}
stages:
  - id: s
    load: {concurrency: {levels: {from: 1, to: 1, while: latency.mean < `+limit+`}}}
    until: {stable: {window: 5 requests, within: 0.0001%, max_windows: 6, metrics: [latency.mean]}}
`, s.HTTPURL(), Env{})
		n := r.Nodes[0]
		if len(n.Windows) != want || (n.Outcome == result.Unstable) != (want == 6) {
			t.Errorf("%s: %s after %d windows, want %d", limit, n.Outcome, len(n.Windows), want)
		}
	}
}

// TestWindowsAreAsLong: a window is as long as the plan says, the next begins where it ends, and
// what is reported is that of the windows that agree.
func TestWindowsAreAsLong(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 2e-3}})
	var mu sync.Mutex
	var bounds []int64
	n := node(t, play(t, `
version: 1
target: {backend: kserve, url: URL, model: slow}
stages:
  - {id: s, load: {concurrency: 1}, until: {stable: {window: 100ms, windows: 2, within: 900%, max_windows: 20}}}
`, s.HTTPURL(), Env{Record: func(trial.Recording) trial.Recorder { return &ending{&mu, &bounds} }}), "s")
	requests := 0.0
	for i, w := range n.Windows {
		// Seconds are rounded to ns; the bounds below are not.
		if math.Abs(w.To-w.From-0.1) > 2e-9 || i > 0 && w.From != n.Windows[i-1].To {
			t.Errorf("window %d: %v s to %v s", i, w.From, w.To)
		}
		if w.Used {
			requests += *w.Values["throughput"] * 0.1
		}
	}
	if got := value(t, n, "throughput") * n.Duration; math.Abs(got-requests) > 1e-6 ||
		math.Abs(n.Duration-0.2) > 2e-9 {
		t.Errorf("%v requests in %v s are reported, %v in the windows used", got, n.Duration, requests)
	}
	for i := 1; i < len(bounds); i++ {
		if bounds[i]-bounds[i-1] != int64(100*time.Millisecond) {
			t.Errorf("bounds %v ns", bounds)
		}
	}
	if len(bounds) != len(n.Windows)+1 {
		t.Errorf("%d bounds of %d windows", len(bounds), len(n.Windows))
	}
}

// ending is a Recorder that keeps the bounds of windows only.
type ending struct {
	mu     *sync.Mutex
	bounds *[]int64
}

func (*ending) Write(*backends.Sample) error { return nil }

func (*ending) Counted(uint64, int64) {}

func (e *ending) Close(bounds []int64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	*e.bounds = append(*e.bounds, bounds...)
	return nil
}

// TestRequestsOfSequences: a span in requests sends so many in a closed loop, each sequence of them
// with its end: none is sent beside them to close what is open. Where steps fail, others are sent
// in their place.
func TestRequestsOfSequences(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys    string
		sent    int
		measure int64
		errors  float64
	}{
		"lengths of 6": {"load: {concurrency: 2}, sequences: {length: 6}, for: 20 requests", 20, 20, 0},
		"drawn lengths": {
			"load: {concurrency: 5}, sequences: {length: {min: 1, max: 9}}, for: 83 requests", 83, 83, 0,
		},
		"with a warm-up": {
			"load: {concurrency: 4}, sequences: {length: 7}, warmup: 9 requests, for: 40 requests", 49, 40, 0,
		},
		"fewer than slots":    {"load: {concurrency: 8}, sequences: {length: 7}, for: 3 requests", 3, 3, 0},
		"longer than what is": {"load: {concurrency: 3}, sequences: {length: 1000}, for: 50 requests", 50, 50, 0},
		"failures": {
			"load: {concurrency: 4}, sequences: {length: 5}, for: 200 requests, assert: [errors.ratio < 100%]", 0,
			200, 0.2,
		},
	} {
		for _, transport := range []string{"http", "grpc"} {
			t.Run(name+" "+transport, func(t *testing.T) {
				t.Parallel()
				// as long as a slot that begins late on a busy machine
				s := serve(t, builtin.Config{Errors: c.errors, Seed: 2, ServiceTime: &builtin.Dist{Mean: 2e-3}})
				url := map[string]string{"http": s.HTTPURL(), "grpc": s.GRPCURL()}[transport]
				n := node(t, play(t, `
version: 1
target: {backend: kserve, url: URL, model: sequence_acc, ready: 0s}
data: {generate: {INPUT: 1}}
stages: [{id: s, `+c.keys+`}]
`, url, Env{}), "s")
				if got := count(n, "requests.count"); got != c.measure {
					t.Errorf("%d requests are counted, want %d: %s", got, c.measure, n.Reason)
				}
				if most := count(n, "in_flight.max"); name == "longer than what is" && most != 3 {
					t.Errorf("%d in flight", most)
				}
				if seen := len(arrivals(t, s)); c.sent > 0 && seen != c.sent {
					t.Errorf("the server saw %d requests, want %d", seen, c.sent)
				}
				if c.errors == 0 {
					wellKept(t, s)
				}
			})
		}
	}
}

// TestSerialSequences: of a sequence that is played in series one request is in flight, whatever is
// due (perf_analyzer's rows 82 and 86): a server that answers nothing sees as many as there are
// sequences.
func TestSerialSequences(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"http", "grpc"} {
		w := watch(t, func(w *witness) { w.dim, w.hold = 4, make(chan struct{}) })
		var once sync.Once
		seen := 0
		p := compile(t, `
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s}
stages: [{id: s, load: {rate: 1000/s}, sequences: {live: 5, length: 50, serial: true}, for: 50ms, drain: 30s}]
`, w.url(transport))
		r, _ := Run(context.Background(), p, Env{Events: func(e Event) {
			if e.Phase == PhaseDrain {
				once.Do(func() {
					seen = len(w.all())
					close(w.hold)
				})
			}
		}})
		if seen != 5 {
			t.Errorf("%s: %d requests of 5 sequences in flight: %s", transport, seen, r.Reason)
		}
	}
}
