package executor

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// tick is how often samples are folded and decisions taken.
const tick = 10 * time.Millisecond

// steering is when a node's phases end. All decisions are functions of the clock and of closed windows.
//
//	extent          hold begins                    hold ends
//	for: duration   end of warm-up                 begin + duration (StopAt is set as soon as begin is known)
//	for: N requests first request after warm-up    last completion of the N (drive stops by its limit)
//	until: stable   end of warm-up                 when the last windows agree, or there were max_windows; in a group, when
//	                                               that is so for all that say it
//	until: others   end of warm-up                 when the other members of the group have ended
//	by the load     end of warm-up                 with the ramp, or with the last completion of what was to be sent
type steering struct {
	length   int64 // ns; 0: open
	stable   *scenario.UntilStable
	others   bool // until: others
	settled  bool // the latest windows agree, or nothing will come of waiting longer
	leaves   []metric.Leaf
	beyond   func(*measure.Window) bool // the node's `while` is false in a window; nil: there is none
	seen     int                        // windows judged so far
	hopeless int                        // how many of the latest windows were beyond
	accepted []*measure.Window          // those reported, once the node is over
	history  []result.Window
	unstable string // why `until: stable` was not reached
	stopped  string // why the node ended early
	cutOff   bool   // what was open then was not waited for
}

func (t *trial) steering() steering {
	s := steering{length: t.course.length}
	switch e := t.node.Stage.Extent.(type) {
	case scenario.UntilStable:
		s.stable, s.leaves = &e, t.node.Stability
		if len(t.node.While) > 0 {
			s.beyond = t.beyond
		}
	case scenario.UntilOthers:
		s.others = true
	case scenario.For, scenario.ByLoad:
	}
	return s
}

// beyond reports whether one of the node's `while` conditions is false in a window.
func (t *trial) beyond(w *measure.Window) bool {
	for _, c := range t.node.While {
		if c.Program.Truth(windowValues{w.Completed}).Is < 0 {
			return true
		}
	}
	return false
}

// windowValues judges a condition on one window. What another node measured, or what is not known for a window, is
// unknown, and unknown ends nothing.
type windowValues struct{ of *measure.Aggregate }

func (v windowValues) Quantity(ref expression.Ref) expression.Quantity {
	value, ok := v.of.Leaf(ref.Leaf)
	if ref.Place != (expression.Place{}) || !ok {
		return expression.Quantity{Why: "not known for a window"}
	}
	return expression.Quantity{Known: true, V: value, Lo: value, Hi: value, N: v.of.Sent}
}

// slice is the length of the slices shown in charts: a second, or less where the node is short.
func (s *steering) slice() int64 {
	const second = int64(time.Second)
	if s.length > 0 && s.length < 10*second {
		return max(s.length/10, int64(10*time.Millisecond))
	}
	return second
}

func (s *steering) windows() measure.Windows {
	if s.stable == nil {
		return measure.Windows{}
	}
	return measure.Windows{
		Length: int64(s.stable.Window.Duration), Requests: s.stable.Window.Requests, Keep: s.stable.Windows,
	}
}

// begin sets what is known before the clock starts.
func (s *steering) begin(t *trial) {
	t.control.StopAt.Store(math.MaxInt64)
	if s.length > 0 && t.course.warmCount == 0 {
		t.control.StopAt.Store(t.start + t.course.warm + s.length)
	}
}

// loop folds and steers until the player has ended.
func (t *trial) loop(ctx context.Context, done <-chan struct{}) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-ticker.C:
		}
		now := t.r.clock.Now()
		t.folded += int64(t.folder.Drain(now))
		t.watch.look(ctx, t, now, !running)
		switch {
		case running:
			t.decide(now)
			t.report(now)
		case ctx.Err() != nil: // nobody has looked since then
			t.steer.cutOff = true
			t.decide(now)
		}
	}
	t.watch.wait()
}

// decide ends the hold phase when its time has come.
func (t *trial) decide(now int64) {
	s, open := &t.steer, t.control.StopAt.Load() > now
	if !open {
		return
	}
	begin := t.control.HoldStart.Load()
	switch {
	case t.cut(now) != "":
		t.stop()
		s.stopped = t.interruptedText(begin, now, t.cut(now))
	case t.aborts(now):
	case begin == 0:
	case s.length > 0:
		t.control.StopAt.Store(begin + s.length)
	case s.stable != nil && t.m.group.agree(t.m, s.judge(t.folder.Closed())):
		t.stop()
		s.accept(t.folder.Closed())
	case s.others && t.m.group.alone():
		t.stop()
	}
}

// stop ends hold now: by the clock, and not at the time of the look that decided it. What was due since then was sent, and
// would be counted nowhere.
func (t *trial) stop() { t.control.StopAt.Store(t.r.clock.Now()) }

