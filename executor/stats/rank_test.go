package stats

import (
	"math"
	"slices"
	"testing"
	"testing/quick"
)

func TestNearestRank(t *testing.T) {
	repeat := func(n int, v int64, more ...int64) []int64 {
		return append(slices.Repeat([]int64{v}, n), more...)
	}
	upTo := func(n int64) []int64 {
		values := make([]int64, n)
		for i := range values {
			values[i] = n - int64(i)
		}
		return values
	}
	small := []float64{10, 25, 50, 75, 90, 95, 99}
	tests := []struct {
		name   string
		values []int64
		ps     []float64
		want   []int64
	}{
		{"five", []int64{15, 20, 35, 40, 50}, small, []int64{15, 20, 35, 40, 50, 50, 50}},
		{"ten", []int64{3, 6, 7, 8, 8, 10, 13, 15, 16, 20}, small, []int64{3, 7, 8, 15, 16, 20, 20}},
		{"eleven", []int64{3, 6, 7, 8, 8, 9, 10, 13, 15, 16, 20}, small, []int64{6, 7, 9, 15, 16, 20, 20}},
		{"the middle of three is the median", []int64{428, 429, 4257}, []float64{50}, []int64{429}},
		{"1..10", upTo(10), []float64{50, 90, 95, 99, 99.9}, []int64{5, 9, 10, 10, 10}},
		{"1..100", upTo(100), []float64{95, 99}, []int64{95, 99}},
		{"one slow in a hundred", repeat(99, 10, 1000), []float64{99, 99.9}, []int64{10, 1000}},
		{"two slow in a hundred", repeat(98, 10, 500, 1000), []float64{99}, []int64{500}},
		{"one value", []int64{7}, []float64{0.0001, 50, 100}, []int64{7, 7, 7}},
		{"two values", []int64{1, 2}, []float64{50, 99}, []int64{1, 2}},
		// 99.9·1000/100 exceeds 999 in floating point, 0.07·100/100 exceeds 0.07·1.
		{"no rounding up", upTo(1000), []float64{99.9, 0.1, 29, 57, 58}, []int64{999, 1, 290, 570, 580}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := distOf(tt.values...)
			for i, p := range tt.ps {
				if got, ok := d.Rank(p); !ok || got != tt.want[i] {
					t.Errorf("p%v = %d %v, want %d", p, got, ok, tt.want[i])
				}
			}
		})
	}
}

func TestRankRefusesWhatIsNoPercentage(t *testing.T) {
	d := distOf(1, 2, 3)
	for _, p := range []float64{0, -1, 100.0001, math.NaN(), math.Inf(1)} {
		if v, ok := d.Rank(p); ok {
			t.Errorf("p%v = %d", p, v)
		}
	}
}

// Against integers: ⌈p·n/100⌉ for every tenth of a percent.
func TestRankIsExactArithmetic(t *testing.T) {
	for n := int64(1); n < 3000; n = n*3/2 + 1 {
		for tenth := int64(1); tenth <= 1000; tenth++ {
			want := (tenth*n + 999) / 1000
			if got := rank(float64(tenth)/10, n); got != want {
				t.Fatalf("rank(%v, %d) = %d, want %d", float64(tenth)/10, n, got, want)
			}
		}
	}
	const many = int64(1) << 50
	if got := rank(100, many); got != many {
		t.Errorf("rank(100, 2^50) = %d", got)
	}
}

func TestPercentilesAreMonotone(t *testing.T) {
	check := func(seed uint64, size uint16, a, b float64) bool {
		d := distOf(exponential(seed, int(size)%6000+1, 1e8)...)
		a, b = math.Abs(math.Mod(a, 100)), math.Abs(math.Mod(b, 100))
		if a > b {
			a, b = b, a
		}
		va, oka := d.Rank(a)
		vb, okb := d.Rank(b)
		top, _ := d.Rank(100)
		return !oka || !okb || (d.Min() <= va && va <= vb && vb <= top && top == d.Max())
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 200}); err != nil {
		t.Error(err)
	}
}

func TestEveryHistogramRankIsMonotone(t *testing.T) {
	d := distOf(exponential(8, 20_000, 1e6)...)
	last := int64(-1)
	for r := int64(1); r <= d.N(); r++ {
		v := d.at(r)
		if v < last {
			t.Fatalf("rank %d is %d, below %d", r, v, last)
		}
		last = v
	}
}

func TestAbove(t *testing.T) {
	for _, n := range []int{1, 100, 5000} {
		values := exponential(9, n, 1e6)
		d := distOf(values...)
		for _, limit := range []int64{-1, 0, 1, 1000, 500_000, 1e6, 3e6, 1e12} {
			var want, slack int64
			for _, v := range values {
				if v > limit {
					want++
				}
				if d.form() == formHDR && math.Abs(float64(v-limit)) <= 0.001*float64(limit) {
					slack++ // shares a bucket with the limit
				}
			}
			if got := d.Above(limit); got < want-slack || got > want+slack {
				t.Errorf("n %d: %d above %d, want %d±%d", n, got, limit, want, slack)
			}
		}
	}
}

// TestUpperBoundSamples: one value fewer has no upper bound.
func TestUpperBoundSamples(t *testing.T) {
	for _, p := range []float64{10, 50, 90, 99, 99.9} {
		for _, confidence := range []float64{0.5, 0.9, 0.99} {
			n, d := UpperBoundSamples(p, confidence), new(Dist)
			for range n - 1 {
				d.Add(1)
			}
			if _, hi, ok := d.Bounds(p, confidence, 0); ok && hi != math.MaxInt64 {
				t.Errorf("p%v at %v has an upper bound from %d values", p, confidence, n-1)
			}
			d.Add(1)
			if _, hi, _ := d.Bounds(p, confidence, 0); hi != 1 {
				t.Errorf("p%v at %v has no upper bound from %d values", p, confidence, n)
			}
		}
	}
	if n := UpperBoundSamples(100, 0.9); n != 1 {
		t.Errorf("the largest value has %d", n)
	}
}

func TestMinSamples(t *testing.T) {
	for p, want := range map[float64]int64{50: 5, 90: 29, 95: 59, 99: 299, 99.9: 2995, 100: 1, 0: 1, -3: 1} {
		if got := MinSamples(p); got != want {
			t.Errorf("p%v needs %d, want %d", p, got, want)
		}
	}
}
