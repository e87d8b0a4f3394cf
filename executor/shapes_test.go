package executor

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest/cases"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/stats/statstest"
	"github.com/sluice-bench/sluice/executor/trial"
)

// sent keeps what was sent, warm-up left out, in the order in which it was due.
type sent struct{ all []backends.Sample }

// keep has the samples of every trial written to s.
func keep(s measure.Sink) func(trial.Recording) trial.Recorder {
	return func(trial.Recording) trial.Recorder { return endless{s} }
}

// endless is a Recorder that does not mind when a trial ends.
type endless struct{ measure.Sink }

// Counted implements Recorder.
func (endless) Counted(uint64, int64) {}

// Close implements Recorder.
func (endless) Close([]int64) error { return nil }

// Write implements measure.Sink.
func (s *sent) Write(one *backends.Sample) error {
	if one.Flags&backends.Warmup == 0 {
		s.all = append(s.all, *one)
	}
	return nil
}

func (s *sent) dues() []float64 {
	slices.SortFunc(s.all, func(a, b backends.Sample) int {
		return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.N, b.N))
	})
	dues := make([]float64, len(s.all))
	for i, one := range s.all {
		dues[i] = float64(one.Due) / 1e9
	}
	return dues
}

// shape is a load at a rate, what a plan calls it, and what it must come to by a formula of its own.
type shape struct {
	name  string
	load  string // "RATE", "GAPS", "TIMES" and "TO" are replaced
	keys  string // the extent
	count func(rate float64) int
	due   func(rate float64, k int) float64 // s, of arrival k from 0; nil: by chance
}

// extent is how long each shape lasts, s.
const extent = 0.3

func openShapes() []shape {
	half := func(rate float64) int { return int(math.Round(rate * extent / 2)) }
	return []shape{
		{
			"constant", "{rate: RATE/s, max_in_flight: SLOTS}", "for: 300ms",
			func(rate float64) int { return int(math.Round(rate * extent)) },
			func(rate float64, k int) float64 { return float64(k) / rate },
		},
		{
			"constant, by number", "{rate: RATE/s, max_in_flight: SLOTS}", "warmup: 20 requests, for: 211 requests",
			func(float64) int { return 211 },
			func(rate float64, k int) float64 { return float64(k) / rate },
		},
		{
			"ramp from 0", "{rate: {ramp: [{to: RATE/s, over: 300ms}]}, max_in_flight: SLOTS}", "drain: 60s", half,
			func(rate float64, k int) float64 { return math.Sqrt(2 * float64(k+1) * extent / rate) },
		},
		{
			"ramp to 0", "{rate: {ramp: [{to: RATE/s}, {to: 0/s, over: 300ms}]}, max_in_flight: SLOTS}", "drain: 60s",
			half,
			func(rate float64, k int) float64 {
				return extent / rate * (rate - math.Sqrt(max(rate*rate-2*float64(k+1)*rate/extent, 0)))
			},
		},
		{
			"steps, held on",
			"{rate: {ramp: [{to: RATE/s, hold: 100ms}, {to: 0/s, hold: 100ms}, {to: RATE/s, hold: 10ms}]}, " +
				"max_in_flight: SLOTS}", "for: 300ms",
			func(rate float64) int { return int(math.Round(rate * 0.2)) },
			func(rate float64, k int) float64 {
				at := float64(k+1) / rate
				if at > 0.1+1e-9 {
					at += 0.1
				}
				return at
			},
		},
		{
			"gaps", "{intervals: {file: GAPS, unit: us}, max_in_flight: SLOTS}", "for: 300ms",
			func(rate float64) int { return int(math.Round(rate*extent)) - 1 }, // the last one is due at the very end
			func(rate float64, k int) float64 { return gapEnds(rate, k) },
		},
		{
			"gaps once, the first at 0",
			"{intervals: {file: GAPS, unit: us, first: zero, at_end: stop}, max_in_flight: SLOTS}", "drain: 60s",
			func(float64) int { return 4 },
			func(rate float64, k int) float64 { return gapEnds(rate, k-1) },
		},
		{
			"times, twice as fast",
			"{schedule: {file: TIMES, unit: us, speed: 2, from: 100ms, to: TO}, max_in_flight: SLOTS}", "drain: 60s",
			func(float64) int { return 180 },
			func(rate float64, k int) float64 { return float64(k) / rate },
		},
		{
			"a fixed number, at random", "{rate: RATE/s, arrivals: {cv: 2, exact: true}, max_in_flight: SLOTS}",
			"for: 300ms",
			func(rate float64) int { return int(math.Round(rate * extent)) },
			nil,
		},
	}
}

