package load

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/executor/stats/statstest"
)

// from0 begins a ramp at a rate other than 0: at once.
func from0(rate float64, steps ...Step) []Step { return append([]Step{{To: rate}}, steps...) }

func secs(s float64) int64 { return int64(math.Round(s * 1e9)) }

// The k-th arrival of a straight ramp solves r0·t + (r1-r0)·t²/2D = k; its number in all is
// D·(r0+r1)/2.
func TestRampVectors(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []Step
		want  map[int]float64 // arrival, from 1 → s
		total int64
	}{
		{
			"0 to 10 in 10 s",
			[]Step{{To: 10, Over: secs(10)}},
			map[int]float64{1: 1.4142, 2: 2, 3: 2.4495, 4: 2.8284, 5: 3.1623, 50: 10},
			50,
		},
		{
			"2 to 4 in 5 s", from0(2, Step{To: 4, Over: secs(5)}),
			map[int]float64{1: 0.4772, 2: 0.9161, 3: 1.3246, 4: 1.7082, 5: 2.0711, 15: 5},
			15,
		},
		{
			"10 to 0 in 10 s", from0(10, Step{To: 0, Over: secs(10)}),
			map[int]float64{1: 0.1005, 2: 0.2020, 48: 8, 49: 8.5858, 50: 10},
			50,
		},
		{"flat 1.4", from0(1.4, Step{To: 1.4, Hold: secs(60)}), map[int]float64{1: 0.7143, 84: 60}, 84},
		{"down to 0 and up again", []Step{
			{To: 10, Over: secs(1)},
			{To: 0, Hold: secs(2)},
			{To: 10, Over: secs(1)},
		}, map[int]float64{1: 0.4472, 5: 1, 6: 3.4472, 10: 4}, 10},
		{
			"fractions are carried",
			[]Step{{To: 1, Over: secs(1)}, {To: 0, Over: secs(1)}},
			map[int]float64{1: 2},
			1,
		},
	} {
		r := NewRamp(c.steps)
		dues := upTo(r.Arrivals(0, [2]uint64{}), r.Length())
		if int64(len(dues)) != c.total || Count(r.Arrivals(0, [2]uint64{}), 0, r.Length()) != c.total {
			t.Errorf("%s: %d arrivals, counted %d, want %d", c.name, len(dues),
				Count(r.Arrivals(0, [2]uint64{}), 0, r.Length()), c.total)
			continue
		}
		for k, at := range c.want {
			if got := float64(dues[k-1]) / 1e9; math.Abs(got-at) > 1e-4 {
				t.Errorf("%s: arrival %d at %v, want %v", c.name, k, got, at)
			}
		}
	}
}

