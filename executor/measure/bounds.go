package measure

import (
	"math"
	"slices"
	"sync"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Where the client was late or stood still, the sums of a period come in three sets: measured, low and
// high, each an Aggregate. A client on time would have measured a value between those of the low and
// the high set. Both are made when the first request counts that was delayed; until then all three are
// the same, and only the measured one exists. A delayed request counts in the measured set at once, and
// in the two others when its delay is final (see pendingRequest).

// side names the set that a request is counted in.
type side int8

const (
	low side = iota - 1
	asMeasured
	high
)

// rowBounds returns the bound of each of extracts.
var rowBounds = sync.OnceValue(func() (list [len(extracts)]metric.Bound) {
	c, err := metric.New()
	if err != nil {
		panic(err) // the table is fixed
	}
	for i := range extracts {
		row, _ := c.Row(extracts[i].row)
		list[i] = row.Bound
	}
	return list
})

// value returns extract i of a request, in the set in which it is counted; false: it has none, or another portion
// of the request has it.
func (x *finished) value(i int) (int64, bool) {
	if x.portion != everything && needsTokens(i) != (x.portion == ofTokens) {
		return 0, false
	}
	return x.valueOf(i)
}

// valueOf is value for every portion.
func (x *finished) valueOf(i int) (int64, bool) {
	v, ok := extracts[i].value(x.Sample)
	if x.side == asMeasured || !ok {
		return v, ok
	}
	return x.shift(i, v), true
}

// shift returns the value of extract i that belongs into the set in which a request is counted.
func (x *finished) shift(i int, v int64) int64 {
	n := int64(1) // v is a time over n, and the delay is one of the time
	if per := extracts[i].per; per != nil {
		n = max(per(x.Sample), 1)
	}
	lo, hi := v*n, v*n
	switch rowBounds()[i] {
	case metric.Due:
		lo, hi = x.delay.Due(lo)
	case metric.Sent:
		lo, hi = x.delay.Sent(lo)
	case metric.Gap:
		lo, hi = x.delay.Gap(lo)
	case metric.Exact, metric.Flowing, metric.Counted, metric.Blurred:
	}
	if x.side == low {
		return max(over(lo, n), min(v, 1)) // over a limit of 0 if it was measured to be
	}
	return over(hi, n)
}

// excused reports whether a failure may be the late client's: a timeout, or a refusal for load, as many
// requests came at once. In the low set of errors, and the high one of goodput, it is none.
func (x *finished) excused() bool {
	if x.Class == backends.Status {
		return slices.Contains([]int32{429, 503, 8, 14}, x.Status) // 8 and 14 are codes of gRPC
	}
	return x.Class == backends.TimedOut || x.Class == backends.Stopped
}

// class returns the class of a request in the set in which it is counted: in the high one that of a request
// that a client on time may have given up.
func (x *finished) class() backends.ErrorClass {
	switch {
	case x.side == low && x.excused():
		return backends.OK
	case x.side == high && x.mayTimeOut:
		return backends.TimedOut
	}
	return x.Class
}

// split makes the low and the high set of a, which are the same as a so far.
func (a *Aggregate) split() {
	if a.low == nil {
		a.low, a.high = a.clone(), a.clone()
	}
}

func (a *Aggregate) clone() *Aggregate {
	c := *a
	c.Mismatches, c.Examples, c.Causes = nil, [classCount]string{}, [classCount][]string{}
	for i := range c.dists {
		c.dists[i] = *a.dists[i].Clone()
	}
	return &c
}

// addDue counts a request that was due in the window, in all sets unless it is delayed.
func (a *Aggregate) addDue(x *finished) {
	if a.countsInSets(x) {
		a.low.count(x)
		a.high.count(x)
	}
	a.count(x)
}

// addCompleted counts a completion in the window, in all sets unless it is delayed.
func (a *Aggregate) addCompleted(x *finished) {
	if a.countsInSets(x) {
		a.low.countFlow(x)
		a.high.countFlow(x)
	}
	a.countFlow(x)
}

// countsInSets reports whether there are other sets in which x counts at once, and makes them for a
// delayed request, which counts there later.
func (a *Aggregate) countsInSets(x *finished) bool {
	if !x.delay.IsZero() {
		a.split()
		return false
	}
	return a.low != nil
}

// mergeSets adds o to the low and the high set of a, if either has them. It is called before a itself
// is merged.
func (a *Aggregate) mergeSets(o *Aggregate) {
	if o.low != nil {
		a.split()
	}
	if a.low == nil {
		return
	}
	a.low.Merge(o.set(low))
	a.high.Merge(o.set(high))
}

// set returns the low or the high set of a, which is a itself if all is exact.
func (a *Aggregate) set(s side) *Aggregate {
	switch {
	case a.low == nil || s == asMeasured:
		return a
	case s == low:
		return a.low
	}
	return a.high
}

// Sets returns the sums of the low and of the high set; false if all is exact.
func (a *Aggregate) Sets() (lo, hi *Aggregate, ok bool) {
	if a.low == nil && a.DroppedMore == 0 {
		return nil, nil, false
	}
	a.split()
	for _, set := range []*Aggregate{a.low, a.high} {
		set.Window, set.PlayerCounts = a.Window, a.PlayerCounts
		set.Closed, set.HasGoodput = a.Closed, a.HasGoodput
	}
	a.low.DroppedPool -= a.DroppedLate
	if more := min(a.DroppedMore, a.Planned-a.Dropped()); more > 0 {
		a.high.DroppedPool += more
	}
	if a.Closed && a.Paused < a.Window {
		a.high.Window -= a.Paused
		if !a.limited {
			a.high.unsent = int64(math.Ceil(float64(a.Sent) * float64(a.Paused) / float64(a.high.Window)))
		}
	}
	return a.low, a.high, true
}
