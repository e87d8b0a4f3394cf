package drive

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/load"
)

func TestSequencesAreBalanced(t *testing.T) {
	for name, play := range players {
		t.Run(name, func(t *testing.T) {
			w := keeping(t, 4)
			o := w.options()
			o.Sequences, o.Limit, o.WarmCount = &load.Sequences{}, 400, 10
			p := play(background, w, stream(4, 1, some, false), o)
			w.balanced(p)
			if p.Sent != 400 || p.WarmSent != 10 {
				t.Errorf("sent %d, and %d warm", p.Sent, p.WarmSent)
			}
			if w.server.begun < 100 || p.Closed > 4 {
				t.Errorf("%d sequences begun, %d closed", w.server.begun, p.Closed)
			}
			w.checkSequences(t, p)
		})
	}
}

// checkSequences looks at the samples: all of a sequence, in order, on the slots of one.
func (w *world) checkSequences(t *testing.T, p Played) {
	t.Helper()
	starts, ends, closing := 0, 0, int64(0)
	begun, primary := map[uint64]int64{}, map[uint64]uint32{}
	for _, s := range w.server.inOrder(w.out) {
		at := s.Lane / uint32(w.server.atOnce)
		_, open := begun[s.Sequence]
		switch {
		case s.Flags&backends.Closing != 0:
			closing++
			continue
		case s.Flags&backends.SequenceStart != 0:
			starts++
			begun[s.Sequence], primary[s.Sequence] = s.Due, at
		case s.Sequence == 0 || !open || primary[s.Sequence] != at:
			t.Errorf("slot %d: a request of %d, which is open %t, on %d", s.Lane, s.Sequence, open,
				primary[s.Sequence])
		}
		if s.Flags&backends.SequenceEnd != 0 {
			if ends++; s.SequenceDue != begun[s.Sequence] {
				t.Errorf("sequence %d began at %d, says its end, not %d", s.Sequence,
					begun[s.Sequence], s.SequenceDue)
			}
			delete(begun, s.Sequence)
		}
	}
	if starts != w.server.begun || ends+int(p.Closed) != w.server.ended || closing != p.Closed {
		t.Errorf("samples: %d starts, %d ends, %d closing; server: %d begun, %d ended; closed %d", starts,
			ends, closing, w.server.begun, w.server.ended, p.Closed)
	}
}

func TestCountedSequences(t *testing.T) {
	for name, play := range players {
		t.Run(name, func(t *testing.T) {
			w := keeping(t, 4)
			o := w.options()
			o.Sequences, o.Limit, o.WarmCount = &load.Sequences{
				WarmCountsSequences:  true,
				LimitCountsSequences: true,
			}, 20, 5
			p := play(background, w, stream(4, 1, some, false), o)
			w.balanced(p)
			if w.server.begun != 25 || p.Closed != 0 {
				t.Errorf("%d sequences begun, %d closed, want 25 and none", w.server.begun, p.Closed)
			}
			starts, warm := map[bool]int{}, map[uint64]bool{}
			for _, s := range w.server.inOrder(w.out) {
				warms := s.Flags&backends.Warmup != 0
				if s.Flags&backends.SequenceStart != 0 {
					warm[s.Sequence] = warms
					starts[warms]++
				}
				if warm[s.Sequence] != warms {
					t.Error("a sequence is partly warm-up")
				}
			}
			if starts[true] != 5 || starts[false] != 20 {
				t.Errorf("begun as warm-up and not: %v", starts)
			}
		})
	}
}

func TestStreamsPlayedOnce(t *testing.T) {
	for name, play := range players {
		t.Run(name, func(t *testing.T) {
			w := keeping(t, 3)
			o := w.options()
			o.Sequences = &load.Sequences{}
			p := play(background, w, stream(3, 1, some, true, []int{0, 1}, []int{2}, []int{3, 0, 1},
				[]int{1, 2}, []int{3}), o)
			w.balanced(p)
			if w.server.begun != 5 || p.Sent != 9 || p.Closed != 0 {
				t.Errorf("%d begun, %d sent, %d closed, want 5, 9 and none", w.server.begun,
					p.Sent, p.Closed)
			}
		})
	}
}

