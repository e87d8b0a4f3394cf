package executor

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/executor/observe"
)

// statsLimit is how long one question for the server's statistics may take.
const statsLimit = 5 * time.Second

// watcher takes what others count, at the start and at the end of hold.
type watcher struct {
	reported int64 // time of the last event
	gaps     observe.Gaps
	began    bool
	ended    bool
	early    bool // the first snapshot is from before the warm-up: hold was over before it could be taken
	client   [2]observe.Client
	server   [2]observe.Snapshot
	errs     [2]error
	asking   sync.WaitGroup
}

// begin takes the first snapshot before the clock starts; the one at the start of hold replaces it.
func (w *watcher) begin(ctx context.Context, t *trial) {
	w.early = true
	w.take(ctx, t, 0)
	w.asking.Wait()
}

// look takes the snapshots when their time has come. over: the player has ended.
func (w *watcher) look(ctx context.Context, t *trial, now int64, over bool) {
	begin := t.control.HoldStart.Load()
	if begin == 0 || now < begin {
		return
	}
	w.gaps.Tick(now)
	warm := t.node.Stage.Warmup
	if !w.began && !over {
		w.began = true
		if !warm.IsZero() {
			w.early = false
			w.take(ctx, t, 0)
		}
	}
	if !w.ended && (over || now >= t.control.StopAt.Load()) {
		w.ended = true
		w.asking.Wait() // the first question must not be answered after the second
		w.take(ctx, t, 1)
	}
}

// take reads this process at once and asks the server in the background, so that folding goes on.
func (w *watcher) take(ctx context.Context, t *trial, i int) {
	w.client[i] = observe.ReadClient(t.r.clock.Now())
	if t.in.stats == nil {
		return
	}
	w.asking.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statsLimit)
		defer cancel()
		w.server[i], w.errs[i] = observe.Take(ctx, len(t.target.kind.Series), t.in.stats)
	})
}

// use is what this process took during hold.
func (w *watcher) use() observe.Use {
	if !w.ended {
		return observe.Use{Share: -1, User: -1, System: -1, Memory: -1}
	}
	return observe.Between(w.client[0], w.client[1], observe.Allowed())
}

// growth is what the server counted during hold, nil when nothing is known.
func (t *trial) growth() []observe.Reading {
	w := &t.watch
	if t.in.stats == nil || !w.ended {
		return nil
	}
	if err := errors.Join(w.errs[:]...); err != nil {
		t.find("no_statistics", "note", "%s", err)
		return nil
	}
	readings := observe.Growth(t.target.kind.Series, w.server[0], w.server[1])
	for _, r := range readings {
		if r.Why != "" {
			t.find("statistics", "note", "%s: %s", r.Row.Name, r.Why)
			break // one cause, many rows
		}
	}
	return readings
}
