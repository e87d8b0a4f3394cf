package trial

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends/backendtest/cases"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/expression"
)

// mm1 is a server with one place and exponential service times of 5 ms, at Poisson arrivals of 170/s: its
// load is 0.85.
func mm1(seed uint64) server {
	rng := rand.New(rand.NewPCG(seed, 15))
	var now, free float64
	return func() (due, end int64) {
		now += rng.ExpFloat64() / 170
		free = max(now, free) + rng.ExpFloat64()*0.005
		return int64(now * 1e9), int64(free * 1e9)
	}
}

// p95OfQueue is the true p95 of the latencies of mm1, s: they are exponential (Kleinrock, Queueing Systems,
// volume 1, section 3.2).
var p95OfQueue = 0.005 / (1 - 0.85) * math.Log(20)

// steady is a server of about 5 ms at 200 even arrivals a second, none of which waits for another; change
// is the factor of a request that is due at a time, s.
func steady(seed uint64, change func(at float64) float64) server {
	rng := rand.New(rand.NewPCG(seed, 16))
	i := int64(-1)
	return func() (due, end int64) {
		i++
		due = i * 5e6
		return due, due + int64(5e6*(0.9+0.2*rng.Float64())*change(float64(due)/1e9))
	}
}

func even(float64) float64 { return 1 }

// TestBoundsDecide: the same share of errors passes with many requests and proves nothing with few.
func TestBoundsDecide(t *testing.T) {
	for _, c := range []struct {
		that     string
		requests int
		verdict  result.Verdict
		reason   string
	}{
		{
			"{that: errors.ratio < 1%, confidence: 95%}", 299, result.Pass,
			"errors.ratio is 0 % (0 % … 0.9969 % at 95 %), the limit is 1 % (n = 299)",
		},
		{
			"{that: errors.ratio < 1%, confidence: 95%}", 99, result.Inconclusive,
			"if it stays so, about 200 more requests decide it",
		},
		{
			"{that: errors.ratio < 1%, confidence: 99%}", 299, result.Inconclusive,
			"if it stays so, about 160 more requests decide it",
		},
		{"errors.ratio < 1%", 99, result.Pass, "errors.ratio is 0 %, the limit is 1 % (n = 99)"},
		{
			"{that: latency.p99 < 1h, confidence: 95%}", 299, result.Pass,
			"the limit is 3600 s (n = 299); 0 of 299 are not below it, 0 may be",
		},
		{
			"{that: latency.p99 < 1ns, confidence: 95%}", 20, result.Fail,
			"latency.p99 is 5.475 ms (at least 5.409 ms at 95 %), the limit is 1 ns (n = 20)",
		},
		{
			"{that: latency.p50 < 1s, confidence: 95%, min_samples: 300}", 299, result.Inconclusive,
			"1 more request needed for p50 (have 299 of 300)",
		},
	} {
		p := compilePlan(t, fmt.Sprintf("stages: [{id: s, load: {rate: 200/s}, for: %v, assert: [%s]}]",
			time.Duration(c.requests)*5*time.Millisecond, c.that))
		a := simulate(t, p, steady(1, even)).Assertions[0]
		if a.Verdict != c.verdict || !strings.Contains(a.Reason, c.reason) {
			t.Errorf("%s of %d: %s (%s), want %s (%s)", c.that, c.requests, a.Verdict, a.Reason, c.verdict,
				c.reason)
		}
		if (a.Confidence > 0) != strings.Contains(c.that, "confidence") ||
			c.verdict == result.Pass && a.Confidence > 0 && (a.Low == nil || a.High == nil) {
			t.Errorf("%s: stored as %+v", c.that, a)
		}
	}
}