// TestFailedSteps has what becomes of a sequence of four whose request number at (from 1) ends in a
// class.
func TestFailedSteps(t *testing.T) {
	for _, c := range []struct {
		at     uint32
		class  backends.ErrorClass
		lost   bool
		closed int64
		begun  int
		drops  uint32
	}{
		{at: 1, class: backends.Status, closed: 1, begun: 2, drops: 3},
		{at: 1, class: backends.TimedOut, closed: 1, begun: 2, drops: 3},
		{at: 1, lost: true, closed: 0, begun: 1, drops: 3},
		{at: 2, class: backends.ResetByPeer, closed: 1, begun: 2, drops: 2},
		{at: 2, lost: true, closed: 1, begun: 2, drops: 2},
		{at: 3, class: backends.Server, closed: 1, begun: 2, drops: 1},
		{at: 2, class: backends.Closed, closed: 1, begun: 2, drops: 2}, // by us, as planned
		{at: 3, class: backends.Mismatch, closed: 0, begun: 2, drops: 0},
		{at: 4, class: backends.Status, closed: 0, begun: 2, drops: 0},
		{at: 4, lost: true, closed: 1, begun: 2, drops: 0},
	} {
		for name, play := range players {
			if name == "abreast" { // steps are sent before the answer comes: TestFailsAbreast
				continue
			}
			t.Run(fmt.Sprintf("%s, %d %s", name, c.at, c.class), func(t *testing.T) {
				w := keeping(t, 1)
				var sent atomic.Uint32
				w.server.fails = func(backends.Fields, *backends.Sample) backends.ErrorClass {
					if sent.Add(1) == c.at {
						return c.class
					}
					return backends.OK
				}
				if c.lost {
					w.server.lost = func(backends.Fields,
						*backends.Sample,
					) bool {
						return sent.Add(1) == c.at
					}
					w.server.fails = nil
				}
				o := w.options()
				o.Sequences = &load.Sequences{WarmCountsSequences: true, LimitCountsSequences: true}
				o.Limit = 2
				p := play(background, w, stream(1, 1, exactly(4), false), o)
				w.balanced(p)
				drops := uint32(0)
				for _, s := range w.out.inOrder() {
					drops += s.Dropped
				}
				if p.Closed != c.closed || w.server.begun != c.begun || drops != c.drops {
					t.Errorf("%d closed, %d begun, %d dropped, want %d, %d and %d", p.Closed,
						w.server.begun, drops, c.closed, c.begun, c.drops)
				}
			})
		}
	}
}

// TestDoubtfulEnd: an END that nothing came back of is sent once more, whether the server had it or
// not.
func TestDoubtfulEnd(t *testing.T) {
	w := keeping(t, 1)
	var ends int
	w.server.fails = func(f backends.Fields, s *backends.Sample) backends.ErrorClass {
		if f.End {
			ends++
		}
		if f.End && s.Flags&backends.Closing == 0 {
			return backends.TimedOut
		}
		return backends.OK
	}
	o := w.options()
	o.Sequences, o.Limit = &load.Sequences{WarmCountsSequences: true, LimitCountsSequences: true}, 1
	p := players["closed"](background, w, stream(1, 1, exactly(2), false), o)
	if ends != 2 || p.Closed != 1 || p.LeftOpen != 0 || p.Sent != 2 {
		t.Errorf("%d ends, played %+v", ends, p)
	}
}

func TestLeftOpenIsCounted(t *testing.T) {
	for name, play := range players {
		w := keeping(t, 2)
		w.server.fails = func(_ backends.Fields, s *backends.Sample) backends.ErrorClass {
			if s.Flags&backends.Closing != 0 {
				return backends.ResetByPeer
			}
			return backends.OK
		}
		o := w.options()
		o.Sequences, o.Limit = &load.Sequences{}, 5
		if p := play(background, w, stream(2, 1, exactly(100), false), o); p.LeftOpen != p.Closed ||
			p.Closed < 1 {
			t.Errorf("%s: %d left open, %d closed, want those that were open", name, p.LeftOpen, p.Closed)
		}
	}
}

