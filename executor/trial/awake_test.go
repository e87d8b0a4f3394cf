package trial

import (
	"runtime"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
)

// TestMayHold: which trials may keep processors, how many, and of how many the client's CPU share
// then is.
func TestMayHold(t *testing.T) {
	before := runtime.GOMAXPROCS(8)
	defer runtime.GOMAXPROCS(before)
	for name, c := range map[string]struct {
		slots  int
		change func(*Host, *Input, *program.Load)
		want   int
	}{
		"few slots":      {slots: 3, want: 3},
		"as many as may": {slots: 4, want: 4},
		"many":           {slots: 64, want: 4},
		"an open loop": {
			slots: 3, change: func(_ *Host, _ *Input, p *program.Load) { p.Open = true },
		},
		"beside another run": {
			slots: 3, change: func(h *Host, _ *Input, _ *program.Load) { h.Alone = false },
		},
		"beside another stage": {
			slots: 3, change: func(h *Host, _ *Input, _ *program.Load) { h.Beside = true },
		},
		"two targets": {
			slots: 3,
			change: func(_ *Host, in *Input, _ *program.Load) {
				in.Requests.Targets = make([]*Target, 2)
			},
		},
		"few slots that think":          {slots: 3, want: 3, change: thinks},
		"many slots that think":         {slots: 64, change: thinks},
		"few slots whose rows pause":    {slots: 3, want: 3, change: rowsPause},
		"many slots whose rows pause":   {slots: 64, change: rowsPause},
		"many slots that grow by steps": {slots: 64, change: growsBySteps},
		"many sequences": {
			slots: 64, change: func(_ *Host, _ *Input, p *program.Load) { p.Sequences = &load.Sequences{} },
		},
	} {
		h := &Host{Alone: true, CPUs: 8}
		in := &Input{
			Node:     &program.Node{Stage: &scenario.Stage{Load: scenario.Concurrency{}}},
			Requests: &Requests{Targets: make([]*Target, 1)},
		}
		p := &program.Load{Slots: c.slots}
		if c.change != nil {
			c.change(h, in, p)
		}
		got := blockingLanes(h, in, p)
		if got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		if got == 0 {
			continue
		}
		lanes := lanePools{{
			Lanes: make([]backends.Lane, got), Limits: backends.Limits{BlocksThread: true},
		}}
		if cpus := clientCPUs(h, p, lanes); cpus != float64(got) {
			t.Errorf("%s: the share is of %v processors", name, cpus)
		}
	}
}

func thinks(_ *Host, in *Input, _ *program.Load) {
	in.Node.Stage.Load = scenario.Concurrency{Think: &scenario.Dist{}}
}

func growsBySteps(_ *Host, _ *Input, p *program.Load) {
	p.Stored.Periodic = &result.Periodic{From: 1, To: 64, Step: 1, Responses: 1}
}

func rowsPause(_ *Host, in *Input, _ *program.Load) {
	in.Requests.Entries = []*Entry{{}, {Delays: []int64{-1, 5}}}
}
