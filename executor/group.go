package executor

import (
	"context"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario"
)

// lead is how long before its time a delayed member asks the server for its counters.
const lead = 100 * time.Millisecond

// group is what the members of a unit know of each other: when they start, who still runs, who is stable. A stage that
// runs alone is a group of one.
type group struct {
	r       *runner
	members []*member
	started chan struct{} // closed when every member has come to the start
	start   int64         // run clock; set before started is closed

	mu     sync.Mutex
	away   int                // members that have not come to the start
	busy   int                // members that `until: others` waits for
	stable map[*member]stable // members that say `until: stable`
	agreed int                // their plays that all have agreed on
}

// stable is what a member says of its latest play, or trial: that its windows agree, or that waiting longer is of no use.
type stable struct {
	play    int
	settled bool
	left    bool // it plays no more
}

func newGroup(r *runner, u *program.Unit) *group {
	g := &group{r: r, started: make(chan struct{}), away: len(u.Members), stable: make(map[*member]stable)}
	for _, of := range u.Members {
		m := newMember(r, g, of)
		g.members = append(g.members, m)
		if m.waits() {
			continue
		}
		g.busy++
		if _, ok := m.plays[0].Node.Stage.Extent.(scenario.UntilStable); ok {
			g.stable[m] = stable{}
		}
	}
	return g
}

// waits reports whether a member lasts as long as the others.
func (m *member) waits() bool {
	_, ok := m.plays[0].Node.Stage.Extent.(scenario.UntilOthers)
	return ok
}

// come says that a member has come to the start, or never will. Only its first call counts.
func (g *group) come(m *member) {
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

// leave is a member's end: nobody waits for it any more.
func (g *group) leave(m *member) {
	g.come(m)
	g.mu.Lock()
	defer g.mu.Unlock()
	if !m.waits() {
		g.busy--
	}
	if s, ok := g.stable[m]; ok {
		s.left = true
		g.stable[m] = s
	}
}

// alone reports whether only members that wait for others still run.
func (g *group) alone() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.busy == 0
}

// agree notes whether a member's play is settled, and reports whether all are that say `until: stable`: those that are at
// the same play, as the others have been there before or have left.
func (g *group) agree(m *member, settled bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.agreed > m.number {
		return true
	}
	g.stable[m] = stable{play: m.number, settled: settled}
	for _, s := range g.stable {
		if !s.left && s.play <= m.number && (s.play < m.number || !s.settled) {
			return false
		}
	}
	g.agreed = m.number + 1
	return true
}

// ready waits for the start of a trial: the common one of the group with the first play, at once with any other. It takes
// the first look at the server just before. False: the run is to end.
func (t *trial) ready(ctx context.Context) bool {
	g, delay := t.m.group, t.node.Stage.Delay
	if t.m.number > 0 || t.m.came {
		t.watch.begin(ctx, t)
		t.start = t.r.clock.Now() + int64(headStart)
		return true
	}
	if !t.m.grouped() || delay == 0 {
		t.watch.begin(ctx, t)
		g.come(t.m)
		<-g.started
		t.start = g.start
		return true
	}
	g.come(t.m)
	<-g.started
	if !t.r.stops.sleep(ctx, delay-lead-time.Duration(t.r.clock.Now()-g.start)) {
		return false
	}
	t.watch.begin(ctx, t)
	t.start = max(g.start+int64(delay), t.r.clock.Now()+int64(headStart))
	return true
}

// sitOut waits for the end of hold where a schedule has no arrival in what is left of it: others last as long as this one.
func (t *trial) sitOut(ctx context.Context) {
	left := t.control.StopAt.Load() - t.r.clock.Now()
	if len(t.m.group.members) > 1 && t.course.length > 0 && left > 0 && left <= t.course.length && !t.course.ends && !t.ranOut() {
		t.r.stops.sleep(ctx, time.Duration(left))
	}
}

// grouped reports whether the stage stands in a `parallel`.
func (m *member) grouped() bool { return m.plays[0].Node.Stage.Group != nil }

// delay waits before a stage that runs alone; in a group the wait is for the start, see ready.
func (m *member) delay(ctx context.Context) {
	if d := m.plays[0].Node.Stage.Delay; d > 0 && !m.grouped() && m.due(m.plays[0]) {
		m.r.tell(Event{Node: m.plays[0].Node.ID, Phase: PhaseOpen, Text: "waiting " + d.String() + " before stage " + m.stage})
		m.r.stops.sleep(ctx, d)
	}
}
