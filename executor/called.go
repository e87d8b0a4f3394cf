package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/trial"
)

// callTree finds the models that an entry's model calls, and those that they call, each once under
// its first caller, as far as their counters can be read; then those that the plan names. What the
// plan names must be there.
func callTree(ctx context.Context, e *trial.Entry, t *target) (list []trial.Called, note string, err error) {
	known := func(model, version string) bool {
		return slices.ContainsFunc(list, func(c trial.Called) bool {
			return c.Name == model && (c.Version == version || version == "")
		})
	}
	add := func(model, version, by string) error {
		read, err := counters(ctx, t, model, version)
		if err != nil {
			return err
		}
		c := trial.Called{Name: model, Version: version, By: by, Counters: read}
		if sig, err := describe(ctx, t, model); err == nil { // else its numbers are known all the same
			c.Only = sig.Version
		}
		list = append(list, c)
		return nil
	}
	var walk func(sig *backends.Signature) error
	walk = func(sig *backends.Signature) error {
		var errs []error
		for _, c := range sig.Calls {
			if known(c.Model, c.Version) {
				continue
			}
			if err := add(c.Model, c.Version, sig.Model); err != nil {
				errs = append(errs, err)
				continue
			}
			child, err := describe(ctx, t, c.Model)
			errs = append(errs, err, walk(&child))
		}
		return errors.Join(errs...)
	}
	if err := walk(&e.Signature); err != nil {
		note = err.Error()
	}
	for _, text := range t.Plan.ComposingModels {
		model, version, _ := strings.Cut(text, ":")
		if known(model, version) {
			continue
		}
		if err := add(model, version, e.Signature.Model); err != nil {
			return list, note, fmt.Errorf("composing model %s: %w", text, err)
		}
	}
	return list, note, nil
}
