package program

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Machine holds the load that this machine has shown it can drive: what `calibrate` measured
// there.
type Machine struct {
	// Other says why the calibration that there is does not count: it is another machine's. Shown is
	// empty then.
	Other string
	Shown map[string]Shown // by transport: http, grpc
}

// Shown holds what a machine has shown over one transport, against a server on the same machine.
type Shown struct {
	Rate    float64 // open loop: the highest rate at which it sent on time, 1/s; 0: not known
	Slots   int     // closed loop: the most requests in flight
	Highest float64 // closed loop: the most requests a second
}

// Exceeded warns, at the line of each load, of what is more than the machine has shown: a rate that
// it has not sent on time, more requests in flight than it has kept open; and of groups whose members ask
// for too much together. What comes from the results of earlier stages or from files is not
// known before a run.
func (m *Machine) Exceeded(p *Program) source.Diagnostics {
	if m == nil || len(m.Shown) == 0 {
		return nil
	}
	var diags source.Diagnostics
	for _, u := range p.Units {
		m.judge(u, &diags)
	}
	return diags.Sorted()
}

// judge adds to diags what is too much of what runs at one time: of each member by itself, then of
// their rates together.
func (m *Machine) judge(u *Unit, diags *source.Diagnostics) {
	// once a line: the levels of a list and the points of a matrix share it
	warn := func(pos source.Pos, format string, args ...any) {
		if !slices.ContainsFunc(*diags, func(d source.Diagnostic) bool { return d.Pos == pos }) {
			format = "the plan asks for more than this machine has shown: " + format
			*diags = append(*diags, source.Warnf("beyond-this-machine", format, args...).
				Help("this client may become the bottleneck: use a machine with more cores, or run "+
					"`sluice calibrate` again while this one does nothing else").At("", pos, 0))
		}
	}
	sum, before := make(map[string]float64), len(*diags) // sum of rates by transport
	for _, member := range u.Members {
		most := make(map[string]float64) // of a member: its nodes run one after the other
		for _, play := range member.Plays {
			n := play.Node
			over, level := firstTarget(n).Transport(), peak(n)
			shown, ok := m.Shown[over]
			switch {
			case !ok:
			case n.Open:
				most[over] = max(most[over], level.Value)
				if shown.Rate > 0 && level.Value > shown.Rate { // at 0 nothing was on time: nothing is known
					warn(level.Pos, "%s over %s, and it has sent %s on time",
						result.Format("1/s", level.Value), over, result.Format("1/s", shown.Rate))
				}
			case slotsOf(n, level) > float64(shown.Slots):
				warn(level.Pos, "%.0f requests in flight over %s, and it has had %d", slotsOf(n, level), over,
					shown.Slots)
			}
		}
		for t, rate := range most {
			sum[t] += rate
		}
	}
	if len(u.Members) < 2 || len(*diags) > before {
		return
	}
	for _, t := range slices.Sorted(maps.Keys(sum)) {
		rate := sum[t]
		if shown := m.Shown[t]; shown.Rate > 0 && rate > shown.Rate {
			warn(u.Members[0].Plays[0].Node.Stage.LoadPos,
				"the stages of this group send %s over %s together, "+
					"and it has sent %s on time",
				result.Format("1/s", rate), t, result.Format("1/s", shown.Rate))
		}
	}
}

// peak returns the largest value that a node's load is known to reach.
func peak(n *Node) scenario.Level {
	switch q := quantity(n.Stage).(type) {
	case scenario.Ramp:
		higher := func(a, b scenario.RampStep) int { return cmp.Compare(a.To.Value, b.To.Value) }
		return slices.MaxFunc(q.Steps, higher).To
	case scenario.Search:
		return q.To
	}
	return n.Level
}