// TestStopsCloseSequences: at the end of hold, at the end of the drain with replies outstanding,
// and at an interrupt.
func TestStopsCloseSequences(t *testing.T) {
	for name, play := range players {
		t.Run(name+", stop", func(t *testing.T) {
			w := keeping(t, 3)
			o := w.options()
			o.Sequences = &load.Sequences{}
			w.onSend = func(s *backends.Sample) {
				if s.N == 40 {
					w.c.StopAt.Store(w.clock.Now())
				}
			}
			p := play(background, w, stream(3, 1, exactly(1000), false), o)
			w.balanced(p)
			if p.Closed < 1 {
				t.Error("none was in the middle of a sequence")
			}
		})
		for what, drain := range map[string]time.Duration{"drain over": 0, "interrupt": time.Minute} {
			t.Run(name+", "+what, func(t *testing.T) {
				w := keeping(t, 3)
				w.gate, w.closes = make(chan struct{}), true
				ctx, cancel := context.WithCancel(background)
				defer cancel()
				var sends atomic.Int64
				w.onSend = func(*backends.Sample) {
					switch n := sends.Add(1); {
					case n == 3 && drain == 0:
						w.c.StopAt.Store(w.clock.Now())
					case n == 3:
						cancel()
					}
				}
				o := w.options()
				o.Sequences, o.Drain = &load.Sequences{}, drain
				p := play(ctx, w, stream(3, 1, exactly(1000), false), o)
				w.balanced(p)
				// which sends on while nothing comes back
				if p.Closed != 3 || p.Sent != 3 && name != "abreast" {
					t.Errorf("%d sent, %d closed, want 3 each", p.Sent, p.Closed)
				}
			})
		}
	}
}

// TestEndsOutlastTheTimeout: a server that stands still for longer than requests may take gets the
// ends of what they began when it goes on.
func TestEndsOutlastTheTimeout(t *testing.T) {
	for name, play := range players {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := keeping(t, 3)
			w.gate = make(chan struct{})
			o := w.options()
			o.Sequences, o.Limit = &load.Sequences{LimitCountsSequences: true}, 3
			w.timeout = 20 * time.Millisecond
			var once sync.Once
			w.onSend = func(s *backends.Sample) {
				if s.Flags&backends.Closing != 0 {
					once.Do(func() { time.AfterFunc(5*w.timeout, func() { close(w.gate) }) })
				}
			}
			p := play(background, w, stream(3, 1, exactly(4), false), o)
			w.balanced(p)
			if p.Closed < 1 {
				t.Errorf("played %+v: nothing had to be closed", p)
			}
		})
	}
}

// TestServerThatAnswersNothing: what closes sequences is given up after a while.
func TestServerThatAnswersNothing(t *testing.T) {
	for name, play := range players {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := keeping(t, 3)
			w.gate = make(chan struct{})
			ctx, cancel := context.WithCancel(background)
			defer cancel()
			var sends atomic.Int64
			w.onSend = func(*backends.Sample) {
				if sends.Add(1) == 3 {
					cancel()
				}
			}
			o := w.options()
			o.Sequences = &load.Sequences{}
			if p := play(ctx, w, stream(3, 1, exactly(1000), false), o); p.Closed != 3 || p.LeftOpen != 3 {
				t.Errorf("%d closed, %d left open, want 3 each", p.Closed, p.LeftOpen)
			}
		})
	}
}

// TestRampClosesSequences: a slot that the profile closes ends its sequence then, not at the end of
// the node, and what is open after that is said to be complete no later for it.
func TestRampClosesSequences(t *testing.T) {
	for _, targets := range []int{1, 2} {
		w := keeping(t, 4*targets)
		o := w.options()
		o.Sequences = &load.Sequences{}
		over := int64(0)
		w.onSend = func(*backends.Sample) {
			w.server.mu.Lock()
			defer w.server.mu.Unlock()
			switch {
			case w.server.begun < 4 || len(w.server.open) > 1:
			case over == 0:
				over = w.clock.Now()
			case w.c.OldestDue.Load() > over:
				w.c.StopAt.Store(w.clock.Now())
			}
		}
		var pools []Pool
		for lanes := range slices.Chunk(w.given(), 4) {
			pools = append(pools, Pool{Lanes: lanes, Limits: inline})
		}
		p := within(t, func() Played {
			return Closed(background, &falling{w.server}, stream(4, targets, exactly(1e9), false), pools,
				w.out, &w.c, o)
		})
		w.balanced(p)
		if p.Closed != 4 || w.server.begun != 4 {
			t.Errorf("%d targets: %d begun, %d closed", targets, w.server.begun, p.Closed)
		}
	}
}