// What load generators have been seen to get wrong about ramps, each named by its cause.
func TestRampCauses(t *testing.T) {
	for _, c := range []struct {
		name     string
		steps    []Step
		from, to float64 // s
		count    int64
	}{
		{
			"120 s from 1 to 2: the total is duration times the mean rate",
			from0(1, Step{To: 2, Over: secs(120)}), 0, 120, 180,
		},
		{
			"20 s from 100 to 2000 is no 30 % of it", from0(100, Step{To: 2000, Over: secs(20)}),
			0, 20, 21_000,
		},
		{"a ramp from 0 is no pause", []Step{{To: 10, Over: secs(10)}}, 0, 10, 50},
		{"a ramp from 0 sends in its first half", []Step{{To: 10, Over: secs(10)}}, 0, 5, 12},
		{
			"a first step from 0 is not skipped",
			[]Step{{To: 100, Over: secs(10)}, {To: 100, Hold: secs(5)}},
			0, 10, 500,
		},
		{
			"from 0 to 0 has no arrivals and an end",
			[]Step{{To: 0, Over: secs(10), Hold: secs(10)}},
			0, 20,
			0,
		},
		{
			"0 to 0.4, then 0.4 held: the fractional plateau",
			[]Step{{To: 0.4, Over: secs(100), Hold: secs(2000)}},
			0, 2100, 820,
		},
		{
			"0 to 0.4 in 5 min, then 0.4 held to the end of 35 min, and no shorter",
			[]Step{{To: 0.4, Over: secs(300), Hold: secs(1800)}},
			0, 2100, 780,
		},
		{"the plateau alone is 0.4/s", []Step{{To: 0.4, Over: secs(100), Hold: secs(2000)}}, 100, 2100, 800},
		{
			"a fraction before a jump is not lost",
			[]Step{{To: 1, Over: secs(1)}, {To: 3, Hold: secs(0.5)}},
			0, 1.5, 2,
		},
		{
			"rate 0 in the middle sends nothing",
			[]Step{{To: 50, Hold: secs(2)}, {To: 0, Hold: secs(5)}, {To: 50, Hold: secs(2)}},
			2, 7, 0,
		},
		{
			"and the rest goes on after it",
			[]Step{{To: 50, Hold: secs(2)}, {To: 0, Hold: secs(5)}, {To: 50, Hold: secs(2)}},
			7, 9, 100,
		},
		{"a hold begins without a burst", []Step{{To: 50, Hold: secs(2)}}, 0, 0.1, 5},
		{"the last value is held when the node lasts longer", []Step{{To: 10, Over: secs(10)}}, 10, 20, 100},
	} {
		r := NewRamp(c.steps)
		s := r.Arrivals(0, [2]uint64{})
		if got := Count(s, secs(c.from), secs(c.to)); got != c.count {
			t.Errorf("%s: counted %d, want %d", c.name, got, c.count)
		}
		var played int64
		for _, due := range upTo(s, secs(c.to)) {
			if due >= secs(c.from) {
				played++
			}
		}
		if played != c.count {
			t.Errorf("%s: played %d, want %d", c.name, played, c.count)
		}
	}
}

func ramps() map[string]*Ramp {
	return map[string]*Ramp{
		"up": NewRamp([]Step{{To: 300, Over: secs(3)}}),
		"jagged": NewRamp([]Step{
			{To: 50, Over: secs(1), Hold: secs(1)},
			{To: 200, Hold: secs(0.5)},
			{To: 10.5, Over: secs(0.7)},
		}),
		"fractional": NewRamp([]Step{{To: 1.4, Hold: secs(10)}, {To: 0.3, Over: secs(7)}}),
		"with a gap": NewRamp([]Step{
			{To: 100, Over: secs(0.5)},
			{To: 0, Over: secs(0.5), Hold: secs(3)},
			{To: 80, Over: secs(1)},
		}),
		"to nothing": NewRamp([]Step{{To: 100, Over: secs(0.5)}, {To: 0, Over: secs(0.5)}}),
		"warm":       NewRamp([]Step{{To: 50, Over: secs(1), Hold: secs(1)}}).AfterWarmUp(secs(1.5)),
		"no steps":   NewRamp(nil),
		"negative":   NewRamp([]Step{{To: -5, Hold: secs(1)}, {To: math.NaN(), Hold: secs(1)}}),
	}
}

// Any window from 0 to T has the arrivals that the integral of the ramp has reached, for every T.
func TestRampCountsAnyWindow(t *testing.T) {
	for name, r := range ramps() {
		dues := upTo(r.Arrivals(0, [2]uint64{}), secs(12))
		if !slices.IsSorted(dues) {
			t.Errorf("%s: not ascending", name)
		}
		for at := secs(0.05); at <= secs(12); at += secs(0.05) {
			n := int64(len(dues))
			if i, _ := slices.BinarySearch(dues, at); true {
				n = int64(i)
			}
			if got := Count(r.Arrivals(0, [2]uint64{}), 0, at); got != n {
				t.Fatalf("%s: counted %d up to %v, played %d", name, got, time.Duration(at), n)
			}
			area, step := 0.0, secs(0.001)
			for x := r.warm + step/2; x < at; x += step {
				area += r.At(x-r.warm) * float64(step) / 1e9
			}
			area += float64(Count(Constant(r.first()), 0, min(at, r.warm)))
			if math.Abs(area-float64(n)) > 1.2 {
				t.Fatalf("%s: %d arrivals up to %v, the ramp's integral is %v", name, n,
					time.Duration(at), area)
			}
		}
	}
}

