package trial

import (
	"context"
	"fmt"
	"math"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
)

// lanePools are the lanes of a trial: a pool for each of its targets. The player closes them.
type lanePools []drive.Pool

// blocking reports whether the lanes keep their processors while they wait: only a lone target's do.
func (c lanePools) blocking() bool { return c[0].Limits.BlocksThread }

// openLanes connects the lanes that are open when the clock starts. blocking counts the lanes
// that may keep their processors, largest is the size of the largest request in bytes. On an error
// all are closed again.
func openLanes(
	ctx context.Context, in *Input, p *program.Load, blocking, largest int,
) (c lanePools, err error) {
	targets := in.Requests.Targets
	for _, to := range targets {
		n, depth := layout(p, to, len(targets))
		o := backends.LaneOptions{Depth: depth, MaxBlocked: blocking, LargestCall: largest}
		lanes, limits, err := to.Conn.Lanes(ctx, n, o)
		if err != nil {
			c.close()
			return c, fmt.Errorf("open %d connections: %w%s", n, err, connectHint(err, to.Plan.TLS))
		}
		pool := drive.Pool{
			Lanes: lanes, Limits: limits, MaxSlots: to.maxLanes(p.Slots), Timeout: int64(to.Plan.Timeout),
			InProcess: program.Abilities(to.Kind, to.Plan).Has(backends.SharesProcess),
		}
		if to.Plan.Streaming {
			pool.Inactivity = int64(to.Plan.InactivityTimeout)
		}
		if p.Open && depth == 1 {
			pool.Grow = to.grow
		}
		c = append(c, pool)
	}
	return c, nil
}

// close closes the lanes before anything was sent on them.
func (c lanePools) close() {
	for _, p := range c {
		for _, l := range p.Lanes {
			_ = l.Close() // nothing was sent on it
		}
	}
}

// most returns the maximum of lanes, including those that are opened later.
func (c lanePools) most() (n int) {
	for _, p := range c {
		n += p.MaxSlots
	}
	return n
}

// layout returns the number of lanes of a pool that are open when the clock starts, and the number
// of requests that each may have in flight.
//
//	target            connections           lanes                                 requests on one
//	bidirectional     a number              as many, each with a connection       those in flight, spread
//	  stream          per_slot              one for each slot, or open sequence   1, or those of a sequence
//	                  per_request           one for each slot                     1
//	other gRPC, HTTP  per_…, gRPC's number  one for each slot                     1
//	HTTP              a number              one for each slot, at most as many    1
//
// An open loop whose lanes carry one request each opens only those at once that it is likely to
// need.
func layout(p *program.Load, to *Target, targets int) (lanes, depth int) {
	slots, atOnce := sequenceSlots(p)
	shared := to.Plan.Connections.Shared
	switch {
	case !program.CarriesSeveral(to.Plan) || shared == 0 && atOnce == 1:
		return to.maxLanes(firstLanes(p, targets)), 1
	case shared > 0:
		lanes = min(slots, shared)
	default:
		lanes = slots
	}
	return lanes, (slots + lanes - 1) / lanes * atOnce
}

// firstLanes returns the number of lanes of a pool, with one request each, that are open when the
// clock starts: all in a closed loop; in an open loop what its rate is likely to need at once.
func firstLanes(p *program.Load, targets int) int {
	if !p.Open || p.Sequences != nil && (!p.Sequences.ArrivalBegins || targets > 1) {
		return p.Slots
	}
	const window = 5e-3 // s
	return min(p.Slots, max(16, int(math.Ceil(p.Pace*window))))
}

// maxLanes bounds lanes by what HTTP/1.1 allows where the plan fixes the number of connections.
func (t *Target) maxLanes(lanes int) int {
	if c := t.Plan.Connections.Shared; c > 0 && !t.Plan.GRPC() {
		return min(lanes, c)
	}
	return lanes
}

// grow opens more lanes while a node runs.
func (t *Target) grow(ctx context.Context, n int) ([]backends.Lane, error) {
	lanes, _, err := t.Conn.Lanes(ctx, n, backends.LaneOptions{Depth: 1})
	return lanes, err
}

// newRings makes the rings that samples go through on their way from the lanes to the folder.
func newRings(in *Input, p *program.Load, lanes int) *measure.Rings {
	events := 0
	for _, to := range in.Requests.Targets {
		if to.Plan.Streaming {
			events = keptResponses(p)
		}
	}
	return measure.NewRings(lanes, keptSamples(p, lanes, events), events)
}

// keptResponses returns the number of responses of an unfinished request that are kept before they
// are folded. A load that steps on after n responses is folded just then.
func keptResponses(p *program.Load) int {
	const usual, most = 256, 4096
	q := p.Stored.Periodic
	if q == nil {
		return usual
	}
	looks := (q.Responses + most - 1) / most
	return min((q.Responses+looks-1)/looks, most)
}

const (
	manySteps = 128  // of a sequence that one slot may send between two looks of the folder
	maxDeep   = 8192 // lanes that may have manySteps samples each: 190 MB
)

// keptSamples returns the number of samples of a lane; 0: the budget decides. In an open loop
// the slots take turns, but a sequence stays on its slot and sends its steps one after the other: a
// few samples for each would hold it up.
func keptSamples(p *program.Load, lanes, events int) int {
	if p.Sequences == nil || !p.Open || events > 0 || lanes > maxDeep {
		return 0
	}
	return manySteps
}
