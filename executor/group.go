package executor

import (
	"context"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/executor/delay"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario"
)

const (
	// headStart is the time between now and a node's first due time, so that the first arrival is
	// not late by set-up.
	headStart = 2 * time.Millisecond
	// lead is the time before the start at which a delayed member asks the server for its counters.
	lead = 100 * time.Millisecond
)

// group joins the members of a unit: when they start, who still runs, who is
// stable. A stage that runs alone is a group of one.
type group struct {
	inProcess bool // a server of one of the members runs in this process
	members   []*member
	attempt   int           // counts how often the unit was played before
	started   chan struct{} // closed when every member has arrived
	start     int64         // run clock; set before started is closed
	client    delay.Client  // the delays of all members

	mu     sync.Mutex
	away   int                 // members that have not arrived at the start
	busy   int                 // members that `until: others` waits for
	stable map[*member]*stable // members that say `until: stable` and have not ended
	agreed int                 // their plays that all have agreed on
}

// stable says of a member's latest play, or trial, that its windows agree, or that waiting longer is
// of no use.
type stable struct {
	play    int
	settled bool
}

func newGroup(r *runner, u *program.Unit) *group {
	g := &group{
		inProcess: u.Any((*program.Node).InProcess), started: make(chan struct{}), away: len(u.Members),
		stable: make(map[*member]*stable),
	}
	for _, of := range u.Members {
		m := &member{Member: of, r: r, group: g, repeats: make(map[*program.Node]*repeats)}
		for _, p := range m.Plays {
			if m.repeats[p.Node] == nil {
				m.repeats[p.Node] = &repeats{node: p.Node}
			}
			m.repeats[p.Node].planned++
		}
		g.members = append(g.members, m)
		if !m.first().WaitsForOthers() {
			g.busy++
		}
		switch m.first().Stage.Extent.(type) {
		case scenario.UntilStable, scenario.UntilPrecise:
			g.stable[m] = &stable{}
		}
	}
	return g
}

// depart ends a member: it is not waited for any more.
func (g *group) depart(m *member) {
	g.arrive(m)
	g.mu.Lock()
	defer g.mu.Unlock()
	if !m.first().WaitsForOthers() {
		g.busy--
	}
	delete(g.stable, m)
}

// alone reports whether only members that wait for others still run.
func (g *group) alone() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.busy == 0
}

// agree notes whether a member's play is settled, and reports whether all are that say `until:
// stable`: those that are at the same play, as the others are past it or have ended.
func (g *group) agree(m *member, settled bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.agreed > m.number {
		return true
	}
	if g.stable[m] == nil { // its first play had another extent: a matrix can change it
		g.stable[m] = &stable{}
	}
	g.stable[m].play, g.stable[m].settled = m.number, settled
	for _, s := range g.stable {
		if s.play <= m.number && (s.play < m.number || !s.settled) {
			return false
		}
	}
	g.agreed = m.number + 1
	return true
}

// begin waits for the start of a trial: the common one of the group with the first play, at once
// with any other. It takes the first snapshot of the server just before, and returns when the load
// starts, on the run's clock. False: the run is to end.
func (m *member) begin(ctx context.Context, look func(context.Context)) (start int64, ok bool) {
	g, delay := m.group, m.first().Stage.Delay
	if m.number > 0 || m.arrived {
		look(ctx)
		return m.r.clock.Now() + int64(headStart), true
	}
	if m.first().Stage.Group == nil || delay == 0 {
		look(ctx)
		g.arrive(m)
		<-g.started
		return g.start, true
	}
	g.arrive(m)
	<-g.started
	if !m.r.stops.sleep(delay - lead - time.Duration(m.r.clock.Now()-g.start)) {
		return 0, false
	}
	look(ctx)
	return max(g.start+int64(delay), m.r.clock.Now()+int64(headStart)), true
}

// arrive reports that a member is at the start, or never will be. Only its first call counts.
func (g *group) arrive(m *member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m.arrived {
		return
	}
	m.arrived = true
	if g.away--; g.away == 0 {
		g.start = m.r.clock.Now() + int64(headStart)
		close(g.started)
	}
}

// delay waits before a stage that runs alone; in a group the wait is for the start, see begin.
func (m *member) delay() {
	if s := m.first().Stage; s.Delay > 0 && s.Group == nil && m.due(m.Plays[0]) {
		text := "waiting " + s.Delay.String() + " before stage " + m.Stage
		m.r.tell(Event{Node: m.first().ID, Phase: PhaseOpen, Text: text})
		m.r.stops.sleep(s.Delay)
	}
}

// first returns the node that the member plays first.
func (m *member) first() *program.Node { return m.Plays[0].Node }
