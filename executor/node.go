package executor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
)

// spin is the final spin of the pacer before a due time: a sleep that ends on time costs a context switch too late.
const spin = 30 * time.Microsecond

// headStart is the time between now and a node's first due time, so that the first arrival is not late by set-up.
const headStart = 2 * time.Millisecond

// trial is one measurement of a node while it runs: a repeat of it, or a trial of its search.
type trial struct {
	r      *runner
	m      *member
	node   *program.Node
	number int // of the repeat, from 0
	tried  int // of the repeat's trials, from 0: schedules and data differ by both
	serial int // of all the node's trials: request ids differ by it
	aims
	deadline int64 // run clock, by max_duration; 0: none
	out      *result.Node
	in       *inputs

	course   *course
	calls    [][]*backends.Call // by entry
	releases []backends.Release
	pools    []drive.Pool
	holds    bool // the lanes keep their processors: backends.Limits.BlocksThread
	rings    *measure.Rings
	folder   *measure.Folder
	keeper   Recorder // of its samples; nil: nobody keeps them
	parts    program.Parts
	fate     doom
	short    cutShort
	start    int64 // run clock: due times count from here
	sends    feed.Source

	live    *feed.Sequences // nil: its requests stand alone
	control drive.Control
	played  drive.Played
	steer   steering
	watch   watcher
	folded  int64     // samples that came back
	read    *readings // once it has ended
}

// repeat plays a node once.
func (m *member) repeat(ctx context.Context, p program.Play) *repeat {
	t := &trial{r: m.r, m: m, node: p.Node, number: p.Repeat, serial: m.earlier(p.Node, p.Repeat), out: m.r.blank(p.Node), in: m.r.inputs[p.Node.Stage]}
	if limit := p.Node.Stage.MaxDuration; limit > 0 {
		t.deadline = m.r.clock.Now() + int64(limit)
	}
	var why string
	if t.aims, why = m.aim(p.Node); why != "" {
		return t.without(why)
	}
	if t.search != nil {
		return m.search(ctx, t)
	}
	return t.run(ctx)
}

// run is the node procedure: lanes → start → warm-up → hold → drain → numbers → validity. The lanes belong to the player,
// which closes them; everything that outlives a node is on the run's clean-up stack.
func (t *trial) run(ctx context.Context) *repeat {
	t.record()
	if t.in.err != nil {
		return t.fail(t.in.err)
	}
	t.r.tell(Event{Node: t.node.ID, Part: t.part(), Phase: PhaseOpen})
	t.course = t.plot()
	defer t.release(ctx)
	if err := t.place(t.r.stops.waiting); err != nil {
		return t.fail(err)
	}
	if err := t.open(); err != nil {
		return t.fail(err)
	}
	t.sends = t.source() // before the clock starts: to shuffle many rows takes longer than headStart
	defer t.stayAwake()()
	if !t.ready(ctx) {
		return t.leave()
	}
	t.drive(ctx)
	t.sitOut(ctx)
	t.release(ctx)
	t.measure()
	t.validity()
	t.outcome()
	return &repeat{out: t.out, read: t.read, short: t.short}
}

// part names the trial among those of its node.
func (t *trial) part() string {
	text := ""
	if t.search != nil {
		text = fmt.Sprintf("trial %d, %s", t.tried+1, t.at())
	}
	if of := t.node.Stage.Repeat; of > 1 {
		text = strings.TrimSuffix(fmt.Sprintf("repeat %d of %d, %s", t.number+1, of, text), ", ")
	}
	return text
}

// record says what the load is in the end, where it comes from results.
func (t *trial) record() {
	l := &t.out.Load
	l.Value, l.Formula = t.level, t.node.Planned.Formula
	for i, step := range t.steps {
		l.Ramp[i].To = step.To
	}
}

// fail ends a trial that could not be set up.
func (t *trial) fail(err error) *repeat {
	t.out.Outcome, t.out.Reason = result.Failed, err.Error()
	if why := t.r.stops.now(); why != "" {
		t.out.Outcome, t.out.Reason = result.InterruptedNode, "interrupted before the measurement began: "+why
	}
	return &repeat{out: t.out}
}

