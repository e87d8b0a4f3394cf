package load

import (
	"math"
	"slices"
	"testing"

	"github.com/sluice-bench/sluice/executor/stats/statstest"
)

// moments are mean and coefficient of variation of the gaps, in means of the rate.
func moments(dues []int64, rate float64) (mean, cv float64) {
	last, sum, squares := int64(0), 0.0, 0.0
	for _, due := range dues {
		gap := float64(due-last) / 1e9 * rate
		sum, squares, last = sum+gap, squares+gap*gap, due
	}
	n := float64(len(dues))
	mean = sum / n
	return mean, math.Sqrt(squares/n-mean*mean) / mean
}

// The gaps have the mean of the rate and the variation asked for. The standard error of the mean is
// cv/√n; that of the variation of gamma gaps is about cv·√((1/2+2cv²)/n).
func TestGamma(t *testing.T) {
	const n, rate = 50_000, 1000.0
	for _, cv := range []float64{0.1, 0.5, 0.9, 1, 1.1, 2, 4} {
		dues := take(Gamma(rate, cv, Seed(1, "gamma", "")), n)
		mean, got := moments(dues, rate)
		if math.Abs(mean-1) > 5*cv/math.Sqrt(n) || math.Abs(got-cv) > 5*cv*math.Sqrt((0.5+2*cv*cv)/n) {
			t.Errorf("variation %v: mean gap %v, variation %v", cv, mean, got)
		}
	}
	// Shape 4 is a sum of four exponentials: its whole distribution.
	dues := take(Gamma(rate, 0.5, Seed(2, "gamma", "")), n)
	gaps := make([]float64, n)
	for i := range dues {
		gaps[i] = float64(dues[i]-dues[max(i-1, 0)]) / 1e9 * rate * 4
	}
	gaps[0] = float64(dues[0]) / 1e9 * rate * 4
	slices.Sort(gaps)
	erlang := func(x float64) float64 { return 1 - math.Exp(-x)*(1+x+x*x/2+x*x*x/6) }
	if d := statstest.KS(gaps, erlang); d > statstest.KSCritical(n, 0.01) {
		t.Errorf("distance %v to the Erlang distribution", d)
	}
	// Shape 1/4, below 1: half of all gaps lie below the median.
	dues = take(Gamma(rate, 2, Seed(3, "gamma", "")), n)
	below := 0
	for i := range dues[1:] {
		if float64(dues[i+1]-dues[i])/1e9*rate < 4*medianQuarter {
			below++
		}
	}
	if math.Abs(float64(below)/n-0.5) > 5*0.5/math.Sqrt(n) {
		t.Errorf("%v of the gaps are below the median", float64(below)/n)
	}
}

// medianQuarter is the median of the gamma distribution of shape 1/4: P(1/4, m) = 1/2.
const medianQuarter = 0.04367380

// What the names mean: constant has no chance in it, Poisson is cv 1 to the bit.
func TestArrivalProcessesByName(t *testing.T) {
	seed := Seed(1, "s", "")
	for _, cv := range []float64{0, -1, math.NaN()} {
		if !slices.Equal(take(Gamma(5, cv, seed), 3000), take(Constant(5), 3000)) {
			t.Errorf("variation %v is not constant", cv)
		}
	}
	if !slices.Equal(take(Gamma(5, 1, seed), 3000), take(Poisson(5, seed), 3000)) {
		t.Error("variation 1 is not Poisson")
	}
	// Constant 5/s for 600 s is 3,000, and so is Poisson with an exact number: normalised
	// exponentials, not constant.
	if n := len(upTo(Constant(5), 600*second)); n != 3000 {
		t.Errorf("constant: %d", n)
	}
	exact := upTo(Exact(Poisson(5, seed), 600*second), 600*second)
	if _, cv := moments(exact, 5); len(exact) != 3000 || cv < 0.9 {
		t.Errorf("exact Poisson: %d with a variation of %v", len(exact), cv)
	}
	if n := len(upTo(Poisson(5, seed), 600*second)); n == 3000 {
		t.Error("free Poisson has the exact number by chance: take another seed")
	}
}