// aborts ends the node, and the run, when an assertion that may do so has become certainly false; where `while` steers, the
// level or the trial alone.
func (t *trial) aborts(now int64) bool {
	why := t.abort(now)
	if why == "" {
		return false
	}
	t.stop()
	if t.short.that != "" {
		t.note("aborted", "over after %v: %s", time.Duration(now-t.control.HoldStart.Load()).Round(time.Millisecond), why)
		return true
	}
	t.steer.stopped = t.interruptedText(t.control.HoldStart.Load(), now, why)
	t.r.stops.abort(fmt.Sprintf("stage %s aborted the run: %s", t.node.ID, why))
	return true
}

// cut says why the trial is to be interrupted, or "".
func (t *trial) cut(now int64) string {
	if t.deadline > 0 && now >= t.deadline {
		return fmt.Sprintf("max_duration of %s was over", source.Duration(t.node.Stage.MaxDuration))
	}
	return t.r.stops.now()
}

func (t *trial) interruptedText(begin, now int64, why string) string {
	if begin == 0 || now < begin {
		return "interrupted before the measurement began: " + why
	}
	text := fmt.Sprintf("interrupted after %s", source.About(time.Duration(now-begin)))
	if t.steer.length > 0 {
		text += fmt.Sprintf(" of %s", source.Duration(time.Duration(t.steer.length)))
	}
	return text + ": " + why
}

// judge looks at the windows that were closed since it was last asked, and says whether the node could be over: the last
// ones agree, or there were as many as allowed, or `while` was false in each of the last ones, so that waiting longer would
// not bring the level back.
func (s *steering) judge(closed []*measure.Window) bool {
	for _, w := range closed {
		if w.Index < s.seen {
			continue
		}
		s.seen = w.Index + 1
		s.history = append(s.history, s.read(w))
		s.hopeless++
		if s.beyond == nil || !s.beyond(w) {
			s.hopeless = 0
		}
		s.settled = s.over(len(closed))
	}
	return s.settled
}

// over looks at all windows so far, of which so many are still there.
func (s *steering) over(kept int) bool {
	need := s.stable.Windows
	if kept < need || len(s.history) < need {
		return false
	}
	return measure.Stable(s.tracks(), s.stable.Within, need) || s.hopeless >= need || len(s.history) >= s.stable.MaxWindows
}

// accept takes the last windows for the measurement.
func (s *steering) accept(closed []*measure.Window) {
	need := s.stable.Windows
	if !measure.Stable(s.tracks(), s.stable.Within, need) && s.hopeless < need {
		s.unstable = fmt.Sprintf("no agreement within %.3g %% after %d windows: %s; the last %d are reported",
			100*s.stable.Within, len(s.history), s.disagreement(need), need)
	}
	s.accepted = closed[len(closed)-need:]
	for i := len(s.history) - need; i < len(s.history); i++ {
		s.history[i].Used = true
	}
}

// read takes the stability metrics of a window.
func (s *steering) read(w *measure.Window) result.Window {
	out := result.Window{From: seconds(w.From), To: seconds(w.To), Values: make(map[string]*float64)}
	for _, leaf := range s.leaves {
		out.Values[leaf.String()] = nil
		if v, ok := w.Completed.Leaf(leaf); ok {
			out.Values[leaf.String()] = &v
		}
	}
	return out
}

// tracks are the values of the stability metrics over all windows so far.
func (s *steering) tracks() []measure.Track {
	var tracks []measure.Track
	for _, leaf := range s.leaves {
		track := measure.Track{ZeroIsNone: leaf.Row.From != metric.Counts}
		for _, w := range s.history {
			v := math.NaN()
			if p := w.Values[leaf.String()]; p != nil {
				v = *p
			}
			track.Values = append(track.Values, v)
		}
		tracks = append(tracks, track)
	}
	return tracks
}

// report tells whoever listens, ten times a second.
func (t *trial) report(now int64) {
	if now-t.watch.reported < int64(100*time.Millisecond) {
		return
	}
	t.watch.reported = now
	e := Event{Node: t.node.ID, Part: t.part(), Live: t.folder.Live()}
	begin, stop := t.control.HoldStart.Load(), t.control.StopAt.Load()
	switch {
	case begin == 0 || now < begin:
		e.Phase, e.Elapsed, e.Total = PhaseWarmup, time.Duration(max(now-t.start, 0)), time.Duration(t.course.warm)
	case now < stop:
		e.Phase, e.Elapsed, e.Total = PhaseHold, time.Duration(now-begin), time.Duration(t.steer.length)
	default:
		e.Phase, e.Elapsed, e.Total = PhaseDrain, time.Duration(now-stop), t.node.Stage.Drain
	}
	t.r.tell(e)
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }
