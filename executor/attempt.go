package executor

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/trial"
)

// attempt names one trial of a node: a repeat of it, or a trial of its search in one.
type attempt struct {
	node   *program.Node
	repeat int // from 0
	tried  int // of the repeat's trials, from 0: schedules and data differ by both
	number int // of the times that it is measured, from 0: schedules and data are the same
	serial int // of all the node's trials, from 0, set by measure: request ids differ by it
	load   program.Amounts

	deadline int64 // run clock, by max_duration, for all trials of a repeat; 0: none
}

// repeat plays a node once.
func (m *member) repeat(ctx context.Context, p program.Play) *repeat {
	a := attempt{node: p.Node, repeat: p.Repeat, number: m.group.attempt}
	if limit := p.Node.Stage.MaxDuration; limit > 0 {
		a.deadline = m.r.clock.Now() + int64(limit)
	}
	var why string
	if a.load, why = p.Node.Amounts(result.Values(m.view(), nil)); why != "" {
		r := unplayed(m.r.program, p.Node, result.SkippedNode, why)
		note(r.Node, result.NoData, why)
		return r
	}
	if a.load.Search != nil {
		return m.search(ctx, a)
	}
	return &repeat{Output: m.measureValid(ctx, a)}
}

// measure makes one attempt at a node.
func (m *member) measure(ctx context.Context, a attempt) trial.Output {
	r, in, out := m.r, m.r.inputs[a.node.Stage], blank(m.r.program, a.node)
	a.serial = m.repeats[a.node].begun
	m.repeats[a.node].begun++
	out.Load.Value, out.Load.Formula = a.load.Level, a.node.Load.Formula
	for i, step := range a.load.Steps {
		out.Load.Ramp[i].To = step.To
	}
	if in.err != nil {
		return trial.NotSetUp(out, in.err, r.stops.now())
	}
	r.tell(Event{Node: a.node.ID, Part: a.part(), Phase: PhaseOpen})
	p := r.program
	return trial.Run(ctx, m.host(a), trial.Input{
		Node: a.node, Load: a.load, Requests: &in.Requests, Seed: a.seed(p.Plan.Seed),
		IDBase: a.idBase(), Number: a.serial,
		Deadline: a.deadline, Parts: p.Parts(a.node), Checks: p.ChecksOn(a.node), Values: m.values,
		Percentiles: p.Plan.Output.Percentiles, Mask: p.Plan.Mask, Result: out,
	})
}

// host returns what the run lends an attempt.
func (m *member) host(a attempt) trial.Host {
	r, g, lost := m.r, m.group, int64(0)
	if r.env.lost != nil {
		lost = r.env.lost(a.serial)
	}
	return trial.Host{
		Clock: r.clock, Alone: r.env.Alone, CPUs: r.cpus, Machine: r.env.Machine,
		Waiting: r.stops.waiting, Stopped: r.stops.now, Abort: r.stops.abort,
		Begin: m.begin, Client: &g.client,
		Beside: len(g.members) > 1, InProcess: g.inProcess, OthersEnded: g.alone,
		Agree: func(stable bool) bool { return g.agree(m, stable) },
		Report: func(p trial.Progress) {
			r.tell(Event{
				Node: a.node.ID, Part: a.part(),
				Phase: p.Phase, Elapsed: p.Elapsed, Total: p.Total, Live: p.Counts,
			})
		},
		Record: r.env.Record, Delay: r.env.Delay, Lost: lost,
	}
}

// part names the attempt among those of its node.
func (a attempt) part() string {
	text := ""
	if a.load.Search != nil {
		text = fmt.Sprintf("trial %d, %s", a.tried+1, a.at(a.load.Level))
	}
	if of := a.node.Stage.Repeat; of > 1 {
		text = strings.TrimSuffix(fmt.Sprintf("repeat %d of %d, %s", a.repeat+1, of, text), ", ")
	}
	if a.number > 0 {
		text = strings.TrimPrefix(fmt.Sprintf("%s, attempt %d", text, a.number+1), ", ")
	}
	return text
}

// at returns a level of the attempt's node in words.
func (a attempt) at(level float64) string {
	if a.node.Rated() {
		return fmt.Sprintf("%.6g/s", level)
	}
	return fmt.Sprintf("%.0f in flight", level)
}

// seed returns the attempt's seed: of the plan, the stage, the point, the repeat and the trial.
func (a attempt) seed(plan uint64) [2]uint64 {
	point := a.node.ID
	if a.repeat > 0 {
		point += fmt.Sprintf("#%d", a.repeat)
	}
	if a.tried > 0 {
		point += fmt.Sprintf(".%d", a.tried)
	}
	return load.Seed(plan, a.node.Stage.ID, point)
}

// idBase makes request ids unique in the run: the node's number, 10 bits for its trials, 40 bits
// for their arrivals.
func (a attempt) idBase() uint64 {
	return uint64(a.node.Number+1)<<50 | uint64(a.serial&(1<<10-1))<<40
}
