package executor

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/executor/measure"
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
	client   [3]observe.Client
	server   [3]tally
	errs     [3]error
	behind   string // what the counters at the end of hold lack; "": nothing
	snapshots
	scraper scraper
	// from is the snapshot that growth counts from: the one at the start of hold, or the one before the clock where there
	// was no warm-up, or where hold was over before the server answered.
	from   moment
	asking sync.WaitGroup // all questions but the last
	last   sync.WaitGroup // the one at the end of hold
}

// moment is when a snapshot is taken.
type moment int

const (
	beforeClock moment = iota
	holdBegins
	holdEnds
)

// begin takes the first snapshot before the clock starts.
func (w *watcher) begin(ctx context.Context, t *trial) {
	w.take(ctx, t, beforeClock)
	w.scraper.look(ctx, t, t.r.clock.Now(), false)
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
			w.from = holdBegins
			w.take(ctx, t, holdBegins)
		}
	}
	if !w.ended {
		w.snapshots.look(ctx, t, now)
		w.scraper.look(ctx, t, now, over || now >= t.control.StopAt.Load())
	}
	if !w.ended && (over || now >= t.control.StopAt.Load()) {
		w.ended = true
		w.take(ctx, t, holdEnds)
	}
}

// wait waits for all answers.
func (w *watcher) wait() {
	w.asking.Wait()
	w.last.Wait()
}

// take reads this process at once and asks the server in the background, so that folding goes on, whatever the server does. No
// question is answered after the last one.
func (w *watcher) take(ctx context.Context, t *trial, i moment) {
	w.client[i] = observe.ReadClient(t.r.clock.Now())
	if t.in.stats == nil {
		return
	}
	group := &w.asking
	if i == holdEnds {
		group = &w.last
	}
	settles, want := t.readsServer(), int64(-1)
	if settles && i == holdEnds {
		want = t.counted()
	}
	group.Go(func() {
		if i == holdEnds {
			w.asking.Wait()
		}
		ctx, cancel := beyond(ctx, statsLimit)
		defer cancel()
		switch {
		case settles && i == beforeClock:
			w.server[i], _, w.errs[i] = settled(ctx, t.in.count, unchanged())
		case want >= 0:
			w.server[i], w.errs[i] = w.settleEnd(ctx, t, want)
		default:
			w.server[i], w.errs[i] = t.in.count(ctx)
		}
	})
}

// use is what this process took during hold.
func (w *watcher) use(t *trial) observe.Use {
	if !w.ended {
		return observe.Use{Share: -1, User: -1, System: -1, Memory: -1}
	}
	u := observe.Between(w.client[w.from], w.client[holdEnds], t.cpus())
	if t.inProcess() {
		u.User, u.System = -1, -1 // the server's are in them
	}
	return u
}

// counters are the server's at the ends of what is reported of hold, which began at a moment of the run clock; nil where
// nothing is known.
func (t *trial) counters(hold int64, reported measure.Span) (began, ended tally) {
	w := &t.watch
	if t.in.stats == nil || !w.ended {
		return nil, nil
	}
	if err := errors.Join(w.errs[:]...); err != nil {
		t.note("no_statistics", "%s", err)
		return nil, nil
	}
	if w.behind != "" {
		t.note("server_counts", "%s", w.behind)
	}
	if t.steer.accepted != nil {
		moments := w.moments()
		return nearest(moments, hold+reported.From), nearest(moments, hold+reported.To)
	}
	if w.server[w.from].same(w.server[holdEnds]) {
		w.from = beforeClock
	}
	return w.server[w.from], w.server[holdEnds]
}
