package stats

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/quick"
)

func distOf(values ...int64) *Dist {
	var d Dist
	for _, v := range values {
		d.Add(v)
	}
	return &d
}

func encoded(t testing.TB, d *Dist) []byte {
	t.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// exponential gives n values with the mean, in ns, rounded.
func exponential(seed uint64, n int, mean float64) []int64 {
	r := rand.New(rand.NewPCG(seed, 1))
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(r.ExpFloat64() * mean)
	}
	return values
}

func TestMoments(t *testing.T) {
	tests := []struct {
		name           string
		values         []int64
		sum, mean, std float64
	}{
		{"one value has no spread", []int64{7}, 7, 7, 0},
		{"two", []int64{1, 3}, 4, 2, math.Sqrt2},
		{"negative", []int64{-3, 3}, 0, 0, math.Sqrt(18)},
		{"known sample deviation", []int64{2, 4, 4, 4, 5, 5, 7, 9}, 40, 5, math.Sqrt(32.0 / 7)},
		// perf_analyzer's rows 44 and 45, ns; in 46, one value, its deviation is the largest number
		// there is.
		{"44", []int64{100_000, 200_000, 50_000}, 350_000, 350_000.0 / 3, math.Sqrt(17_500_000_000.0 / 3)},
		{
			"45",
			[]int64{4_300_000_000, 4_400_000_000, 5_000_000_000},
			13_700_000_000, 13_700_000_000.0 / 3,
			1e8 * math.Sqrt(43.0/3),
		},
		{"46", []int64{100}, 100, 100, 0},
		// Floating-point accumulation loses the 1 here: 10¹⁸ has no room for it beside its square.
		{"small spread far from 0", []int64{1e18, 1e18 + 1, 1e18 + 2}, 3e18 + 3, 1e18 + 1, 1},
		{"extremes", []int64{math.MinInt64, math.MaxInt64}, -1, -0.5, math.Ldexp(1, 64) / math.Sqrt2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := distOf(tt.values...)
			if d.N() != int64(len(tt.values)) || d.Min() != slices.Min(tt.values) ||
				d.Max() != slices.Max(tt.values) {
				t.Errorf("count %d min %d max %d of %v", d.N(), d.Min(), d.Max(), tt.values)
			}
			sum, _ := d.sum.signed().Float64()
			if sum != tt.sum || d.Mean() != tt.mean {
				t.Errorf("sum %v mean %v, want %v %v", sum, d.Mean(), tt.sum, tt.mean)
			}
			if math.Abs(d.Std()-tt.std) > 1e-15*tt.std {
				t.Errorf("std %v, want %v", d.Std(), tt.std)
			}
		})
	}
}

