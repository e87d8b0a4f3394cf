package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario"
)

// afterLimit is how long all that a stage does afterwards may take: it is done also when the run is to end.
const afterLimit = 30 * time.Second

// actions refuses calls to targets that they cannot reach.
func (b *build) actions() {
	for _, s := range b.program.Plan.Stages {
		t := s.Request.Target
		for _, a := range slices.Concat(s.Before, s.After) {
			if a.Call != nil && t != nil && t.GRPC() {
				b.fail(a.Pos, codeScheme, "a call goes over HTTP, and the URL of target %q is %s", t.Name, t.URL).
					Detail = "give the stage a target with an http URL, or make the call outside of the plan"
			}
		}
	}
}

// before does what a stage wants done first, then asks its models for a real answer. What fails fails the stage.
func (m *member) before(s *scenario.Stage) {
	in := m.r.inputs[s]
	for _, a := range s.Before {
		if in.err != nil {
			return
		}
		if err := m.r.act(m.r.stops.waiting, s, a); err != nil {
			in.err = fmt.Errorf("before: %w", err)
		}
	}
	m.r.answered(in)
}

// after undoes it, on every way out and with a deadline of its own.
func (m *member) after(ctx context.Context, s *scenario.Stage) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterLimit)
	defer cancel()
	for _, a := range s.After {
		if err := m.r.act(ctx, s, a); err != nil {
			m.failed = cmp.Or(m.failed, fmt.Sprintf("after: %s", err))
			m.setUp = cmp.Or(m.setUp, fmt.Sprintf("stage %s: after: %s", s.ID, err))
		}
	}
}

// act does one thing.
func (r *runner) act(ctx context.Context, s *scenario.Stage, a scenario.Action) error {
	if a.Call == nil {
		return errors.New("this action is not built") // refused before the run
	}
	t := r.targets[s.Request.Target]
	if t == nil || t.err != nil {
		return errors.New("the target is not open")
	}
	caller, ok := t.conn.(backends.Caller)
	if !ok {
		return fmt.Errorf("backend %s makes no calls", t.kind.Name)
	}
	r.tell(Event{Phase: PhaseOpen, Text: fmt.Sprintf("stage %s: %s %s", s.ID, a.Call.Method, a.Call.Path)})
	ctx, cancel := context.WithTimeout(ctx, t.plan.Timeout)
	defer cancel()
	return caller.Call(ctx, a.Call.Method, a.Call.Path)
}
