package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
)

// unavailable are the statuses that say "not yet": HTTP's and gRPC's.
var unavailable = [...]int32{http.StatusServiceUnavailable, 14}

// poll is the time between two questions to a server that is not ready.
const poll = 100 * time.Millisecond

// lastMoment is the time before a deadline in which an error may be about the deadline only: dials and
// calls have timers of their own for the same deadline.
const lastMoment = 10 * time.Millisecond

// probe sends one real request and waits until it is answered: health endpoints say "ready" before
// a server is. Any answer but "unavailable" counts, also a failure of the model: that is for the
// plan's assertions.
func (su *setup) probe(t *target, call *backends.Call, ids *feed.IDs, sent *int) error {
	_, err := su.firstReply(t, call, ids, sent)
	return err
}

// firstReply is probe with the reply; nil: the server is not asked.
func (su *setup) firstReply(
	t *target, call *backends.Call, ids *feed.IDs, sent *int,
) (s *backends.Sample, err error) {
	err = su.until(t, "no request was answered", func(ctx context.Context) (err error) {
		s, err = su.ask(ctx, t, call, ids, sent)
		if x, ok := t.Conn.(backends.Explainer); ok && err == nil {
			err = x.Explain(s)
		}
		if err != nil || counts(s) {
			return err
		}
		return errors.New(answer(s))
	})
	return s, err
}

// until repeats ask until it succeeds or the plan's patience with the target is over. The error is
// the last one before the time was up, which by itself explains nothing.
func (su *setup) until(t *target, what string, ask func(context.Context) error) error {
	if t.Plan.Ready == 0 {
		return nil
	}
	deadline := time.Now().Add(t.Plan.Ready)
	ctx, cancel := context.WithDeadline(su.stops.waiting, deadline)
	defer cancel()
	again := time.NewTicker(poll)
	defer again.Stop()
	var last error
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		var unknown *backends.UnknownModelError
		var refused *backends.RefusalError
		if errors.As(err, &unknown) || errors.As(err, &refused) { // there is nothing to wait for
			return err
		}
		if last == nil || time.Until(deadline) > lastMoment {
			last = err
		}
		if why := su.stops.now(); why != "" {
			return fmt.Errorf("%s when %s: %w", what, why, last)
		}
		where := cmp.Or(t.Plan.URL, fmt.Sprintf("target %q", t.Plan.Name))
		su.tell(Event{Phase: PhaseOpen, Text: fmt.Sprintf("waiting for %s: %s", where, last)})
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s within %v: %w", what, t.Plan.Ready, last)
		case <-again.C:
		}
	}
}

// counts reports whether a server made the reply. Of a reply in several responses the
// first one shows it, however long the others take.
func counts(s *backends.Sample) bool {
	switch {
	case s.Status == unavailable[0]: // over HTTP a refusal is a response, also one that ends with the time
		return false
	case s.Responses > 0:
		return true
	}
	switch s.Class {
	case backends.Dial, backends.TLS, backends.Write, backends.TimedOut, backends.ResetByPeer,
		backends.Client, backends.Stopped:
		return false
	case backends.Status:
		return s.Status != unavailable[0] && s.Status != unavailable[1]
	default:
		return true
	}
}

// ask sends one request on a lane of its own, until ctx is done.
func (su *setup) ask(
	ctx context.Context, t *target, call *backends.Call, ids *feed.IDs, sent *int,
) (*backends.Sample, error) {
	lanes, _, err := t.Conn.Lanes(ctx, 1, backends.LaneOptions{Depth: 1})
	if err != nil {
		return nil, err
	}
	lane := lanes[0]
	s := &backends.Sample{Gen: 1, Due: su.clock.Now()}
	defer context.AfterFunc(ctx, func() { lane.Cancel(0, s.Gen, backends.CauseTimeout) })()
	fields := backends.Fields{}
	if call.Stateful { // a sequence of its own
		id, ok := ids.Take()
		if !ok {
			return nil, errors.New("all sequence ids are in use")
		}
		defer func() { ids.Undo(id, s.Class == backends.OK) }()
		fields = backends.Fields{Sequence: id, Start: true, End: true}
	}
	*sent++
	lane.Send(0, call, fields, s)
	if ctx.Err() != nil { // its cancel may have come before there was a request
		lane.Cancel(0, s.Gen, backends.CauseTimeout)
	}
	for {
		slot, done := lane.Recv()
		if slot != backends.None == done { // its answer, or the end
			break
		}
	}
	return s, lane.Close()
}

// answer says how a failed request ended: "status 503: overloaded", "timeout".
func answer(s *backends.Sample) string {
	text := s.Class.String()
	if s.Status != 0 {
		text += " " + strconv.Itoa(int(s.Status))
	}
	if len(s.Note) > 0 {
		text += ": " + string(s.Note)
	}
	return text
}
