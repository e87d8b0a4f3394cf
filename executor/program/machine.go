package program

import (
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Machine is what the machine that runs a program has shown it can drive: what `calibrate` measured
// there.
type Machine struct {
	// Other says why the calibration that there is does not count: it is another machine's. Shown is
	// empty then.
	Other string
	Shown map[string]Shown // by transport: http, grpc
}

// Shown is what a machine has shown over one transport, against a server on the same machine.
type Shown struct {
	Rate    float64 // open loop: the highest rate at which it sent on time, 1/s; 0: not known
	Slots   int     // closed loop: the most requests in flight
	Highest float64 // closed loop: the most requests a second
}

// Exceeded warns, at the line of each load, of what is more than the machine has shown: a rate that
// it has not sent on time, more requests in flight than it has had; and of groups whose members ask
// for too much together. What comes from the results of earlier stages or stands in files is not
// known before a run.
func (m *Machine) Exceeded(p *Program) source.Diagnostics {
	if m == nil || len(m.Shown) == 0 {
		return nil
	}
	e := &excess{machine: m}
	for _, u := range p.Units {
		e.unit(u)
	}
	return e.diags.Sorted()
}

// excess gathers what is more than a machine has shown.
type excess struct {
	machine *Machine
	diags   source.Diagnostics
}

// unit judges what runs at one time: each member by itself, then their rates together.
func (e *excess) unit(u *Unit) {
	sum, before := make(map[string]float64), len(e.diags)
	for _, member := range u.Members {
		most := make(map[string]float64) // of a member, by transport: its nodes run one after the other
		for _, play := range member.Plays {
			if t, rate := e.node(play.Node); rate > 0 {
				most[t] = max(most[t], rate)
			}
		}
		for t, rate := range most {
			sum[t] += rate
		}
	}
	if len(u.Members) < 2 || len(e.diags) > before {
		return
	}
	for t, rate := range sum {
		if shown := e.machine.Shown[t]; shown.Rate > 0 && rate > shown.Rate {
			e.warn(u.Members[0].Plays[0].Node.Stage.LoadPos, "the stages of this group send %s over %s together, "+
				"and it has sent %s on time",
				result.Format("1/s", rate), t, result.Format("1/s", shown.Rate))
		}
	}
}

// node judges one node and gives its transport and, of an open loop, its rate.
func (e *excess) node(n *Node) (over string, rate float64) {
	over = n.Stage.Entries()[0].Request.Target.Transport()
	shown, ok := e.machine.Shown[over]
	level := peak(n)
	switch {
	case !ok:
	case n.Open && shown.Rate == 0: // nothing was on time: nothing is known
	case n.Open && level.Value > shown.Rate:
		e.warn(level.Pos, "%s over %s, and it has sent %s on time", result.Format("1/s", level.Value), over,
			result.Format("1/s", shown.Rate))
	case !n.Open && level.Value > float64(shown.Slots):
		e.warn(level.Pos, "%.0f requests in flight over %s, and it has had %d", level.Value, over, shown.Slots)
	}
	if ok && n.Open {
		rate = level.Value
	}
	return over, rate
}

// warn says it once at a line: the levels of a list and the points of a matrix share it.
func (e *excess) warn(pos source.Pos, format string, args ...any) {
	if slices.ContainsFunc(e.diags, func(d source.Diagnostic) bool { return d.Pos == pos }) {
		return
	}
	e.diags = append(e.diags, source.Diagnostic{
		Severity: source.Warning, Code: "beyond-this-machine", Pos: pos,
		Summary: "the plan asks for more than this machine has shown: " + fmt.Sprintf(format, args...),
		Detail: "this client may become the bottleneck: use a machine with more cores, or run `sluice " +
			"calibrate` again while this one does nothing else",
	})
}

// peak is the largest value that a node's load is known to reach.
func peak(n *Node) scenario.Level {
	switch q := quantity(n.Stage).(type) {
	case scenario.Ramp:
		var most scenario.Level
		for _, s := range q.Steps {
			if s.To.Value > most.Value {
				most = s.To
			}
		}
		return most
	case scenario.Search:
		return q.To
	}
	return n.Level
}
