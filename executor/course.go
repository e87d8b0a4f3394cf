package executor

import (
	"math"
	"sync/atomic"

	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario"
)

// course is how the load of a trial goes, known before its clock starts.
//
//	load         what it plays                              without `for` and `until`, hold lasts
//	concurrency  profile: so many slots, or a ramp's        as long as the ramp
//	rate         arrivals: constant, random, or a ramp's    as long as the ramp
//	intervals    arrivals: gaps of a file                   to the last gap, where they stop
//	schedule     arrivals: times of a file or of the data   to the last time
type course struct {
	slots     int                  // requests open at the same time at most
	pace      float64              // arrivals a second at most, 0 where nobody knows
	overflow  string               // of an open loop
	warm      int64                // ns of warm-up
	warmCount int64                // requests of warm-up
	length    int64                // ns of hold; 0: open
	limit     int64                // requests of hold; 0: none
	profile   load.Profile         // closed loop; nil: open
	arrivals  func() load.Schedule // open loop, from its beginning
	ramp      *load.Ramp           // nil: none
	ends      bool                 // the arrivals end by themselves, be hold over or not
	skipped   int                  // rows of the data before the first that a schedule plays
	sequences *drive.Sequences     // nil: requests stand alone
}

// plot makes the course of the trial's load.
func (t *trial) plot() *course {
	s := t.node.Stage
	c := &course{warm: int64(s.Warmup.Duration), warmCount: t.in.requests(s.Warmup, t.seed())}
	if e, ok := s.Extent.(scenario.For); ok {
		c.length, c.limit = int64(e.Span.Duration), t.in.requests(e.Span, t.seed())
	}
	if pool, open := scenario.Open(s.Load); open {
		c.slots, c.overflow = pool.MaxInFlight, pool.Overflow
	}
	done := struct{}{}
	scenario.VisitLoad(s.Load,
		func(scenario.Concurrency) struct{} { t.closed(c); return done },
		func(r scenario.Rate) struct{} { t.paced(c, r.Arrivals); return done },
		func(i scenario.Intervals) struct{} { t.gaps(c, i); return done },
		func(s scenario.Schedule) struct{} { t.times(c, s); return done })
	t.sequenced(c)
	return c
}

// closed keeps requests in flight: as many as the level, or as the ramp says at the time.
func (t *trial) closed(c *course) {
	c.slots = int(t.level)
	c.profile = load.Level(c.slots)
	if q, ok := scenario.QuantityOf(t.node.Stage.Load).(scenario.Periodic); ok {
		c.slots, c.ends = q.To, true
		c.profile = drive.NewSteps(q.From, q.To, q.Step, q.Responses)
		return
	}
	if t.steps == nil {
		return
	}
	c.ride(load.NewRamp(t.steps), t.node.Stage.Extent)
	c.slots = int(math.Round(c.ramp.Peak()))
	c.profile = &fromHold{
		ramp: c.ramp.Profile(), first: int(math.Round(t.steps[0].To)), hold: &t.control.HoldStart, start: &t.start,
	}
}

// paced has arrivals at a rate, or at a ramp's.
func (t *trial) paced(c *course, a scenario.Arrivals) {
	c.pace = t.level
	arrivals := func() load.Schedule { return load.Gamma(t.level, a.CV, t.seed()) }
	if t.steps != nil {
		c.ride(load.NewRamp(t.steps), t.node.Stage.Extent)
		c.pace = c.ramp.Peak()
		if first := t.steps[0].To; c.warmCount > 0 && first > 0 {
			c.warm, c.warmCount = int64(math.Ceil(float64(c.warmCount)/first*1e9)), 0 // the ramp begins at a time
		}
		arrivals = func() load.Schedule { return c.ramp.AfterWarmUp(c.warm).Arrivals(a.CV, t.seed()) }
	}
	c.arrivals = arrivals
	if cuts := c.cuts(); a.Exact && cuts != nil {
		c.arrivals = func() load.Schedule { return load.Exact(arrivals(), cuts...) }
	}
}

// ride makes hold follow a ramp: as long as its steps, or as `for` says.
func (c *course) ride(r *load.Ramp, e scenario.Extent) {
	c.ramp = r
	if _, itself := e.(scenario.ByLoad); itself {
		c.length = r.Length()
	}
}

// cuts are the times between which arrivals are exact in number: the ends of the warm-up, of each hold, and of the whole.
// None where nobody knows when hold will be over.
func (c *course) cuts() (cuts []int64) {
	length := c.length
	if length == 0 && c.limit > 0 && c.pace > 0 && c.ramp == nil {
		length = int64(math.Ceil(float64(c.limit) / c.pace * 1e9))
	}
	warm := c.warm
	if c.warmCount > 0 && c.pace > 0 {
		warm = int64(math.Ceil(float64(c.warmCount) / c.pace * 1e9))
	}
	if length == 0 {
		return nil
	}
	if warm > 0 {
		cuts = append(cuts, warm)
	}
	for _, h := range c.holds() {
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

// holds are the holds of a ramp, since hold began; nil without one.
func (c *course) holds() []load.Hold {
	if c.ramp == nil {
		return nil
	}
	return c.ramp.Holds(c.length)
}

// gaps has arrivals after recorded gaps.
func (t *trial) gaps(c *course, i scenario.Intervals) {
	c.ends = i.AtEnd == "stop"
	sum := int64(0)
	for _, gap := range t.in.recorded {
		sum += gap
	}
	if sum > 0 {
		t.level = float64(len(t.in.recorded)) * 1e9 / float64(sum) // what they come to
		t.out.Load.Value = t.level
	}
	c.arrivals = func() load.Schedule { return load.Gaps(t.in.recorded, i.First == "zero", !c.ends) }
}

// times has arrivals at recorded times. Those of the data's rows belong to their rows.
func (t *trial) times(c *course, s scenario.Schedule) {
	c.ends = true
	c.arrivals = func() load.Schedule { return load.Times(t.in.recorded, s.Speed, int64(s.From), int64(s.To)) }
	if s.File == nil {
		for c.skipped < len(t.in.recorded) && t.in.recorded[c.skipped] < int64(s.From) {
			c.skipped++
		}
	}
}

// fromHold is a ramp that begins when hold does; until then the slots are those of its first step.
type fromHold struct {
	ramp  load.Profile
	first int
	hold  *atomic.Int64 // run clock; 0: not yet known
	start *int64        // run clock, that t counts from
}

// Slots implements load.Profile.
func (p *fromHold) Slots(t int64) int {
	hold := p.hold.Load()
	if hold == 0 || *p.start+t < hold {
		return p.first
	}
	return p.ramp.Slots(*p.start + t - hold)
}

// grows reports whether the load of a node grows by what comes back.
func grows(n *program.Node) bool {
	_, ok := scenario.QuantityOf(n.Stage.Load).(scenario.Periodic)
	return ok
}
