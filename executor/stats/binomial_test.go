package stats

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// TestSamples is how many samples prove that at least p are within a limit although so many are
// over it.
func TestSamples(t *testing.T) {
	over := []int64{0, 1, 2, 3, 4, 5, 10, 20}
	for _, row := range []struct {
		confidence, p float64
		want          string
	}{
		{.95, .50, "5 8 11 13 16 18 30 53"},
		{.95, .90, "29 46 61 76 89 103 167 286"},
		{.95, .95, "59 93 124 153 181 208 336 577"},
		{.95, .99, "299 473 628 773 913 1049 1693 2902"},
		{.95, .999, "2995 4742 6294 7752 9151 10511 16959 29058"},
		{.99, .50, "7 11 14 17 19 22 35 59"},
		{.99, .90, "44 64 81 97 113 127 197 325"},
		{.99, .95, "90 130 165 198 229 259 398 656"},
		{.99, .99, "459 662 838 1001 1157 1307 2010 3304"},
		{.99, .999, "4603 6636 8403 10042 11601 13105 20140 33097"},
	} {
		for i, word := range strings.Fields(row.want) {
			want, _ := strconv.ParseInt(word, 10, 64)
			if got := Samples(row.p, row.confidence, over[i]); got != want {
				t.Errorf("p%v at %v with %d over: %d samples, want %d", row.p, row.confidence,
					over[i], got, want)
			}
		}
	}
	for over, want := range map[int64]int64{50: 6898, 100: 12571} {
		if got := Samples(.99, .99, over); got != want {
			t.Errorf("p99 at 99 %% with %d over: %d, want %d", over, got, want)
		}
	}
}

// TestMostOver is the same from the other side, beyond 1,024 over the limit too.
func TestMostOver(t *testing.T) {
	const none = -1
	ps := []float64{.90, .95, .99}
	for _, row := range []struct {
		n        int64
		want, at [3]int64 // at 95 %, at 99 %
	}{
		{100, [3]int64{4, 1, none}, [3]int64{3, 0, none}},
		{300, [3]int64{21, 8, 0}, [3]int64{18, 6, none}},
		{500, [3]int64{38, 16, 1}, [3]int64{34, 13, 0}},
		{1000, [3]int64{84, 38, 4}, [3]int64{78, 34, 2}},
		{2000, [3]int64{177, 83, 12}, [3]int64{168, 77, 9}},
		{5000, [3]int64{464, 224, 38}, [3]int64{450, 214, 33}},
		{10000, [3]int64{950, 463, 83}, [3]int64{930, 449, 77}},
		{24576, [3]int64{2379, 1172, 219}, [3]int64{2348, 1149, 209}},
		{100000, [3]int64{9843, 4886, 948}, [3]int64{9779, 4839, 927}},
	} {
		for i, p := range ps {
			for confidence, want := range map[float64]int64{.95: row.want[i], .99: row.at[i]} {
				got, ok := MaxExceeding(row.n, p, confidence)
				if got != want || ok != (want != none) {
					t.Errorf("n %d p%v at %v: %d over (%v), want %d", row.n, p, confidence, got, ok, want)
				}
				if ok && Samples(p, confidence, got) > row.n {
					t.Errorf("n %d p%v at %v: %d over need %d samples", row.n, p, confidence, got,
						Samples(p, confidence, got))
				}
			}
		}
	}
	// Far beyond what a product of factorials holds.
	if got, ok := MaxExceeding(100_000_000, .99, .95); !ok || math.Abs(float64(got)-998_363) > 3 {
		t.Errorf("of 100 million at most %d may be over p99, want about 998,363", got)
	}
}

