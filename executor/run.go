// Package executor runs a compiled plan: targets, set-up, units, groups, repeats, searches, judgement,
// clean-up. Everything it measures is data in a result.Result.
//
// It is not: a compiler of plans (executor/program), the measurement of a node (executor/trial), a
// printer, a writer of files, a place that knows a wire format or which backend can do what.
//
// Read it in the order of a run: run.go; inputs.go what is prepared before anything is measured, with
// targets.go, prepare.go and ready.go; unit.go a stage, or a group of stages (group.go);
// repeat.go the repeats of a node, attempt.go one trial of it, search.go those of a search; judge.go and
// rules.go what the node's result means; record.go and client.go what is stored of the whole run.
package executor

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/observe"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/trial"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Embedded is an embedded server that runs.
type Embedded struct {
	URL   string
	Stop  func() error
	Ended func() string // how it ended by itself; "" while it runs
}

// Env is all that a run takes from outside: one struct, so that tests and commands differ by values
// only.
type Env struct {
	Tool result.Tool
	// Alone: nothing else goes on in this process. Its CPU time is the client's, and its scheduler
	// may be set for the load.
	Alone bool
	// Serve starts the embedded server of a builtin:// target; scheme is "http" or "grpc".
	Serve func(ctx context.Context, scheme string, b *scenario.Builtin, seed uint64) (Embedded, error)
	// Execute runs a program in a folder and returns what it prints, no more than limit bytes; nil: the user
	// does not allow it.
	Execute func(ctx context.Context, folder string, command []string, limit int64) ([]byte, error)
	// Interrupt gives the signal that asks for an orderly end: no further sends, drain, judge,
	// artifacts. nil: never. A second one is the caller's to turn into a cancelled context:
	// everything in flight is then cut off.
	Interrupt <-chan int
	// Events takes progress: at most 10 a second and node, never from a lane. nil: it is not wanted.
	Events func(Event)
	// Interim takes the result of the run while it goes on: once before anything is sent, then with
	// the nodes that have ended. It may keep what it gets. An error of the first ends the run;
	// nothing was sent then. nil: nothing is kept.
	Interim func(*result.Result) error
	// Delay is a test hook that holds up this client before it sends request n, see drive.Options.Delay; nil in
	// production.
	Delay func(n uint64)
	// lost is a test hook: the samples that are taken for lost, by number of a node's trial; nil in
	// production.
	lost func(trial int) int64
	// Record returns the recorder of a trial's samples before it measures, or nil. Replies: with what was
	// answered. nil: no samples are kept.
	Record  func(trial.Recording) trial.Recorder
	Replies bool
	// Machine says what this machine has shown it can drive; nil: unknown.
	Machine *program.Machine
	// RetryInvalid is how often a trial is played again that this client made invalid, or left open.
	RetryInvalid int
	// AllowInconclusive gives a run the exit code 0 that only this machine, or the number of samples,
	// kept from a verdict.
	AllowInconclusive bool
}

// Event is one piece of progress.
type Event struct {
	Node  string
	Part  string // "repeat 2 of 4", "trial 3, 40/s": which trial of the node, where there are several
	Phase Phase
	// Elapsed is the time since the node's phase began; Total how long the phase will last, 0 where
	// that is open.
	Elapsed, Total time.Duration
	Live           *measure.Progress // nil outside warm-up, hold and drain
	Result         *result.Node      // with PhaseDone
	Text           string            // with PhaseOpen: what is being waited for
}

// Phase names what a node is doing.
type Phase = trial.Phase

// The phases of a node, in order.
const (
	PhaseOpen   Phase = "set-up"
	PhaseWarmup       = trial.Warmup
	PhaseHold         = trial.Hold
	PhaseDrain        = trial.Drain
	PhaseDone   Phase = "done"
)

// runner is one run of a program. While a unit runs its members only read it; what they have found
// out is taken over when all have ended.
type runner struct {
	*setup   // what is open and prepared
	result   *result.Result
	cpus     float64             // how many this process may use
	failed   map[string]string   // stages that count as failed, and why
	cached   map[string]rowsSent // what the server's cache had of rows when they were sent first, see rowsOf
	unfit    string              // why nothing is to be sent: then all nodes are skipped; "": it is
	interim  interim
	occasion verdict.RunOutcome
}

// Run plays a program. The result is never nil and complete on every way out; diagnostics are
// mistakes of the plan that only the server could reveal, found before anything was sent.
func Run(ctx context.Context, p *program.Program, e Env) (*result.Result, source.Diagnostics) {
	r := &runner{
		setup: &setup{
			program: p, env: e, clock: backends.Clock{Origin: time.Now()}, room: maxCalls,
			targets: make(map[*scenario.Target]*target), inputs: make(map[*scenario.Stage]*inputs),
			ids: make(map[[2]uint64]*feed.IDs), asked: make(map[model]error),
		},
		failed: make(map[string]string), cached: make(map[string]rowsSent), cpus: observe.AvailableCPUs(),
	}
	r.result = skeleton(p.Plan, e.Tool, r.clock.Origin)
	r.interim.save, r.interim.mask = e.Interim, p.Plan.Mask
	r.stops = watchStops(ctx, e.Interrupt, p.Plan.MaxDuration)
	diags := r.play(ctx)
	return r.result, diags
}

func (r *runner) play(ctx context.Context) (diags source.Diagnostics) {
	defer func() {
		if p := recover(); p != nil {
			r.occasion.Internal = fmt.Sprint(p)
			r.skipAll(ctx, "internal error: "+r.occasion.Internal)
		}
		if err := r.clean.run(ctx); err != nil {
			if k := len(r.result.Nodes); k > 0 { // it belongs to no node: the last one keeps it
				note(r.result.Nodes[k-1], result.CleanUp, "could not undo everything: "+err.Error())
			}
		}
		r.interim.end()
		r.finish()
	}()
	if err := r.interim.begin(r.result); err != nil {
		r.occasion.Plan = "nothing was sent: " + err.Error()
		r.skipAll(ctx, r.occasion.Plan)
		return nil
	}
	diags = r.prepare(ctx)
	if diags.HasErrors() {
		r.occasion.Plan = fmt.Sprintf("the plan does not fit the server: %s", diags[0].Summary)
		r.skipAll(ctx, r.occasion.Plan)
		return diags
	}
	for _, u := range r.program.Units {
		r.unit(ctx, u)
	}
	return diags
}

// skipAll gives every node that has no result yet one that says why it did not run.
func (r *runner) skipAll(ctx context.Context, why string) {
	r.unfit = why
	for _, u := range r.program.Units {
		for _, m := range newGroup(r, u).members {
			m.skipAll(ctx)
			r.adopt(m)
		}
	}
}

func (m *member) skipAll(ctx context.Context) {
	defer m.guard(nil)
	for _, p := range m.Plays {
		if nodeOf(m.r.result.Nodes, p.Node.ID) == nil {
			m.step(ctx, p)
		}
	}
}

// note adds a finding to a node's result.
func note(n *result.Node, code, text string) {
	found := result.Finding{Code: code, Severity: result.Note, Text: text}
	n.Validity.Findings = append(n.Validity.Findings, found)
}
