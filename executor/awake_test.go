package executor

import (
	"runtime"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario"
)

// TestMayHold: which trials may keep processors, how many, and of how many the client's CPU share then is.
func TestMayHold(t *testing.T) {
	before := runtime.GOMAXPROCS(8)
	defer runtime.GOMAXPROCS(before)
	for name, c := range map[string]struct {
		slots  int
		change func(*trial)
		want   int
	}{
		"few slots":                     {slots: 3, want: 3},
		"as many as may":                {slots: 4, want: 4},
		"many":                          {slots: 64, want: 4},
		"an open loop":                  {slots: 3, change: func(t *trial) { t.course.profile = nil }},
		"beside another run":            {slots: 3, change: func(t *trial) { t.r.env.Alone = false }},
		"beside another stage":          {slots: 3, change: func(t *trial) { t.m.group.members = make([]*member, 2) }},
		"two targets":                   {slots: 3, change: func(t *trial) { t.in.pools = make([]*target, 2) }},
		"few slots that think":          {slots: 3, want: 3, change: thinks},
		"many slots that think":         {slots: 64, change: thinks},
		"few slots whose rows pause":    {slots: 3, want: 3, change: rowsPause},
		"many slots whose rows pause":   {slots: 64, change: rowsPause},
		"many slots that grow by steps": {slots: 64, change: func(t *trial) { t.course.profile = drive.NewSteps(1, 64, 1, 1) }},
		"many sequences":                {slots: 64, change: func(t *trial) { t.course.sequences = &drive.Sequences{} }},
	} {
		tr := &trial{
			r:      &runner{env: Env{Alone: true}, cpus: 8},
			m:      &member{group: &group{members: []*member{{}}}},
			node:   &program.Node{Stage: &scenario.Stage{Load: scenario.Concurrency{}}},
			in:     &inputs{pools: make([]*target, 1)},
			course: &course{slots: c.slots, profile: load.Level(c.slots)},
		}
		if c.change != nil {
			c.change(tr)
		}
		got := tr.mayHold()
		if got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		if got == 0 {
			continue
		}
		tr.holds, tr.pools = true, []drive.Pool{{Lanes: make([]backends.Lane, got)}}
		if cpus := tr.cpus(); cpus != float64(got) {
			t.Errorf("%s: the share is of %v processors", name, cpus)
		}
	}
}

func thinks(t *trial) {
	t.node.Stage.Load = scenario.Concurrency{Think: &scenario.Dist{}}
}

func rowsPause(t *trial) { t.in.entries = []*entry{{}, {delays: []int64{-1, 5}}} }
