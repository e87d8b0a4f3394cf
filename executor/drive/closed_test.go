package drive

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/load"
)

var inline = backends.Limits{Depth: 1, Inline: 100}

func playClosed(ctx context.Context, w *world, p load.Profile, src *fakeFeed, o Options) Played {
	w.t.Helper()
	played := within(w.t, func() Played { return Closed(ctx, p, src, w.closed(), w.out, &w.c, o) })
	w.finished(played)
	return played
}

// closed is the pool of a closed loop: its slots have a lane each or, held, one lane together,
// whose reader plays them.
func (w *world) closed() []Pool {
	if !w.held {
		return []Pool{w.pool(inline)}
	}
	pool := w.share(len(w.lanes), 1)
	pool.Limits.BlocksThread = true
	return []Pool{pool}
}

// closedWays calls f for both forms of the pool.
func closedWays(t *testing.T, f func(t *testing.T, fresh func(lanes int) *world)) {
	for name, held := range map[string]bool{"a lane each": false, "together": true} {
		t.Run(name, func(t *testing.T) {
			f(t, func(lanes int) *world {
				w := newWorld(t, lanes)
				w.held = held
				return w
			})
		})
	}
}

func TestClosedSendsExactlyTheLimit(t *testing.T) {
	closedWays(t, func(t *testing.T, fresh func(int) *world) {
		for _, lanes := range []int{1, 3, 16} {
			w := fresh(lanes)
			o := w.options()
			o.Limit, o.WarmCount, o.IDBase = 1000, 100, 5<<40
			p := playClosed(background, w, load.Level(lanes), &fakeFeed{}, o)
			if p.Sent != 1000 || p.WarmSent != 100 {
				t.Errorf("%d lanes: sent %d, warm %d", lanes, p.Sent, p.WarmSent)
			}
			warm := 0
			for n, s := range w.out.samples() {
				if s.Flags&backends.Warmup != 0 {
					warm++
					if n >= 100 {
						t.Errorf("request %d is flagged as warm-up", n)
					}
				}
				if s.Free != s.Due || s.SendStart < s.Due || s.Row != 7 || s.Items != 3 ||
					s.Class != backends.OK {
					t.Errorf("request %d: %+v", n, s)
				}
			}
			if warm != 100 {
				t.Errorf("%d lanes: %d samples flagged as warm-up", lanes, warm)
			}
			if at := w.c.HoldStart.Load(); at < o.Start || at > w.clock.Now() {
				t.Errorf("hold starts at %d", at)
			}
		}
	})
}

func TestClosedWarmsUpForATime(t *testing.T) {
	closedWays(t, func(t *testing.T, fresh func(int) *world) {
		w := fresh(2)
		o := w.options()
		o.Limit, o.WarmUntil = 10, o.Start+int64(5*time.Millisecond)
		p := playClosed(background, w, load.Level(2), &fakeFeed{}, o)
		if p.Sent != 10 || w.c.HoldStart.Load() != o.WarmUntil {
			t.Errorf("sent %d, warm %d, hold from %d", p.Sent, p.WarmSent, w.c.HoldStart.Load()-o.Start)
		}
		for n, s := range w.out.samples() {
			if warm := s.Flags&backends.Warmup != 0; warm != (s.Due < o.WarmUntil) {
				t.Errorf("request %d due %d: warm-up %v", n, s.Due-o.Start, warm)
			}
		}
	})
}

func TestClosedEndsWithTheFeed(t *testing.T) {
	closedWays(t, func(t *testing.T, fresh func(int) *world) {
		w := fresh(4)
		p := playClosed(background, w, load.Level(2), &fakeFeed{end: 57}, w.options())
		if p.Sent != 57 {
			t.Errorf("sent %d of 57", p.Sent)
		}
	})
}

func TestClosedUsesTheOpenSlotsOnly(t *testing.T) {
	closedWays(t, func(t *testing.T, fresh func(int) *world) {
		w := fresh(8)
		o := w.options()
		o.Limit = 500
		p := playClosed(background, w, load.Level(3), &fakeFeed{}, o)
		for i := range w.out.lanes {
			if puts := w.out.lanes[i].puts; i >= 3 && puts != 0 {
				t.Errorf("slot %d was not open but sent %d", i, puts)
			}
		}
		if p.Sent != 500 || p.PeakInFlight > 3 {
			t.Errorf("sent %d, peak %d", p.Sent, p.PeakInFlight)
		}
	})
}

