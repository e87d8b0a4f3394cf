package executor

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
)

// Spin is the final spin of the pacer before a due time: a sleep that ends on time costs a context switch too late.
const spin = 30 * time.Microsecond

// headStart is the time between now and a node's first due time, so that the first arrival is not late by set-up.
const headStart = 2 * time.Millisecond

// trial is one measurement of a node while it runs: a round of it, or a probe of its search.
type trial struct {
	r      *runner
	node   *Node
	number int     // of the node's trials, from 0: schedules, data and request ids differ by it
	level  float64 // requests in flight, or a second
	out    *result.Node
	target *target
	in     *inputs

	lanes  []backends.Lane
	limits backends.Limits
	rings  *measure.Rings
	folder *measure.Folder
	parts  scopes
	start  int64 // run clock: due times count from here

	control drive.Control
	played  drive.Played
	steer   steering
	watch   watcher
	read    *readings // once it has ended
}

// round plays a node once.
func (m *member) round(ctx context.Context, p Play) *round {
	return m.trial(ctx, p.Node, p.Round, p.Node.Level.Value)
}

// trial is the node procedure: lanes → warm-up → hold → drain → numbers → validity. The lanes belong to the player, which
// closes them; everything that outlives a node is on the run's clean-up stack.
func (m *member) trial(ctx context.Context, n *Node, number int, level float64) *round {
	r := m.r
	t := &trial{
		r: r, node: n, number: number, level: level, out: r.blank(n),
		target: r.targets[n.Stage.Request.Target], in: r.inputs[n.Stage],
	}
	if t.in.err != nil {
		return t.fail(t.in.err)
	}
	r.tell(Event{Node: n.ID, Phase: PhaseOpen})
	if err := t.open(ctx); err != nil {
		return t.fail(err)
	}
	t.drive(ctx)
	t.measure()
	t.validity()
	t.outcome()
	return &round{out: t.out, read: t.read}
}

func (t *trial) fail(err error) *round {
	t.out.Outcome, t.out.Reason = result.Failed, err.Error()
	return &round{out: t.out}
}

// slots is how many requests may be open at the same time.
func (t *trial) slots() int {
	if rate, ok := t.node.Stage.Load.(scenario.Rate); ok {
		return rate.Pool.MaxInFlight
	}
	return int(t.level)
}

// first is how many lanes are open when the clock starts: all of a closed loop; of an open loop what its rate is likely
// to need at once, the rest is opened in the background when it is needed.
func (t *trial) first() int {
	if !t.node.Open {
		return t.slots()
	}
	const window = 5e-3 // s
	return min(t.slots(), max(16, int(math.Ceil(t.level*window))))
}

// shared is the bound that HTTP/1.1 puts on lanes when the plan fixes the number of connections.
func (t *trial) shared(lanes int) int {
	if c := t.target.plan.Connections.Shared; c > 0 && !strings.HasPrefix(scheme(t.target.url), "grpc") {
		return min(lanes, c)
	}
	return lanes
}

// open connects the lanes and makes what stands between player and folder.
func (t *trial) open(ctx context.Context) error {
	lanes, limits, err := t.target.conn.Lanes(ctx, t.shared(t.first()), backends.LaneOptions{Depth: 1})
	if err != nil {
		return fmt.Errorf("open %d connections: %w", t.first(), err)
	}
	t.lanes, t.limits = lanes, limits
	t.rings = measure.NewRings(t.shared(t.slots()), 0, 0)
	t.steer = t.steering()
	t.parts = t.r.program.scopes(t.node)
	t.folder = measure.New(measure.Config{
		Parts: t.parts.parts, Settled: t.control.OldestDue.Load,
		Rings: t.rings, HoldStart: t.control.HoldStart.Load, HoldEnd: t.control.StopAt.Load, InFlight: t.control.InFlight.Load,
		Slice: t.steer.slice(), Windows: t.steer.windows(), Closed: !t.node.Open, Sink: t.r.env.Sink,
	})
	return nil
}

// grow opens more lanes while the node runs.
func (t *trial) grow(ctx context.Context, n int) ([]backends.Lane, error) {
	lanes, _, err := t.target.conn.Lanes(ctx, n, backends.LaneOptions{Depth: 1})
	return lanes, err
}

