package drive

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/load"
)

func playOpen(ctx context.Context, w *world, s load.Schedule, src *fakeFeed, lim backends.Limits,
	o OpenOptions,
) Played {
	w.t.Helper()
	played := within(w.t, func() Played { return Open(ctx, s, src, []Pool{w.pool(lim)}, w.out, &w.c, o) })
	w.finished(played)
	return played
}

// burst has n arrivals that are all due at once.
func burst(n int64) load.Schedule { return limit(load.Constant(1e12), n) }

func TestOpenPlaysTheSchedule(t *testing.T) {
	limits := map[string]backends.Limits{"inline": inline, "handed over": {Depth: 1}}
	for name, lim := range limits {
		for _, lanes := range []int{1, 3, 16} {
			w := newWorld(t, lanes)
			o := OpenOptions{Options: w.options(), Spin: int64(30 * time.Microsecond)}
			o.IDBase = 3 << 40
			fresh := func() load.Schedule { return limit(load.Poisson(20_000, [2]uint64{1, 2}), 1000) }
			p := playOpen(background, w, fresh(), &fakeFeed{}, lim, o)
			if p.Planned != 1000 || p.Sent != 1000 {
				t.Errorf("%s, %d lanes: %+v", name, lanes, p)
			}
			samples, hash, s := w.out.samples(), load.EmptyHash, fresh()
			for n := range uint64(1000) {
				after, _ := s.Next()
				hash = hash.Add(after)
				got := samples[n]
				if got.Due != o.Start+after {
					t.Fatalf("%s, %d lanes: arrival %d due at %d, want %d", name, lanes, n,
						got.Due-o.Start, after)
				}
				if got.SendStart < got.Due || got.Free < got.Due || got.SendStart < got.Free {
					t.Errorf("%s, %d lanes: arrival %d due %d free %d sent %d", name, lanes, n, got.Due,
						got.Free, got.SendStart)
				}
			}
			if p.Hash != uint64(hash) {
				t.Errorf("hash %d, want %d", p.Hash, hash)
			}
		}
	}
}

func TestOpenUsesLanesInTurn(t *testing.T) {
	w := newWorld(t, 4)
	w.gate = make(chan struct{})
	o := OpenOptions{Options: w.options(), Drop: true}
	o.Drain = 0
	playOpen(background, w, burst(4), &fakeFeed{}, inline, o)
	for n, s := range w.out.samples() {
		if s.Lane != uint32(n) {
			t.Errorf("arrival %d went to lane %d", n, s.Lane)
		}
	}
}

func TestOpenWaitsForASlot(t *testing.T) {
	w := newWorld(t, 2)
	w.gate = make(chan struct{})
	go w.answerWaits(8, 2)
	o := OpenOptions{Options: w.options()}
	p := playOpen(background, w, burst(10), &fakeFeed{}, inline, o)
	if p.Sent != 10 || p.WaitedPool != 8 || p.DroppedPool != 0 || p.PeakInFlight > 2 {
		t.Errorf("%+v", p)
	}
	waited := int64(0)
	for n, s := range w.out.samples() {
		if s.Due != o.Start {
			t.Errorf("arrival %d was moved to %d", n, s.Due-o.Start)
		}
		if s.Free > s.Due {
			waited++
		}
	}
	if waited != p.WaitedPool {
		t.Errorf("%d samples say they waited, played %d", waited, p.WaitedPool)
	}
}

func TestOpenDropsWithoutASlot(t *testing.T) {
	w := newWorld(t, 2)
	w.gate = make(chan struct{})
	o := OpenOptions{Options: w.options(), Drop: true}
	o.Drain, o.WarmCount = 0, 3
	p := playOpen(background, w, burst(13), &fakeFeed{}, inline, o)
	if p.Planned != 10 || p.WarmSent != 2 || p.Sent != 0 || p.DroppedPool != 10 || p.WaitedPool != 0 {
		t.Errorf("%+v", p)
	}
	for n, s := range w.out.samples() {
		if s.Class != backends.Stopped || s.Status != int32(backends.CauseDrain) {
			t.Errorf("arrival %d: class %v", n, s.Class)
		}
	}
}

