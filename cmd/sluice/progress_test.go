package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/executor"
	"github.com/sluice-bench/sluice/executor/result"
)

func viewOf(w *bytes.Buffer, live bool, columns int) *view {
	return &view{
		w: w, live: live, columns: func() int { return columns }, mask: func(s string) string { return s },
		started: make(map[string]string), position: map[string]int{"x": 1, "y": 2, "z": 3}, total: 3,
	}
}

// Members of a group take turns: each start is said once, and so is that of each repeat.
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

// On a terminal all that runs stands side by side, as far as there is room; never more than a line.
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
			v.keep(executor.Event{Node: n, Phase: executor.PhaseHold})
		}
		if got := v.all(); got != want || len([]rune(got)) >= columns {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
	var b bytes.Buffer
	v := viewOf(&b, true, 80)
	v.event(executor.Event{Node: "x", Phase: executor.PhaseOpen})
	v.event(executor.Event{Node: "y", Phase: executor.PhaseOpen})
	v.event(executor.Event{Node: "x", Phase: executor.PhaseDone, Result: &result.Node{Outcome: result.Done}})
	if got := v.all(); strings.Contains(got, "x:") {
		t.Errorf("x has ended: %q", got)
	}
}