// stepped opens one slot until it is told to open all.
type stepped struct {
	all atomic.Bool
	n   int
}

func (s *stepped) Slots(int64) int {
	if s.all.Load() {
		return s.n
	}
	return 1
}

func TestClosedFollowsTheProfile(t *testing.T) {
	closedWays(t, func(t *testing.T, fresh func(int) *world) {
		w := fresh(4)
		w.gate = make(chan struct{})
		profile := &stepped{n: 4}
		// The first reply opens all slots; the others come once four requests are in flight.
		gate := w.gate
		go func() {
			gate <- struct{}{}
			profile.all.Store(true)
		}()
		var once sync.Once
		w.onSend = func(*backends.Sample) {
			if w.c.InFlight.Load() == 4 {
				once.Do(func() { close(gate) })
			}
		}
		o := w.options()
		o.Limit = 5
		p := playClosed(background, w, profile, &fakeFeed{}, o)
		if p.Sent != 5 || p.PeakInFlight != 4 {
			t.Errorf("sent %d, peak %d", p.Sent, p.PeakInFlight)
		}
	})
}

func TestClosedStopsAtTheTime(t *testing.T) {
	closedWays(t, func(t *testing.T, fresh func(int) *world) {
		w := fresh(4)
		stopped := make(chan struct{})
		src := &fakeFeed{each: func(n uint64) {
			if n == 500 {
				w.c.StopAt.Store(w.clock.Now())
				close(stopped)
			}
			if n > 500 {
				<-stopped
			}
		}}
		p := playClosed(background, w, load.Level(4), src, w.options())
		for n, s := range w.out.samples() {
			if s.Class != backends.OK {
				t.Errorf("request %d: class %v", n, s.Class)
			}
		}
		if p.Sent < 501 || p.Sent > 504 { // each of the other slots may have had its turn before
			t.Errorf("sent %d", p.Sent)
		}
	})
}

func TestClosedStopIsExact(t *testing.T) {
	closedWays(t, func(t *testing.T, fresh func(int) *world) {
		w := fresh(4)
		o := w.options()
		w.c.StopAt.Store(o.Start + int64(3*time.Millisecond))
		playClosed(background, w, load.Level(4), &fakeFeed{}, o)
		for n, s := range w.out.samples() {
			if s.Due < o.Start || s.Due >= w.c.StopAt.Load() {
				t.Errorf("request %d is due at %d", n, s.Due-o.Start)
			}
		}
	})
}

func TestClosedStopReachesClosedSlots(t *testing.T) {
	closedWays(t, func(t *testing.T, fresh func(int) *world) {
		w := fresh(4)
		w.c.StopAt.Store(w.clock.Now() + int64(5*time.Millisecond))
		if p := playClosed(background, w, load.Level(0), &fakeFeed{}, w.options()); p.Sent != 0 {
			t.Errorf("sent %d", p.Sent)
		}
	})
}