// TestTakenAsIndependent: a verdict whose bounds no parts of hold support says so. The server is stable after
// a minute: the last three seconds of that are few parts.
func TestTakenAsIndependent(t *testing.T) {
	for _, c := range []struct {
		extent, that string
		want         bool
	}{
		{"for: 30s", "{that: latency.p95 < 1s, confidence: 95%}", false},
		{"for: 30s", "{that: latency.p95 < 1s, confidence: 95%, every: 10s}", true},
		{"for: 30s", "latency.p95 < 1s", false},
		{"for: 30s", "{that: requests.count > 10, confidence: 95%}", false},
		{"until: {stable: {window: 1s, max_windows: 100}}", "{that: latency.p95 < 1s, confidence: 95%}", true},
		{"until: {stable: {window: 1s, max_windows: 100}}", "{that: errors.ratio < 20%, confidence: 95%}", true},
		{"until: {stable: {window: 1s, max_windows: 100}}", "latency.p95 < 1s", false},
	} {
		p := compilePlan(t, fmt.Sprintf("stages: [{id: s, load: {rate: 200/s}, %s, assert: [%s]}]", c.extent,
			c.that))
		change := even
		if strings.HasPrefix(c.extent, "until") {
			change = func(at float64) float64 { return 1 + math.Mod(math.Floor(min(at, 60)), 2) }
		}
		a := simulate(t, p, steady(1, change)).Assertions[0]
		said := strings.HasSuffix(a.Reason, " (requests taken as independent)")
		if a.AsIndependent != c.want || said != c.want || a.Verdict != result.Pass {
			t.Errorf("%s, %s: as_independent is %v: %s %s", c.extent, c.that, a.AsIndependent, a.Verdict, a.Reason)
		}
	}
}

// TestShortQueue judges runs of one queue near capacity that are too short for it. They do not contradict
// each other, and those that are open say how long a hold would do.
func TestShortQueue(t *testing.T) {
	p := compilePlan(t, "stages: [{id: s, load: {rate: 170/s, arrivals: poisson}, for: 15s, "+
		"assert: [{that: latency.p95 < 95ms, confidence: 95%}]}]")
	got, told, seeds := map[result.Verdict]int{}, 0, cases.Count(8, 40)
	for seed := range seeds {
		a := simulate(t, p, mm1(uint64(seed))).Assertions[0]
		got[a.Verdict]++
		if strings.Contains(a.Reason, "requests depend on each other over about ") &&
			strings.Contains(a.Reason, "; hold for at least ") {
			told++
		}
		if a.Effective == 0 || a.Effective > a.Samples/4 {
			t.Errorf("seed %d: %d requests are worth %d: %s", seed, a.Samples, a.Effective, a.Reason)
		}
	}
	if min(got[result.Pass], got[result.Fail]) > seeds/20 || told < seeds/2 {
		t.Errorf("%v of %d runs, %d say that hold is too short", got, seeds, told)
	}
}

// TestUntilPrecise: hold goes on until the bounds of the same queue are narrow, and these are true.
func TestUntilPrecise(t *testing.T) {
	within, seeds := "20%", cases.Count(6, 40)
	if cases.All() {
		within = "10%"
	}
	p := compilePlan(t, fmt.Sprintf(`
stages:
  - id: s
    load: {rate: 170/s, arrivals: poisson}
    until: {precise: {latency.p95: %s}}
    max_duration: 2h
    assert: [{that: latency.p95 < 150ms, confidence: 95%%}]
`, within))
	proven, wrong := 0, 0
	for seed := range seeds {
		n := simulate(t, p, mm1(uint64(seed)))
		a := n.Assertions[0]
		if n.Finding(result.IsPrecise) == nil || a.Low == nil || a.High == nil {
			t.Logf("seed %d: %s", seed, reasons(n))
			continue
		}
		proven++
		if *a.Low > p95OfQueue || *a.High < p95OfQueue {
			wrong++
		}
		if a.Verdict != result.Pass || n.Look == nil || n.Look.Number < 2 {
			t.Errorf("seed %d: look %+v: %s", seed, n.Look, reasons(n))
		}
		t.Logf("seed %d: %.0f s", seed, n.Duration)
	}
	if proven < seeds*9/10 || wrong > max(seeds/20, 1) {
		t.Errorf("%d of %d are precise, %d of them wrong", proven, seeds, wrong)
	}
}