// falling has 4 slots until all have begun a sequence, then 1.
type falling struct{ *keeper }

func (f *falling) Slots(int64) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.begun < 4 {
		return 4
	}
	return 1
}

// TestSequencesOnTwoPools: kinds of sequences that go to two targets.
func TestSequencesOnTwoPools(t *testing.T) {
	for _, begin := range []bool{false, true} {
		w := keeping(t, 6)
		o := w.options()
		o.Sequences, o.Limit = &load.Sequences{}, 300
		p := opened(background, w, stream(3, 2, some, false), o, begin,
			Pool{Lanes: w.given()[:3], Limits: inline, MaxSlots: 3}, Pool{Lanes: w.given()[3:], MaxSlots: 3})
		w.balanced(p)
		w.checkSequences(t, p)
		for _, first := range []int{0, 3} {
			if w.out.lanes[first].puts+w.out.lanes[first+1].puts+w.out.lanes[first+2].puts == 0 {
				t.Errorf("begin %t: the pool from lane %d on had nothing to do", begin, first)
			}
		}
	}
	w := keeping(t, 6)
	o := w.options()
	o.Sequences, o.Limit = &load.Sequences{}, 300
	p := within(t, func() Played {
		return Closed(background, load.Level(3), stream(3, 2, some, false),
			[]Pool{{Lanes: w.given()[:3], Limits: inline}, {Lanes: w.given()[3:], Limits: inline}},
			w.out, &w.c, o)
	})
	w.balanced(p)
	w.checkSequences(t, p)
}

// TestSlowSequence: one whose server is slow holds back none of the others (perf_analyzer's table, 87).
func TestSlowSequence(t *testing.T) {
	w := keeping(t, 4)
	var others atomic.Int64
	over := make(chan struct{})
	w.server.fails = func(f backends.Fields, s *backends.Sample) backends.ErrorClass {
		switch {
		case f.Sequence == 1 && f.Start:
			<-over
		case others.Add(1) == 60:
			w.c.StopAt.Store(w.clock.Now())
			close(over)
		}
		return backends.OK
	}
	o := w.options()
	o.Sequences = &load.Sequences{}
	p := players["open"](background, w, stream(4, 1, exactly(1e6), false), o)
	w.balanced(p)
	for i := range w.out.lanes {
		if kept := w.out.lanes[i].kept; len(kept) > 1 && kept[0].Sequence == 1 &&
			kept[1].SendStart < kept[0].LastByte {
			t.Error("the slow sequence had two requests in flight")
		}
	}
}

// TestFailuresNeverHang has perf_analyzer's matrix of failures: players stop in time and leave
// nothing open.
func TestFailuresNeverHang(t *testing.T) {
	for name, play := range players {
		for every := uint64(1); every <= 7; every += 2 {
			t.Run(fmt.Sprintf("%s, every %d", name, every), func(t *testing.T) {
				w := keeping(t, 10)
				var n atomic.Uint64
				classes := []backends.ErrorClass{
					backends.TimedOut, backends.Status, backends.Server,
					backends.Decode,
				}
				w.server.fails = func(_ backends.Fields, s *backends.Sample) backends.ErrorClass {
					if k := n.Add(1); k%every == 0 && s.Flags&(backends.Closing|backends.SequenceEnd) == 0 {
						return classes[k/every%4]
					}
					return backends.OK
				}
				o := w.options()
				o.Sequences, o.Limit = &load.Sequences{}, 600
				w.balanced(play(background, w, stream(10, 1, some, false), o))
			})
		}
	}
}

func TestSequencesDoNotAllocate(t *testing.T) {
	for name, play := range players {
		n := mallocs(func(each func(uint64)) {
			w := newWorld(t, 4)
			w.out.light = true
			w.onSend = func(s *backends.Sample) { each(s.N) }
			o := w.options()
			o.Sequences, o.Limit = &load.Sequences{}, 13_000
			play(background, w, stream(4, 1, some, false), o)
		})
		if n > noise {
			t.Errorf("%s: %d allocations in 10,000 requests", name, n)
		}
	}
}