// without ends a trial for want of data that its load is made of.
func (t *trial) without(why string) *repeat {
	t.out.Outcome, t.out.Reason = result.SkippedNode, why
	t.note(result.NoData, "%s", why)
	return &repeat{out: t.out}
}

// leave ends a trial that was interrupted before its clock started.
func (t *trial) leave() *repeat {
	for _, p := range t.pools {
		closeAll(p.Lanes)
	}
	t.out.Outcome, t.out.Reason = result.InterruptedNode, "interrupted before the measurement began"
	return &repeat{out: t.out}
}

func closeAll(lanes []backends.Lane) {
	for _, l := range lanes {
		_ = l.Close() // nothing was sent on it
	}
}

// open connects the lanes, a pool for each target, and makes what stands between player and folder.
func (t *trial) open() error {
	rings, events := 0, 0
	for _, to := range t.in.pools {
		n, depth := t.layout(to)
		lanes, limits, err := to.conn.Lanes(t.r.stops.waiting, n, backends.LaneOptions{Depth: depth, MaxBlocked: t.mayHold(), LargestCall: t.largest()})
		if err != nil {
			t.leave()
			return fmt.Errorf("open %d connections: %w%s", n, err, connectHint(err, to.plan.TLS))
		}
		t.holds = limits.BlocksThread
		p := drive.Pool{Lanes: lanes, Limits: limits, MaxSlots: to.shared(t.course.slots), Timeout: int64(to.plan.Timeout), InProcess: program.Abilities(to.kind, to.plan).Has(backends.SharesProcess)}
		if to.plan.Streaming {
			p.Inactivity, events = int64(to.plan.InactivityTimeout), t.events()
		}
		if t.course.profile == nil && depth == 1 {
			p.Grow = to.grow
		}
		t.pools, rings = append(t.pools, p), rings+p.MaxSlots
	}
	t.rings = measure.NewRings(rings, t.buffers(rings, events), events)
	t.steer = t.steering()
	t.parts = t.r.program.Parts(t.node)
	t.fate = t.doom()
	var sink measure.Sink
	if t.keeper = t.recorder(); t.keeper != nil {
		sink = t.keeper
	}
	t.folder = measure.New(measure.Config{
		Parts: t.parts.Measured, Settled: t.control.OldestDue.Load,
		Rings: t.rings, HoldStart: t.control.HoldStart.Load, HoldEnd: t.control.StopAt.Load, InFlight: t.control.InFlight.Load,
		Slice: t.steer.slice(), Windows: t.steer.windows(), Closed: t.course.profile != nil, Sink: sink,
	})
	return nil
}

// events is how many responses of a request are kept before they are folded, while it goes on. A load that steps on after so
// many responses looks just then.
func (t *trial) events() int {
	const usual, most = 256, 4096
	q, ok := scenario.QuantityOf(t.node.Stage.Load).(scenario.Periodic)
	if !ok {
		return usual
	}
	looks := (q.Responses + most - 1) / most
	return min((q.Responses+looks-1)/looks, most)
}

// manySteps is how many steps of a sequence one slot may send between two looks of the folder.
const manySteps = 128

// buffers is how many samples a lane has; 0: as many as the budget gives. In an open loop the slots take turns, but a
// sequence stays on its slot and sends its steps one after the other: a few samples for each would hold it up.
func (t *trial) buffers(lanes, events int) int {
	if t.course.sequences == nil || t.course.profile != nil || events > 0 || lanes > maxDeep {
		return 0
	}
	return manySteps
}

// maxDeep is the largest number of lanes that may have manySteps samples each: 190 MB.
const maxDeep = 8192

// drive plays the load in a goroutine of its own while this one folds, watches and steers.
func (t *trial) drive(ctx context.Context) {
	t.steer.begin(t)
	t.folded = -t.r.env.lost
	done := make(chan struct{})
	var crash any
	go func() {
		defer close(done)
		defer func() { crash = recover() }()
		t.play(ctx)
	}()
	t.loop(ctx, done)
	if crash != nil {
		panic(crash) // the member turns it into a failed repeat
	}
}

