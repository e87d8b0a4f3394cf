package trial

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// A server may count a request after it has answered it, so counters that are read at once can lack
// the last ones. Where the plan reads them they are read until they agree with what this client
// knows, for settleFor at most.
const (
	settleFor   = time.Second
	settleEvery = 10 * time.Millisecond
)

// unchanged is enough for counters before the clock starts: what was sent before, such as the
// probe, has been counted.
func unchanged() func(tally) bool {
	var before tally
	return func(c tally) bool {
		same := before != nil && before.same(c)
		before = c
		return same
	}
}

// readsServer reports whether one of the checks on a node reads what the server counts.
func readsServer(checks []program.AskedCheck) bool {
	return slices.ContainsFunc(checks, func(c program.AskedCheck) bool {
		return slices.ContainsFunc(c.Asked, func(r expression.Ref) bool {
			return r.Leaf.Row.From == metric.Series
		})
	})
}

// answered counts the requests that the server must have counted since the clock started; -1:
// unknown, because some were sent in a warm-up, or may still be in the server.
func (o *observer) answered() int64 {
	open := o.control.StopAt.Load() != math.MaxInt64 || o.control.InFlight.Load() > 0
	if open || o.from != beforeClock || o.in.Requests.requestsIn() < 0 || o.in.Parts.Measured.Holds != nil {
		return -1
	}
	all, _ := o.folder.Current()
	return all.OK() + all.Class[backends.Mismatch] + all.Class[backends.Decode]
}

// settleEnd reads the counters at the end of hold until want requests have been counted since from.
// behind says what they lack if they never have.
func settleEnd(
	ctx context.Context, in *Requests, from tally, want int64,
) (c tally, behind string, err error) {
	at := in.requestsIn()
	grown := func(c tally) int64 {
		if len(from) == 0 || len(c) == 0 {
			return want
		}
		return c[0].Values[at] - from[0].Values[at]
	}
	c, agrees, err := settled(ctx, in.count, func(c tally) bool { return grown(c) >= want })
	if err == nil && !agrees {
		behind = fmt.Sprintf("the server had counted %d requests %s after the end, this client knows of %d "+
			"that it answered: its counters may lack some, or the requests went elsewhere",
			grown(c), settleFor, want)
	}
	return c, behind, err
}

// requestsIn returns the index of the counter of requests that a server has finished; -1: it keeps none.
func (in *Requests) requestsIn() int {
	return slices.IndexFunc(in.Series, func(s backends.Series) bool {
		return metric.SeriesRow(s.Name, "", "1", false).Name == metric.ServerRequests
	})
}

// settled reads counters until they are enough; agrees is false where they never were.
func settled(
	ctx context.Context, count func(context.Context) (tally, error), enough func(tally) bool,
) (last tally, agrees bool, err error) {
	for end := time.Now().Add(settleFor); ; {
		if last, err = count(ctx); err != nil || enough(last) {
			return last, err == nil, err
		}
		if time.Now().After(end) {
			return last, false, nil
		}
		select {
		case <-ctx.Done():
			return last, false, nil
		case <-time.After(settleEvery):
		}
	}
}
