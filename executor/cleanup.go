package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-bench/sluice/executor/trial"
)

// cleanupLimit bounds the time in which all of a run's set-up is undone.
const cleanupLimit = 10 * time.Second

// cleanup is a stack of what must be undone, whatever happens.
type cleanup struct {
	steps []step
}

type step struct {
	what string
	undo func(context.Context) error
}

// push adds a step; what says what is undone ("close target main").
func (c *cleanup) push(what string, undo func(context.Context) error) {
	c.steps = append(c.steps, step{what, undo})
}

// run undoes everything, newest first, also after a step has failed, and also when the run's own
// context is done.
func (c *cleanup) run(ctx context.Context) error {
	ctx, cancel := trial.WithGrace(ctx, cleanupLimit)
	defer cancel()
	var errs []error
	for i := len(c.steps) - 1; i >= 0; i-- {
		if err := c.steps[i].undo(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.steps[i].what, err))
		}
	}
	c.steps = nil
	return errors.Join(errs...)
}
