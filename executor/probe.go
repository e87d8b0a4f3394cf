package executor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

// unavailable are the statuses that say "not yet": HTTP's and gRPC's.
var unavailable = [...]int32{http.StatusServiceUnavailable, 14}

// probe sends one real request and waits until it is answered: health endpoints say "ready" before a server is. Any
// answer but "unavailable" counts, also a failure of the model: that is for the plan's assertions.
func (r *runner) probe(ctx context.Context, t *target, call *backends.Call) error {
	if t.plan.Ready == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, t.plan.Ready)
	defer cancel()
	for {
		s, err := r.ask(ctx, t, call)
		switch {
		case err == nil && answered(s):
			return nil
		case err == nil:
			err = fmt.Errorf("%s %d: %s", s.Class, s.Status, s.Note)
		}
		if r.interrupted() {
			return errors.New("interrupted while waiting for an answer")
		}
		r.env.Events(Event{Phase: PhaseOpen, Text: fmt.Sprintf("waiting for an answer of %s: %s", t.plan.URL, err)})
		select {
		case <-ctx.Done():
			return fmt.Errorf("no request was answered within %v: %w", t.plan.Ready, err)
		case <-time.After(poll):
		}
	}
}

// answered reports whether a server stood behind what came back.
func answered(s *backends.Sample) bool {
	switch s.Class {
	case backends.Dial, backends.TLS, backends.Write, backends.TimedOut, backends.ResetByPeer, backends.Client, backends.Stopped:
		return false
	case backends.Status:
		return s.Status != unavailable[0] && s.Status != unavailable[1]
	default:
		return true
	}
}

// ask sends one request on a lane of its own, until ctx is done.
func (r *runner) ask(ctx context.Context, t *target, call *backends.Call) (*backends.Sample, error) {
	lanes, _, err := t.conn.Lanes(ctx, 1, backends.LaneOptions{Depth: 1})
	if err != nil {
		return nil, err
	}
	lane := lanes[0]
	s := &backends.Sample{Gen: 1, Due: r.clock.Now()}
	defer context.AfterFunc(ctx, func() { lane.Cancel(0, s.Gen, backends.CauseTimeout) })()
	lane.Send(0, call, backends.Fields{}, s)
	for {
		if slot, done := lane.Recv(); done || slot == backends.None {
			break
		}
	}
	return s, lane.Close()
}
