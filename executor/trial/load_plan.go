package trial

import (
	"math"
	"sync/atomic"

	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/program"
)

// profileOf returns the slots of a closed loop, at times since start on the run's clock: as many as
// its level, as replies let it have, or as its ramp says; a ramp begins at hold.
func profileOf(p *program.Load, start int64, hold *atomic.Int64) load.Profile {
	switch q := p.Stored.Periodic; {
	case q != nil:
		return drive.NewSteps(q.From, q.To, q.Step, q.Responses)
	case p.Ramp != nil:
		return &fromHold{ramp: p.Ramp, first: int(math.Round(p.First)), hold: hold, start: start}
	}
	return load.Level(p.Slots)
}

// slotsAt returns what counts the open slots of a closed loop at a time of the run clock; nil for an open loop. A
// periodic load, whose slots grow with its responses, counts as if all were open.
func slotsAt(r *running) func(t int64) int {
	switch {
	case r.plan.Open:
		return nil
	case r.plan.Ramp != nil:
		return profileOf(r.plan, 0, &r.control.HoldStart).Slots
	}
	return load.Level(r.plan.Slots).Slots
}

// fromHold is a ramp that begins when hold does; until then it stays at its first step.
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

// offeredSpan returns the time in which the schedule wanted what was planned, ns: hold, unless the
// load has an end of its own. Of `for: N requests` it is the time from the first arrival to the one
// that would have come after the last, not that of the slowest reply. early: hold ended before its
// time.
func offeredSpan(p *program.Load, played drive.Played, hold int64, early bool) int64 {
	if p.Limit == 0 && !p.Ends || early {
		return hold
	}
	planned := played.Planned
	if q := p.Sequences; q != nil {
		switch {
		case q.ArrivalBegins && q.LimitCountsSequences && (q.WarmCountsSequences || p.WarmCount == 0):
			planned = played.Arrivals
		case !q.ArrivalBegins && !q.LimitCountsSequences && !q.WarmCountsSequences:
		default: // the arrivals are steps and `for` counts sequences: when the last one was due is unknown
			return hold
		}
	}
	return planSpan(p.Arrivals(), p.Warm, p.WarmCount, planned)
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
