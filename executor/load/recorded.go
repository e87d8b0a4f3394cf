package load

import (
	"math"
	"sort"
)

// Gaps plays recorded gaps (ns, not negative): the first arrival comes after the first gap, with zeroFirst at once, with
// the first gap behind it. repeat starts over after the last gap, without one in between; else the schedule ends there.
func Gaps(gaps []int64, zeroFirst, repeat bool) Schedule {
	g := &gapped{ends: make([]int64, len(gaps)), repeat: repeat}
	sum := int64(0)
	for i, gap := range gaps {
		sum += max(gap, 0)
		g.ends[i] = sum
	}
	if zeroFirst {
		g.zero = 1
	}
	if sum == 0 {
		g.repeat = false // for ever at one moment
	}
	return g
}

// gapped has arrival k of a round at ends[k]; zero is 1 where one at 0 comes before all.
type gapped struct {
	ends   []int64
	repeat bool
	zero   int64
	k      int64
}

func (g *gapped) Next() (int64, bool) {
	due, ok := g.due(g.k)
	if ok {
		g.k++
	}
	return due, ok
}

func (g *gapped) due(k int64) (int64, bool) {
	if k -= g.zero; k < 0 {
		return 0, true
	}
	n := int64(len(g.ends))
	if n == 0 || !g.repeat && k >= n {
		return 0, false
	}
	total, round := g.ends[n-1], k/n
	if total > 0 && round > (math.MaxInt64-g.ends[k%n])/total {
		return 0, false
	}
	return round*total + g.ends[k%n], true
}

func (g *gapped) before(t int64) int64 {
	return int64(sort.Search(math.MaxInt64, func(k int) bool {
		due, ok := g.due(int64(k))
		return !ok || due >= t
	}))
}

// Times plays recorded times (ns, ascending): those from from and before to (0: no end), speed times as fast, counted
// from from.
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

func (s *timed) before(t int64) int64 {
	return int64(sort.Search(len(s.times), func(k int) bool { return s.due(k) >= t }))
}
