package measure

import (
	"math"
	"slices"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// classes is the number of error classes, the two that are no failure included.
const classCount = len(backends.ClassNames)

// Aggregate is what is known about a set of requests over a stretch of time: plain sums and distributions, so that
// Merge is associative and windows, shards and slices all add up the same way.
type Aggregate struct {
	Window int64 // ns that the flow sums cover; merged by adding
	Counts
	Flow
	PlayerCounts
	First, Last int64 // earliest due and latest completion of the requests counted, run clock; 0, 0 without any
	Examples    [classCount]string
	// Mismatches are the first texts of replies that differed, beside the example: each once, at most moreMismatches.
	Mismatches []string
	// Closed says that the requests are a closed loop's. One is due when its lane begins with it, so latency and service
	// time are one distribution (due to last byte, both rows give it), and there is no send delay to tell.
	Closed bool
	// Judged says that goodput was asked for, so that Good is a number and not merely zero.
	HasGoodput bool
	kept       []int                     // rows of extracts that have a distribution; nil: all
	dists      [len(extracts)]stats.Dist // by index of extracts
}

// Counts are over requests due in the window. Sent is the sum of Class.
type Counts struct {
	Sent       int64
	Class      [classCount]int64
	Reconnects int64 // sent once more
	Ahead      int64 // on a connection that was made for each between it and the one before
	Good       int64 // answered well and within every bound of goodput
	Coalesced  int64 // answered well, with responses that came together
	OtherIDs   int64 // with a reply that has another id
	Unnamed    int64 // with a reply that does not name its model
	// Sequences are those whose last request was answered well; StepsDropped requests of sequences that were never sent,
	// because one before them failed.
	Sequences, StepsDropped int64
}

// PlayerCounts are what only the player knows: requests that were due and never sent. Who plays fills them in.
type PlayerCounts struct {
	Planned      int64 // due in the window: sent and dropped
	DroppedPool  int64 // no slot was free
	DroppedStop  int64 // the node ended before a slot was free
	Offered      int64 // ns that the schedule's arrivals are spread over; 0: not known
	PeakInFlight int64 // most at the same time; 0: not known. Merged by the larger
	Arrivals     int64 // of a load in which each begins a sequence: those of the schedule. 0: of another, -1: not known
}

// Dropped is how many requests were due and never sent.
func (b *PlayerCounts) Dropped() int64 { return b.DroppedPool + b.DroppedStop }

// OK is how many requests were answered rightly.
func (c *Counts) OK() int64 { return c.Class[backends.OK] }

// Stopped is how many requests we ended ourselves, open at the end of the drain or at an interrupt.
func (c *Counts) Stopped() int64 { return c.Class[backends.Stopped] }

// Failed is how many requests count as errors.
func (c *Counts) Failed() (n int64) {
	for class, count := range c.Class {
		if backends.ErrorClass(class).Failed() {
			n += count
		}
	}
	return n
}

// Flow are sums over completions in the window. Bytes are those of every completion, the rest those of ok ones.
type Flow struct {
	Completed, Items, Responses int64
	Unsized                     int64 // ok ones whose items are not known
	EndedSequences              int64
	GoodCompleted               int64
	BytesSent, BytesReceived    int64
}

// known is what the folder has found out about a finished request, once for all that count it.
type requestInfo struct {
	good    bool // for goodput
	partial *partialRequest
}

// count takes s as one of the requests due in the window. end is when it ended.
func (a *Aggregate) count(s *backends.Sample, end int64, k requestInfo) {
	a.Sent++
	if k.good {
		a.Good++
	}
	if s.Flags&backends.Coalesced != 0 && s.Class == backends.OK {
		a.Coalesced++
	}
	a.Class[s.Class]++
	if s.Flags&backends.Resent != 0 {
		a.Reconnects++
	}
	if s.Flags&backends.Ahead != 0 {
		a.Ahead++
	}
	if s.Flags&backends.OtherID != 0 {
		a.OtherIDs++
	}
	if s.Flags&backends.Unnamed != 0 {
		a.Unnamed++
	}
	a.StepsDropped += int64(s.Dropped)
	if endsSequence(s) {
		a.Sequences++
	}
	if a.First == 0 || s.Due < a.First {
		a.First = s.Due
	}
	if s.Class != backends.Stopped && end > a.Last { // what we ended ourselves is no completion
		a.Last = end
	}
	if s.Class.Failed() && len(s.Note) > 0 {
		a.keepExample(s)
	}
	if a.kept != nil {
		a.addKept(s, k)
		return
	}
	rows := extracts[:]
	if a.Closed {
		rows = extracts[:closedLoop]
	}
	for i := range rows {
		a.add(i, s, k)
	}
}

// add enters s in the distribution of row i.
func (a *Aggregate) add(i int, s *backends.Sample, k requestInfo) {
	if i == responseGap {
		a.addGaps(s, k.partial)
	} else if v, ok := extracts[i].of(s); ok {
		a.dists[i].Add(v)
	}
}

// gaps enters the times between the responses of s, with those that came in parts before.
func (a *Aggregate) addGaps(s *backends.Sample, partial *partialRequest) {
	if !answered(s) {
		return
	}
	last, d := int64(0), &a.dists[responseGap]
	if partial != nil {
		d.Merge(&partial.gaps)
		last = partial.last
	}
	for i := range s.Events {
		at := s.Events[i].At
		if last != 0 {
			d.Add(at - last)
		}
		last = at
	}
}

// moreMismatches is how many different texts of replies that differ are kept besides the first.
const moreMismatches = 4

// example keeps the first text of a class. Of replies that differ some more are kept, each with the row that it answers.
func (a *Aggregate) keepExample(s *backends.Sample) {
	if s.Class != backends.Mismatch {
		if a.Examples[s.Class] == "" {
			a.Examples[s.Class] = string(s.Note)
		}
		return
	}
	if len(a.Mismatches) == moreMismatches {
		return
	}
	var space [backends.NoteSize + 32]byte
	text := mismatchText(space[:0], s)
	if first := a.Examples[s.Class]; first == string(text) || slices.ContainsFunc(a.Mismatches, func(m string) bool { return m == string(text) }) {
		return
	}
	a.addMismatch(string(text))
}

// differs keeps the text of a reply that differs, once.
func (a *Aggregate) addMismatch(text string) {
	switch first := &a.Examples[backends.Mismatch]; {
	case *first == "":
		*first = text
	case *first != text && len(a.Mismatches) < moreMismatches && !slices.Contains(a.Mismatches, text):
		a.Mismatches = append(slices.Clip(a.Mismatches), text)
	}
}

// mismatch says which row was answered wrongly, and how. With batches it is the number of the batch.
func mismatchText(b []byte, s *backends.Sample) []byte {
	what := "row "
	if s.Items > 1 {
		what = "batch "
	}
	b = strconv.AppendUint(append(b, what...), uint64(s.Row), 10)
	return append(append(b, ": "...), s.Note...)
}

// some adds s to the distributions that are kept.
func (a *Aggregate) addKept(s *backends.Sample, k requestInfo) {
	for _, i := range a.kept {
		a.add(i, s, k)
	}
}

// flow takes s as one of the completions in the window.
func (a *Aggregate) countFlow(s *backends.Sample, good bool) {
	a.BytesSent += s.BytesSent
	a.BytesReceived += s.BytesReceived
	if s.Class != backends.OK {
		return
	}
	a.Completed++
	if good {
		a.GoodCompleted++
	}
	if endsSequence(s) {
		a.EndedSequences++
	}
	if s.Items == 0 {
		a.Unsized++
	}
	a.Items += int64(s.Items)
	a.Responses += int64(s.Responses)
}

// Merge adds o, which covers other requests and another stretch of time.
func (a *Aggregate) Merge(o *Aggregate) {
	a.Closed, a.HasGoodput = a.Closed || o.Closed, a.HasGoodput || o.HasGoodput
	a.Window += o.Window
	a.Sent += o.Sent
	a.Reconnects += o.Reconnects
	a.Ahead += o.Ahead
	a.Good += o.Good
	a.Coalesced += o.Coalesced
	a.OtherIDs += o.OtherIDs
	a.Unnamed += o.Unnamed
	a.Sequences += o.Sequences
	a.StepsDropped += o.StepsDropped
	a.Planned += o.Planned
	a.DroppedPool += o.DroppedPool
	a.DroppedStop += o.DroppedStop
	a.Offered += o.Offered
	if a.Arrivals += o.Arrivals; o.Arrivals < 0 {
		a.Arrivals = -1
	}
	a.PeakInFlight = max(a.PeakInFlight, o.PeakInFlight)
	for i, n := range o.Class {
		a.Class[i] += n
		if text := o.Examples[i]; text != "" && backends.ErrorClass(i) == backends.Mismatch {
			a.addMismatch(text)
		} else if a.Examples[i] == "" {
			a.Examples[i] = text
		}
	}
	for _, text := range o.Mismatches {
		a.addMismatch(text)
	}
	a.Completed += o.Completed
	a.GoodCompleted += o.GoodCompleted
	a.EndedSequences += o.EndedSequences
	a.Items += o.Items
	a.Unsized += o.Unsized
	a.Responses += o.Responses
	a.BytesSent += o.BytesSent
	a.BytesReceived += o.BytesReceived
	if o.First != 0 && (a.First == 0 || o.First < a.First) {
		a.First = o.First
	}
	a.Last = max(a.Last, o.Last)
	for i := range a.dists {
		a.dists[i].Merge(&o.dists[i])
	}
}

// Dist is the distribution of a row From Sample in its own unit (ns for durations), nil for any other row.
func (a *Aggregate) Dist(row *metric.Row) *stats.Dist {
	i := extractOf(row.Name)
	switch {
	case i < 0:
		return nil
	case a.Closed && i == serviceTime:
		i = latency
	}
	return &a.dists[i]
}

// Value is the value of a row From Flow or Counts in the base unit of its dimension. False: no data, or a row that is
// not measured here.
func (a *Aggregate) Value(row *metric.Row) (float64, bool) {
	f, ok := values[row.Name]
	if !ok {
		return 0, false
	}
	v := f(a)
	return v, !math.IsNaN(v) && !math.IsInf(v, 0)
}

// Of counts the requests that the value of a row is a share of: those sent where it is of no others.
func (a *Aggregate) Denominator(row *metric.Row) int64 {
	switch row.Name {
	case metric.CoalescedRatio:
		return a.OK()
	case metric.DroppedRatio, metric.GoodputRatio:
		return a.Planned
	}
	return a.Sent
}

// Leaf is the value of any leaf measured here in base units: what a stability window is judged by.
func (a *Aggregate) LeafValue(l metric.Leaf) (float64, bool) {
	d := a.Dist(l.Row)
	if d == nil {
		return a.Value(l.Row)
	}
	v, ok := statistic(d, l.Stat)
	if l.Row.Dim == metric.Duration && l.Stat.Kind != metric.N {
		v /= nsPerSecond
	}
	return v, ok
}

// Above is how many of the n values of a row From Sample are larger than limit, in the row's base unit. False: the row has
// no distribution here.
func (a *Aggregate) Above(row *metric.Row, limit float64) (over, n int64, ok bool) {
	d := a.Dist(row)
	if d == nil {
		return 0, 0, false
	}
	if row.Dim == metric.Duration {
		limit *= nsPerSecond
	}
	whole := math.Round(limit)
	if math.Abs(limit-whole) > 1e-3 { // else the fraction is the rounding of 0.0312 × 10⁹
		whole = math.Floor(limit)
	}
	return d.Above(int64(min(max(whole, math.MinInt64), math.MaxInt64/2))), d.N(), true
}

// statistic is one statistic of d in d's own unit; false without values.
func statistic(d *stats.Dist, s metric.Stat) (float64, bool) {
	if s.Kind == metric.N {
		return float64(d.N()), true
	}
	if d.N() == 0 {
		return 0, false
	}
	switch s.Kind {
	case metric.Percentile:
		v, ok := d.Rank(s.P)
		return float64(v), ok
	case metric.Mean:
		return d.Mean(), true
	case metric.Min:
		return float64(d.Min()), true
	case metric.Max:
		return float64(d.Max()), true
	case metric.Std:
		return d.Std(), true
	case metric.N, metric.TheValue:
	}
	return 0, false
}

// LateLimit is the send delay, ns, from which a request counts as late: 1 ms, or 1 % of the median service time if longer.
func (a *Aggregate) LateLimit() int64 {
	median, _ := a.dists[serviceTime].Rank(50)
	return max(int64(1e6), median/100)
}

// Late is how many requests were sent later than LateLimit after they were due.
func (a *Aggregate) Late() int64 { return a.dists[sendDelay].Above(a.LateLimit()) }