func TestClosedCancels(t *testing.T) {
	closedWays(t, func(t *testing.T, fresh func(int) *world) {
		tests := []struct {
			name  string
			tune  func(w *world, o *Options, cancel func())
			class backends.ErrorClass
			flag  backends.Flags
			why   backends.Cause
		}{
			{"timeout", func(w *world, o *Options, _ func()) {
				w.timeout, o.Limit = time.Millisecond, 2 // one may be over before the other begins
			}, backends.TimedOut, backends.Timeout, 0},
			{
				"drain over", func(_ *world, o *Options, _ func()) { o.Drain = time.Millisecond },
				backends.Stopped, backends.Incomplete, backends.CauseDrain,
			},
			{"drain over after the limit", func(w *world, o *Options, _ func()) {
				o.Drain = time.Millisecond
				w.onSend = nil
				o.Limit = 2
				w.more(1)
			}, backends.Stopped, backends.Incomplete, backends.CauseDrain},
			{
				"no drain at all", func(_ *world, o *Options, _ func()) { o.Drain = 0 }, backends.Stopped,
				backends.Incomplete, backends.CauseDrain,
			},
			{"interrupted", func(w *world, _ *Options, cancel func()) {
				w.onSend = func(*backends.Sample) {
					if w.c.InFlight.Load() == 2 {
						cancel()
					}
				}
			}, backends.Stopped, backends.Incomplete, backends.CauseStop},
			{"deaf lanes are closed", func(w *world, o *Options, _ func()) {
				w.deaf = true
				o.Drain = time.Millisecond
			}, backends.Stopped, backends.Incomplete, backends.CauseStop},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				w := fresh(2)
				w.gate = make(chan struct{})
				w.onSend = func(*backends.Sample) {
					if w.c.InFlight.Load() == 2 {
						w.c.StopAt.Store(w.clock.Now())
					}
				}
				ctx, cancel := context.WithCancel(background)
				defer cancel()
				o := w.options()
				tt.tune(w, &o, cancel)
				p := playClosed(ctx, w, load.Level(3), &fakeFeed{}, o)
				if p.Sent != 2 {
					t.Errorf("sent %d", p.Sent)
				}
				for n, s := range w.out.samples() {
					if s.Class != tt.class || s.Flags&tt.flag == 0 || s.Status != int32(tt.why) {
						t.Errorf("request %d: class %v flags %b cause %d", n, s.Class, s.Flags, s.Status)
					}
				}
			})
		}
	})
}

func TestClosedWaitsForBuffers(t *testing.T) {
	closedWays(t, func(t *testing.T, fresh func(int) *world) {
		w := fresh(2)
		var asked atomic.Int64
		w.out.empty = func(int) bool { return asked.Add(1)%3 == 1 }
		o := w.options()
		o.Limit = 20
		p := playClosed(background, w, load.Level(2), &fakeFeed{}, o)
		if p.Sent != 20 || p.Paused == 0 || p.Paused > 20 {
			t.Errorf("sent %d, paused %d", p.Sent, p.Paused)
		}
	})
}

// TestClosedWithoutBufferHoldsUpNobody: a slot that waits for its buffer keeps no other from its
// replies, even where one goroutine reads those of all.
func TestClosedWithoutBufferHoldsUpNobody(t *testing.T) {
	closedWays(t, func(t *testing.T, fresh func(int) *world) {
		w := fresh(4)
		const all, meanwhile = 2000, 20
		var asked, others, enough atomic.Int64
		w.early = func(s *backends.Sample) bool { return s.Lane == 2 }
		w.out.empty = func(slot int) bool {
			if slot != 2 {
				others.Add(1)
				return false
			}
			if asked.Add(1) == 2 {
				enough.Store(min(others.Load()+meanwhile, all/2))
			}
			return others.Load() < enough.Load()
		}
		o := w.options()
		o.Limit = all
		if p := playClosed(background, w, load.Level(4), &fakeFeed{}, o); p.Sent != all {
			t.Errorf("sent %d", p.Sent)
		}
	})
}

func TestClosedWithoutBuffersStops(t *testing.T) {
	closedWays(t, func(t *testing.T, fresh func(int) *world) {
		w := fresh(2)
		w.out.empty = func(int) bool { return true }
		w.c.StopAt.Store(w.clock.Now() + int64(time.Millisecond))
		o := w.options()
		o.Drain = time.Millisecond
		if p := playClosed(background, w, load.Level(2), &fakeFeed{}, o); p.Sent != 0 {
			t.Errorf("sent %d", p.Sent)
		}
	})
}

func TestClosedStartsLater(t *testing.T) {
	closedWays(t, func(t *testing.T, fresh func(int) *world) {
		w := fresh(2)
		o := w.options()
		o.Start += int64(20 * time.Millisecond)
		o.Limit = 4
		playClosed(background, w, load.Level(2), &fakeFeed{}, o)
		for n, s := range w.out.samples() {
			if s.Due < o.Start {
				t.Errorf("request %d is due %d ns before the start", n, o.Start-s.Due)
			}
		}
	})
}
