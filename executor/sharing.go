package executor

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/trial"
	"github.com/sluice-bench/sluice/scenario"
)

// bytesOf are the bytes of a request's inputs.
func bytesOf(r *backends.Request) (n int) {
	for i := range r.Inputs {
		n += len(r.Inputs[i].Data)
	}
	return n
}

// lay gives the tensors of an entry's requests their places in shared memory.
func lay(
	e *trial.Entry, conn backends.Conn, m *scenario.Memory, requests []backends.Request, left *int64,
) error {
	for i := range requests {
		if err := take(left, bytesOf(&requests[i])); err != nil {
			return err
		}
	}
	s, ok := conn.(backends.Sharer)
	if !ok {
		return errors.New("the backend shares no memory")
	}
	shared, err := s.Share(requests, backends.Sharing{
		Memory: m.Kind, Device: m.Device, Model: e.Signature, OutputSize: m.OutputSize,
	})
	if err != nil {
		return fmt.Errorf("the requests cannot be encoded for shared memory: %w", err)
	}
	e.Shared = &trial.Shared{Shared: shared, Memory: m, Requests: requests}
	return nil
}

// tryShared does for one slot what every trial of the stage will do for all of its slots, and asks
// for a real answer, unless the target is not to be asked.
func (su *setup) tryShared(ctx context.Context, t *target, e *trial.Entry, sent *int) error {
	if t.Plan.Ready == 0 {
		return nil
	}
	calls, release, err := e.OpenShared(ctx, &t.Target, 1)
	if err != nil {
		return err
	}
	if t.Plan.Probe {
		err = su.probe(ctx, t, calls[0], e.IDs, sent)
	}
	ctx, cancel := trial.WithGrace(ctx, trial.ReleaseLimit)
	defer cancel()
	return errors.Join(err, release(ctx))
}
