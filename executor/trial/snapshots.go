package trial

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/observe"
	"github.com/sluice-bench/sluice/scenario"
)

// snapshotEvery is the least time between two questions for a server's counters while a node runs.
const snapshotEvery = 250 * time.Millisecond

// snapshots are the server's counters near the edges of slices, so that what it did in a slice, or
// in the windows that are reported of a stable stage, is known. A server that answers more
// slowly than that has fewer.
type snapshots struct {
	due    int64 // run clock; when the next is to be taken
	passed int   // windows of n requests that were over at the last look
	at     int64 // run clock; the last end of one at which there was a question
	busy   sync.Mutex
	taken  []tally // by one question at a time; to be read when none is open
}

// cutting says how hold is cut: in slices for charts, ns, and in the windows of `until: stable`.
type cutting struct {
	slice   int64
	windows measure.Windows
}

// cutHold returns how a hold of length ns is cut, 0: of any. A slice is a second, or less where the
// node is short.
func cutHold(length int64, extent scenario.Extent) cutting {
	stable, _ := extent.(scenario.UntilStable)
	slice, w := int64(time.Second), stable.Window
	if length > 0 && length < 10*slice {
		slice = max(length/10, int64(10*time.Millisecond))
	}
	return cutting{
		slice, measure.Windows{Length: int64(w.Duration), Requests: w.Requests, Keep: stable.Windows},
	}
}

// snapshot takes the counters when it is time, unless the last question is still open. What is due
// before the next look waits for its moment in the background.
func (o *observer) snapshot(ctx context.Context, now int64) {
	if o.in.Requests.Counters == nil {
		return
	}
	s, hold := &o.snapshots, o.control.HoldStart.Load()
	if s.due == 0 {
		s.due = edge(hold, hold, o.cutting.slice, o.cutting.windows.Length)
	}
	passed := 0
	if o.cutting.windows.Requests > 0 {
		if over := o.folder.CompleteWindows(); len(over) > 0 { // of which those are the last
			passed = over[len(over)-1].Index + 1
		}
	}
	wait, is := s.wait(now, passed)
	if !is || !s.busy.TryLock() {
		return
	}
	for s.due <= now+int64(tick) {
		s.due = edge(hold, s.due, o.cutting.slice, o.cutting.windows.Length)
	}
	o.asking.Go(func() {
		defer s.busy.Unlock()
		select {
		case <-time.After(time.Duration(wait)):
		case <-ctx.Done():
		}
		ctx, cancel := WithGrace(ctx, statsLimit)
		defer cancel()
		if c, err := o.in.Requests.count(ctx); err == nil { // the ends of hold say what is wrong
			s.taken = append(s.taken, c)
		}
	})
}

// wait returns for how long a question is to wait that is due before the next look. A window of n
// requests ends when that is seen, and then the question is due at once.
func (s *snapshots) wait(now int64, passed int) (wait int64, is bool) {
	ends := passed > s.passed && now-s.at >= int64(snapshotEvery)
	s.passed = passed
	switch {
	case ends:
		s.at = now
		return 0, true
	case now+int64(tick) >= s.due:
		return s.due - now, true
	}
	return 0, false
}

// edge returns the first edge after at of slices or windows that follow each other from hold, of
// those that are shorter than snapshotEvery every second, third … one.
func edge(hold, at int64, lengths ...int64) int64 {
	next := int64(math.MaxInt64)
	for _, length := range lengths {
		if length <= 0 {
			continue
		}
		length *= (int64(snapshotEvery) + length - 1) / length
		next = min(next, hold+((at-hold)/length+1)*length)
	}
	return next
}

// sliceKey names a slice: the repeat it is of, and where it begins, ns since hold did.
type sliceKey struct {
	repeat int
	from   int64
}

// serverSlices returns what the server did in each slice of a hold that began at hold on the run's
// clock, by row. A slice is left out if the server was not asked near both of its edges.
func (o *observer) serverSlices(list []measure.Slice, hold int64) map[sliceKey]map[string]float64 {
	if o.in.Requests.Counters == nil {
		return nil
	}
	moments, all := o.moments(), map[sliceKey]map[string]float64{}
	for _, s := range list {
		a, b := nearest(moments, hold+s.From), nearest(moments, hold+s.To)
		near := (s.To - s.From) / 4
		if a == nil || apartBy(a, hold+s.From) > near || apartBy(b, hold+s.To) > near {
			continue
		}
		values := map[string]float64{}
		for _, r := range observe.Growth(o.in.Requests.Series, a[0], b[0]) {
			if r.OK {
				values[r.Row.Name] = r.V
			}
		}
		all[sliceKey{s.Repeat, s.From}] = values
	}
	return all
}

// nearest returns the snapshot nearest to a moment; nil: there is none.
func nearest(list []tally, at int64) (best tally) {
	for _, c := range list {
		if best == nil || apartBy(c, at) < apartBy(best, at) {
			best = c
		}
	}
	return best
}

// apartBy returns how far a snapshot is from a moment, ns.
func apartBy(c tally, at int64) int64 { return max(c[0].At-at, at-c[0].At) }

// moments returns all snapshots in the order of their times, once all questions have been answered.
func (o *observer) moments() []tally {
	list := slices.Concat([]tally{o.counts[o.from].server}, o.taken, []tally{o.counts[holdEnds].server})
	list = slices.DeleteFunc(list, func(c tally) bool { return len(c) == 0 })
	slices.SortFunc(list, func(a, b tally) int { return int(a[0].At - b[0].At) })
	return list
}
