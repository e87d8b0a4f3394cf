package executor

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// cleanupLimit is how long undoing all of a run's set-up may take.
const cleanupLimit = 10 * time.Second

// hurry is how long what must still be asked of a server, or undone there, may take once the run was cut off, by a second signal.
const hurry = 2 * time.Second

// beyond is a context for what has to be asked although ctx may be done, for as long as limit, or hurry from then on.
func beyond(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	asked, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	kept := context.AfterFunc(ctx, func() {
		t := time.NewTimer(hurry)
		defer t.Stop()
		select {
		case <-t.C:
			cancel()
		case <-asked.Done():
		}
	})
	return asked, func() {
		kept()
		cancel()
	}
}

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

// run undoes everything, newest first, also after a step has failed, and also when the run's own context is done.
func (c *cleanup) run(ctx context.Context) error {
	ctx, cancel := beyond(ctx, cleanupLimit)
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