// TestNotPrecise: at max_duration hold ends, and assertions are judged by the bounds that it has.
func TestNotPrecise(t *testing.T) {
	p := compilePlan(t, `
stages:
  - id: s
    load: {rate: 200/s}
    until: {precise: {latency.p95: 0.001%}}
    max_duration: 20s
    assert: [{that: latency.p95 < 10ms, confidence: 95%}]
`)
	n := simulate(t, p, steady(1, even))
	f := n.Finding(result.NotPrecise)
	if f == nil || n.Outcome != result.Done || n.Assertions[0].Verdict != result.Pass ||
		*n.Look != (result.Look{Number: 3, Of: 3}) || math.Abs(n.Duration-19.9) > 0.02 {
		t.Fatalf("%s after %v s, look %+v: %s", n.Outcome, n.Duration, n.Look, reasons(n))
	}
	if want := "not precise after 19.9s of hold, at look 3 of at most 3: latency.p95 is 5.44"; !strings.HasPrefix(
		f.Text, want) {
		t.Errorf("%s\nwant %s…", f.Text, want)
	}
}

// TestFewForPrecise: a percentile without an upper bound says how many requests would give one, and a share
// that is 0 that no bounds are within a share of it.
func TestFewForPrecise(t *testing.T) {
	p := compilePlan(t, `
stages:
  - id: s
    load: {rate: 200/s}
    until: {precise: {latency.p99.9: 5%, errors.ratio: 5%}}
    max_duration: 20s
`)
	n := simulate(t, p, steady(1, even))
	f := n.Finding(result.NotPrecise)
	if f == nil {
		t.Fatal(reasons(n))
	}
	for _, want := range []string{
		// two bounds at 95 %, three looks: ln(0.05 / 3) / ln(0.999)
		" requests: it needs at least 4093: raise `max_duration` or the load",
		"latency.p99.9 has no upper bound from 39", "errors.ratio is 0 % and may be 0.1",
		": no bounds are within a share of 0",
	} {
		if !strings.Contains(f.Text, want) {
			t.Errorf("%s\nhas no %q", f.Text, want)
		}
	}
}

// TestLooksChangeNothing: a look at the bounds enters nothing into the numbers that hold goes on to count.
func TestLooksChangeNothing(t *testing.T) {
	p := compilePlan(t, `
stages:
  - id: s
    load: {rate: 200/s}
    until: {precise: {errors.ratio: 5%}}
    max_duration: 20s
`)
	synctest.Test(t, func(t *testing.T) {
		r, _, rings := simulating(p)
		const start, now = int64(1), int64(2e9)
		r.control.HoldStart.Store(start)
		for due := start; due < now; due += 5e6 {
			hand(rings, due, due+1e6, false)
		}
		r.control.OldestDue.Store(now)
		r.folder.Drain(now)
		look := &precision{of: r, confidence: 0.95}
		look.plan(start)
		leaf := p.Nodes[0].Precise[0].Leaf
		if q := look.values(start, now).Quantity(expression.Ref{Leaf: leaf}); !q.Known {
			t.Errorf("%s is unknown: %s", leaf, q.Why)
		}
		sent, hold := int64(0), r.folder.Timelines(start)[0]
		for _, a := range hold.Parts {
			if sent += a.Sent; a.Planned != 0 {
				t.Fatalf("a part of %d requests has %d planned", a.Sent, a.Planned)
			}
		}
		if sent == 0 {
			t.Error("hold has no parts")
		}
	})
}

// TestFarFromCapacity: where requests do not wait for each other, parts change bounds little and are never
// a reason to refuse them.
func TestFarFromCapacity(t *testing.T) {
	p := compilePlan(t, `
stages:
  - id: s
    load: {rate: 200/s}
    for: 30s
    assert:
      - {that: latency.p50 < 1s, confidence: 95%}
      - {that: latency.p99 < 1s, confidence: 95%}
      - {that: latency.mean < 1s, confidence: 95%}
      - {that: requests.rate > 1/s, confidence: 95%}
      - {that: errors.ratio < 1%, confidence: 95%}
`)
	var width, before [5]float64
	add := func(to *[5]float64, n *result.Node) {
		for i, a := range n.Assertions {
			switch {
			case a.Verdict != result.Pass || (a.Low == nil) != (a.High == nil):
				t.Errorf("%s", a.Reason)
			case a.Low != nil: // else there is but one value
				to[i] += *a.High - *a.Low
			}
		}
	}
	for seed := range uint64(cases.Count(10, 100)) {
		n := simulate(t, p, steady(seed, even))
		add(&width, n)
		for _, m := range n.Metrics {
			m.Parts = nil
		}
		judge(p, n)
		add(&before, n)
	}
	for i, w := range width {
		if w < before[i] || w > 1.3*before[i]+1e-9 {
			t.Errorf("%s: %v times as wide", p.Nodes[0].Checks[i].That.Text, w/before[i])
		}
	}
}

