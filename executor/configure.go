package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/trial"
	"github.com/sluice-bench/sluice/scenario"
)

// configured is a model that a stage loads with configurations of the plan, until the stage has ended.
type configured struct {
	stage  string
	target *target
	model  string
	own    backends.Configuration // as it was before the stage; the zero one: it was not loaded
	base   backends.Configuration // that the plan's are laid over
	now    backends.Configuration
	// a load failed: a server may still be at it, behind a gateway that gave up or a connection that broke
	uncertain bool
}

// configure loads a model of a stage with its own configuration changed by the plan.
func (su *setup) configure(ctx context.Context, s *scenario.Stage, t *target, a scenario.Action) error {
	c, ok := t.Conn.(backends.Configurer)
	if !ok {
		return fmt.Errorf("backend %s does not load models with a configuration", t.Kind.Name)
	}
	k := su.configuredModel(s.ID, t, a.LoadModel)
	if k == nil {
		k = &configured{stage: s.ID, target: t, model: a.LoadModel}
		changed, err := k.read(ctx, c)
		if changed || err == nil {
			su.asking.Lock()
			su.configured = append(su.configured, k)
			su.asking.Unlock()
		}
		if err != nil {
			return err
		}
	}
	now, err := c.Configure(ctx, a.LoadModel, k.base, a.Config)
	if err != nil {
		k.uncertain = true
		return err
	}
	k.now = now
	return nil
}

// read reads the configuration that a model has. One that is not loaded is loaded for it: changed reports
// whether the server may have done so, also where that is an error.
func (k *configured) read(ctx context.Context, c backends.Configurer) (changed bool, err error) {
	if k.own, err = c.Configuration(ctx, k.model); err != nil || k.own.JSON != nil {
		k.base = k.own
		return false, err
	}
	loads, ok := c.(backends.Controller)
	if !ok {
		return false, errors.New("the backend does not load models")
	}
	if err = loads.Load(ctx, k.model); err != nil {
		k.uncertain = true
		return true, err
	}
	k.base, err = c.Configuration(ctx, k.model)
	return true, err
}

// configuredModel returns a model that a stage has loaded with a configuration, nil if it has not.
func (su *setup) configuredModel(stage string, t *target, model string) *configured {
	su.asking.Lock()
	defer su.asking.Unlock()
	i := slices.IndexFunc(su.configured, func(k *configured) bool {
		return k.stage == stage && k.target == t && k.model == model
	})
	if i < 0 {
		return nil
	}
	return su.configured[i]
}

// restore loads the models of a stage as they were before it, the last one first, on every way out. The
// error is the first one.
func (su *setup) restore(ctx context.Context, stage string) (first error) {
	su.asking.Lock()
	var mine []*configured
	su.configured = slices.DeleteFunc(su.configured, func(k *configured) bool {
		if k.stage == stage {
			mine = append(mine, k)
		}
		return k.stage == stage
	})
	su.asking.Unlock()
	for _, k := range slices.Backward(mine) {
		su.tell(Event{Phase: PhaseOpen, Text: fmt.Sprintf("stage %s: loads model %s as it was", stage, k.model)})
		ctx, cancel := trial.WithGrace(ctx, max(afterLimit, k.target.Plan.Timeout, k.target.Plan.Ready))
		err := k.target.Conn.(backends.Configurer).Restore(ctx, k.model, k.own, k.uncertain)
		cancel()
		if k.base.JSON == nil { // its first load failed, as the stage says: it may not be there to be unloaded
			err = nil
		}
		su.forget(k.target, k.model)
		if err != nil && first == nil {
			first = fmt.Errorf("after: %w", err)
		}
	}
	return first
}

// configurations lists those that the models of a stage have now.
func (su *setup) configurations(stage string) (list []result.Configuration) {
	su.asking.Lock()
	defer su.asking.Unlock()
	for _, k := range su.configured {
		if k.stage == stage && k.now.JSON != nil {
			list = append(list, result.Configuration{
				Target: k.target.Plan.Name, Model: k.model, Text: k.now.Text,
			})
		}
	}
	return list
}
