package executor

import (
	"context"
	"slices"
	"sync"
	"time"

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
	r       *runner
	members []*member
	started chan struct{} // closed when every member has come to the start
	start   int64         // run clock; set before started is closed

	mu     sync.Mutex
	away   int                 // members that have not come to the start
	busy   int                 // members that `until: others` waits for
	stable map[*member]*stable // members that say `until: stable`
	agreed int                 // their plays that all have agreed on
}

// stable says of a member's latest play, or trial, that its windows agree, or that waiting longer is
// of no use.
type stable struct {
	play    int
	settled bool
	left    bool // it plays no more
}

func newGroup(r *runner, u *program.Unit) *group {
	g := &group{r: r, started: make(chan struct{}), away: len(u.Members), stable: make(map[*member]*stable)}
	for _, of := range u.Members {
		m := newMember(r, g, of)
		g.members = append(g.members, m)
		if m.waits() {
			continue
		}
		g.busy++
		if _, ok := m.plays[0].Node.Stage.Extent.(scenario.UntilStable); ok {
			g.stable[m] = &stable{}
		}
	}
	return g
}

// waits reports whether a member lasts as long as the others.
func (m *member) waits() bool {
	_, ok := m.plays[0].Node.Stage.Extent.(scenario.UntilOthers)
	return ok
}

// arrive says that a member has come to the start, or never will. Only its first call counts.
func (g *group) arrive(m *member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m.came {
		return
	}
	m.came = true
	if g.away--; g.away == 0 {
		g.start = g.r.clock.Now() + int64(headStart)
		close(g.started)
	}
}

// depart ends a member: it is not waited for any more.
func (g *group) depart(m *member) {
	g.arrive(m)
	g.mu.Lock()
	defer g.mu.Unlock()
	if !m.waits() {
		g.busy--
	}
	if s := g.stable[m]; s != nil {
		s.left = true
	}
}

// alone reports whether only members that wait for others still run.
func (g *group) alone() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.busy == 0
}

// agree notes whether a member's play is settled, and reports whether all are that say `until:
// stable`: those that are at the same play, as the others have been there before or have left.
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
		if !s.left && s.play <= m.number && (s.play < m.number || !s.settled) {
			return false
		}
	}
	g.agreed = m.number + 1
	return true
}

// begin waits for the start of a trial: the common one of the group with the first play, at once
// with any other. It takes the first look at the server just before, and returns when the load
// starts, on the run's clock. False: the run is to end.
func (m *member) begin(
	ctx context.Context, delay time.Duration, look func(context.Context),
) (start int64, ok bool) {
	g := m.group
	if m.number > 0 || m.came {
		look(ctx)
		return m.r.clock.Now() + int64(headStart), true
	}
	if !m.grouped() || delay == 0 {
		look(ctx)
		g.arrive(m)
		<-g.started
		return g.start, true
	}
	g.arrive(m)
	<-g.started
	if !m.r.stops.sleep(ctx, delay-lead-time.Duration(m.r.clock.Now()-g.start)) {
		return 0, false
	}
	look(ctx)
	return max(g.start+int64(delay), m.r.clock.Now()+int64(headStart)), true
}

// inProcess reports whether a server of one of the members runs in this process.
func (g *group) inProcess() bool {
	return slices.ContainsFunc(g.members, func(m *member) bool {
		return slices.ContainsFunc(m.plays, func(p program.Play) bool { return p.Node.InProcess() })
	})
}

// grouped reports whether the stage is part of a `parallel`.
func (m *member) grouped() bool { return m.plays[0].Node.Stage.Group != nil }

// delay waits before a stage that runs alone; in a group the wait is for the start, see begin.
func (m *member) delay(ctx context.Context) {
	if d := m.plays[0].Node.Stage.Delay; d > 0 && !m.grouped() && m.due(m.plays[0]) {
		text := "waiting " + d.String() + " before stage " + m.stage
		m.r.tell(Event{Node: m.plays[0].Node.ID, Phase: PhaseOpen, Text: text})
		m.r.stops.sleep(ctx, d)
	}
}
