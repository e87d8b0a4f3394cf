package load

import (
	"math"
	"sort"
)

// Gaps plays recorded gaps (ns, not negative). The first arrival comes after the first gap; with
// zeroFirst at 0, and the next after the first gap. With repeat the gaps start over after the last
// one; otherwise the schedule ends there.
func Gaps(gaps []int64, zeroFirst, repeat bool) Schedule {
	sums, total := make([]int64, len(gaps)), int64(0)
	for i, gap := range gaps {
		total += max(gap, 0)
		sums[i] = total
	}
	repeat = repeat && total > 0 // an endless schedule would not advance
	return &computed{due: func(k int64) (int64, bool) {
		if zeroFirst {
			if k--; k < 0 {
				return 0, true
			}
		}
		n := int64(len(sums))
		if n == 0 || !repeat && k >= n {
			return 0, false
		}
		round := k / n
		if total > 0 && round > (math.MaxInt64-sums[k%n])/total {
			return 0, false
		}
		return round*total + sums[k%n], true
	}}
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
	times = times[first:max(first, last)]
	return &computed{due: func(k int64) (int64, bool) {
		if k >= int64(len(times)) {
			return 0, false
		}
		after := times[k] - from
		if speed == 1 {
			return after, true
		}
		due := math.Round(float64(after) / speed)
		return int64(due), due < math.MaxInt64
	}}
}
