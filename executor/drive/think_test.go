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

const ms = int64(time.Millisecond)

// A pause comes after each reply, never before a slot's first request, and the next request is due when it is
// over, whenever the sleep or this client came to it: one that is late sends late, and the delay is in the
// request's latency.
func TestClosedPauses(t *testing.T) {
	closedWays(t, func(t *testing.T, fresh func(int) *world) {
		for _, think := range []int64{1, ms / 2, 5 * ms} { // the first is over before this client looks
			w := fresh(2)
			o := w.options()
			o.Limit = 20
			p := within(t, func() Played {
				return Closed(background, load.Level(2), &mixedFeed{think: think}, w.closed(),
					w.out, &w.c, o)
			})
			w.finished(p)
			if p.Sent != 20 {
				t.Errorf("%+v", p)
			}
			for i := range w.out.lanes[:2] {
				kept := w.out.lanes[i].kept
				for j, s := range kept {
					if s.SendStart < s.Due {
						t.Errorf("sent %d ns before it was due", s.Due-s.SendStart)
					}
					if j == 0 {
						continue
					}
					if gap := s.Due - kept[j-1].LastByte; gap != think {
						t.Errorf("due %d ns after the reply, the pause is %d", gap, think)
					}
				}
			}
		}
	})
}

// after calls f with the n-th request that is sent.
func after(n int64, f func()) func(*backends.Sample) {
	var sent atomic.Int64
	return func(*backends.Sample) {
		if sent.Add(1) == n {
			f()
		}
	}
}

// Whatever ends a node ends the pauses: none is waited for.
func TestClosedPausesEnd(t *testing.T) {
	hour := int64(time.Hour)
	for name, tune := range map[string]func(w *world, o *Options, cancel func()){
		"stop": func(w *world, _ *Options, _ func()) {
			w.onSend = after(1, func() { w.c.StopAt.Store(w.clock.Now() + 50*ms) })
		},
		"stop, later": func(w *world, o *Options, _ func()) {
			w.onSend = after(3, func() { w.c.StopAt.Store(w.clock.Now()) })
		},
		// Two pause, the third finds that there is nothing more.
		"limit":     func(_ *world, o *Options, _ func()) { o.Limit = 2 },
		"interrupt": func(w *world, _ *Options, cancel func()) { w.onSend = after(3, cancel) },
	} {
		w := newWorld(t, 3)
		ctx, cancel := context.WithCancel(background)
		o := w.options()
		tune(w, &o, cancel)
		p := within(t, func() Played {
			return Closed(ctx, load.Level(3), &mixedFeed{think: hour}, []Pool{w.pool(inline)},
				w.out, &w.c, o)
		})
		cancel()
		w.finished(p)
		if p.Sent < 1 || p.Sent > 3 { // on a busy machine "stop" comes before all have begun
			t.Errorf("%s: sent %d", name, p.Sent)
		}
	}
}

// Very many slots pause at a time.
func TestClosedManyPauses(t *testing.T) {
	w := newWorld(t, 512)
	o := w.options()
	o.Limit = 1536
	p := within(t, func() Played {
		return Closed(background, load.Level(512), &mixedFeed{think: ms}, []Pool{w.pool(inline)},
			w.out, &w.c, o)
	})
	w.finished(p)
	if p.Sent != 1536 {
		t.Errorf("%+v", p)
	}
}

