package executor

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Env is all that a run takes from outside: one struct, so that tests and commands differ by values only.
type Env struct {
	Tool result.Tool
	// Serve starts the embedded server of a builtin:// target; scheme is "http" or "grpc".
	Serve func(ctx context.Context, scheme string, b *scenario.Builtin, seed uint64) (url string, stop func() error, err error)
	// Interrupt gives the signal that asks for an orderly end: no further sends, drain, judge, artifacts. nil: never.
	// A second one is the caller's to turn into a cancelled context: everything in flight is then cut off.
	Interrupt <-chan int
	// Events hears about progress: at most 10 a second and node, never from a lane. nil: nobody listens.
	Events func(Event)
	// Delay is a test hook that holds up the pacer before arrival n; nil in production.
	Delay func(n uint64)
	// Sink gets every sample; nil: none.
	Sink measure.Sink
}

// Event is one piece of progress.
type Event struct {
	Node  string
	Phase Phase
	// Elapsed is the time since the node's phase began; Total how long the phase will last, 0 where that is open.
	Elapsed, Total time.Duration
	Live           *measure.Live // nil outside warm-up, hold and drain
	Result         *result.Node  // with PhaseDone
	Text           string        // with PhaseOpen: what is being waited for
}

// Phase is what a node is doing.
type Phase string

// The phases of a node, in order.
const (
	PhaseOpen   Phase = "set-up"
	PhaseWarmup Phase = "warm-up"
	PhaseHold   Phase = "hold"
	PhaseDrain  Phase = "drain"
	PhaseDone   Phase = "done"
)

// runner is one run of a program.
type runner struct {
	program *Program
	env     Env
	clock   backends.Clock
	result  *result.Result
	targets map[*scenario.Target]*target
	inputs  map[*scenario.Stage]*inputs
	nodes   map[string]*result.Node // those that have ended
	failed  map[string]string       // stages that count as failed, and why
	clean   cleanup
	signal  int          // 0: none yet
	early   atomic.Int64 // a signal that came during set-up; see interruptible
	// internal is a mistake of this program that cost a node; "" for none.
	internal string
}

// Run plays the program. The result is never nil and complete on every way out; diagnostics are mistakes of the plan
// that only the server could reveal, found before anything was sent.
func (p *Program) Run(ctx context.Context, e Env) (*result.Result, source.Diagnostics) {
	if e.Events == nil {
		e.Events = func(Event) {}
	}
	r := &runner{
		program: p, env: e, clock: backends.Clock{Origin: time.Now()},
		targets: make(map[*scenario.Target]*target), inputs: make(map[*scenario.Stage]*inputs),
		nodes: make(map[string]*result.Node), failed: make(map[string]string),
	}
	r.result = skeleton(p.Plan, e.Tool, r.clock.Origin)
	diags := r.play(ctx)
	return r.result, diags
}

func (r *runner) play(ctx context.Context) (diags source.Diagnostics) {
	occasion := verdict.Occasion{}
	defer func() {
		if p := recover(); p != nil {
			occasion.Internal = fmt.Sprint(p)
		}
		if err := r.clean.run(ctx); err != nil {
			r.note("clean-up", "could not undo everything: "+err.Error())
		}
		r.finish(occasion)
	}()
	diags = r.prepare(ctx)
	if diags.HasErrors() {
		occasion.Plan = fmt.Sprintf("the plan does not fit the server: %s", diags[0].Summary)
		return diags
	}
	for _, u := range r.program.Units {
		for _, m := range u.Members {
			for _, p := range m.Plays {
				r.step(ctx, p.Node)
			}
		}
	}
	occasion.Signal, occasion.Internal = r.signal, r.internal
	return diags
}

// step runs or skips one node and keeps its result.
func (r *runner) step(ctx context.Context, n *Node) {
	if why, silent := r.skip(n); why != "" {
		if !silent {
			r.keep(n, r.skipped(n, why))
		}
		return
	}
	r.keep(n, r.guarded(ctx, n))
}