// TestClopperPearson and Wilson: bounds of a share.
func TestRatioBounds(t *testing.T) {
	const none = -1
	for _, row := range []struct {
		k, n               int64
		oneSided           float64
		cpLo, cpHi, lo, hi float64
	}{
		{0, 100, .029513, 0, .036217, 0, .036993},
		{0, 299, .009969, 0, .012262, none, none},
		{0, 300, .009936, 0, .012221, 0, .012643},
		{1, 100, .046560, .000253, .054459, .001767, .054486},
		{1, 1000, .004735, none, none, none, none},
		{5, 1000, .010484, .001625, .011629, .002138, .011651},
		{10, 1000, .016903, .004806, .018313, .005441, .018309},
		{10, 10000, .001696, none, none, none, none},
	} {
		_, one, _ := ClopperPearson(row.k, row.n, 0.90)
		cpLo, cpHi, _ := ClopperPearson(row.k, row.n, 0.95)
		lo, hi, _ := Wilson(row.k, row.n, 0.95)
		for i, pair := range [][2]float64{
			{one, row.oneSided},
			{cpLo, row.cpLo},
			{cpHi, row.cpHi},
			{lo, row.lo},
			{hi, row.hi},
		} {
			if pair[1] != none && math.Abs(pair[0]-pair[1]) > 6e-7 {
				t.Errorf("%d of %d: bound %d is %.7f, want %.6f", row.k, row.n, i, pair[0], pair[1])
			}
		}
	}
	if lo, hi, _ := ClopperPearson(7, 7, .95); hi != 1 || math.Abs(lo-math.Pow(.025, 1.0/7)) > 1e-9 {
		t.Errorf("7 of 7: %v … %v", lo, hi)
	}
	for _, bad := range [][2]int64{{0, 0}, {-1, 5}, {6, 5}} {
		if _, _, ok := ClopperPearson(bad[0], bad[1], .95); ok {
			t.Errorf("%d of %d is bounded", bad[0], bad[1])
		}
		if _, _, ok := Wilson(bad[0], bad[1], .95); ok {
			t.Errorf("%d of %d is bounded by Wilson", bad[0], bad[1])
		}
	}
}

// TestProves: no error of 299 proves less than 1 %, and as many samples as are said do prove it.
func TestProves(t *testing.T) {
	for _, row := range []struct {
		k, n       int64
		q          float64
		confidence float64
		want       int64 // 0: never
	}{
		{0, 100, .01, .95, 299},
		{0, 100, .01, .99, 459},
		{0, 299, .01, .95, 299},
		{100, 10_000, .01, .95, 0},
		{10, 100, .01, .95, 100}, // proven to be above already
	} {
		if got, ok := SamplesToDecide(row.k, row.n, row.q, row.confidence); got != row.want ||
			ok != (row.want > 0) {
			t.Errorf("%d of %d against %v at %v: %d %v, want %d", row.k, row.n, row.q, row.confidence, got,
				ok, row.want)
		}
	}
	for _, k := range []int64{3, 5, 8, 13, 20} { // of 1000, against 1 %
		n, ok := SamplesToDecide(k, 1000, .01, .95)
		if !ok {
			t.Fatalf("%d of 1000 never proves anything", k)
		}
		share := float64(k) / 1000
		lo, hi, _ := ClopperPearson(int64(math.Round(share*float64(n))), n, .90)
		if share < .01 && hi > .0102 || share > .01 && lo < .0098 {
			t.Errorf("%d of 1000: with %d the bounds are %v … %v", k, n, lo, hi)
		}
	}
}

// TestAtLeast compares the binomial tail with exact values.
func TestAtLeast(t *testing.T) {
	for _, row := range []struct {
		k, n int64
		q    float64
		want float64
	}{
		{0, 10, 0.5, 1},
		{10, 10, 0.5, 1.0 / 1024},
		{9, 10, 0.5, 11.0 / 1024},
		{1, 1, 0.3, 0.3},
		{1, 2, 0.01, 0.0199},
		{2, 2, 0.01, 0.0001},
		{299, 299, 0.99, math.Pow(0.99, 299)},
		{1, 299, 0.01, 1 - math.Pow(0.99, 299)},
		{5, 3, 0.5, 0},
		{1, 5, 0, 0},
		{1, 5, 1, 1},
		{1, 1_000_000, 0.5, 1},
		{600_000, 1_000_000, 0.5, 0},
	} {
		if got := BinomialTail(row.k, row.n, row.q); math.Abs(got-row.want) > 1e-9 {
			t.Errorf("P(B(%d, %v) >= %d) = %v, want %v", row.n, row.q, row.k, got, row.want)
		}
	}
}
