package executor

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario"
)

// sharer is what an entry's requests need that go through shared memory.
type sharer struct {
	backends.Shared
	memory   *scenario.Memory
	requests []backends.Request
}

// bytesOf are the bytes of a request's inputs.
func bytesOf(r *backends.Request) (n int) {
	for i := range r.Inputs {
		n += len(r.Inputs[i].Data)
	}
	return n
}

// lay gives the tensors of an entry's requests their places in shared memory.
func (e *entry) lay(conn backends.Conn, m *scenario.Memory, requests []backends.Request, left *int64) error {
	for i := range requests {
		if err := take(left, bytesOf(&requests[i])); err != nil {
			return err
		}
	}
	s, ok := conn.(backends.Sharer)
	if !ok {
		return errors.New("the backend shares no memory")
	}
	shared, err := s.Share(requests, backends.Sharing{Memory: m.Kind, Device: m.Device, Model: e.sig, OutputSize: m.OutputSize})
	if err != nil {
		return fmt.Errorf("the requests cannot be encoded for shared memory: %w", err)
	}
	e.shared = &sharer{Shared: shared, memory: m, requests: requests}
	return nil
}

// share opens the memory of the entry's requests for so many slots. The server has as long for it as for a request, and at least
// what it has to give it back.
func (e *entry) share(ctx context.Context, t *target, slots int) ([]*backends.Call, backends.Release, error) {
	ctx, cancel := context.WithTimeout(ctx, max(t.plan.Timeout, cleanupLimit))
	defer cancel()
	calls, release, err := e.shared.Open(ctx, slots)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", e.shared.memory.Pos, err)
	}
	for _, c := range calls {
		c.Entry = e.number
	}
	return calls, release, nil
}

// tryShared does for one slot what every trial of the stage will do for all of its slots, and asks for a real answer, unless the
// target is not to be asked.
func (r *runner) tryShared(ctx context.Context, t *target, e *entry, sent *int) error {
	if t.plan.Ready == 0 {
		return nil
	}
	calls, release, err := e.share(ctx, t, 1)
	if err != nil {
		return err
	}
	if t.plan.Probe {
		err = r.probe(ctx, t, calls[0], e.ids, sent)
	}
	ctx, cancel := withGrace(ctx, cleanupLimit)
	defer cancel()
	return errors.Join(err, release(ctx))
}
