package trial

import (
	"context"
	"math"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario"
)

// session joins what works together while the clock of a trial runs: the player sends, the folder sums
// up, the observer asks others, the steering ends hold.
type session struct {
	host     *Host
	in       *Input
	plan     *program.Load
	control  *drive.Control
	play     func(ctx context.Context, start int64) drive.Played
	recorder Recorder // of the samples; nil: they are not kept
	folder   *measure.Folder
	observer *observer
	steering *steering
}

// newSession makes the session of a trial on open lanes.
func newSession(h *Host, in *Input, p *program.Load, lanes lanePools, calls [][]*backends.Call) *session {
	c, rings := new(drive.Control), newRings(in, p, lanes.most())
	s := &session{
		host: h, in: in, plan: p, control: c, recorder: newRecorder(h, in, p),
	}
	s.play = s.prepare(lanes, calls, rings)
	var stable *scenario.UntilStable
	if e, ok := in.Node.Stage.Extent.(scenario.UntilStable); ok {
		stable = &e
	}
	cut := cutHold(p.Length, stable)
	config := measure.Config{
		Breakdown: in.Parts.Measured, Settled: c.OldestDue.Load, Rings: rings, HoldStart: c.HoldStart.Load,
		HoldEnd: c.StopAt.Load, InFlight: c.InFlight.Load, Slice: cut.slice, Windows: cut.windows,
		Closed: !p.Open,
	}
	if s.recorder != nil {
		config.Sink = s.recorder
	}
	s.folder = measure.New(config)
	s.observer = newObserver(h, in, cut, s.folder, c)
	s.steering = newSteering(h, in, p, stable, s.folder, c)
	return s
}

// drive plays the load from start in a goroutine of its own while this one folds, observes and
// steers. folded counts the samples that came back.
func (s *session) drive(ctx context.Context, start int64) (played drive.Played, folded int64) {
	s.steering.begin(start)
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
