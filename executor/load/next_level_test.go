package load

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// run searches against an oracle and gives all trials and the end.
func (s Search) run(t *testing.T, holds func(level float64) bool) ([]Trial, Decision) {
	t.Helper()
	var history []Trial
	for {
		d := s.Next(history)
		if d.Done {
			return history, d
		}
		if len(history) > 500 {
			t.Fatalf("%+v does not end: %v", s, history)
		}
		history = append(history, Trial{d.Level, holds(d.Level)})
	}
}

func TestSearch(t *testing.T) {
	for _, c := range []struct {
		name   string
		search Search
		limit  float64
		levels string
		best   float64
		why    string
	}{
		{
			"rate",
			Search{From: 100, To: 1000, Amount: 100, Confirm: 2, Unit: "/s"},
			650,
			"[100 200 400 800 600 700 600]", 600, "the limit lies between 600/s and 700/s",
		},
		{
			"two per cent",
			Search{From: 10, To: 2000, Precision: 0.02, Confirm: 1, Unit: "/s"},
			425,
			"[10 20 40 80 160 320 640 480 400 440 420 430 425]", 425,
			"the limit lies between 425/s and 430/s",
		},
		{
			"holds at the end",
			Search{From: 10, To: 50, Precision: 0.02, Confirm: 2, Unit: "/s"},
			425,
			"[10 20 40 50 50]", 50, "it holds at 50/s, where the search ends",
		},
		{
			"does not hold at the begin",
			Search{From: 10, To: 50, Precision: 0.02, Confirm: 2, Unit: "/s"},
			9,
			"[10]", 0, "it does not hold at 10/s, where the search begins",
		},
		{
			"whole numbers",
			Search{From: 1, To: 64, Precision: 0.02, Confirm: 2, Whole: true},
			11.5,
			"[1 2 4 8 16 12 10 11 11]", 11, "the limit lies between 11 and 12",
		},
		{
			"one level",
			Search{From: 4, To: 4, Precision: 0.02, Confirm: 3, Whole: true},
			11,
			"[4 4 4]", 4, "it holds at 4, where the search ends",
		},
		{
			"no range",
			Search{From: 5, To: 4, Unit: "/s"},
			11, "[]", 0,
			"there is nothing to search from 5/s to 4/s",
		},
		{
			"from nothing",
			Search{From: 0, To: 4, Unit: "/s"},
			11, "[]", 0,
			"there is nothing to search from 0/s to 4/s",
		},
		{
			"not a number",
			Search{From: math.NaN(), To: 4},
			11, "[]", 0,
			"there is nothing to search from NaN to 4",
		},
	} {
		history, d := c.search.run(t, func(level float64) bool { return level <= c.limit })
		levels := []float64{}
		for _, p := range history {
			levels = append(levels, p.Level)
		}
		if got := fmt.Sprint(levels); got != c.levels || d.Best != c.best || d.Reason != c.why {
			t.Errorf("%s: trials %s best %v %q\nwant %s best %v %q", c.name, got, d.Best, d.Reason,
				c.levels, c.best, c.why)
		}
	}
}

// A confirmation that fails lowers the upper end: the next smaller level that held is looked at.
func TestSearchTakesAFailedConfirmation(t *testing.T) {
	s := Search{From: 100, To: 1000, Amount: 100, Confirm: 2, Unit: "/s"}
	seen := map[float64]int{}
	history, d := s.run(t, func(level float64) bool {
		seen[level]++
		return level < 650 && (level != 600 || seen[level] == 1)
	})
	if d.Best != 400 || d.Reason != "the limit lies between 400/s and 600/s" {
		t.Errorf("%v %q after %v", d.Best, d.Reason, history)
	}
}

// Ten thousand searches with an oracle that errs the more the closer a level is to the limit: all
// end after few trials, what they call best has held as often as asked for and lies below
// everything that failed.
func TestSearchEndsWhateverTheNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	most := 0
	for i := range 10_000 {
		s := Search{From: math.Exp(8*rng.Float64() - 2), Precision: 0.001 + 0.1*rng.Float64(), Confirm: 1 +
			rng.IntN(5), Whole: i%2 == 0}
		if s.Whole {
			s.From = math.Ceil(s.From)
		}
		s.To = s.From * (1 + 5000*rng.Float64())
		if i%5 == 0 {
			s.Precision, s.Amount = 0, s.From*rng.Float64()+0.01
		}
		limit := s.From + (s.To-s.From)*1.2*rng.Float64()
		width := limit * rng.Float64() * rng.Float64()
		if i%10 == 1 {
			width = 0
		}
		history, d := s.run(t, func(level float64) bool {
			if width == 0 {
				return level <= limit
			}
			return rng.Float64() < 1/(1+math.Exp((level-limit)/width))
		})
		most = max(most, len(history))
		checkSearch(t, s, history, d)
		if width == 0 && d.Best > 0 && (d.Best > limit ||
			d.Best < min(limit, math.Floor(s.To))-max(s.tolerance(summarize(history)), 1)) {
			t.Fatalf("%+v with the limit %v: %v", s, limit, d)
		}
	}
	if most > 120 {
		t.Errorf("a search took %d trials", most)
	}
	t.Logf("longest search: %d trials", most)
}

func checkSearch(t *testing.T, s Search, history []Trial, d Decision) {
	t.Helper()
	high := math.Inf(1)
	for i, p := range history {
		if p.Level < s.withDefaults().From || p.Level > math.Ceil(s.To) || p.Level >= high || s.Whole &&
			p.Level != math.Round(p.Level) {
			t.Fatalf("%+v: trial %d at %v of %v", s, i, p.Level, history)
		}
		if !p.Met {
			high = p.Level
		}
	}
	if n := countMet(history, d.Best); d.Best > 0 && (n < s.Confirm || d.Best >= high) {
		t.Fatalf("%+v: best %v held %d times in %v", s, d.Best, n, history)
	}
	if d.Best == 0 && high > math.Ceil(s.From) {
		t.Fatalf("%+v: no best level although %v held", s, history)
	}
	if d.Reason == "" {
		t.Fatalf("%+v: no reason", s)
	}
}
