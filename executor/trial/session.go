package trial

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/delay"
	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// session joins what works together while the clock of a trial runs: the player sends, the folder sums
// up, the observer asks others, the steering ends hold.
type session struct {
	*running
	play     func(ctx context.Context, start int64) drive.Played
	recorder Recorder // of the samples; nil: they are not kept
	late     *delay.Log
	observer *observer
	steering *steering
	sessions *feed.Sequences // that the requests are turns of; nil: of none
}

// running holds what all parts of a session read: what a trial was given, and how far it is.
type running struct {
	host    *Host
	in      *Input
	plan    *program.Load
	control *drive.Control
	folder  *measure.Folder
}

// newSession makes the session of a trial on open lanes.
func newSession(h *Host, in *Input, p *program.Load, lanes lanePools, calls [][]*backends.Call) *session {
	c, rings := new(drive.Control), newRings(in, p, lanes.most())
	r := &running{host: h, in: in, plan: p, control: c}
	s := &session{running: r, late: h.Client.Join(delayLimits(in))}
	s.recorder = newRecorder(s)
	s.play = s.prepare(lanes, calls, rings)
	cut := cutHold(p.Length, in.Node.Stage.Extent)
	config := folderConfig(r, rings, cut, s.late)
	if s.recorder != nil {
		config.Sink, config.Counted = s.recorder, s.recorder.Counted
	}
	s.folder = measure.New(config)
	s.observer = &observer{running: r, cutting: cut, settles: readsServer(in.Checks)}
	s.steering = newSteering(r)
	return s
}

// leastTimeout returns the shortest timeout of the targets, ns; 0: none has one. Where requests are dropped it is
// half of that: others of them are dropped if the client is late, so that one may take far longer than it did.
func leastTimeout(in *Input, p *program.Load) (least int64) {
	for _, t := range in.Requests.Targets {
		if timeout := int64(t.Plan.Timeout); timeout > 0 && (least == 0 || timeout < least) {
			least = timeout
		}
	}
	if p.Stored.Overflow == "drop" {
		least /= 2
	}
	return least
}

// folderConfig returns how the samples of a trial are folded.
func folderConfig(r *running, rings *measure.Rings, cut cutting, late *delay.Log) measure.Config {
	c := r.control
	return measure.Config{
		Breakdown: r.in.Parts.Measured, Settled: c.OldestDue.Load, Rings: rings, HoldStart: c.HoldStart.Load,
		HoldEnd: c.StopAt.Load, InFlight: c.InFlight.Load, Length: r.plan.Length, Slice: cut.slice,
		Windows: cut.windows, Closed: !r.plan.Open, Waits: waits(r.in, r.plan), SlotsAt: slotsAt(r),
		Limited: r.plan.Limit > 0, Tokens: r.in.Node.Generates(),
		Prompt: r.in.Requests.promptTokens(), Count: r.countText(), CountAtOnce: tokensDecide(r.in), Beside: r.host.Beside,
		Client: r.host.Client, Log: late, Timeout: leastTimeout(r.in, r.plan),
	}
}

// countText returns what counts the tokens of answers; nil: those of none are counted. A run that is to end waits for
// none.
func (r *running) countText() func(*backends.Sample) (int, bool) {
	count, ending := r.in.Requests.textCounter(), r.host.Waiting
	if count == nil {
		return nil
	}
	return func(s *backends.Sample) (int, bool) {
		if ending != nil && ending.Err() != nil {
			return 0, false
		}
		return count(s)
	}
}

// tokensDecide reports whether the tokens of answers decide, while the node is measured, how long that goes on.
func tokensDecide(in *Input) bool {
	needs := func(l metric.Leaf) bool {
		good := l.Row.Name == metric.Goodput || l.Row.Name == metric.GoodputRatio
		return measure.NeedsTokens(l.Row) || good && slices.ContainsFunc(in.Parts.Measured.Goodput,
			func(b measure.Bound) bool { return measure.NeedsTokens(b.Row) })
	}
	if _, stable := in.Node.Stage.Extent.(scenario.UntilStable); stable &&
		(slices.ContainsFunc(in.Node.Stability, needs) || len(in.Node.While) > 0) {
		return true
	}
	if slices.ContainsFunc(in.Node.Precise, func(p program.Precision) bool { return needs(p.Leaf) }) {
		return true
	}
	return slices.ContainsFunc(in.Checks, func(c program.AskedCheck) bool {
		return c.Abort && slices.ContainsFunc(c.Asked, func(r expression.Ref) bool { return needs(r.Leaf) })
	})
}