// gapEnds is the end of gap k of a file of three, again and again: half, once and one and a half
// times the mean.
func gapEnds(rate float64, k int) float64 {
	return (float64(k/3)*3 + []float64{0.5, 1.5, 3, 0}[(k%3+4)%4]) / rate
}

// recordings writes the files that the shapes play.
func recordings(t *testing.T, rate float64) (gaps, times string) {
	t.Helper()
	write := func(name, text string) string {
		name = filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	us := 1e6 / rate
	var lines strings.Builder
	for k := range 200 { // twice as slow as the rate; ten at either end are clipped
		fmt.Fprintf(&lines, "{\"timestamp\": %v, \"hash_ids\": [%d]}\n", 1e5+float64(k-10)*2*us, k)
	}
	return write("gaps.txt", fmt.Sprintf("%v\n%v\n%v\n", us/2, us, us*3/2)), write("times.jsonl", lines.String())
}

// TestShapes: every shape sends as many requests as its formula says, each due when the formula
// says, whatever the slots do: with one slot arrivals wait, and keep their times.
func TestShapes(t *testing.T) {
	t.Parallel()
	rates := []float64{1000, 5000}
	if testing.Short() {
		rates = rates[:1]
	}
	n := 0
	for _, rate := range rates {
		gaps, times := recordings(t, rate)
		for _, sh := range openShapes() {
			for _, on := range []struct {
				slots     int
				transport string
			}{{1, "http"}, {7, "grpc"}, {64, "http"}, {64, "grpc"}} {
				if n++; !cases.Runs(n, 5) { // each shape, rate and number of slots is among them
					continue
				}
				name := fmt.Sprintf("%s at %v a second, %d slots, %s", sh.name, rate, on.slots, on.transport)
				load := strings.NewReplacer("RATE", fmt.Sprint(rate), "SLOTS", strconv.Itoa(on.slots), "GAPS", gaps, "TIMES", times,
					"TO", fmt.Sprintf("%vus", 1e5+180*2e6/rate)).Replace(sh.load)
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					sh.holds(t, rate, load, on.transport)
				})
			}
		}
	}
}

// holds plays the shape at a rate and compares what was sent with its formula.
func (sh shape) holds(t *testing.T, rate float64, load, transport string) {
	t.Helper()
	seen, dues, n := shoot(t, load, sh.keys, transport)
	want := sh.count(rate)
	if len(dues) != want || seen < want || int(count(n, "requests.count")) != want {
		t.Fatalf("%d requests, %d counted, the server saw %d, want %d",
			len(dues), count(n, "requests.count"), seen, want)
	}
	for k := range dues {
		if sh.due == nil {
			break
		}
		if got, due := dues[k]-dues[0], sh.due(rate, k)-sh.due(rate, 0); math.Abs(got-due) > 3e-9 {
			t.Fatalf("arrival %d is due %v s after the first, want %v", k, got, due)
		}
	}
}

// shoot plays one stage against a fresh server: what the server saw, and when what counts was due.
// The run clock's zero is arbitrary.
func shoot(t *testing.T, load, keys, transport string) (seen int, dues []float64, n *result.Node) {
	t.Helper()
	s := serve(t, builtin.Config{})
	url := map[string]string{"http": s.HTTPURL(), "grpc": s.GRPCURL()}[transport]
	var kept sent
	r := play(t, fmt.Sprintf(`
version: 1
seed: 11
target: {backend: kserve, url: URL, model: simple, ready: 0s, timeout: 5m}
stages:
  - {id: s, load: %s, %s}
`, load, keys), url, Env{Record: keep(&kept)})
	if len(r.Nodes) != 1 {
		t.Fatalf("%s: %d nodes", load, len(r.Nodes))
	}
	n = r.Nodes[0]
	if n.Outcome != result.Done && n.Outcome != result.Invalid { // on a busy machine the client is late
		t.Errorf("%s: %s: %s", load, n.Outcome, n.Reason)
	}
	return len(arrivals(t, s)), kept.dues(), n
}

