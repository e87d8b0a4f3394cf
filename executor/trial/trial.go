// Package trial measures one node once: it opens the lanes, plays the load, observes the servers and
// this process meanwhile, ends hold, and makes the numbers and findings. It knows nothing of repeats,
// groups, searches and other nodes: a run plays several trials and joins their readings.
//
// Read trial.go first: Run is the whole of it, step by step. Before the clock starts: load_plan.go what
// is due and for how long, calls.go and lanes.go what is sent and on what, source.go and sequences.go in
// which order. While it runs session.go joins player.go, observer.go (with snapshots.go, settle.go and
// scrapes.go) and steer.go (with stability.go and abort.go, which looks at progress.go). Afterwards:
// books.go, readings.go, models.go, series.go and gpu.go make the numbers, validity.go says whether they
// count, notes.go and summary.go what a reader should know of them.
package trial

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/delay"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
)

// tick is the time between two looks, in which samples are folded and decisions taken.
const tick = 10 * time.Millisecond

// reportEvery is the least time between two reports of progress, ns.
const reportEvery = int64(100 * time.Millisecond)

// Host holds what a run lends to a trial.
type Host struct {
	Clock   backends.Clock
	Alone   bool             // nothing else goes on in this process
	CPUs    float64          // that this process may use
	Machine *program.Machine // what this machine has shown it can drive; nil: unknown

	// Waiting is done when the run is to end: for steps that wait for a server. Stopped says then
	// why, else "". Abort ends the run because of an assertion.
	Waiting context.Context
	Stopped func() string
	Abort   func(why string)

	// Begin waits for the start that the trial shares with others, calls look just before and
	// returns when the load starts, on the run's clock. False: the run is to end.
	Begin func(ctx context.Context, look func(context.Context)) (start int64, ok bool)
	// Client knows the delays of all that are played at the same time.
	Client *delay.Client

	Beside    bool // trials are played beside this one
	InProcess bool // a server of one of all these runs in this process
	// Agree takes whether this trial is stable and reports whether hold may end.
	Agree func(stable bool) bool
	// OthersEnded reports whether only trials go on that wait for others.
	OthersEnded func() bool

	Report func(Progress)                     // takes progress, at most 10 times a second
	Record func(recording Recording) Recorder // keeps the samples; nil: they are not kept
	Delay  func(n uint64)                     // see drive.Options.Delay
	Lost   int64                              // a test hook: samples that are taken for lost
}

// Phase names what a trial is doing.
type Phase string

// The phases of a trial, in order.
const (
	Warmup Phase = "warm-up"
	Hold   Phase = "hold"
	Drain  Phase = "drain"
)

// Progress says how far a trial is.
type Progress struct {
	Phase Phase
	// Elapsed is the time since the phase began; Total how long it will last, 0 where that is open.
	Elapsed, Total time.Duration
	Counts         *measure.Progress
}

// Input holds what one trial is about.
type Input struct {
	Node     *program.Node
	Load     program.Amounts
	Requests *Requests
	Seed     [2]uint64 // of schedules and data
	IDBase   uint64    // of request ids
	Number   int       // of all the node's trials, from 0
	Deadline int64     // run clock, by the stage's max_duration; 0: none

	Parts  program.Parts        // that have numbers of their own
	Checks []program.AskedCheck // that read the node, of the whole plan
	// Values answers references from the stored results of this node and of others.
	Values      func(own *result.Node) result.Stored
	Percentiles []float64           // to be stored
	Mask        func(string) string // hides secrets in texts of a server
	Result      *result.Node        // with what is asked of the node, to be filled in
}

// Output holds what a trial gave.
type Output struct {
	Node     *result.Node
	Readings *Readings // nil: nothing was measured
	Short    CutShort
}

// Run measures a node once: load plan → lanes → start → warm-up → hold → drain → numbers →
// validity. The lanes belong to the player, which closes them; everything that outlives a node is
// on the run's clean-up stack.
func Run(ctx context.Context, h Host, in Input) Output {
	out := in.Result
	plan := in.Node.LoadWith(in.Load, in.Requests.rows(), in.Seed)
	out.Load.Value = plan.Level // of intervals it was not known before
	calls, err := placeCalls(h.Waiting, in.Requests, plan.Slots)
	defer calls.release(ctx, out)
	if err != nil {
		return NotSetUp(out, err, h.Stopped())
	}
	lanes, err := openLanes(h.Waiting, &in, plan, blockingLanes(&h, &in, plan), calls.largest())
	if err != nil {
		return NotSetUp(out, err, h.Stopped())
	}
	s := newSession(&h, &in, plan, lanes, calls.byEntry)
	defer s.leave()
	defer stayAwake(&h, plan, lanes)()
	start, ok := h.Begin(ctx, s.observer.begin)
	if !ok {
		lanes.close()
		out.Outcome, out.Reason = result.InterruptedNode, "interrupted before the measurement began"
		return Output{Node: out}
	}
	played, folded := s.drive(ctx, start)
	complete := ranOut(&in, plan.Skipped, played.Sent+played.WarmSent)
	s.waitForDrain(complete)
	s.steering.end.notes.addTo(out)

	end := endOfHold(h.Clock.Now(), plan, complete, s.control)
	folded += int64(s.folder.Drain(end))
	m := measured{
		total: s.folder.Finish(end), start: start, played: played, end: s.steering.end,
		history: s.steering.stability.history,
	}
	closeRecorder(s.recorder, &m).addTo(out)
	m.cutToWindows(out)
	out.Look = m.end.look
	enterBooks(&m, s.running, calls.byEntry)
	readings, notes := newReadings(&m, s.observer, clientCPUs(&h, plan, lanes))
	notes.addTo(out)
	readings.Fill(out)
	notesOnReadings(readings).addTo(out)
	if in.Node.Open {
		out.Load.ScheduleHash = fmt.Sprintf("%016x", played.Hash)
	}

	health := newHealth(&h, &in, plan, &m, readings, s.observer.gaps.Longest)
	health.judge(&out.Validity)
	lostSamples(s.control.Sent.Load(), folded).addTo(out)
	notesOnTrial(&in, s, lanes, &m, readings).addTo(out)
	settleOutcome(out, &m.end)
	return Output{Node: out, Readings: readings, Short: m.end.short}
}

// NotSetUp returns the output of a trial that could not be set up. stopped says why the run is to end,
// "" while it is not.
func NotSetUp(out *result.Node, err error, stopped string) Output {
	out.Outcome, out.Reason = result.Failed, err.Error()
	if stopped != "" {
		out.Outcome, out.Reason = result.InterruptedNode, "interrupted before the measurement began: "+stopped
	}
	return Output{Node: out}
}

// settleOutcome settles how a trial ended.
func settleOutcome(out *result.Node, e *holdEnd) {
	out.Aborted = e.aborted
	switch {
	case e.stopped != "":
		out.Outcome, out.Reason = result.InterruptedNode, e.stopped
	case !out.Validity.OK:
		out.Outcome = result.Invalid
		for _, f := range out.Validity.Findings {
			if f.Severity == result.Invalidating {
				out.Reason = f.Text
				break
			}
		}
	case e.unstable != "":
		out.Outcome, out.Reason = result.Unstable, e.unstable
	default:
		out.Outcome = result.Done
	}
}