// TestTrends: what changes over hold is named, and proves nothing.
func TestTrends(t *testing.T) {
	for name, c := range map[string]struct {
		change func(at float64) float64
		hold   string
		want   string
	}{
		"drift": {
			func(at float64) float64 { return 1 + 0.01*at }, "60s",
			"latency.p95 rises by about 0.75 % a second over hold: see whether ",
		},
		"warm-up": {
			func(at float64) float64 { return 1 + 3*max(0, 5-at)/5 }, "60s",
			"latency.p95 falls during the first 5 s of hold: let `warmup` be so much longer",
		},
	} {
		p := compilePlan(t, fmt.Sprintf("stages: [{id: s, load: {rate: 200/s}, for: %s, "+
			"assert: [{that: latency.p95 < 1s, confidence: 95%%}]}]", c.hold))
		n := simulate(t, p, steady(1, c.change))
		a, f := n.Assertions[0], n.Finding(result.HoldTrend)
		if a.Verdict != result.Inconclusive || f == nil || !strings.HasPrefix(f.Text, c.want) {
			t.Errorf("%s: %s", name, reasons(n))
		} else {
			t.Logf("%s: %s", name, f.Text)
		}
	}
}

// TestStoredParts: a result that was written and read is judged as before, quickly, and parts add little to
// its size.
func TestStoredParts(t *testing.T) {
	var assert []string
	for i := range cases.Count(1000, 5000) {
		that := []string{
			"latency.p%d < 95ms", "latency.mean < %dms", "requests.rate > %d/s", "errors.ratio < %d%%",
		}[i%4]
		assert = append(assert, fmt.Sprintf("{that: "+that+", confidence: 95%%}", 1+i/4%99))
	}
	p := compilePlan(t, "stages: [{id: s, load: {rate: 170/s, arrivals: poisson}, for: 5m, assert: ["+
		strings.Join(assert, ", ")+"]}]")
	n := simulate(t, p, mm1(3))
	with := stored(t, n)
	back := read(t, with)
	began := time.Now()
	judge(p, back)
	took := time.Since(began)
	if t.Logf("%d assertions in %v", len(assert), took); took > 10*time.Second { // a busy machine; else below 2 s
		t.Error("that is too long")
	}
	if diff := cmp.Diff(n.Assertions, back.Assertions); diff != "" {
		t.Errorf("stored (-live +stored):\n%s", diff)
	}
	for _, m := range n.Metrics {
		m.Parts = nil
	}
	if more := len(with) - len(stored(t, n)); more < 1000 || more > 64<<10 {
		t.Errorf("parts of 3 metrics take %d bytes", more)
	}
}

func stored(t *testing.T, n *result.Node) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := result.Write(&b, &result.Result{Schema: result.Schema, Nodes: []*result.Node{n}}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t *testing.T, text []byte) *result.Node {
	t.Helper()
	r, err := result.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r.Nodes[0]
}

// TestOnlyWhatIsAsked: parts are kept of the metrics that assertions with a confidence read, and of latency.
func TestOnlyWhatIsAsked(t *testing.T) {
	for assert, want := range map[string]string{
		"latency.p95 < 1s":                                             "",
		"{that: errors.ratio < 1%, confidence: 95%}":                   "latency errors.ratio",
		"{that: latency.p95 < 1s, confidence: 95%, every: 1s}":         "",
		"{that: latency.p95 <= baseline.latency.p95, confidence: 95%}": "",
	} {
		p := compilePlan(t, "baseline: none.json\n"+
			"stages: [{id: s, load: {rate: 200/s}, for: 2s, assert: ["+assert+"]}]")
		var got []string
		for _, timed := range p.Parts(p.Nodes[0]).Timed {
			for _, row := range timed.Rows {
				got = append(got, row.Name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: parts of %v, want %q", assert, got, want)
		}
	}
}
