package executor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/trial"
	"github.com/sluice-bench/sluice/scenario"
)

// afterLimit bounds all that a stage does afterwards, but for the loading of models: it is done even if the
// run is to end.
const afterLimit = 30 * time.Second

// before does what a stage wants done first, then asks its models for a real answer. What fails
// fails the stage.
func (su *setup) before(s *scenario.Stage) {
	in := su.inputs[s]
	for _, a := range s.Before {
		if in.err != nil {
			return
		}
		if err := su.act(su.stops.waiting, s, a); err != nil {
			in.err = fmt.Errorf("before: %w%s", err, trial.UnknownHint(err))
		}
	}
	su.gatherNow(in)
	su.answered(in)
}

// after undoes it, on every way out and with a deadline of its own. The error is the first one.
func (su *setup) after(ctx context.Context, s *scenario.Stage) (first error) {
	limit := afterLimit
	if t := s.Request.Target; slices.ContainsFunc(s.After, func(a scenario.Action) bool { return a.LoadModel != "" }) {
		limit = max(limit, t.Timeout, t.Ready)
	}
	ctx, cancel := trial.WithGrace(ctx, limit)
	defer cancel()
	for _, a := range s.After {
		if err := su.act(ctx, s, a); err != nil && first == nil {
			first = fmt.Errorf("after: %w%s", err, trial.UnknownHint(err))
		}
	}
	return first
}

// act makes a call, or loads or unloads a model.
func (su *setup) act(ctx context.Context, s *scenario.Stage, a scenario.Action) error {
	t := su.targets[s.Request.Target]
	if t == nil || t.err != nil {
		return errors.New("the target is not open")
	}
	if a.Config != "" { // before the time for it begins
		defer su.alone(a.LoadModel)()
	}
	limit := t.Plan.Timeout
	if a.LoadModel != "" { // the server answers when the model is ready
		limit = max(limit, t.Plan.Ready)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tell := func(what string) {
		text := su.program.Plan.Mask(fmt.Sprintf("stage %s: %s", s.ID, what))
		su.tell(Event{Phase: PhaseOpen, Text: text})
	}
	if a.Call != "" {
		c, ok := t.Conn.(backends.Caller)
		if !ok {
			return fmt.Errorf("backend %s makes no calls", t.Kind.Name)
		}
		tell(a.Call)
		method, path, _ := strings.Cut(a.Call, " ")
		return c.Call(ctx, method, path)
	}
	c, ok := t.Conn.(backends.Controller)
	if !ok {
		return fmt.Errorf("backend %s does not load and unload models", t.Kind.Name)
	}
	defer su.forget(t, a.LoadModel+a.UnloadModel) // it is described and asked for a real answer anew
	if a.Config != "" {
		tell("loads model " + a.LoadModel + " with " + a.Config)
		return su.configure(ctx, s, t, a)
	}
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
	is := func(model string) bool { return model == name || model == "" && name == t.Plan.Model }
	maps.DeleteFunc(su.asked, func(m model, _ error) bool { return m.target == t && is(m.name) })
	maps.DeleteFunc(t.signatures, func(model string, _ backends.Signature) bool { return is(model) })
}
