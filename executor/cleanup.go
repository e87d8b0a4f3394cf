package executor

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// cleanupLimit bounds the time in which all of a run's set-up is undone.
const cleanupLimit = 10 * time.Second

// cancelGrace bounds what must still be asked of a server, or undone there, once the run was cut
// off by a second signal.
const cancelGrace = 2 * time.Second

// withGrace returns a context for what has to be asked although ctx may be done. It ends after
// limit, or cancelGrace after ctx.
func withGrace(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	asked, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	kept := context.AfterFunc(ctx, func() {
		t := time.NewTimer(cancelGrace)
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

// run undoes everything, newest first, also after a step has failed, and also when the run's own
// context is done.
func (c *cleanup) run(ctx context.Context) error {
	ctx, cancel := withGrace(ctx, cleanupLimit)
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
