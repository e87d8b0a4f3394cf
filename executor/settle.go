package executor

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

// A server may count a request after it has answered it, so counters that are read at once can lack the last ones. Where the
// plan reads them they are read until they agree with what this client knows, for settleFor at most.
const (
	settleFor   = time.Second
	settleEvery = 10 * time.Millisecond
)

// settled reads counters until they are enough; agrees is false where they never were.
func settled(ctx context.Context, count func(context.Context) (tally, error), enough func(tally) bool) (last tally, agrees bool, err error) {
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

// unchanged is enough for counters before the clock starts: what was sent before, such as the probe, has been counted.
func unchanged() func(tally) bool {
	var before tally
	return func(c tally) bool {
		same := before != nil && before.same(c)
		before = c
		return same
	}
}

// readsServer reports whether an assertion or condition on the node reads what the server counts.
func (t *trial) readsServer() bool {
	return slices.ContainsFunc(t.r.program.ChecksOn(t.node), func(c program.AskedCheck) bool {
		return slices.ContainsFunc(c.Refs, func(r expression.Ref) bool { return r.Leaf.Row.From == metric.Series })
	})
}

// requestsIn is the counter of requests that a server has finished; -1: it keeps none.
func (in *inputs) requestsIn() int {
	return slices.IndexFunc(in.series, func(s backends.Series) bool {
		return metric.SeriesRow(s.Name, "", "1", false).Name == metric.ServerRequests
	})
}

// counted is how many requests the server must have counted since the clock started; -1: that is not known, because some were
// sent in a warm-up, or may still be in the server.
func (t *trial) counted() int64 {
	open := t.control.StopAt.Load() != math.MaxInt64 || t.control.InFlight.Load() > 0
	if open || t.watch.from != beforeClock || t.in.requestsIn() < 0 || t.parts.Measured.Holds != nil {
		return -1
	}
	all, _ := t.folder.Sofar()
	return all.OK() + all.Class[backends.Mismatch] + all.Class[backends.Decode]
}

// settleEnd reads the counters at the end of hold.
func (w *watcher) settleEnd(ctx context.Context, t *trial, want int64) (tally, error) {
	at, from := t.in.requestsIn(), w.server[beforeClock]
	grown := func(c tally) int64 {
		if len(from) == 0 || len(c) == 0 {
			return want
		}
		return c[0].Values[at] - from[0].Values[at]
	}
	c, agrees, err := settled(ctx, t.in.count, func(c tally) bool { return grown(c) >= want })
	if err == nil && !agrees {
		w.behind = fmt.Sprintf("the server had counted %d requests %s after the end, this client knows of %d that it answered: its counters may lack some, or the requests went elsewhere",
			grown(c), settleFor, want)
	}
	return c, err
}