func TestExact(t *testing.T) {
	seed := Seed(4, "exact", "")
	for _, c := range []struct {
		name string
		s    Schedule
		cuts []int64
		even Schedule
	}{
		{"poisson", Poisson(100, seed), []int64{10 * second}, Constant(100)},
		{"bursts", Gamma(1000, 3, seed), []int64{10 * second}, Constant(1000)},
		{"a fraction", Poisson(1.4, seed), []int64{60 * second}, Constant(1.4)},
		{"warm-up and hold each", Gamma(100, 2, seed), []int64{second, 2*second + 5e8}, Constant(100)},
		{"less than one", Poisson(0.1, seed), []int64{second, 2 * second}, Constant(0.1)},
		{
			"a cut twice, one out of order", Poisson(10, seed),
			[]int64{second, second, 5e8, 3 * second},
			Constant(10),
		},
		{
			"a ramp", ramps()["jagged"].Arrivals(1, seed),
			[]int64{3 * second},
			ramps()["jagged"].Arrivals(0, seed),
		},
		{
			"a ramp with a warm-up", ramps()["warm"].Arrivals(1, seed),
			[]int64{15e8, 35e8},
			ramps()["warm"].Arrivals(0, seed),
		},
		{
			"a cut at the end of the warm-up", ramps()["warm"].Arrivals(1, seed),
			[]int64{15e8},
			ramps()["warm"].Arrivals(0, seed),
		},
		{
			"a cut inside the warm-up only", ramps()["warm"].Arrivals(1, seed),
			[]int64{second},
			ramps()["warm"].Arrivals(0, seed),
		},
		{"nothing at rate 0", Poisson(0, seed), []int64{second}, Constant(0)},
		{"no chance in it", Constant(30), []int64{30 * second}, Constant(30)},
	} {
		dues := all(Exact(c.s, c.cuts...))
		from := int64(0)
		for _, cut := range c.cuts {
			if cut <= from {
				continue
			}
			want, got := Count(c.even, from, cut), int64(0)
			for _, due := range dues {
				if due >= from && due < cut {
					got++
				}
			}
			if got != want {
				t.Errorf("%s: %d from %d to %d, want %d", c.name, got, from, cut, want)
			}
			from = cut
		}
		if n := len(dues); n > 0 && dues[n-1] >= from || !slices.IsSorted(dues) {
			t.Errorf("%s: goes on beyond the last cut, or back", c.name)
		}
	}
	// A fixed number of Poisson arrivals is that many uniform ones, sorted.
	at := make([]float64, 0, 10_000)
	for _, due := range all(Exact(Poisson(1000, seed), 10*second)) {
		at = append(at, float64(due)/1e10)
	}
	if d := statstest.KS(at, func(x float64) float64 { return x }); d > statstest.KSCritical(len(at), 0.01) {
		t.Errorf("distance %v to the uniform", d)
	}
	// Without cuts it is what it was.
	if !slices.Equal(take(Exact(Poisson(5, seed)), 100), take(Poisson(5, seed), 100)) {
		t.Error("no cut changes the arrivals")
	}
}

// Ten arrivals over 300 s are ten, alone and on ten machines: none is rounded away and none multiplied.
func TestFewArrivalsOverALongTime(t *testing.T) {
	const few = 10.0 / 300
	for name, fresh := range map[string]func() Schedule{
		"constant": func() Schedule { return Constant(few) },
		"poisson":  func() Schedule { return Exact(Poisson(few, [2]uint64{1, 2}), 300*second) },
	} {
		total := 0
		for i := range 10 {
			n := len(upTo(Sharded(fresh(), Shard{i, 10}), 300*second))
			total += n
			if n != 1 {
				t.Errorf("%s: machine %d of 10 sends %d", name, i, n)
			}
		}
		if n := len(upTo(fresh(), 300*second)); n != 10 || total != 10 {
			t.Errorf("%s: %d alone, %d together", name, n, total)
		}
	}
}

func TestLimit(t *testing.T) {
	for n, want := range map[int64]int{-1: 0, 0: 0, 1: 1, 20: 20} {
		if got := len(all(Limit(Constant(7), n))); got != want {
			t.Errorf("the first %d are %d", n, got)
		}
	}
	if got := len(all(Limit(Times([]int64{1, 2}, 1, 0, 0), 5))); got != 2 {
		t.Errorf("the first 5 of 2 are %d", got)
	}
}

// Stored plans play the arrivals that they played before: a changed hash is a changed meaning.
func TestHashesArePinned(t *testing.T) {
	for name, want := range map[string]Hash{
		"constant": 2948842711112140958, "gamma": 14374928846622653056, "exact": 1130764896621188729,
		"gaps": 18261236676283046258, "ramp up": 14920197569812370066,
		"random ramp jagged": 8514375277789601399, "exact ramp warm": 11386162597481551216,
	} {
		h := EmptyHash
		for _, due := range upTo(shapes()[name](), 10*second) {
			h = h.Add(due)
		}
		if h != want {
			t.Errorf("%q: %d", name, h)
		}
	}
}
