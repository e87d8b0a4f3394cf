package drive

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/load"
)

// shares are players of requests that stand alone, on lanes that slots share: so many slots, and
// depth of the lanes.
var shares = map[string]func(ctx context.Context, w *world, slots, depth int, src *fakeFeed,
	o Options) Played{
	"closed": func(ctx context.Context, w *world, slots, depth int, src *fakeFeed, o Options) Played {
		w.more(slots)
		pool := w.share(depth, 1)
		return within(w.t, func() Played {
			return Closed(ctx, load.Level(slots), src, []Pool{pool},
				w.out, &w.c, o)
		})
	},
	"open": func(ctx context.Context, w *world, slots, depth int, src *fakeFeed, o Options) Played {
		w.more(slots)
		pool := w.share(depth, 1)
		s := load.Poisson(50_000, [2]uint64{1, 2})
		return within(w.t, func() Played {
			return Open(ctx, s, src, []Pool{pool}, w.out, &w.c, OpenOptions{Options: o, MaxInFlight: slots})
		})
	},
}

// TestSharedLanes: as many requests in flight as there are slots, on fewer lanes, each answered
// once; whatever the size of a request, nothing is handed over, as no Send blocks.
func TestSharedLanes(t *testing.T) {
	for name, play := range shares {
		for _, c := range []struct{ slots, depth, lanes int }{
			{1, 4, 1},
			{8, 8, 1},
			{16, 4, 4},
			{16, 5, 4},
			{5, 2, 3},
		} {
			w := newWorld(t, 0)
			o := w.options()
			o.Limit, o.WarmCount = 2000, 100
			p := play(background, w, c.slots, c.depth,
				&fakeFeed{size: func(n uint64) int { return int(n%3) * 1000 }}, o)
			w.finished(p)
			if p.Sent != 2000 || p.WarmSent != 100 || len(w.out.samples()) != 2100 {
				t.Errorf("%s %+v: %+v, %d samples", name, c, p, len(w.out.samples()))
			}
		}
	}
}

// TestSharedLanesAreFull: with replies outstanding every slot of every lane is in use, and no more
// than the slots.
func TestSharedLanesAreFull(t *testing.T) {
	for name, play := range shares {
		w := newWorld(t, 0)
		w.gate = make(chan struct{})
		ctx, cancel := context.WithCancel(background)
		sends := make(chan struct{}, 100)
		w.onSend = func(*backends.Sample) { sends <- struct{}{} }
		go func() {
			for range 10 {
				<-sends
			}
			if n := w.c.InFlight.Load(); n != 10 {
				t.Errorf("%s: %d in flight", name, n)
			}
			for range 10 { // each answer makes room for one more
				w.gate <- struct{}{}
				<-sends
			}
			cancel()
		}()
		p := play(ctx, w, 10, 4, &fakeFeed{}, w.options())
		w.finished(p)
		if p.Sent != 20 || p.PeakInFlight != 10 {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestSharedLanesEnd: drain, timeout and interrupt end what is in flight on a lane, each request
// once and for its cause; a lane that hears nothing is closed.
func TestSharedLanesEnd(t *testing.T) {
	for name, play := range shares {
		for what, c := range map[string]struct {
			deaf    bool
			drain   time.Duration
			timeout time.Duration
			class   backends.ErrorClass
		}{
			"drain":           {drain: 1, timeout: time.Minute, class: backends.Stopped},
			"timeout":         {drain: time.Minute, timeout: time.Millisecond, class: backends.TimedOut},
			"drain, no reply": {deaf: true, drain: 1, timeout: time.Minute, class: backends.Stopped},
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, 0)
				w.gate, w.deaf = make(chan struct{}), c.deaf
				o := w.options()
				o.Limit, o.Drain, w.timeout = 6, c.drain, c.timeout
				var sends atomic.Int64
				w.onSent = func() {
					if sends.Add(1) == 6 {
						w.c.StopAt.Store(w.clock.Now())
					}
				}
				p := play(background, w, 6, 3, &fakeFeed{}, o)
				w.finished(p)
				for n, s := range w.out.samples() {
					if s.Class != c.class {
						t.Errorf("request %d: %v", n, s.Class)
					}
				}
				if p.Sent != 6 {
					t.Errorf("%+v", p)
				}
			})
		}
	}
}