func TestOpenGrowsThePool(t *testing.T) {
	w := newWorld(t, 2)
	w.gate = make(chan struct{})
	var asked atomic.Int64
	o := OpenOptions{Options: w.options(), MaxInFlight: 7}
	var grown []*fakeLane
	grow := func(_ context.Context, n int) ([]backends.Lane, error) {
		asked.Add(int64(n))
		lanes := w.more(n + 1) // one too many: closed, not used
		grown = append(grown, w.lanes[len(w.lanes)-1])
		return lanes, nil
	}
	w.onSend = func(*backends.Sample) {
		if w.c.InFlight.Load() == 7 {
			close(w.gate)
		}
	}
	given := w.given()
	p := within(t, func() Played {
		return Open(background, burst(7), &fakeFeed{}, growing(given, o.MaxInFlight, grow),
			w.out, &w.c, o)
	})
	w.finished(p)
	if p.PeakInFlight != 7 || asked.Load() != 5 || p.Sent != 7 {
		t.Errorf("asked for %d: %+v", asked.Load(), p)
	}
	for i, l := range grown {
		if l.sends.Load() != 0 {
			t.Errorf("surplus lane %d was used", i)
		}
	}
}

func TestOpenLivesWithAPoolThatCannotGrow(t *testing.T) {
	w := newWorld(t, 1)
	w.gate = make(chan struct{})
	o := OpenOptions{Options: w.options(), MaxInFlight: 4}
	var calls atomic.Int64
	grow := func(context.Context, int) ([]backends.Lane, error) {
		calls.Add(1)
		close(w.gate)
		return nil, errors.New("no more descriptors")
	}
	given := w.given()
	p := within(t, func() Played {
		return Open(background, burst(50), &fakeFeed{}, growing(given, o.MaxInFlight, grow), w.out, &w.c, o)
	})
	w.finished(p)
	if p.Sent != 50 || calls.Load() != 1 {
		t.Errorf("%d calls: %+v", calls.Load(), p)
	}
}

// Growing is told to give up when the schedule has ended, and is waited for.
func TestOpenEndsWhileGrowing(t *testing.T) {
	w := newWorld(t, 1)
	o := OpenOptions{Options: w.options(), MaxInFlight: 4}
	grow := func(ctx context.Context, _ int) ([]backends.Lane, error) {
		<-ctx.Done()
		return w.more(1), nil
	}
	given := w.given()
	p := within(t, func() Played {
		return Open(background, burst(50), &fakeFeed{}, growing(given, o.MaxInFlight, grow),
			w.out, &w.c, o)
	})
	w.finished(p)
	if p.Sent != 50 {
		t.Errorf("%+v", p)
	}
}

func TestOpenStopsAtTheTime(t *testing.T) {
	w := newWorld(t, 4)
	o := OpenOptions{Options: w.options()}
	w.c.StopAt.Store(o.Start + int64(2*time.Millisecond))
	o.WarmUntil = o.Start + int64(time.Millisecond)
	p := playOpen(background, w, load.Constant(1e6), &fakeFeed{}, inline, o)
	if p.Planned != 1000 || p.Sent != 1000 || p.WarmSent != 1000 || w.c.HoldStart.Load() != o.WarmUntil {
		t.Errorf("hold from %d: %+v", w.c.HoldStart.Load()-o.Start, p)
	}
}

// A stop that comes while the pacer sleeps ends it long before the next due time, and leaves
// nothing behind.
func TestOpenStopsInItsSleep(t *testing.T) {
	w := newWorld(t, 1)
	w.onSend = func(*backends.Sample) { w.c.StopAt.Store(w.clock.Now()) }
	p := playOpen(background, w, load.Constant(0.001), &fakeFeed{}, inline,
		OpenOptions{Options: w.options()})
	if p.Planned != 1 || p.Sent != 1 {
		t.Errorf("%+v", p)
	}
}

func TestOpenCountsToTheLimit(t *testing.T) {
	w := newWorld(t, 4)
	o := OpenOptions{Options: w.options()}
	o.Limit, o.WarmCount = 300, 20
	p := playOpen(background, w, load.Constant(1e9), &fakeFeed{}, inline, o)
	if p.Planned != 300 || p.Sent != 300 || p.WarmSent != 20 {
		t.Errorf("%+v", p)
	}
	if at, want := w.c.HoldStart.Load(), w.out.samples()[20].Due; at != want {
		t.Errorf("hold from %d, the first request of it is due at %d", at, want)
	}
}

func TestOpenEndsWithTheFeed(t *testing.T) {
	w := newWorld(t, 4)
	p := playOpen(background, w, load.Constant(1e9), &fakeFeed{end: 57}, inline,
		OpenOptions{Options: w.options()})
	if p.Planned != 57 || p.Sent != 57 {
		t.Errorf("%+v", p)
	}
}

