package load

import (
	"math"
	"sort"
)

// Gaps plays recorded gaps (ns, not negative). The first arrival comes after the first gap; with
// zeroFirst at 0, and the next after the first gap. With repeat the gaps start over after the last
// one; otherwise the schedule ends there.
func Gaps(gaps []int64, zeroFirst, repeat bool) Schedule {
	g := &gapped{sums: make([]int64, len(gaps)), repeat: repeat}
	sum := int64(0)
	for i, gap := range gaps {
		sum += max(gap, 0)
		g.sums[i] = sum
	}
	if zeroFirst {
		g.leading = 1
	}
	if sum == 0 {
		g.repeat = false // an endless schedule would not advance
	}
	return g
}

// gapped has arrival k of a round at sums[k], after leading arrivals (0 or 1) at 0.
type gapped struct {
	sums    []int64
	repeat  bool
	leading int64
	k       int64
}

func (g *gapped) Next() (int64, bool) {
	due, ok := g.due(g.k)
	if ok {
		g.k++
	}
	return due, ok
}

func (g *gapped) due(k int64) (int64, bool) {
	if k -= g.leading; k < 0 {
		return 0, true
	}
	n := int64(len(g.sums))
	if n == 0 || !g.repeat && k >= n {
		return 0, false
	}
	total, round := g.sums[n-1], k/n
	if total > 0 && round > (math.MaxInt64-g.sums[k%n])/total {
		return 0, false
	}
	return round*total + g.sums[k%n], true
}

func (g *gapped) countBefore(t int64) int64 {
	return int64(sort.Search(math.MaxInt64, func(k int) bool {
		due, ok := g.due(int64(k))
		return !ok || due >= t
	}))
}

// Times plays the recorded times (ns, ascending) in [from, to), speed times as fast, relative to
// from; to 0 means no end.
func Times(times []int64, speed float64, from, to int64) Schedule {
	first := sort.Search(len(times), func(i int) bool { return times[i] >= from })
	last := len(times)
	if to > 0 {
		last = sort.Search(len(times), func(i int) bool { return times[i] >= to })
	}
	if !(speed > 0) {
		speed = 1
	}
	return &timed{times: times[first:max(first, last)], speed: speed, from: from}
}

type timed struct {
	times []int64
	speed float64
	from  int64
	k     int
}

func (s *timed) Next() (int64, bool) {
	if s.k >= len(s.times) {
		return 0, false
	}
	due := s.due(s.k)
	s.k++
	return due, due < math.MaxInt64
}

func (s *timed) due(k int) int64 {
	after := s.times[k] - s.from
	if s.speed == 1 {
		return after
	}
	due := math.Round(float64(after) / s.speed)
	if due >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(due)
}

func (s *timed) countBefore(t int64) int64 {
	return int64(sort.Search(len(s.times), func(k int) bool { return s.due(k) >= t }))
}