// delayLimits returns up to which delays and pauses the client is on time, by the stage's validity.
func delayLimits(in *Input) delay.Limits {
	v := in.Node.Stage.Validity
	return delay.Limits{Send: int64(v.SendDelay), Pause: int64(v.Pause)}
}

// leave ends what the session shares with others that are played at the same time.
func (s *session) leave() { s.host.Client.Leave(s.late, s.host.Clock.Now()) }

// drive plays the load from start in a goroutine of its own while this one folds, observes and
// steers. folded counts the samples.
func (s *session) drive(ctx context.Context, start int64) (played drive.Played, folded int64) {
	s.steering.begin(start)
	defer drive.Heartbeat(s.host.Clock, s.late)()
	done := make(chan struct{})
	var crash any
	go func() {
		defer close(done)
		defer func() { crash = recover() }()
		played = s.play(ctx, start)
	}()
	folded = s.loop(ctx, start, done) - s.host.Lost
	if crash != nil {
		panic(crash) // the caller turns it into a failed repeat
	}
	return played, folded
}

// loop folds and steers until the player has ended.
func (s *session) loop(ctx context.Context, start int64, done <-chan struct{}) (folded int64) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	reported := int64(0) // time of the last report
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-ticker.C:
		}
		now := s.host.Clock.Now()
		s.late.Beat(now)
		folded += int64(s.folder.Drain(now))
		s.observer.look(ctx, now, !running)
		switch {
		case running:
			s.steering.decide(now)
			if now-reported >= reportEvery {
				reported = now
				s.report(start, now)
			}
		case ctx.Err() != nil: // this was not looked at since then
			s.steering.end.cutOff = true
			s.steering.decide(now)
		}
	}
	s.observer.wait()
	return folded
}

// report reports progress.
func (s *session) report(start, now int64) {
	p := Progress{Counts: s.folder.Progress()}
	begin, stop := s.control.HoldStart.Load(), s.control.StopAt.Load()
	switch {
	case begin == 0 || now < begin:
		p.Phase, p.Elapsed, p.Total = Warmup, time.Duration(max(now-start, 0)), time.Duration(s.plan.Warm)
	case now < stop:
		p.Phase, p.Elapsed, p.Total = Hold, time.Duration(now-begin), time.Duration(s.plan.Length)
	default:
		p.Phase, p.Elapsed, p.Total = Drain, time.Duration(now-stop), s.in.Node.Stage.Drain
	}
	s.host.Report(p)
}

// waitForDrain waits for the end of hold where a schedule has no arrival in what is left of it and
// other trials are played beside: they last as long as this one. ranOut: there is no more data.
func (s *session) waitForDrain(ranOut bool) {
	left := s.control.StopAt.Load() - s.host.Clock.Now()
	if !s.host.Beside || s.plan.Length == 0 || left <= 0 || left > s.plan.Length || s.plan.Ends || ranOut {
		return
	}
	t := time.NewTimer(time.Duration(left))
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.host.Waiting.Done():
	}
}

// endOfHold returns the moment at which the measurement ends at the latest. An open loop is done
// before hold is over when no arrival is due in what is left of it; that rest belongs to hold like
// any other time without an arrival. Only arrivals or data that ran out end hold early.
func endOfHold(now int64, p *program.Load, ranOut bool, c *drive.Control) int64 {
	stop := c.StopAt.Load()
	if stop == math.MaxInt64 || stop <= now {
		return now
	}
	if p.Ends || ranOut {
		c.StopAt.Store(math.MaxInt64) // with the last completion, not with what the drain took
		return now
	}
	if p.Length > 0 {
		return stop
	}
	return now
}