// A profile of slots: those that it opens begin, those that it closes end with their reply, or with
// the pause after it.
func TestClosedFollowsTheSlots(t *testing.T) {
	const most, least = 8, 2
	w := newWorld(t, most)
	var open, late [most]atomic.Int64 // requests of each slot while it is open, and after it was closed
	profile := &staircase{}
	profile.n.Store(1)
	down := false
	var mu sync.Mutex
	w.onSend = func(s *backends.Sample) {
		mu.Lock()
		defer mu.Unlock()
		n := profile.n.Load()
		switch {
		case int64(s.Lane) >= n:
			late[s.Lane].Add(1)
			return
		case open[s.Lane].Add(1) == 1 && n < most && !down: // each that begins opens the next
			profile.n.Add(1)
		case n == most && open[most-1].Load() > 0:
			down = true
			profile.n.Store(least)
		case down && open[0].Load() > 100:
			w.c.StopAt.Store(w.clock.Now())
		}
	}
	p := within(t, func() Played {
		return Closed(background, profile, &mixedFeed{think: ms / 4}, []Pool{w.pool(inline)}, w.out,
			&w.c, w.options())
	})
	w.finished(p)
	for i := range most {
		if open[i].Load() == 0 || late[i].Load() > 1 || i < least && late[i].Load() > 0 {
			t.Errorf("slot %d: %d requests while it was open, %d after it was closed", i, open[i].Load(),
				late[i].Load())
		}
	}
	if p.PeakInFlight > most {
		t.Errorf("peak %d", p.PeakInFlight)
	}
}

// staircase has as many slots as it is told.
type staircase struct{ n atomic.Int64 }

func (s *staircase) Slots(int64) int { return int(s.n.Load()) }

// Exactly as many requests as asked for, whatever the slots.
func TestClosedSendsExactlyTheLimitWithPauses(t *testing.T) {
	for _, slots := range []int{1, 7, 64} {
		w := newWorld(t, slots)
		o := w.options()
		o.Limit, o.WarmCount = 500, 30
		p := within(t, func() Played {
			return Closed(background, load.Level(slots), &mixedFeed{think: 20_000}, []Pool{w.pool(inline)},
				w.out, &w.c, o)
		})
		w.finished(p)
		if p.Sent != 500 || p.WarmSent != 30 {
			t.Errorf("%d slots: %+v", slots, p)
		}
	}
}

// A stop that lies in the past ends the sending and leaves open requests the time that the drain
// gives, from now.
func TestStopInThePast(t *testing.T) {
	for _, open := range []bool{false, true} {
		w := newWorld(t, 1)
		w.gate = make(chan struct{})
		o := w.options()
		// longer than the gate is shut, on a busy machine too; far shorter than the hour
		o.Drain = 10 * time.Second
		w.onSend = func(*backends.Sample) {
			time.AfterFunc(50*time.Millisecond, func() {
				w.c.StopAt.Store(o.Start - int64(time.Hour))
				time.AfterFunc(50*time.Millisecond, func() { close(w.gate) })
			})
		}
		p := within(t, func() Played {
			if open {
				return Open(background, load.Constant(0.001), &mixedFeed{}, []Pool{w.pool(inline)}, w.out,
					&w.c, OpenOptions{Options: o})
			}
			return Closed(background, load.Level(1), &mixedFeed{}, []Pool{w.pool(inline)}, w.out, &w.c, o)
		})
		w.finished(p)
		for n, s := range w.out.samples() {
			if s.Class != backends.OK {
				t.Errorf("open %v: request %d: class %v", open, n, s.Class)
			}
		}
	}
}

// A slot whose connection was refused waits before it tries again; one that was answered otherwise
// does not.
func TestClosedPausesAfterARefusal(t *testing.T) {
	closedWays(t, func(t *testing.T, fresh func(int) *world) {
		for class, least := range map[backends.ErrorClass]int64{
			backends.Dial: dialPause,
			backends.TLS:  dialPause, backends.Status: 0,
		} {
			w := fresh(2)
			w.onSend = func(s *backends.Sample) { s.Class = class }
			o := w.options()
			o.Limit = 8
			p := playClosed(background, w, load.Level(2), &fakeFeed{}, o)
			quickest := int64(time.Hour)
			for i := range w.out.lanes[:2] {
				kept := w.out.lanes[i].kept
				for j := 1; j < len(kept); j++ {
					quickest = min(quickest, kept[j].Due-kept[j-1].LastByte)
				}
			}
			if p.Sent != 8 || quickest < least || least == 0 && quickest >= dialPause {
				t.Errorf("class %v: %d sent, the next is due %d ns after a failure at the earliest, want %d", class, p.Sent, quickest, least)
			}
		}
	})
}
