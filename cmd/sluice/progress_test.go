package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/executor"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/result"
)

func viewOf(w *bytes.Buffer, live bool, columns int) *view {
	return &view{
		w: w, redraws: live, columns: func() int { return columns }, mask: func(s string) string { return s },
		now: time.Now, lastLine: make(map[string]time.Time), startedParts: make(map[string]string),
		position: map[string]int{"x": 1, "y": 2, "z": 3}, total: 3,
	}
}

// Members of a group alternate: each start is printed once, and so is that of each repeat.
func TestProgressSaysEachStartOnce(t *testing.T) {
	var b bytes.Buffer
	v := viewOf(&b, false, 80)
	for _, part := range []string{"repeat 1 of 2", "repeat 2 of 2"} {
		for range 3 {
			v.event(executor.Event{Node: "x", Phase: executor.PhaseHold})
			v.event(executor.Event{Node: "y", Part: part, Phase: executor.PhaseHold})
		}
	}
	v.event(executor.Event{Node: "x", Phase: executor.PhaseDone, Result: &result.Node{Outcome: result.Done}})
	want := "[1/3] x: started\n[2/3] y: repeat 1 of 2: started\n[2/3] y: repeat 2 of 2: started\n[1/3] x: done\n"
	if b.String() != want {
		t.Errorf("got:\n%swant:\n%s", b.String(), want)
	}
}

// On a terminal running nodes are beside each other, as far as there is room, on one line.
func TestProgressSideBySide(t *testing.T) {
	for columns, want := range map[int]string{
		120: "[1/3] x: hold | [2/3] y: hold | [3/3] z: hold",
		80:  "[1/3] x: hold | [2/3] y: hold +1",
		40:  "[1/3] x: hold +2",
		12:  "[1/3] x… +2",
	} {
		var b bytes.Buffer
		v := viewOf(&b, true, columns)
		for _, n := range []string{"x", "y", "z"} {
			v.remember(executor.Event{Node: n, Phase: executor.PhaseHold})
		}
		if got := v.progressLine(); got != want || len([]rune(got)) >= columns {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
	var b bytes.Buffer
	v := viewOf(&b, true, 80)
	v.event(executor.Event{Node: "x", Phase: executor.PhaseOpen})
	v.event(executor.Event{Node: "y", Phase: executor.PhaseOpen})
	v.event(executor.Event{Node: "x", Phase: executor.PhaseDone, Result: &result.Node{Outcome: result.Done}})
	if got := v.progressLine(); strings.Contains(got, "x:") {
		t.Errorf("x has ended: %q", got)
	}
}

// Without a terminal a node that runs for long has a line every 30 s, with how far it is, its rate,
// its latency and its errors.
func TestProgressIsNotSilent(t *testing.T) {
	var b bytes.Buffer
	v := viewOf(&b, false, 80)
	at := time.Unix(1000, 0)
	v.now = func() time.Time { return at }
	for elapsed := time.Duration(0); elapsed <= 65*time.Second; elapsed += 100 * time.Millisecond {
		at = time.Unix(1000, 0).Add(elapsed)
		v.event(executor.Event{
			Node: "x", Phase: executor.PhaseHold, Elapsed: elapsed, Total: 65 * time.Second,
			Live: &measure.Progress{At: 1, Rate: 20, N: 20, P50: 5e6, P99: 8e6, InFlight: 2},
		})
		v.event(executor.Event{Node: "y", Phase: executor.PhaseOpen, Text: "waiting for the server"})
	}
	want := `[1/3] x: started
waiting for the server
[1/3] x: hold  30s/1m5s  20/s  p50 5 ms  p99 8 ms  0 failed
waiting for the server
[1/3] x: hold  1m0s/1m5s  20/s  p50 5 ms  p99 8 ms  0 failed
waiting for the server
`
	if b.String() != want {
		t.Errorf("got:\n%swant:\n%s", b.String(), want)
	}
}

// Quiet is the progress of a run whose verdict alone is wanted; what comes from outside is still
// written.
func TestProgressQuiet(t *testing.T) {
	var b bytes.Buffer
	v := viewOf(&b, false, 80)
	v.quiet = true
	v.event(executor.Event{Node: "x", Phase: executor.PhaseHold})
	v.event(executor.Event{Node: "x", Phase: executor.PhaseDone, Result: &result.Node{Outcome: result.Done}})
	v.message("interrupt: ending in order")
	if b.String() != "interrupt: ending in order\n" {
		t.Errorf("got %q", b.String())
	}
}

func TestStatus(t *testing.T) {
	hold := executor.Event{
		Node: "sweep", Phase: executor.PhaseHold, Elapsed: 1250 * time.Millisecond, Total: 2 * time.Second,
		Live: &measure.Progress{
			At: 1, Rate: 365.1, N: 9, P50: 5_200_000, P99: 7_340_000,
			InFlight: 2, Failed: 3,
		},
	}
	open := executor.Event{Node: "sweep", Phase: executor.PhaseHold, Elapsed: 75 * time.Second}
	for _, c := range []struct {
		columns int
		event   executor.Event
		want    string
	}{
		{
			119, hold,
			"[1/2] sweep: hold  ████████████░░░░░░░░  1.2s/2.0s  365.1/s  " +
				"p50 5.2 ms  p99 7.34 ms  2 in flight  3 failed",
		},
		{
			99, hold,
			"[1/2] sweep: hold  ████████████░░░░░░░░  1.2s/2.0s  365.1/s  p50 5.2 ms  p99 7.34 ms  3 failed",
		},
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
