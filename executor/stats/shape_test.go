package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sluice-bench/sluice/backends/backendtest/cases"
)

// system returns one of queues.
func system(t *testing.T, name string) queue {
	t.Helper()
	for _, q := range queues() {
		if q.name == name {
			return q
		}
	}
	t.Fatalf("no system %q", name)
	return queue{}
}

// changing returns a run of the given length, s, with services of 5 ms, whose latencies are multiplied by a
// factor of the time.
func changing(q queue, seed uint64, load, seconds float64, factor func(second float64) float64) *kept {
	list := q.draw(rand.New(rand.NewPCG(seed, 7)), int(200*load*seconds), load)
	for i, x := range list {
		list[i].latency *= factor((x.due - list[0].due) * nsPerService / 1e9)
	}
	return keep(list)
}

// A drift of 1 % a second and a warm-up of 5 s inside hold are named as such, the sooner the less requests
// depend on each other; nothing else is.
func TestTrends(t *testing.T) {
	steady := func(float64) float64 { return 1 }
	drift := func(s float64) float64 { return 1 + 0.01*s }
	warmUp := func(s float64) float64 { return 1 + 2*max(0, 1-s/5) }
	const runs = 40
	for _, row := range []struct {
		name          string
		system        string
		load, seconds float64
		factor        func(float64) float64
		slopes, warm  int // least numbers of runs in which they are named; 0: they are not
	}{
		{"steady", "independent", 0.85, 30, steady, 0, 0},
		{"steady", "M/M/1", 0.5, 60, steady, 0, 0},
		{"steady", "M/M/1", 0.85, 60, steady, 0, 0},
		{"drift", "independent", 0.85, 30, drift, 34, 0},
		{"drift", "independent", 0.85, 60, drift, 38, 0},
		{"drift", "M/M/1", 0.3, 60, drift, 24, 0},
		{"drift", "M/M/1", 0.6, 180, drift, 24, 0},
		{"warm-up", "independent", 0.85, 30, warmUp, 0, 38},
		{"warm-up", "independent", 0.85, 60, warmUp, 0, 38},
		{"warm-up", "M/M/1", 0.3, 60, warmUp, 0, 36},
		{"warm-up", "M/M/1", 0.6, 60, warmUp, 0, 28},
	} {
		slopes, warm, rate, settled := 0, 0, 0.0, 0.0
		for seed := range uint64(runs) {
			k := changing(system(t, row.system), seed, row.load, row.seconds, row.factor)
			x := k.hold.Percentile(&k.whole, 0, k.table, 95, 0.95)
			switch {
			case x.Refused != Trending:
			case x.Settled == 0:
				slopes++
				rate += x.Slope
			default:
				warm++
				settled += x.Settled
			}
		}
		t.Logf("%s of %s, load %g, %g s: %d drifts of %.4f a second, %d warm-ups of %.1f s", row.name,
			row.system, row.load, row.seconds, slopes, rate/math.Max(1, float64(slopes)), warm,
			settled/math.Max(1, float64(warm)))
		if slopes < row.slopes || warm < row.warm || row.slopes == 0 && slopes > 0 ||
			row.slopes == 0 && row.warm == 0 && warm > 0 {
			t.Errorf("%s of %s, load %g, %g s: %d drifts and %d warm-ups of %d", row.name, row.system, row.load,
				row.seconds, slopes, warm, runs)
		}
	}
}

// One server, near capacity for 15 s, whose p95 is 99.9 ms: of independent requests `p95 < 95ms` is proven
// or refuted at 95 % in most runs, and contradicts itself. From parts it stays open.
func TestOneServerDoesNotContradictItself(t *testing.T) {
	const runs, limit = 400, 95e6
	var passes, fails, oldPasses, oldFails int
	for seed := range uint64(runs) {
		k := keep(system(t, "M/M/1").draw(rand.New(rand.NewPCG(seed, 15)), 170*15, 0.85))
		x := k.hold.Percentile(&k.whole, 0, k.table, 95, 0.9)
		lo, hi, _ := k.whole.Bounds(95, 0.9, 0)
		for _, c := range []struct {
			is bool
			n  *int
		}{{x.Hi < limit, &passes}, {x.Lo >= limit, &fails}, {hi < limit, &oldPasses}, {lo >= limit, &oldFails}} {
			if c.is {
				*c.n++
			}
		}
	}
	t.Logf("of %d runs: independent requests %d passes and %d fails, parts %d and %d", runs, oldPasses,
		oldFails, passes, fails)
	if passes > runs/20 || oldPasses < runs/4 || oldFails < runs/4 {
		t.Errorf("%d wrong passes of %d; %d and %d of independent requests", passes, runs, oldPasses, oldFails)
	}
}

