package trial

import (
	"math"
	"sync/atomic"

	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/scenario"
)

// loadPlan says how the load of a trial goes. It is complete before the clock starts.
//
//	load         what is played                             without `for` and `until`, hold lasts
//	concurrency  profile: n slots, or those of a ramp       as long as the ramp
//	rate         arrivals: constant, random, or of a ramp   as long as the ramp
//	intervals    arrivals: gaps of a file                   to the last gap, where they stop
//	schedule     arrivals: times of a file or of the data   to the last time
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

// planLoad plans the load of a trial.
func planLoad(in *Input) *loadPlan {
	s := in.Node.Stage
	p := &loadPlan{
		level: in.Load.Level, warm: int64(s.Warmup.Duration), warmCount: in.Requests.inSpan(s.Warmup, in.Seed),
	}
	if e, ok := s.Extent.(scenario.For); ok {
		p.length, p.limit = int64(e.Span.Duration), in.Requests.inSpan(e.Span, in.Seed)
	}
	if pool, open := scenario.Open(s.Load); open {
		p.slots, p.overflow = pool.MaxInFlight, pool.Overflow
	}
	done := struct{}{}
	scenario.VisitLoad(s.Load,
		func(scenario.Concurrency) struct{} { p.planClosed(in); return done },
		func(r scenario.Rate) struct{} { p.planRate(in, r.Arrivals); return done },
		func(i scenario.Intervals) struct{} { p.planGaps(in.Requests.Recorded, i); return done },
		func(s scenario.Schedule) struct{} { p.planTimes(in.Requests.Recorded, s); return done })
	p.planSequences(in)
	return p
}

// planClosed keeps requests in flight: as many as the level, or as the ramp says at the time.
func (p *loadPlan) planClosed(in *Input) {
	p.slots = int(in.Load.Level)
	if q, ok := scenario.QuantityOf(in.Node.Stage.Load).(scenario.Periodic); ok {
		p.slots, p.ends = q.To, true
		p.profile = func(int64, *atomic.Int64) load.Profile {
			return drive.NewSteps(q.From, q.To, q.Step, q.Responses)
		}
		return
	}
	if in.Load.Steps == nil {
		level := load.Level(p.slots)
		p.profile = func(int64, *atomic.Int64) load.Profile { return level }
		return
	}
	p.followRamp(load.NewRamp(in.Load.Steps), in.Node.Stage.Extent)
	p.slots = int(math.Round(p.ramp.Peak()))
	first := int(math.Round(in.Load.Steps[0].To))
	p.profile = func(start int64, hold *atomic.Int64) load.Profile {
		return &fromHold{ramp: p.ramp.Profile(), first: first, hold: hold, start: start}
	}
}

// planRate has arrivals at a rate, or at that of a ramp.
func (p *loadPlan) planRate(in *Input, a scenario.Arrivals) {
	p.pace = in.Load.Level
	arrivals := func() load.Schedule { return load.Gamma(in.Load.Level, a.CV, in.Seed) }
	if in.Load.Steps != nil {
		p.followRamp(load.NewRamp(in.Load.Steps), in.Node.Stage.Extent)
		p.pace = p.ramp.Peak()
		if first := in.Load.Steps[0].To; p.warmCount > 0 && first > 0 {
			p.warm, p.warmCount = int64(math.Ceil(float64(p.warmCount)/first*1e9)), 0 // the ramp begins at a time
		}
		arrivals = func() load.Schedule { return p.ramp.AfterWarmUp(p.warm).Arrivals(a.CV, in.Seed) }
	}
	p.arrivals = arrivals
	if cuts := p.cuts(); a.Exact && cuts != nil {
		p.arrivals = func() load.Schedule { return load.Exact(arrivals(), cuts...) }
	}
}

// followRamp makes hold follow a ramp: as long as its steps, or as `for` says.
func (p *loadPlan) followRamp(r *load.Ramp, e scenario.Extent) {
	p.ramp = r
	if _, itself := e.(scenario.ByLoad); itself {
		p.length = r.Length()
	}
}

// cuts returns the times between which arrivals are exact in number: the ends of the warm-up, of
// each hold, and of the whole. None where the end of hold is unknown.
func (p *loadPlan) cuts() (cuts []int64) {
	length := p.length
	if length == 0 && p.limit > 0 && p.pace > 0 && p.ramp == nil {
		length = int64(math.Ceil(float64(p.limit) / p.pace * 1e9))
	}
	warm := p.warm
	if p.warmCount > 0 && p.pace > 0 {
		warm = int64(math.Ceil(float64(p.warmCount) / p.pace * 1e9))
	}
	if length == 0 {
		return nil
	}
	if warm > 0 {
		cuts = append(cuts, warm)
	}
	for _, h := range p.holds() {
		for _, at := range []int64{warm + h.From, warm + h.To} {
			if at > 0 && (len(cuts) == 0 || at > cuts[len(cuts)-1]) {
				cuts = append(cuts, at)
			}
		}
	}
	if end := warm + length; len(cuts) == 0 || end > cuts[len(cuts)-1] {
		cuts = append(cuts, end)
	}
	return cuts
}

// holds returns the holds of a ramp, since hold began; nil without one.
func (p *loadPlan) holds() []load.Hold {
	if p.ramp == nil {
		return nil
	}
	return p.ramp.Holds(p.length)
}

// planGaps has arrivals after recorded gaps.
func (p *loadPlan) planGaps(recorded []int64, i scenario.Intervals) {
	p.ends = i.AtEnd == "stop"
	sum := int64(0)
	for _, gap := range recorded {
		sum += gap
	}
	if sum > 0 {
		p.level = float64(len(recorded)) * 1e9 / float64(sum)
	}
	p.arrivals = func() load.Schedule { return load.Gaps(recorded, i.First == "zero", !p.ends) }
}

// planTimes has arrivals at recorded times. Those of the data's rows belong to their rows.
func (p *loadPlan) planTimes(recorded []int64, s scenario.Schedule) {
	p.ends = true
	p.arrivals = func() load.Schedule { return load.Times(recorded, s.Speed, int64(s.From), int64(s.To)) }
	if s.File == nil {
		for p.skipped < len(recorded) && recorded[p.skipped] < int64(s.From) {
			p.skipped++
		}
	}
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