// TestSharedRamp: slots that the profile opens later spread over the lanes.
func TestSharedRamp(t *testing.T) {
	w := newWorld(t, 9)
	pool := w.share(3, 1)
	w.gate = make(chan struct{})
	o := w.options()
	o.Limit, o.Drain = 3, 1
	var sends atomic.Int64
	w.onSent = func() {
		if sends.Add(1) == 3 {
			w.c.StopAt.Store(w.clock.Now())
		}
	}
	w.finished(within(t, func() Played {
		return Closed(background, load.Level(3), &fakeFeed{},
			[]Pool{pool}, w.out, &w.c, o)
	}))
	for i, l := range w.lanes {
		if l.sends.Load() == 0 {
			t.Errorf("three slots on three lanes leave lane %d idle", i)
		}
	}
}

func TestSharedLanesDoNotAllocate(t *testing.T) {
	for name, play := range shares {
		n := mallocs(func(each func(uint64)) {
			w := newWorld(t, 0)
			w.out.light = true
			o := w.options()
			o.Limit = 13_000
			play(background, w, 8, 4, &fakeFeed{each: each}, o)
		})
		if n > noise {
			t.Errorf("%s: %d allocations in 10,000 requests", name, n)
		}
	}
}

// atOnce plays sequences of which several requests may be in flight, at a rate, on lanes with two each.
func (w *world) atOnce(ctx context.Context, live, atOnce int, length float64, o Options) Played {
	w.more(live)
	w.server.atOnce = atOnce
	q := *o.Sequences
	q.PipelineDepth, o.Sequences = atOnce, &q
	return opened(ctx, w, stream(live, 1, exactly(length), false), o, false, w.share(2*atOnce, atOnce))
}

// TestAtOnce: how many requests of a sequence are in flight while nothing is answered
// (perf_analyzer's table, 86), and that sequences take turns.
func TestAtOnce(t *testing.T) {
	for _, most := range []int{1, 2, 5} {
		w := keeping(t, 0)
		w.gate, w.closes = make(chan struct{}), true
		ctx, cancel := context.WithCancel(background)
		var sends atomic.Int64
		w.onSend = func(*backends.Sample) {
			if sends.Add(1) == int64(3*most) {
				cancel()
			}
		}
		o := w.options()
		o.Sequences = &load.Sequences{}
		p := w.atOnce(ctx, 3, most, 1000, o)
		w.balanced(p)
		if p.Sent != int64(3*most) || w.server.deepest != most || w.server.begun != 3 || p.Closed != 3 {
			t.Errorf("%d at once: %d sent of %d sequences, %d deep, %d closed", most, p.Sent,
				w.server.begun, w.server.deepest, p.Closed)
		}
		for i, s := range w.out.inOrder()[:p.Sent] {
			if want := uint64(i%3 + 1); s.Sequence != want {
				t.Errorf("%d at once: request %d is of sequence %d, want %d", most, i, s.Sequence, want)
			}
		}
	}
}