// Hold goes on until p95 of that server is known within 10 %, looked at 1.5 times as late each time.
func TestHoldUntilPrecise(t *testing.T) {
	const rate, first, most, truth = 170, 10, 7200.0, 99.86e6
	runs := cases.Count(6, 40)
	precise, wrong, looked, held := 0, 0, 0, 0.0
	for seed := range uint64(runs) {
		list := system(t, "M/M/1").draw(rand.New(rand.NewPCG(seed, 16)), rate*most, 0.85)
		looks := LooksWithin(first, most)
		for look, at := 1, float64(first); ; look, at = look+1, NextLook(at, most) {
			k := keep(list[:int(rate*at)])
			x := k.hold.Percentile(&k.whole, 0, k.table, 95, 2*LookConfidence(0.95, look, looks)-1)
			v, _ := k.whole.Rank(95)
			done := x.Hi < 1.1*float64(v) && x.Lo > 0.9*float64(v)
			if done {
				precise++
			}
			if done || at >= most {
				looked, held = looked+look, held+at
				if x.Hi < truth || x.Lo > truth {
					wrong++
				}
				break
			}
		}
	}
	t.Logf("of %d runs %d precise after %.0f s and %.1f looks on average, %d wrong", runs, precise,
		held/float64(runs), float64(looked)/float64(runs), wrong)
	if precise < runs*9/10 || wrong > runs/20 {
		t.Errorf("of %d runs %d are precise and %d wrong", runs, precise, wrong)
	}
}

// Series whose correlation is known: an autoregressive one of which each part is the mean of many steps.
func TestBlocks(t *testing.T) {
	for _, perPart := range []float64{0.5, 1, 2, 5} { // parts in time constants
		r := rand.New(rand.NewPCG(3, 3))
		var sum float64
		const runs, steps = 300, 50
		for range runs {
			e, v, f := make([]float64, MaxParts), r.NormFloat64(), math.Exp(-perPart/steps)
			for i := range e {
				for range steps {
					v = f*v + math.Sqrt(1-f*f)*r.NormFloat64()
					e[i] += v
				}
			}
			mean, _ := deviations(e)
			for i := range e {
				e[i] -= mean
			}
			sum += 1 / blocks(e)
		}
		want := MaxParts * perPart / 2
		if got := runs / sum; got < want/1.35 || got > want*1.35 {
			t.Errorf("parts of %g time constants: %.1f blocks, want %.1f", perPart, got, want)
		}
	}
	if b := blocks(make([]float64, 20)); !math.IsInf(b, 1) {
		t.Errorf("%v blocks of a constant", b)
	}
}

// Bounds from parts are never narrower than those of independent requests, and equal to them where
// nothing is above them.
func TestNeverNarrower(t *testing.T) {
	for _, q := range queues() {
		for seed := range uint64(10) {
			k := keep(q.draw(rand.New(rand.NewPCG(seed, 21)), 4000, 0.6))
			parts, independent := k.intervals(0.9)
			for i, x := range parts {
				if x.Lo > independent[i][0] || x.Hi < independent[i][1] {
					t.Errorf("%s of %s: %v … %v, of independent requests %v", statistics[i], q.name, x.Lo, x.Hi,
						independent[i])
				}
				if x.Effective > 4000 || x.Effective < 1 || x.Parts != MaxParts {
					t.Errorf("%s of %s: worth %v, %d parts", statistics[i], q.name, x.Effective, x.Parts)
				}
			}
		}
	}
}

func TestFewPartsAndNothingSeen(t *testing.T) {
	sent, none := make([]int64, 20), make([]int64, 20)
	for i := range sent {
		sent[i] = 15
	}
	_, hi, _ := ClopperPearson(0, 300, 0.9)
	h := Hold{Seconds: 10}
	if x := h.Ratio(none, sent, 0.9); x.Refused != Known || x.Lo != 0 || x.Hi != hi || x.Effective != 300 {
		t.Errorf("no error of 300: %+v, want up to %v", x, hi)
	}
	d := distOf(1, 2, 3)
	for name, x := range map[string]Interval{
		"ratio":      h.Ratio(none[:9], sent[:9], 0.9),
		"rate":       h.Rate(sent[:9], 0.9),
		"no count":   h.Rate(none, 0.9),
		"percentile": h.Percentile(d, 0, drawParts(1, 9, 30).Table(0, 9), 50, 0.9),
		"no table":   h.Percentile(d, 0, nil, 50, 0.9),
		"no values":  h.Percentile(new(Dist), 0, drawParts(1, 20, 1).Table(0, 20), 50, 0.9),
		"mean":       h.Mean(distOf(1), drawParts(1, 20, 1).Table(0, 20), 0.9),
	} {
		if x.Refused != FewParts || !math.IsInf(x.Hi, 1) {
			t.Errorf("%s: %+v", name, x)
		}
	}
	if x := h.Rate(sent, 0.9); x.Refused != Known || x.Lo > 30 || x.Hi < 30 || x.Hi > 30.1 {
		t.Errorf("a constant rate of 30 a second: %+v", x)
	}
	// 2 s of a queue that takes as long to empty say nothing.
	k := changing(system(t, "M/M/1"), 1, 0.97, 2, func(float64) float64 { return 1 })
	x := k.hold.Percentile(&k.whole, 0, k.table, 50, 0.9)
	if !math.IsInf(x.Hi, 1) || x.NeedHold < 10 || x.Depend < 0.3 {
		t.Errorf("%+v", x)
	}
}
