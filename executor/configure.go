package executor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

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
	su.asking.Lock()
	k.now = now
	others := slices.DeleteFunc(slices.Clone(su.configured), func(o *configured) bool {
		return o.stage == k.stage || o.model != k.model || o.now.JSON == nil
	})
	su.asking.Unlock()
	return k.clash(ctx, others)
}

// alone waits until no model of this name is being loaded with a configuration, and returns what lets the next
// one be: they may be one model, which clash then finds.
func (su *setup) alone(model string) (next func()) {
	one, _ := su.loading.LoadOrStore(model, &sync.Mutex{})
	one.(*sync.Mutex).Lock()
	return one.(*sync.Mutex).Unlock
}

// clash returns an error if a model of a stage that runs at the same time is on the same server, where the
// last load counts for both: then it no longer has the configuration that its stage gave it. Their URLs need
// not show that.
func (k *configured) clash(ctx context.Context, others []*configured) error {
	for _, o := range others {
		now, err := o.target.Conn.(backends.Configurer).Configuration(ctx, o.model)
		if err != nil || bytes.Equal(now.JSON, o.now.JSON) {
			continue // an error is the other stage's
		}
		if bytes.Equal(k.own.JSON, o.now.JSON) { // it was loaded before this one was read
			k.own, k.base = o.own, o.base
		}
		return fmt.Errorf("stages %q and %q run at the same time and load model %s with a configuration each, "+
			"on one server that targets %q and %q name: put one stage behind the other", o.stage, k.stage,
			k.model, o.target.Plan.Name, k.target.Plan.Name)
	}
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

// configurations lists those that the models have now which a stage, a point of a matrix, loads.
func (su *setup) configurations(s *scenario.Stage) (list []result.Configuration) {
	su.asking.Lock()
	defer su.asking.Unlock()
	for _, k := range su.configured {
		loads := func(a scenario.Action) bool { return a.Config != "" && a.LoadModel == k.model }
		its := k.stage == s.ID && k.target.Plan == s.Request.Target && slices.ContainsFunc(s.Before, loads)
		if its && k.now.JSON != nil {
			list = append(list, result.Configuration{
				Target: k.target.Plan.Name, Model: k.model, Text: k.now.Text,
			})
		}
	}
	return list
}