// TestFailsAbreast has what becomes of a sequence of six, of which four requests are in flight when
// some fail (from 1).
func TestFailsAbreast(t *testing.T) {
	for _, c := range []struct {
		name   string
		length float64
		fails  map[uint64]backends.ErrorClass
		lost   uint64 // never sent, and all before it
		closed int64
		drops  uint32
	}{
		{
			name: "the first", length: 6, fails: map[uint64]backends.ErrorClass{0: backends.Status},
			closed: 1, drops: 2,
		},
		{
			name: "one of them", length: 6, fails: map[uint64]backends.ErrorClass{2: backends.TimedOut},
			closed: 1, drops: 2,
		},
		{name: "all", length: 6, fails: map[uint64]backends.ErrorClass{
			0: backends.ResetByPeer,
			1: backends.ResetByPeer, 2: backends.ResetByPeer, 3: backends.ResetByPeer,
		}, closed: 1, drops: 2},
		{
			name: "one, and END is answered", length: 4,
			fails: map[uint64]backends.ErrorClass{1: backends.Status}, closed: 0,
		},
		{name: "END", length: 4, fails: map[uint64]backends.ErrorClass{3: backends.TimedOut}, closed: 1},
		{
			name: "END is refused", length: 4, fails: map[uint64]backends.ErrorClass{3: backends.Status},
			closed: 0,
		},
		{name: "none was sent", length: 6, lost: 4, closed: 0, drops: 2},
		{name: "none was sent, nor END", length: 4, lost: 4, closed: 0},
		{
			name: "a mismatch", length: 4, fails: map[uint64]backends.ErrorClass{1: backends.Mismatch},
			closed: 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := keeping(t, 0)
			w.gate, w.closes = make(chan struct{}, 200), true
			w.server.fails = func(f backends.Fields,
				s *backends.Sample,
			) backends.ErrorClass {
				return c.fails[s.N]
			}
			bad := func(s *backends.Sample) bool { return c.fails[s.N] != backends.OK || s.N < c.lost }
			release := func(answers int) {
				for range answers {
					w.gate <- struct{}{}
				}
			}
			w.early = bad
			var failed atomic.Int64
			ill := int64(len(c.fails)) + int64(c.lost)
			// the others are answered when it is known which failed
			w.out.onPut = func(s *backends.Sample) {
				if bad(s) && failed.Add(1) == ill {
					release(100)
				}
			}
			w.server.lost = func(f backends.Fields, s *backends.Sample) bool { return s.N < c.lost }
			var sends atomic.Int64
			w.onSent = func() {
				if sends.Add(1) == 4 {
					release(int(ill))
				}
			}
			o := w.options()
			o.Sequences, o.Limit = &load.Sequences{WarmCountsSequences: true, LimitCountsSequences: true}, 2
			p := w.atOnce(background, 1, 4, c.length, o)
			if c.fails[3] != backends.TimedOut { // else the server had that END, and is asked again
				w.balanced(p)
			}
			drops, after := uint32(0), 0
			for _, s := range w.out.inOrder() {
				drops += s.Dropped
				if s.N >= 4 && s.Flags&backends.Closing == 0 {
					after++
				}
			}
			begun := 2
			if c.lost > 0 {
				begun = 1
			}
			if p.Closed != c.closed || drops != c.drops || w.server.begun != begun ||
				after != int(c.length) {
				t.Errorf("%d closed, %d dropped, %d begun, %d requests of the next sequence; want %d, %d, %d and %v", p.Closed, drops, w.server.begun, after, c.closed, c.drops, begun, c.length)
			}
		})
	}
}

// TestAbreastOnTwoPools: the requests of a sequence stay on the lane that has its place, whichever
// target it goes to.
func TestAbreastOnTwoPools(t *testing.T) {
	w := keeping(t, 4)
	first := w.share(6, 3)
	lanes := w.more(len(first.Lanes))
	w.server.atOnce = 3
	o := w.options()
	o.Sequences, o.Limit = &load.Sequences{PipelineDepth: 3}, 600
	second := first
	second.Lanes = lanes
	p := opened(background, w, stream(4, 2, some, false), o, false, first, second)
	w.balanced(p)
	for target, lanes := range [][]*fakeLane{w.lanes[:2], w.lanes[2:]} {
		if lanes[0].sends.Load()+lanes[1].sends.Load() == 0 {
			t.Errorf("target %d had nothing to do", target)
		}
	}
}
