package executor

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/observe"
	"github.com/sluice-bench/sluice/executor/result"
)

// snapshotEvery is the least time between two questions for a server's counters while a node runs.
const snapshotEvery = 250 * time.Millisecond

// snapshots are the server's counters near the edges of slices, so that what it did in a slice, or in the windows that
// stand for a stable stage, can be told. A server that answers more slowly than that has fewer.
type snapshots struct {
	due    int64 // run clock; when the next is to be taken
	passed int   // windows of so many requests that were over at the last look
	at     int64 // run clock; the last end of one at which there was a question
	asking sync.Mutex
	taken  []tally // by one question at a time; to be read when none is open
}

// look takes the counters when it is time, unless the last question is still open. What is due before the next look waits for
// its moment in the background.
func (s *snapshots) look(ctx context.Context, t *trial, now int64) {
	if t.in.stats == nil {
		return
	}
	hold := t.control.HoldStart.Load()
	if s.due == 0 {
		s.due = edge(hold, hold, t.steer.slice(), t.steer.windows().Length)
	}
	wait, is := s.wait(now, t.passed())
	if !is || !s.asking.TryLock() {
		return
	}
	for s.due <= now+int64(tick) {
		s.due = edge(hold, s.due, t.steer.slice(), t.steer.windows().Length)
	}
	t.watch.asking.Go(func() {
		defer s.asking.Unlock()
		select {
		case <-time.After(time.Duration(wait)):
		case <-ctx.Done():
		}
		ctx, cancel := beyond(ctx, statsLimit)
		defer cancel()
		if c, err := t.in.count(ctx); err == nil { // the ends of hold say what is wrong
			s.taken = append(s.taken, c)
		}
	})
}

// wait is for how long a question is to wait that is due before the next look. A window of so many requests ends when that is
// seen, and then the question is due at once.
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

// passed is how many windows of so many requests are over; 0 where windows are of another kind.
func (t *trial) passed() int {
	if t.steer.windows().Requests == 0 {
		return 0
	}
	closed := t.folder.Closed()
	if len(closed) == 0 {
		return 0
	}
	return closed[len(closed)-1].Index + 1
}

// edge is the first edge after at of slices or windows that follow each other from hold, of those that are shorter than
// snapshotEvery every second, third … one.
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

// moments are all snapshots in the order of their times, once all questions have been answered.
func (w *watcher) moments() []tally {
	list := slices.Concat([]tally{w.server[w.from]}, w.taken, []tally{w.server[holdEnds]})
	list = slices.DeleteFunc(list, func(c tally) bool { return len(c) == 0 })
	slices.SortFunc(list, func(a, b tally) int { return int(a[0].At - b[0].At) })
	return list
}

// nearest is the snapshot nearest to a moment; nil: there is none.
func nearest(list []tally, at int64) (best tally) {
	for _, c := range list {
		if best == nil || apartBy(c, at) < apartBy(best, at) {
			best = c
		}
	}
	return best
}

// apartBy is how far a snapshot is from a moment, ns.
func apartBy(c tally, at int64) int64 { return max(c[0].At-at, at-c[0].At) }

// serverSlice is what the server did in one slice, as far as that is known.
type serverSlice struct {
	repeat   int
	from     int64 // since hold began, ns
	readings []observe.Reading
}

// serverSlices is what the server did in each slice of a trial. Where it was not asked near both edges of a slice, nothing
// is known of that slice.
func (t *trial) serverSlices(list []measure.Slice, hold int64) (out []serverSlice) {
	if t.in.stats == nil {
		return nil
	}
	moments := t.watch.moments()
	for _, s := range list {
		a, b := nearest(moments, hold+s.From), nearest(moments, hold+s.To)
		near := (s.To - s.From) / 4
		if a == nil || apartBy(a, hold+s.From) > near || apartBy(b, hold+s.To) > near {
			continue
		}
		out = append(out, serverSlice{repeat: s.Repeat, from: s.From, readings: observe.Growth(t.in.series, a[0], b[0])})
	}
	return out
}

// onSlices adds what the server did to slices of the result.
func onSlices(list []result.Slice, server []serverSlice) []result.Slice {
	for _, s := range server {
		i := slices.IndexFunc(list, func(o result.Slice) bool { return o.Repeat == s.repeat && o.From == seconds(s.from) })
		if i < 0 {
			continue
		}
		for _, r := range s.readings {
			if r.OK {
				if list[i].Server == nil {
					list[i].Server = map[string]float64{}
				}
				list[i].Server[r.Row.Name] = r.V
			}
		}
	}
	return list
}
