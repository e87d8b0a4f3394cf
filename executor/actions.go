package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/trial"
	"github.com/sluice-bench/sluice/scenario"
)

// afterLimit bounds all that a stage does afterwards: it is done even if the run is to end.
const afterLimit = 30 * time.Second

// before does what a stage wants done first, then asks its models for a real answer. What fails
// fails the stage.
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
	m.r.gatherNow(s, in)
	m.r.answered(in)
}

// after undoes it, on every way out and with a deadline of its own.
func (m *member) after(ctx context.Context, s *scenario.Stage) {
	ctx, cancel := trial.WithGrace(ctx, afterLimit)
	defer cancel()
	for _, a := range s.After {
		if err := m.r.act(ctx, s, a); err != nil {
			m.failed = cmp.Or(m.failed, fmt.Sprintf("after: %s", err))
			m.setUp = cmp.Or(m.setUp, fmt.Sprintf("stage %s: after: %s", s.ID, err))
		}
	}
}

// act does one thing.
func (su *setup) act(ctx context.Context, s *scenario.Stage, a scenario.Action) error {
	t := su.targets[s.Request.Target]
	if t == nil || t.err != nil {
		return errors.New("the target is not open")
	}
	ctx, cancel := context.WithTimeout(ctx, t.Plan.Timeout)
	defer cancel()
	tell := func(what string) {
		su.tell(Event{Phase: PhaseOpen, Text: fmt.Sprintf("stage %s: %s", s.ID, what)})
	}
	if a.Call == nil {
		return su.control(ctx, t, a, tell)
	}
	caller, ok := t.Conn.(backends.Caller)
	if !ok {
		return fmt.Errorf("backend %s makes no calls", t.Kind.Name)
	}
	tell(a.Call.Method + " " + a.Call.Path)
	return caller.Call(ctx, a.Call.Method, a.Call.Path)
}

// control loads or unloads a model. What it has said of itself and whether it answered is then to
// be asked anew.
func (su *setup) control(ctx context.Context, t *target, a scenario.Action, tell func(string)) error {
	c, ok := t.Conn.(backends.Controller)
	if !ok {
		return fmt.Errorf("backend %s does not load and unload models", t.Kind.Name)
	}
	defer su.forget(t, a.LoadModel+a.UnloadModel)
	if a.LoadModel != "" {
		tell("loads model " + a.LoadModel)
		return c.Load(ctx, a.LoadModel)
	}
	tell("unloads model " + a.UnloadModel)
	return c.Unload(ctx, a.UnloadModel)
}

// forget drops what is known of a model of a target.
func (su *setup) forget(t *target, name string) {
	su.asking.Lock()
	defer su.asking.Unlock()
	names := []string{name}
	if name == t.Plan.Model {
		names = append(names, "") // the target's own
	}
	for _, n := range names {
		maps.DeleteFunc(su.asked, func(m model, _ error) bool { return m.target == t && m.name == n })
		delete(t.signatures, n)
	}
}
