package trial

import (
	"fmt"
	"math"
	"time"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// steering decides when hold ends. All decisions are functions of the clock and of closed windows.
//
//	extent           hold begins                  hold ends
//	for: duration    end of warm-up               begin + duration (StopAt is set as soon as begin is known)
//	for: N requests  first request after warm-up  last completion of the N (drive stops by its limit)
//	until: stable    end of warm-up               when the last windows agree, or there were max_windows;
//	                                              in a group, when that is so for all that say it
//	until: precise   end of warm-up               when bounds are narrow, or at the last look; in a group alike
//	until: others    end of warm-up               when the other members of the group have ended
//	by the load      end of warm-up               with the ramp, or the last completion of what is sent
type steering struct {
	abortWatch
	stability stability
	precision precision
	end       holdEnd
}

// holdEnd says how a hold ended, apart from its time.
type holdEnd struct {
	accepted []*measure.Window // those that are reported, with `until: stable`
	unstable string            // why `until: stable` was not reached
	stopped  string            // why it ended early
	cutOff   bool              // what was open then was not waited for
	short    CutShort
	look     *result.Look  // that ended `until: precise`
	aborted  *result.Abort // by which assertion
	notes    findings
}

// CutShort says which assertion with `abort` ended a level or the trial of a search, as it was
// certainly false there. The zero CutShort: none.
type CutShort struct{ That, Why string }

// early reports whether hold ended before its time.
func (e *holdEnd) early() bool { return e.stopped != "" || e.short.That != "" }

func newSteering(r *running) *steering {
	stable, _ := r.in.Node.Stage.Extent.(scenario.UntilStable)
	return &steering{
		abortWatch: newAbortWatch(r),
		stability:  stability{stable: stable, leaves: r.in.Node.Stability, while: r.in.Node.While},
		precision:  precision{of: r},
	}
}

// begin sets the end of hold where it is known before the clock starts.
func (s *steering) begin(start int64) {
	s.control.StopAt.Store(math.MaxInt64)
	if s.plan.Length > 0 && s.plan.WarmCount == 0 {
		s.control.StopAt.Store(start + s.plan.Warm + s.plan.Length)
	}
}

// decide ends hold when its time is up.
func (s *steering) decide(now int64) {
	if s.control.StopAt.Load() <= now {
		return
	}
	begin := s.control.HoldStart.Load()
	if why := s.interruption(now); why != "" {
		s.stop()
		s.end.stopped = s.interruptedText(begin, now, why)
		return
	}
	if a, that := s.look(now); a != nil {
		s.stop()
		s.abort(a, that, begin, now)
		return
	}
	switch {
	case begin == 0:
	case s.plan.Length > 0:
		s.control.StopAt.Store(begin + s.plan.Length)
	case s.stability.stable.Windows > 0 && s.host.Agree(s.stability.judge(s.folder.CompleteWindows())):
		s.stop()
		s.end.accepted, s.end.unstable = s.stability.accept(s.folder.CompleteWindows())
	case len(s.in.Node.Precise) > 0 && s.host.Agree(s.precision.judge(begin, now)):
		s.stop()
		s.end.look = s.precision.result()
		s.end.notes = append(s.end.notes, s.precision.notes(now-begin)...)
	case s.in.Node.WaitsForOthers() && s.host.OthersEnded():
		s.stop()
	}
}

// stop ends hold now: by the clock, and not at the time of the look that decided it. What was due
// since then was sent, and would be counted nowhere.
func (s *steering) stop() { s.control.StopAt.Store(s.host.Clock.Now()) }

// abort ends the run; where `while` steers, the level or the trial alone: it is one that does not hold.
func (s *steering) abort(a *result.Abort, that string, begin, now int64) {
	if len(s.in.Node.While) > 0 {
		s.end.short = CutShort{That: that, Why: a.Reason}
		after := time.Duration(now - begin).Round(time.Millisecond)
		s.end.notes.note("aborted", "over after %v: %s", after, a.Reason)
		return
	}
	s.end.aborted = a
	s.end.stopped = s.interruptedText(begin, now, a.Reason)
	s.host.Abort(fmt.Sprintf("stage %s aborted the run: %s", s.in.Node.ID, a.Reason))
}

// interruption says why the trial is to be interrupted, or "".
func (s *steering) interruption(now int64) string {
	if d := s.in.Deadline; d > 0 && now >= d {
		return fmt.Sprintf("max_duration of %s was over", source.Duration(s.in.Node.Stage.MaxDuration))
	}
	return s.host.Stopped()
}

func (s *steering) interruptedText(begin, now int64, why string) string {
	if begin == 0 || now < begin {
		return "interrupted before the measurement began: " + why
	}
	text := "interrupted after " + source.About(time.Duration(now-begin))
	if s.plan.Length > 0 {
		text += " of " + source.Duration(time.Duration(s.plan.Length))
	}
	return text + ": " + why
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }
