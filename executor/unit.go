package executor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
)

// unit plays the members of a unit side by side, then takes over what they found out, in the order
// of the document.
func (r *runner) unit(ctx context.Context, u *program.Unit) {
	defer r.collectOften(u)()
	defer awakeTogether(u, r.env.Alone)()
	for _, m := range r.playValid(ctx, u).members {
		r.adopt(m)
	}
}

// play plays the members of a group side by side.
func (g *group) play(ctx context.Context) {
	var playing sync.WaitGroup
	for _, m := range g.members {
		playing.Go(func() { m.play(ctx) })
	}
	playing.Wait()
}

// awakeTogether keeps Go's scheduler awake while members of a unit play side by side, some of them
// in closed loops. The pacer of an open loop does so by itself.
func awakeTogether(u *program.Unit, alone bool) (asleep func()) {
	closed := func(n *program.Node) bool { return !n.Open }
	if !alone || len(u.Members) == 1 || !u.Any(closed) {
		return func() {}
	}
	return drive.StayAwake(math.MaxInt)
}

// adopt takes over a member's results, in the program's order, and whether its stage counts as failed.
func (r *runner) adopt(m *member) {
	order := make(map[string]int)
	for _, p := range m.Plays {
		order[p.Node.ID] = p.Node.Number
	}
	slices.SortFunc(m.done, func(a, b *result.Node) int { return cmp.Compare(order[a.ID], order[b.ID]) })
	for _, n := range m.done {
		r.warmRows(n)
		r.result.Nodes = append(r.result.Nodes, n)
	}
	for _, n := range m.done {
		m.failed = cmp.Or(m.failed, failure(n))
	}
	if m.failed != "" {
		r.failed[m.Stage] = m.failed
	}
	r.best(m)
	r.occasion.Internal = cmp.Or(r.occasion.Internal, m.internal)
	r.occasion.SetUp = cmp.Or(r.occasion.SetUp, m.setUp)
}

// member is a stage while its unit runs. It sees the results of the units before and its own, never
// those of the other members, so that its decisions do not depend on which is faster.
type member struct {
	*program.Member
	r       *runner
	group   *group
	number  int  // of the play, or of the trial in it, from 0: how often it has begun to measure
	arrived bool // at the group's start
	repeats map[*program.Node]*repeats
	done    []*result.Node // whose last repeat has ended

	failed   string // why the stage counts as failed, besides the failures of its nodes
	setUp    string // what of `after` failed
	internal string // a mistake of this program
}

// play goes through the member's plays. Those that follow each other at one point of the stage
// share its `before` and `after`.
func (m *member) play(ctx context.Context) {
	defer m.group.depart(m)
	defer m.guard(nil)
	defer m.restore(ctx)
	m.delay()
	for rest := m.Plays; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Node.Stage == rest[0].Node.Stage {
			n++
		}
		m.playSequence(ctx, rest[:n])
		rest = rest[n:]
	}
}

// playSequence plays what follows each other at one point of the stage. Once `before` has begun,
// `after` is done whatever happens.
func (m *member) playSequence(ctx context.Context, plays []program.Play) {
	stage, began := plays[0].Node.Stage, false
	defer func() {
		if !began {
			return
		}
		if err := m.r.after(ctx, stage); err != nil {
			m.failed = cmp.Or(m.failed, err.Error())
			m.setUp = cmp.Or(m.setUp, fmt.Sprintf("stage %s: %s", stage.ID, err))
		}
	}()
	for _, p := range plays {
		if !began && m.due(p) {
			began = true
			m.r.before(stage)
		}
		m.step(ctx, p)
		m.group.arrive(m)
		m.number++
	}
}

// restore gives models back the configurations that they had before the stage.
func (m *member) restore(ctx context.Context) {
	if err := m.r.restore(ctx, m.Stage); err != nil {
		m.failed = cmp.Or(m.failed, err.Error())
		m.setUp = cmp.Or(m.setUp, fmt.Sprintf("stage %s: %s", m.Stage, err))
	}
}

// due reports whether a play is going to run.
func (m *member) due(p program.Play) bool {
	why, _ := m.skip(p.Node)
	return why == "" && !m.repeats[p.Node].complete()
}

// step runs or skips one repeat of a node; with its last one the node's result is complete.
func (m *member) step(ctx context.Context, p program.Play) {
	rs := m.repeats[p.Node]
	if rs.complete() {
		return // it was skipped with an earlier repeat
	}
	if why, silent := m.skip(p.Node); why != "" {
		rs.silent = silent && len(rs.played) == 0
		rs.skip(m.r, why)
	} else {
		rs.played = append(rs.played, m.guarded(ctx, p))
	}
	if rs.complete() && !rs.silent {
		rs.result = rs.sofar()
		m.keep(p.Node, rs.result)
	}
}

// guarded plays a repeat. A mistake of this program costs that repeat, not what was measured before.
func (m *member) guarded(ctx context.Context, p program.Play) (out *repeat) {
	defer m.guard(func() {
		out = unplayed(m.r.program, p.Node, result.Failed, "internal error: "+m.internal)
	})
	return m.repeat(ctx, p)
}

// guard is deferred: it turns a panic into the end of the step that it happened in.
func (m *member) guard(then func()) {
	if p := recover(); p != nil {
		m.internal = fmt.Sprint(p)
		if then != nil {
			then()
		}
	}
}

// keep judges a node that has ended.
func (m *member) keep(n *program.Node, out *result.Node) {
	if in := m.r.inputs[n.Stage]; in != nil { // of a stage with several nodes they belong to the first
		out.Probes, in.probes = in.probes, 0
	}
	out.Configurations = m.r.configurations(n.Stage)
	m.done = append(m.done, out)
	addAttempts(out, m.repeats[n].tried)
	m.judge(n, out, m.repeats[n].short())
	out.SumUpNumbers()
	m.r.interim.add(out)
	m.r.tell(Event{Node: n.ID, Phase: PhaseDone, Result: out})
}

// view returns the run as this member sees it: the units before, and what has ended here.
func (m *member) view() *result.Result {
	v := *m.r.result
	v.Nodes = slices.Concat(v.Nodes, m.done)
	return &v
}

const (
	collectOften = 100       // GOGC where memory is dearer than time
	heldMost     = 256 << 20 // bytes of encoded requests above which it is
)

// collectOften lets the collector run as often as Go's own default asks for while a unit holds many
// bytes of requests: a program may be started with less (cmd/sluice is), and a multiple of what is
// held would be too much memory. restore undoes it.
func (su *setup) collectOften(u *program.Unit) (restore func()) {
	held := 0
	for s, in := range su.inputs {
		if slices.ContainsFunc(u.Members, func(m *program.Member) bool { return m.Stage == s.ID }) {
			held += in.held()
		}
	}
	if held <= heldMost {
		return func() {}
	}
	before := debug.SetGCPercent(collectOften)
	if before >= 0 && before < collectOften {
		debug.SetGCPercent(before) // the user asked for even more
	}
	return func() { debug.SetGCPercent(before) }
}
