package main

import (
	"testing"
	"time"

	"github.com/sluice-bench/sluice/executor"
	"github.com/sluice-bench/sluice/executor/measure"
)

func TestStatus(t *testing.T) {
	hold := executor.Event{
		Node: "sweep", Phase: executor.PhaseHold, Elapsed: 1250 * time.Millisecond, Total: 2 * time.Second,
		Live: &measure.Live{At: 1, Rate: 365.1, N: 9, P50: 5_200_000, P99: 7_340_000, InFlight: 2, Failed: 3},
	}
	open := executor.Event{Node: "sweep", Phase: executor.PhaseHold, Elapsed: 75 * time.Second}
	for _, c := range []struct {
		columns int
		event   executor.Event
		want    string
	}{
		{119, hold, "[1/2] sweep: hold  ████████████░░░░░░░░  1.2s/2.0s  365.1/s  p50 5.2 ms  p99 7.34 ms  2 in flight  3 failed"},
		{99, hold, "[1/2] sweep: hold  ████████████░░░░░░░░  1.2s/2.0s  365.1/s  p50 5.2 ms  p99 7.34 ms  3 failed"},
		{79, hold, "[1/2] sweep: hold  1.2s/2.0s  365.1/s  p50 5.2 ms  p99 7.34 ms  3 failed"},
		{50, hold, "[1/2] sweep: hold  1.2s/2.0s  365.1/s  3 failed"},
		{19, hold, "[1/2] sweep: hold"},
		{10, hold, "[1/2] swe…"},
		{1, hold, "…"},
		{79, open, "[1/2] sweep: hold  1m15s"},
	} {
		if got := status("[1/2] sweep: ", c.event, c.columns); got != c.want {
			t.Errorf("%d columns: %q, want %q", c.columns, got, c.want)
		}
	}
}