// TestClosedShapes: closed loops send exactly what is asked for with 1, 7 and 64 slots, and no more
// at a time.
func TestClosedShapes(t *testing.T) {
	t.Parallel()
	for _, sh := range []struct {
		load, keys string
		want       int // 0: depends on the server
	}{
		{"{concurrency: SLOTS}", "warmup: 30 requests, for: 300 requests", 300},
		{"{concurrency: SLOTS, think: {min: 0s, max: 200us}}", "for: 300 requests", 300},
		{"{concurrency: {ramp: [{to: SLOTS, over: 100ms}]}}", "for: 300 requests", 300},
		{
			"{concurrency: {ramp: [{to: SLOTS, over: 50ms, hold: 50ms}, {to: 1, hold: 50ms}]}}",
			"warmup: 10 requests", 0,
		},
		{"{concurrency: SLOTS}", "for: 3 passes", 48},
	} {
		for _, slots := range []int{1, 7, 64} {
			for _, transport := range []string{"http", "grpc"} {
				load := strings.ReplaceAll(sh.load, "SLOTS", strconv.Itoa(slots))
				_, dues, n := shoot(t, load, sh.keys, transport)
				counted := int(count(n, "requests.count"))
				if ramp := strings.Contains(load, "ramp"); ramp && counted < len(dues) { // only its holds count
					counted = len(dues)
				}
				if sh.want > 0 && len(dues) != sh.want || len(dues) == 0 || counted != len(dues) {
					t.Errorf("%s %s, %s: %d requests, %d counted, want %d",
						load, sh.keys, transport, len(dues), count(n, "requests.count"), sh.want)
				}
				if most := value(t, n, "in_flight.max"); most > float64(slots) {
					t.Errorf("%s, %s: %v in flight", load, transport, most)
				}
			}
		}
	}
}

// TestRandomShapes: random arrivals have the mean, the variation and the distribution of their
// name, with 64 slots, by the times at which they were due. Between gaps of mean 1 the standard
// error of the mean is cv/√n.
func TestRandomShapes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		arrivals string
		cv       float64
		cdf      func(x float64) float64 // of gaps of mean 1
	}{
		{"poisson", 1, func(x float64) float64 { return -math.Expm1(-x) }},
		{"{cv: 1, exact: true}", 1, func(x float64) float64 { return -math.Expm1(-x) }},
		// Shape 4: the sum of four exponentials of mean 1/4.
		{"{cv: 0.5}", 0.5, func(x float64) float64 { x *= 4; return 1 - math.Exp(-x)*(1+x+x*x/2+x*x*x/6) }},
	} {
		for _, rate := range []float64{1000, 5000} {
			for _, transport := range []string{"http", "grpc"} {
				name := fmt.Sprintf("%s at %v/s, %s", c.arrivals, rate, transport)
				seen, dues, n := shoot(t, fmt.Sprintf("{rate: %v/s, arrivals: %s, max_in_flight: 64}", rate, c.arrivals),
					"for: 400ms", transport)
				if int(count(n, "requests.count")) != len(dues) || seen != len(dues) {
					t.Errorf("%s: %d due, %d counted, the server saw %d", name, len(dues), count(n, "requests.count"), seen)
				}
				if strings.Contains(c.arrivals, "exact") && len(dues) != int(rate*0.4) {
					t.Errorf("%s: %d requests", name, len(dues))
				}
				gaps := make([]float64, 0, len(dues))
				sum, squares := 0.0, 0.0
				for k := 1; k < len(dues); k++ {
					gap := (dues[k] - dues[k-1]) * rate
					gaps, sum, squares = append(gaps, gap), sum+gap, squares+gap*gap
				}
				slices.Sort(gaps)
				m := float64(len(gaps))
				mean := sum / m
				cv := math.Sqrt(squares/m-mean*mean) / mean
				if math.Abs(mean-1) > 5*c.cv/math.Sqrt(m) || math.Abs(cv-c.cv) > 5*c.cv*math.Sqrt((0.5+2*c.cv*c.cv)/m) {
					t.Errorf("%s: mean gap %v, variation %v", name, mean, cv)
				}
				if d, limit := statstest.KS(gaps, c.cdf), statstest.KSCritical(len(gaps), 0.001); d > limit {
					t.Errorf("%s: distance %v to its distribution, limit %v", name, d, limit)
				}
			}
		}
	}
}