func TestRampAsSlots(t *testing.T) {
	r := NewRamp([]Step{{To: 64, Over: secs(32), Hold: secs(10)}, {To: 8, Hold: secs(5)}})
	for _, c := range []struct {
		at   float64
		want int
	}{{0, 0}, {0.24, 0}, {0.26, 1}, {16, 32}, {31.9, 64}, {42, 8}, {41.999, 64}, {47, 8}, {1e6, 8}} {
		if got := r.Slots(secs(c.at)); got != c.want {
			t.Errorf("at %v s: %d slots, want %d", c.at, got, c.want)
		}
	}
	if r.Peak() != 64 || r.Length() != secs(47) {
		t.Errorf("peak %v, length %v", r.Peak(), r.Length())
	}
}

func TestRampHolds(t *testing.T) {
	r := NewRamp([]Step{
		{To: 500, Over: secs(30), Hold: secs(60)},
		{To: 700, Over: secs(5)},
		{To: 2000, Hold: secs(10)},
		{To: 500, Hold: secs(60)},
	})
	for _, c := range []struct {
		end  float64
		want string
	}{
		{0, "[{30 90 0} {95 105 2} {105 165 3}]"},
		{300, "[{30 90 0} {95 105 2} {105 300 3}]"},
		{100, "[{30 90 0} {95 100 2}]"},
		{10, "[]"},
	} {
		var got []struct{ From, To, Step int64 }
		for _, h := range r.Holds(secs(c.end)) {
			got = append(got, struct{ From, To, Step int64 }{h.From / 1e9, h.To / 1e9, int64(h.Step)})
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("until %v s: %v, want %v", c.end, got, c.want)
		}
	}
	// A ramp without a hold of its own has one when the node lasts longer.
	if h := NewRamp([]Step{{To: 64, Over: secs(30)}}).Holds(secs(300)); len(h) != 1 ||
		h[0] != (Hold{From: secs(30), To: secs(300)}) {
		t.Errorf("%v", h)
	}
}

// Random arrivals follow the ramp: mapped through its integral they are the process of rate 1.
func TestRandomRamp(t *testing.T) {
	for name, r := range map[string]*Ramp{
		"up":     NewRamp([]Step{{To: 2000, Over: secs(10)}}),
		"jagged": ramps()["jagged"],
	} {
		dues := take(r.Arrivals(1, Seed(7, name, "")), 5000)
		c := cumulative{ramp: r}
		gaps, last := make([]float64, len(dues)), 0.0
		for i, due := range dues {
			count := c.count(due)
			gaps[i], last = count-last, count
		}
		slices.Sort(gaps)
		if d := statstest.KS(gaps,
			func(x float64) float64 { return 1 - math.Exp(-x) }); d > statstest.KSCritical(len(gaps), 0.01) {
			t.Errorf("%s: distance %v to the exponential", name, d)
		}
	}
	// A ramp that stays at one rate has the very arrivals of that rate.
	flat := NewRamp([]Step{{To: 200, Hold: secs(60)}})
	a, b := take(flat.Arrivals(1, [2]uint64{3, 4}), 3000), take(Poisson(200, [2]uint64{3, 4}), 3000)
	for i := range a {
		if abs(a[i]-b[i]) > 1 {
			t.Fatalf("arrival %d: %d, of the constant rate %d", i, a[i], b[i])
		}
	}
	// At rate 0 there are none, and the schedule ends.
	if dues := all(NewRamp([]Step{{To: 0, Over: secs(5)}}).Arrivals(1, [2]uint64{1, 1})); len(dues) != 0 {
		t.Errorf("%d arrivals at rate 0", len(dues))
	}
}

// A day of a ramp to 20,000/s: no rounding adds up.
func TestRampDoesNotDrift(t *testing.T) {
	day := secs(86_400)
	r := NewRamp([]Step{{To: 20_000, Over: day, Hold: day}})
	s := r.Arrivals(0, [2]uint64{})
	for _, c := range []struct{ from, until, want int64 }{
		{0, day, 864_000_000}, {day, 2 * day, 1_728_000_000}, {2 * day, 2*day + secs(1), 20_000},
	} {
		if got := Count(s, c.from, c.until); got != c.want {
			t.Errorf("from %v to %v: %d, want %d", time.Duration(c.from),
				time.Duration(c.until), got, c.want)
		}
	}
}
