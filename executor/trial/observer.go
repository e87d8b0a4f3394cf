package trial

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/observe"
)

// statsLimit bounds one question for the server's statistics.
const statsLimit = 5 * time.Second

// observer takes what others count, at the start and at the end of hold, and in between.
type observer struct {
	*running
	cutting cutting          // of hold in slices and windows
	settles bool             // an assertion reads the server's counters: see settled
	gaps    observe.GapMeter // in which this process did nothing
	began   bool             // hold has
	ended   bool             // hold is over
	counts  [3]countsTaken   // by moment
	behind  string           // what the counters at the end of hold lack; "": nothing
	snapshots
	scrapings []*scraping
	// from is the snapshot that growth counts from: the one at the start of hold, or the one before
	// the clock where there was no warm-up, or where hold was over before the server answered.
	from   moment
	asking sync.WaitGroup // all questions but the last
	last   sync.WaitGroup // the one at the end of hold
}

// countsTaken holds what this process had used and the server had counted at one moment.
type countsTaken struct {
	client observe.Client
	server tally
	err    error // of the server's
}

// moment names when a snapshot is taken.
type moment int

const (
	beforeClock moment = iota
	holdBegins
	holdEnds
)

// begin takes the first snapshot before the clock starts.
func (o *observer) begin(ctx context.Context) {
	o.take(ctx, beforeClock)
	o.scrape(ctx, o.host.Clock.Now(), false)
	o.asking.Wait()
}

// look takes the snapshots that are due. over: the player has ended.
func (o *observer) look(ctx context.Context, now int64, over bool) {
	begin := o.control.HoldStart.Load()
	if begin == 0 || now < begin {
		return
	}
	o.gaps.Tick(now)
	if !o.began && !over {
		o.began = true
		if o.warm() {
			o.from = holdBegins
			o.take(ctx, holdBegins)
		}
	}
	if o.ended {
		return
	}
	o.ended = over || now >= o.control.StopAt.Load()
	o.snapshot(ctx, now)
	o.scrape(ctx, now, o.ended)
	if o.ended {
		o.take(ctx, holdEnds)
	}
}

// warm reports whether requests are sent before hold.
func (o *observer) warm() bool { return !o.in.Node.Stage.Warmup.IsZero() }

// wait waits for all answers.
func (o *observer) wait() {
	o.asking.Wait()
	o.last.Wait()
}

// take reads this process at once and asks the server in the background, so that folding goes on,
// whatever the server does. No question is answered after the last one.
func (o *observer) take(ctx context.Context, i moment) {
	at := &o.counts[i]
	at.client = observe.ReadClient(o.host.Clock.Now())
	if o.in.Requests.Counters == nil {
		return
	}
	group, want := &o.asking, int64(-1)
	if i == holdEnds {
		if group = &o.last; o.settles {
			want = o.answered()
		}
	}
	group.Go(func() {
		if i == holdEnds {
			o.asking.Wait()
		}
		ctx, cancel := WithGrace(ctx, statsLimit)
		defer cancel()
		switch {
		case o.settles && i == beforeClock:
			at.server, _, at.err = settled(ctx, o.in.Requests.count, unchanged())
		case want >= 0:
			at.server, o.behind, at.err = settleEnd(ctx, o.in.Requests, o.counts[beforeClock].server, want)
		default:
			at.server, at.err = o.in.Requests.count(ctx)
		}
	})
}

// use returns what this process took during hold, of cpus CPUs that it may use.
func (o *observer) use(cpus float64) observe.Use {
	if !o.ended {
		return observe.Use{Share: -1, CPU: -1, Memory: -1}
	}
	u := observe.Between(o.counts[o.from].client, o.counts[holdEnds].client, cpus)
	if o.host.InProcess {
		u.CPU = -1 // it has the server's too
	}
	return u
}

// counters returns the server's counters at the ends of what is reported of hold, which began at
// hold on the run's clock; nil where they are unknown. windows: what is reported is cut to windows.
func (o *observer) counters(
	hold int64, reported measure.Span, windows bool,
) (began, ended tally, notes findings) {
	if o.in.Requests.Counters == nil || !o.ended {
		return nil, nil, nil
	}
	err := errors.Join(o.counts[beforeClock].err, o.counts[holdBegins].err, o.counts[holdEnds].err)
	if err != nil {
		notes.note("no-statistics", "%s", err)
		return nil, nil, notes
	}
	if o.behind != "" {
		notes.note("server-counts", "%s", o.behind)
	}
	if windows {
		moments := o.moments()
		return nearest(moments, hold+reported.From), nearest(moments, hold+reported.To), notes
	}
	if o.counts[o.from].server.same(o.counts[holdEnds].server) {
		o.from = beforeClock
	}
	return o.counts[o.from].server, o.counts[holdEnds].server, notes
}