// drive plays the load in a goroutine of its own while this one folds, watches and steers.
func (t *trial) drive(ctx context.Context) {
	t.watch.begin(ctx, t)
	t.start = t.r.clock.Now() + int64(headStart)
	t.steer.begin(t)
	done := make(chan struct{})
	var crash any
	go func() {
		defer close(done)
		defer func() { crash = recover() }()
		t.play(ctx)
	}()
	t.loop(ctx, done)
	if crash != nil {
		panic(crash) // step turns it into a failed node
	}
}

// options are those of either player.
func (t *trial) options() drive.Options {
	s := t.node.Stage
	o := drive.Options{
		Clock: t.r.clock, Start: t.start, Timeout: int64(s.Request.Target.Timeout), Drain: s.Drain,
		WarmCount: s.Warmup.Requests, IDBase: t.idBase(),
	}
	if s.Warmup.Duration > 0 {
		o.WarmUntil = t.start + int64(s.Warmup.Duration)
	}
	if e, ok := s.Extent.(scenario.For); ok {
		o.Limit = e.Span.Requests
	}
	return o
}

// idBase makes request ids unique in the run: the node's number, 10 bits for its trials, 40 bits for their arrivals.
func (t *trial) idBase() uint64 {
	for i, n := range t.r.program.Nodes {
		if n == t.node {
			return uint64(i+1)<<50 | uint64(t.number&(1<<10-1))<<40
		}
	}
	return 0
}

// seed is that of the trial: of the plan, the stage, the point and the number of the trial.
func (t *trial) seed() [2]uint64 {
	point := t.node.ID
	if t.number > 0 {
		point += fmt.Sprintf("#%d", t.number)
	}
	return load.Seed(t.r.program.Plan.Seed, t.node.Stage.ID, point)
}

func (t *trial) play(ctx context.Context) {
	d, o := t.node.Stage.Request.Data, t.options()
	src := feed.NewCalls(t.in.calls, feed.Order(d.Order), d.AtEnd == "stop", t.seed()[1], o.IDBase)
	if !t.node.Open {
		t.played = drive.Closed(ctx, load.Level(t.slots()), src, t.pools(), t.rings, &t.control, o)
		return
	}
	rate := t.node.Stage.Load.(scenario.Rate)
	t.played = drive.Open(ctx, t.schedule(), src, t.pools(), t.rings, &t.control, drive.OpenOptions{
		Options: o, Drop: rate.Pool.Overflow == "drop", Spin: int64(spin),
		MaxInFlight: t.shared(t.slots()), Delay: t.r.env.Delay,
	})
}

// pools are the lanes that the player gets.
func (t *trial) pools() []drive.Pool {
	p := drive.Pool{Lanes: t.lanes, Limits: t.limits}
	if t.node.Open {
		p.Grow, p.Most = t.grow, t.shared(t.slots())
	}
	return []drive.Pool{p}
}

// schedule is the arrivals of an open loop: a function of seed, stage, point and arrival number.
func (t *trial) schedule() load.Schedule {
	rate := t.node.Stage.Load.(scenario.Rate)
	if rate.Arrivals.CV > 0 {
		return load.Poisson(t.level, t.seed())
	}
	return load.Constant(t.level)
}

// invalid records why the measurement cannot be trusted.
func (t *trial) invalid(code, format string, args ...any) {
	t.find(code, result.Invalidating, fmt.Sprintf(format, args...))
	t.out.Validity.OK = false
}

// note records what a reader should know, without doubt about the numbers.
func (t *trial) note(code, format string, args ...any) {
	t.find(code, result.Note, fmt.Sprintf(format, args...))
}

func (t *trial) find(code, severity, text string) {
	v := &t.out.Validity
	v.Findings = append(v.Findings, result.Finding{Code: code, Severity: severity, Text: text})
}

// outcome settles how the node ended, unless that is known already.
func (t *trial) outcome() {
	switch {
	case t.steer.stopped != "":
		t.out.Outcome, t.out.Reason = result.InterruptedNode, t.steer.stopped
	case !t.out.Validity.OK:
		t.out.Outcome = result.Invalid
		for _, f := range t.out.Validity.Findings {
			if f.Severity == result.Invalidating {
				t.out.Reason = f.Text
				break
			}
		}
	case t.steer.unstable != "":
		t.out.Outcome, t.out.Reason = result.Unstable, t.steer.unstable
	default:
		t.out.Outcome = result.Done
	}
}
