package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluice-bench/sluice/executor/trial"
)

// cleanupLimit bounds the time in which all of a run's set-up is undone.
const cleanupLimit = 10 * time.Second

// cleanup is a stack of what must be undone, whatever happens.
type cleanup []func(context.Context) error

// push adds a step; what says what is undone ("close target main").
func (c *cleanup) push(what string, undo func(context.Context) error) {
	*c = append(*c, func(ctx context.Context) error {
		if err := undo(ctx); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	})
}

// run undoes everything, newest first, also after a step has failed, and also when the run's own
// context is done.
func (c cleanup) run(ctx context.Context) error {
	ctx, cancel := trial.WithGrace(ctx, cleanupLimit)
	defer cancel()
	var errs []error
	for _, undo := range slices.Backward(c) {
		errs = append(errs, undo(ctx))
	}
	return errors.Join(errs...)
}
