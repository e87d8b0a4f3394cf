package measure

import (
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/stats"
)

// maxSlices limits a node's slices: one second each for an hour, then two, four …
const maxSlices = 3600

// Slice is a short period of the hold window, for charts. Sent counts by due time, all else by
// completion; latencies are those of OK completions. Times are ns since hold began.
type Slice struct {
	Repeat           int // index, if the node repeats
	From, To         int64
	Sent, OK, Failed int64
	Items            int64
	InFlight         int64 // at the last drain within the slice
	// N counts the latencies behind P50, P99 and Max (ns); 0: unknown. A slice merged from two
	// (long runs) has the larger of their percentiles: an upper bound.
	N, P50, P99, Max int64
	// Tokens counts those of the answers; Texts counts the times to the first token behind TTFT50 and
	// TTFT99 (ns), for which the same holds.
	Tokens, Texts, TTFT50, TTFT99 int64
}

// slicer keeps slices by index (t - start) / width. Only the newest two have a distribution: a
// completion folded later counts, but does not change percentiles.
type slicer struct {
	start, width int64
	list         []Slice
	dists        [2]stats.Dist // slice k has dists[k%2]
	ttfts        [2]stats.Dist // times to the first token
	newest       int           // newest slice with a distribution; the one before it has the other
}

// sliceAt returns the slice that contains t and its index. It extends the list up to it, and halves
// the list if that becomes too long.
func (s *slicer) sliceAt(t int64) (*Slice, int) {
	k := int((t - s.start) / s.width)
	for k >= maxSlices {
		s.coarsen()
		k = int((t - s.start) / s.width)
	}
	for n := len(s.list); n <= k; n++ {
		s.list = append(s.list, Slice{From: int64(n) * s.width, To: int64(n+1) * s.width})
	}
	return &s.list[k], k
}

func (s *slicer) sent(due int64) {
	slice, _ := s.sliceAt(due)
	slice.Sent++
}

func (s *slicer) inFlight(now, n int64) {
	if now >= s.start {
		slice, _ := s.sliceAt(now)
		slice.InFlight = n
	}
}

func (s *slicer) completed(x *backends.Sample, ended int64) {
	slice, k := s.sliceAt(ended)
	if x.Class.Failed() {
		slice.Failed++
		return
	}
	if x.Class != backends.OK {
		return
	}
	slice.OK++
	slice.Items += int64(x.Items)
	slice.N++
	v := ended - x.Due
	slice.Max = max(slice.Max, v)
	for s.newest < k {
		s.advance(k)
	}
	if k >= s.newest-1 {
		s.dists[k%2].Add(v)
	}
	if x.FirstToken == 0 {
		return
	}
	if slice.Texts++; k >= s.newest-1 {
		s.ttfts[k%2].Add(x.FirstToken - x.Due)
	}
}

// addTokens adds the tokens of an answer that ended at a time.
func (s *slicer) addTokens(x *backends.Sample, ended int64) {
	if x.Class == backends.OK {
		slice, _ := s.sliceAt(ended)
		slice.Tokens += max(tokensOf(x), 0)
	}
}

// advance moves on towards slice k: the older of the two distributions is stored and reset for a
// new slice.
func (s *slicer) advance(k int) {
	s.storePercentiles(s.newest - 1)
	if k > s.newest+1 { // a gap: the newer one is complete as well
		s.storePercentiles(s.newest)
		s.newest = k - 2
	}
	s.newest++
}

// storePercentiles writes the percentiles of slice k and resets its distribution.
func (s *slicer) storePercentiles(k int) {
	if k < 0 || k >= len(s.list) {
		return
	}
	slice := &s.list[k]
	store(&s.dists[k%2], &slice.P50, &slice.P99)
	store(&s.ttfts[k%2], &slice.TTFT50, &slice.TTFT99)
}

// store raises two percentiles to those of d, and resets it.
func store(d *stats.Dist, p50, p99 *int64) {
	if d.N() > 0 {
		a, _ := d.Rank(50)
		b, _ := d.Rank(99)
		*p50, *p99 = max(*p50, a), max(*p99, b)
	}
	d.Reset()
}

// coarsen merges slices in pairs.
func (s *slicer) coarsen() {
	s.storePercentiles(s.newest - 1)
	s.storePercentiles(s.newest)
	half := s.list[:(len(s.list)+1)/2]
	for i := range half {
		a := s.list[2*i]
		if 2*i+1 < len(s.list) {
			a = a.merge(s.list[2*i+1])
		} else {
			a.To += s.width
		}
		half[i] = a
	}
	s.list, s.width, s.newest = half, 2*s.width, s.newest/2
}

func (a Slice) merge(b Slice) Slice {
	return Slice{
		From: a.From, To: b.To, Sent: a.Sent + b.Sent, OK: a.OK + b.OK, Failed: a.Failed + b.Failed,
		Items: a.Items + b.Items, InFlight: b.InFlight,
		N: a.N + b.N, P50: max(a.P50, b.P50), P99: max(a.P99, b.P99), Max: max(a.Max, b.Max),
		Tokens: a.Tokens + b.Tokens, Texts: a.Texts + b.Texts, TTFT50: max(a.TTFT50, b.TTFT50),
		TTFT99: max(a.TTFT99, b.TTFT99),
	}
}

// finish returns the slices of a hold window that ended at end.
func (s *slicer) finish(end int64) []Slice {
	s.storePercentiles(s.newest - 1)
	s.storePercentiles(s.newest)
	length := end - s.start
	list := slices.Clone(s.list)
	for len(list) > 0 && list[len(list)-1].From >= max(length, 1) {
		list = list[:len(list)-1]
	}
	if n := len(list); n > 0 {
		list[n-1].To = min(list[n-1].To, length)
	}
	return list
}