func TestEmptyHasNoNumbers(t *testing.T) {
	var d Dist
	if _, ok := d.Rank(50); ok {
		t.Error("a rank of nothing")
	}
	if _, _, ok := d.Bounds(50, 0.95, 0); ok {
		t.Error("bounds of nothing")
	}
	if !math.IsNaN(d.Mean()) || !math.IsNaN(d.Std()) || d.N() != 0 || d.Above(-1) != 0 {
		t.Errorf("mean %v std %v n %d", d.Mean(), d.Std(), d.N())
	}
	const want = `{"form":"exact","count":0,"min":null,"max":null,"sum":"0","squares":"0","under":0,"over":0,"values":""}`
	if got := string(encoded(t, &d)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestFormFollowsCount(t *testing.T) {
	var d Dist
	for i := range int64(exactMax) {
		d.Add(i * 1_000_003)
	}
	if d.form() != formExact {
		t.Fatalf("%d values are %s", d.N(), d.form())
	}
	d.Add(5)
	if d.form() != formHDR || d.h.TotalCount() != exactMax+1 {
		t.Fatalf("%d values are %s with %d in the histogram", d.N(), d.form(), d.h.TotalCount())
	}
	d.Reset()
	if d.N() != 0 || d.form() != formExact || d.h.TotalCount() != 0 {
		t.Errorf("after Reset: n %d form %s", d.N(), d.form())
	}
}

func TestHistogramErrorBound(t *testing.T) {
	for _, mean := range []float64{50, 60_000, 5e6, 2e9} { // counts, loopback, a model, a slow model
		values := exponential(uint64(mean), 200_000, mean)
		d := distOf(values...)
		slices.Sort(values)
		for _, p := range []float64{0.001, 1, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100} {
			want := values[rank(p, int64(len(values)))-1]
			got, _ := d.Rank(p)
			if off := math.Abs(float64(got - want)); off > 0.001*float64(want) {
				t.Errorf("mean %v p%v: got %d, exactly %d", mean, p, got, want)
			}
		}
		if top, _ := d.Rank(100); top != values[len(values)-1] {
			t.Errorf("p100 %d is not the max %d", top, values[len(values)-1])
		}
	}
}

func TestOutOfRangeIsCountedInPlace(t *testing.T) {
	const hour = hdrHigh
	var d Dist
	for range 1000 {
		d.Add(-5)
		d.Add(1_000_000)
		d.Add(2 * hour)
	}
	d.Add(3 * hour)
	for p, want := range map[float64]int64{20: -5, 50: 1_000_000, 80: 3 * hour, 100: 3 * hour} {
		got, _ := d.Rank(p)
		if math.Abs(float64(got-want)) > 0.001*math.Abs(float64(want)) {
			t.Errorf("p%v %d, want %d", p, got, want)
		}
	}
	if d.under != 1000 || d.over != 1001 || d.N() != 3001 {
		t.Errorf("under %d over %d n %d", d.under, d.over, d.N())
	}
	var back Dist
	if err := json.Unmarshal(encoded(t, &d), &back); err != nil ||
		!bytes.Equal(encoded(t, &back), encoded(t, &d)) {
		t.Errorf("round trip: %v", err)
	}
}

// Any split of the same values in any order of merging gives the same bytes.
func TestMergeIsAssociativeToTheByte(t *testing.T) {
	check := func(seed uint64, sizes [3]uint16, wild bool) bool {
		var parts [3]*Dist
		var all Dist
		for i, size := range sizes {
			parts[i] = &Dist{}
			for _, v := range exponential(seed+uint64(i), int(size)%3000, 1e6) {
				if wild && v%7 == 0 {
					v = -v * 1e7 * (v%3 - 1) // some below 0, some above an hour
				}
				parts[i].Add(v)
				all.Add(v)
			}
		}
		a, b, c := parts[0], parts[1], parts[2]
		left := a.Clone()
		left.Merge(b)
		left.Merge(c)
		right := b.Clone()
		right.Merge(c)
		right2 := c.Clone()
		right2.Merge(a)
		right2.Merge(b)
		ra := a.Clone()
		ra.Merge(right)
		want := encoded(t, &all)
		return bytes.Equal(encoded(t, left), want) && bytes.Equal(encoded(t, ra), want) &&
			bytes.Equal(encoded(t, right2), want)
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 40, Rand: nil}); err != nil {
		t.Error(err)
	}
}

func TestMergeLeavesItsArgument(t *testing.T) {
	for _, n := range []int{10, 5000} {
		a, b := distOf(exponential(1, n, 1e6)...), distOf(exponential(2, n, 1e6)...)
		before := encoded(t, b)
		a.Merge(b)
		a.Add(1)
		a.Merge(nil)
		if !bytes.Equal(before, encoded(t, b)) {
			t.Errorf("n %d: the merged-in distribution changed", n)
		}
		twice := b.Clone()
		twice.Merge(twice)
		if twice.N() != 2*b.N() || twice.Mean() != b.Mean() {
			t.Errorf("n %d: merged with itself: n %d", n, twice.N())
		}
	}
}

func TestCloneIsIndependent(t *testing.T) {
	for _, n := range []int{10, 5000} {
		a := distOf(exponential(3, n, 1e6)...)
		before := encoded(t, a)
		c := a.Clone()
		for range 3000 {
			c.Add(1)
		}
		if !bytes.Equal(before, encoded(t, a)) {
			t.Errorf("n %d: adding to the clone changed the original", n)
		}
	}
}

func TestAddDoesNotAllocate(t *testing.T) {
	d := distOf(exponential(4, 3000, 1e6)...)
	v := int64(12345)
	if n := testing.AllocsPerRun(1000, func() { d.Add(v); v += 977 }); n != 0 {
		t.Errorf("%v allocations an Add in the histogram form", n)
	}
	d.Reset()
	if n := testing.AllocsPerRun(1000, func() { d.Add(v); v += 977 }); n != 0 {
		t.Errorf("%v allocations an Add in the exact form after Reset", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	values := exponential(5, 1<<16, 1e6)
	d := distOf(values...)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		d.Add(values[i&(1<<16-1)])
	}
}

func BenchmarkMerge(b *testing.B) {
	one, two := distOf(exponential(5, 1<<16, 1e6)...), distOf(exponential(6, 1<<16, 1e6)...)
	for b.Loop() {
		one.Merge(two)
	}
}

func BenchmarkRank(b *testing.B) {
	d := distOf(exponential(5, 1<<16, 1e6)...)
	for b.Loop() {
		d.Rank(99)
	}
}