// guarded runs a node. A mistake of this program costs that node, not what was measured before.
func (r *runner) guarded(ctx context.Context, n *Node) (out *result.Node) {
	defer func() {
		if p := recover(); p != nil {
			r.internal = fmt.Sprintf("%v", p)
			out = r.blank(n)
			out.Outcome, out.Reason = result.Failed, "internal error: "+r.internal
		}
	}()
	return r.runNode(ctx, n)
}

// keep judges a node that has ended and remembers what its dependents must know.
func (r *runner) keep(n *Node, out *result.Node) {
	r.result.Nodes = append(r.result.Nodes, out)
	r.nodes[n.ID] = out
	r.judge(n, out)
	if why := failure(out); why != "" && r.failed[n.Stage.ID] == "" {
		r.failed[n.Stage.ID] = why
	}
	r.env.Events(Event{Node: n.ID, Phase: PhaseDone, Result: out})
}

// failure says why a node counts as failed for those that need it, or "". Inconclusive and unstable do not.
func failure(n *result.Node) string {
	if n.Outcome == result.Failed || n.Outcome == result.SkippedNode {
		return n.Reason
	}
	for _, a := range n.Assertions {
		if a.Severity != result.Warn && (a.Verdict == result.Fail || a.Verdict == result.ErrorVerdict) {
			return fmt.Sprintf("%s: %s", a.ID, a.Verdict)
		}
	}
	return ""
}

// skip says why a node is not to run, or "". Silent ones leave no trace: the rest of a ladder that `while` ended.
func (r *runner) skip(n *Node) (why string, silent bool) {
	if r.interrupted() {
		return "the run was interrupted", false
	}
	if !n.first() {
		before := r.nodes[n.prev.ID]
		if before == nil {
			return "the level before was not reached", true
		}
		if before.Outcome == result.SkippedNode || before.Outcome == result.Failed {
			return before.Reason, false
		}
		if text, holds := r.whileHolds(n.prev, before); !holds {
			before.Validity.Findings = append(before.Validity.Findings, result.Finding{
				Code: "ladder_end", Severity: result.Note, Text: r.program.Plan.Mask(text) + " is not true here: the levels after this one did not run",
			})
			return fmt.Sprintf("%s is not true at %s", text, n.prev.ID), true
		}
		return "", false
	}
	return r.needs(n.Stage), false
}

// needs applies `when` to the stages that must have come before. A failure with `on_fail: continue` holds up nobody who
// waits for success; it is still a failure for who waits for that.
func (r *runner) needs(s *scenario.Stage) string {
	failed, blocked := false, ""
	for _, need := range s.Needs {
		dep := r.stage(need.ID)
		if dep == nil || dep.When == "never" {
			continue // as if absent
		}
		why := r.failed[need.ID]
		failed = failed || why != ""
		if why != "" && dep.OnFail != "continue" {
			blocked = fmt.Sprintf("stage %q failed (%s)", need.ID, why)
		}
	}
	switch {
	case s.When == "success" && blocked != "":
		return blocked
	case s.When == "failure" && !failed:
		return "nothing that it needs has failed"
	}
	return ""
}

func (r *runner) stage(id string) *scenario.Stage {
	for _, s := range r.program.Plan.Stages {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// interrupted takes a signal, if there is one.
func (r *runner) interrupted() bool {
	if r.signal == 0 {
		r.signal = int(r.early.Load())
	}
	if r.signal == 0 {
		select {
		case r.signal = <-r.env.Interrupt:
		default:
		}
	}
	return r.signal != 0
}

// interruptible is a context that a signal ends, for steps that wait for a server. end must be called after them.
func (r *runner) interruptible(ctx context.Context) (waiting context.Context, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case s := <-r.env.Interrupt:
			r.early.Store(int64(s))
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel()
		watching.Wait()
	}
}

// note keeps a finding that belongs to no node on the last node that ran, so that nothing is lost.
func (r *runner) note(code, text string) {
	if k := len(r.result.Nodes); k > 0 {
		v := &r.result.Nodes[k-1].Validity
		v.Findings = append(v.Findings, result.Finding{Code: code, Severity: result.Note, Text: text})
	}
}
