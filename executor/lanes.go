package executor

import (
	"context"
	"math"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/program"
)

// layout is how many lanes of a pool are open when the clock starts, and how many requests each may have in flight.
//
//	target                    connections          lanes                                   requests on one
//	a bidirectional stream    a number             so many, each with a connection         what there may be in flight, spread evenly
//	a bidirectional stream    per_slot             one for each slot, or live sequence     1, or what a sequence may have in flight
//	a bidirectional stream    per_request          one for each slot                       1
//	other gRPC, HTTP          per_…, gRPC's number one for each slot                       1
//	HTTP                      a number             one for each slot, so many at most      1
//
// Of an open loop's lanes that carry one request each, those that it is not likely to need at once are opened later.
func (t *trial) layout(to *target) (lanes, depth int) {
	homes, atOnce := t.course.homes()
	shared := to.plan.Connections.Shared
	switch {
	case !program.CarriesSeveral(to.plan) || shared == 0 && atOnce == 1:
		return to.shared(t.first()), 1
	case shared > 0:
		lanes = min(homes, shared)
	default:
		lanes = homes
	}
	return lanes, (homes + lanes - 1) / lanes * atOnce
}

// homes is how many slots there may be that have one request in flight each, or of sequences that have up to atOnce.
func (c *course) homes() (n, atOnce int) {
	atOnce = 1
	if c.sequences != nil {
		atOnce = max(c.sequences.PipelineDepth, 1)
	}
	return c.slots / atOnce, atOnce
}

// first is how many lanes of a pool are open when the clock starts, where they carry one request each: all of a closed loop;
// of an open loop what its rate is likely to need at once, the rest is opened in the background when it is needed.
func (t *trial) first() int {
	if t.course.profile != nil || t.course.sequences != nil && (!t.course.sequences.ArrivalBegins || len(t.in.pools) > 1) {
		return t.course.slots
	}
	const window = 5e-3 // s
	return min(t.course.slots, max(16, int(math.Ceil(t.course.pace*window))))
}

// shared is the bound that HTTP/1.1 puts on lanes when the plan fixes the number of connections.
func (t *target) shared(lanes int) int {
	if c := t.plan.Connections.Shared; c > 0 && !t.plan.GRPC() {
		return min(lanes, c)
	}
	return lanes
}

// grow opens more lanes while a node runs.
func (t *target) grow(ctx context.Context, n int) ([]backends.Lane, error) {
	lanes, _, err := t.conn.Lanes(ctx, n, backends.LaneOptions{Depth: 1})
	return lanes, err
}
