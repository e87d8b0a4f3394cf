package trial

import (
	"math"
	"sync/atomic"

	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario"
)

// loadPlan is the load of a trial, ready to be played. It is complete before the clock starts.
type loadPlan struct {
	level     float64              // of a fixed load; of intervals their mean rate; else 0
	slots     int                  // requests open at the same time at most
	pace      float64              // arrivals a second at most, 0 where unknown
	overflow  string               // of an open loop
	warm      int64                // ns of warm-up
	warmCount int64                // requests of warm-up
	length    int64                // ns of hold; 0: open
	limit     int64                // requests of hold; 0: none
	profile   profile              // closed loop; nil: open
	arrivals  func() load.Schedule // open loop, from its beginning
	ramp      *load.Ramp           // nil: none
	ends      bool                 // the arrivals end by themselves, even before hold is over
	skipped   int                  // rows of the data before the first that a schedule plays
	sequences *drive.Sequences     // nil: requests stand alone
}

// profile makes the slots of a closed loop whose trial starts at start, on the run's clock; hold is
// when hold begins.
type profile func(start int64, hold *atomic.Int64) load.Profile

// planLoad makes the load of the node that of the trial.
func planLoad(in *Input) *loadPlan {
	l := in.Node.LoadWith(in.Load, in.Requests.rows(), in.Seed)
	p := &loadPlan{
		level: l.Level, slots: l.Slots, pace: l.Pace, overflow: l.Overflow, warm: l.Warm, warmCount: l.WarmCount,
		length: l.Length, limit: l.Limit, ramp: l.Ramp, ends: l.Ends, skipped: l.Skipped,
	}
	if q := l.Sequences; q != nil {
		p.sequences = &drive.Sequences{
			ArrivalBegins: q.ArrivalBegins, WarmCountsSequences: q.WarmCountsSequences,
			LimitCountsSequences: q.LimitCountsSequences, PipelineDepth: q.Depth,
		}
	}
	if in.Node.Open {
		p.arrivals = l.Arrivals
	} else {
		p.profile = profileOf(&l)
	}
	return p
}

// profileOf returns the slots of a closed loop: as many as its level, or as its ramp says at the time.
func profileOf(l *program.Load) profile {
	switch q := l.Periodic; {
	case q != nil:
		return func(int64, *atomic.Int64) load.Profile { return drive.NewSteps(q.From, q.To, q.Step, q.Responses) }
	case l.Ramp != nil:
		first := int(math.Round(l.First))
		return func(start int64, hold *atomic.Int64) load.Profile {
			return &fromHold{ramp: l.Ramp.Profile(), first: first, hold: hold, start: start}
		}
	}
	level := load.Level(l.Slots)
	return func(int64, *atomic.Int64) load.Profile { return level }
}

// fromHold is a ramp that begins when hold does; until then the slots are those of its first step.
type fromHold struct {
	ramp  load.Profile
	first int
	hold  *atomic.Int64 // run clock; 0: not yet known
	start int64         // run clock, that t counts from
}

// Slots implements load.Profile.
func (p *fromHold) Slots(t int64) int {
	hold := p.hold.Load()
	if hold == 0 || p.start+t < hold {
		return p.first
	}
	return p.ramp.Slots(p.start + t - hold)
}

// grows reports whether the load grows by what comes back.
func (in *Input) grows() bool {
	_, ok := scenario.QuantityOf(in.Node.Stage.Load).(scenario.Periodic)
	return ok
}

// offeredSpan returns the time in which the schedule wanted what was planned, ns: hold, unless the
// load has an end of its own. Of `for: N requests` it is the time from the first arrival to the one
// that would have come after the last, not that of the slowest reply. early: hold ended before its
// time.
func (p *loadPlan) offeredSpan(played drive.Played, hold int64, early bool) int64 {
	if p.profile != nil || p.limit == 0 && !p.ends || early {
		return hold
	}
	planned := played.Planned
	if q := p.sequences; q != nil {
		switch {
		case q.ArrivalBegins && q.LimitCountsSequences && (q.WarmCountsSequences || p.warmCount == 0):
			planned = played.Arrivals
		case !q.ArrivalBegins && !q.LimitCountsSequences && !q.WarmCountsSequences:
		default: // the arrivals are steps and `for` counts sequences: when the last one was due is unknown
			return hold
		}
	}
	return planSpan(p.arrivals(), p.warm, p.warmCount, planned)
}

// planSpan returns the time from the first of n arrivals after the warm-up to the arrival that
// follows them, ns. After the last of all that is one mean gap.
func planSpan(s load.Schedule, warm, skip, n int64) int64 {
	var from, last int64
	for i := int64(0); ; {
		due, ok := s.Next()
		if !ok {
			if i < 2 {
				return 0
			}
			return (last - from) / (i - 1) * i
		}
		last = due
		if due < warm || skip > 0 {
			skip--
			continue
		}
		if i == 0 {
			from = due
		}
		if i == n {
			return due - from
		}
		i++
	}
}