// options are those of either player.
func (t *trial) options() drive.Options {
	c := t.course
	o := drive.Options{
		Clock: t.r.clock, Start: t.start, Drain: t.node.Stage.Drain,
		WarmCount: c.warmCount, Limit: c.limit, IDBase: t.idBase(), Sequences: c.sequences,
	}
	if c.warm > 0 {
		o.WarmUntil = t.start + c.warm
	}
	if t.budget() > 0 { // then the feed has the limit, and each slot asks it once in vain
		o.Limit += int64(c.slots)
	}
	return o
}

// idBase makes request ids unique in the run: the node's number, 10 bits for its trials, 40 bits for their arrivals.
func (t *trial) idBase() uint64 {
	for i, n := range t.r.program.Nodes {
		if n == t.node {
			return uint64(i+1)<<50 | uint64(t.serial&(1<<10-1))<<40
		}
	}
	return 0
}

// seed is that of the trial: of the plan, the stage, the point, the repeat and the trial.
func (t *trial) seed() [2]uint64 {
	point := t.node.ID
	if t.number > 0 {
		point += fmt.Sprintf("#%d", t.number)
	}
	if t.tried > 0 {
		point += fmt.Sprintf(".%d", t.tried)
	}
	return load.Seed(t.r.program.Plan.Seed, t.node.Stage.ID, point)
}

func (t *trial) play(ctx context.Context) {
	o, c := t.options(), t.course
	defer func() {
		if t.live != nil {
			t.live.Close()
		}
	}()
	if c.profile != nil {
		t.played = drive.Closed(ctx, c.profile, t.sends, t.pools, t.rings, &t.control, o)
		return
	}
	var again load.Schedule
	var kind func(uint64) int
	if len(t.fate.checks) > 0 && c.sequences == nil {
		again = c.arrivals()
		if m, mixed := t.sends.(*feed.Mix); mixed {
			kind = m.Entry
		}
	}
	t.played = drive.Open(ctx, c.arrivals(), t.sends, t.pools, t.rings, &t.control, drive.OpenOptions{
		Options: o, Drop: c.overflow == "drop", Spin: int64(spin), MaxInFlight: t.most(), Delay: t.r.env.Delay, Replay: again, EntryOf: kind,
	})
}

// most is how many requests of an open loop may be in flight: what the stage allows, or all connections that there can be.
func (t *trial) most() int {
	lanes := 0
	for _, p := range t.pools {
		lanes += p.MaxSlots
	}
	return min(t.course.slots, lanes)
}

// source is what is sent: the data of the stage, or of the kinds of its mix, in turn or drawn; sequences of it where its
// requests form some.
func (t *trial) source() feed.Source {
	s, seed := t.node.Stage, t.seed()[1]
	if t.course.sequences != nil {
		return t.think(t.stream(), seed)
	}
	var kinds []feed.MixEntry
	for i, e := range t.in.entries {
		d := e.plan.Request.Data
		calls := feed.NewCalls(t.calls[i][t.course.skipped:], feed.Order(d.Order), t.once(d), seed, t.idBase()).Pausing(e.delays)
		kinds = append(kinds, feed.MixEntry{Calls: calls, Weight: e.plan.Weight, Pool: e.pool})
	}
	var src feed.Source = kinds[0].Calls
	if s.Mix != nil {
		src = feed.NewMix(kinds, seed)
	}
	return t.think(src, seed)
}

// think adds the pauses after replies of a closed loop: those that rows ask for, else those of the load.
func (t *trial) think(src feed.Source, seed uint64) feed.Source {
	c, closed := t.node.Stage.Load.(scenario.Concurrency)
	pause, thinks := scenario.Dist{Shape: "constant"}, closed && c.Think != nil
	if thinks {
		pause = *c.Think
	}
	for _, e := range t.in.entries {
		thinks = thinks || closed && e.delays != nil
	}
	if !thinks {
		return src
	}
	return feed.Think(src, pause, seed)
}

// once reports whether the rows of a dataset are sent once: as it says itself, or because each has its own time.
func (t *trial) once(d *scenario.Dataset) bool {
	s, ok := t.node.Stage.Load.(scenario.Schedule)
	return d.AtEnd == "stop" || ok && s.File == nil
}