func TestOpenCutOffCountsWhatWasDue(t *testing.T) {
	tests := []struct {
		name string
		why  backends.Cause
		tune func(w *world, o *OpenOptions, cancel func())
	}{
		{"interrupted", backends.CauseStop, func(w *world, _ *OpenOptions, cancel func()) {
			w.onSend = func(*backends.Sample) { cancel() }
		}},
		{"drain over", backends.CauseDrain, func(w *world, o *OpenOptions, _ func()) {
			o.Drain = time.Millisecond
			w.onSend = func(*backends.Sample) { w.c.StopAt.Store(o.Start + 1) }
		}},
		{"drain over, deaf lanes", backends.CauseStop, func(w *world, o *OpenOptions, _ func()) {
			o.Drain, w.deaf = time.Millisecond, true
			w.onSend = func(*backends.Sample) { w.c.StopAt.Store(o.Start + 1) }
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, 1)
			w.gate = make(chan struct{})
			ctx, cancel := context.WithCancel(background)
			defer cancel()
			o := OpenOptions{Options: w.options()}
			tt.tune(w, &o, cancel)
			p := playOpen(ctx, w, burst(100), &fakeFeed{}, inline, o)
			if p.Planned != 100 || p.Sent != 1 || p.DroppedStop != 99 {
				t.Errorf("%+v", p)
			}
			if s := w.out.samples()[0]; s.Class != backends.Stopped || s.Status != int32(tt.why) {
				t.Errorf("class %v cause %d", s.Class, s.Status)
			}
		})
	}
}

func TestOpenInterruptedLeavesTheFutureOut(t *testing.T) {
	w := newWorld(t, 1)
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	w.onSend = func(*backends.Sample) { cancel() }
	p := playOpen(ctx, w, limit(load.Constant(0.001), 100), &fakeFeed{}, inline,
		OpenOptions{Options: w.options()})
	if p.Planned != 1 || p.Sent != 1 {
		t.Errorf("%+v", p)
	}
}

func TestOpenTimesOut(t *testing.T) {
	w := newWorld(t, 2)
	w.gate, w.timeout = make(chan struct{}), time.Millisecond
	o := OpenOptions{Options: w.options()}
	p := playOpen(background, w, burst(6), &fakeFeed{}, inline, o)
	if p.Sent != 6 {
		t.Errorf("%+v", p)
	}
	for n, s := range w.out.samples() {
		if s.Class != backends.TimedOut || s.LastByte-s.Due < int64(w.timeout) {
			t.Errorf("arrival %d: class %v after %d", n, s.Class, s.LastByte-s.Due)
		}
	}
}

// Large calls are sent by a goroutine of their lane, small ones by the pacer, on the same lanes and
// never two at once.
func TestOpenHandsLargeCallsOver(t *testing.T) {
	w := newWorld(t, 3)
	src := &fakeFeed{size: func(n uint64) int { return int(n%3) * 100 }}
	p := playOpen(background, w, burst(3000), src, inline, OpenOptions{Options: w.options()})
	if p.Sent != 3000 {
		t.Errorf("%+v", p)
	}
}

func TestOpenWaitsForBuffers(t *testing.T) {
	w := newWorld(t, 2)
	asked := 0
	w.out.empty = func(int) bool { asked++; return asked%3 == 1 }
	p := playOpen(background, w, burst(20), &fakeFeed{}, inline, OpenOptions{Options: w.options()})
	if p.Sent != 20 || p.Paused == 0 || p.Paused > 20 {
		t.Errorf("%+v", p)
	}
}

func TestOpenNumbersItsShard(t *testing.T) {
	w := newWorld(t, 2)
	o := OpenOptions{Options: w.options()}
	o.Shard = load.Shard{Index: 1, Count: 3}
	p := playOpen(background, w, load.Sharded(burst(30), o.Shard), &fakeFeed{}, inline, o)
	if p.Sent != 10 {
		t.Errorf("%+v", p)
	}
	for n := range w.out.samples() {
		if n%3 != 1 {
			t.Errorf("number %d is another shard's", n)
		}
	}
}

// A late pacer sends everything, with the due times of the schedule.
func TestOpenLatePacerSkipsNothing(t *testing.T) {
	w := newWorld(t, 2)
	o := OpenOptions{Options: w.options()}
	o.Delay = func(n uint64) {
		for until := w.clock.Now() + int64(20*time.Microsecond); w.clock.Now() < until; {
		}
	}
	p := playOpen(background, w, limit(load.Constant(100_000), 500), &fakeFeed{}, inline, o)
	if p.Sent != 500 {
		t.Errorf("%+v", p)
	}
	samples := w.out.samples()
	for n := range uint64(500) {
		if got := samples[n].Due - o.Start; got != int64(n)*10_000 {
			t.Fatalf("arrival %d is due at %d", n, got)
		}
	}
	// 20 µs each at 10 µs apart: the last is late by 5 ms of its own client, which Free does not
	// excuse.
	if late := samples[499].SendStart - samples[499].Due; late < int64(4*time.Millisecond) {
		t.Errorf("the last is late by %d ns only", late)
	}
}
