package drive

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
)

// talks makes a feed of sessions of four turns on n slots; delays are the pauses after turns, by row.
func talks(slots int, delays []int64) *feed.Sequences {
	var calls []*backends.Call
	for i := range 4 {
		calls = append(calls, &backends.Call{Size: 1, Row: uint32(i), Items: 1})
	}
	return feed.NewSequences(feed.SequenceOptions{
		Slots: slots, Sessions: true, Entries: []feed.SequenceEntry{{
			Calls: calls, Streams: [][]int{{0, 1, 2, 3}}, Delays: delays,
		}},
	})
}

// TestSessions: turns come in their order, those of a session one after the other; a session that cannot go on
// is left, and nothing is sent to close it.
func TestSessions(t *testing.T) {
	ways := map[string]bool{"closed": false, "open": false, "begins": true}
	for name, begins := range ways {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 6)
			src := talks(6, nil)
			o := w.options()
			o.Sequences, o.Limit = &load.Sequences{Sessions: true, LimitCountsSequences: begins}, 300
			var followed, left atomic.Int64
			o.Follow = func(number int, s *backends.Sample) bool {
				if followed.Add(1)%7 == 0 {
					left.Add(int64(3 - s.Row))
					return false
				}
				return src.Follow(number, s)
			}
			var p Played
			if begins {
				p = opened(background, w, src, o, true, w.pool(inline))
			} else {
				p = players[name](background, w, src, o)
			}
			w.finished(p)
			if p.Closed != 0 || p.LeftOpen != 0 {
				t.Errorf("%d requests close sessions, %d are left open", p.Closed, p.LeftOpen)
			}
			turns, dropped, ended := map[uint64][]uint32{}, int64(0), map[uint64]int64{}
			for _, s := range w.out.inOrder() {
				if before := ended[s.Sequence]; begins && before > 0 && s.Due != before {
					t.Errorf("a turn is due %d ns after the reply before it", s.Due-before)
				}
				ended[s.Sequence] = s.LastByte
				turns[s.Sequence] = append(turns[s.Sequence], s.Row)
				dropped += int64(s.Dropped)
			}
			for id, rows := range turns {
				if !slices.Equal(rows, []uint32{0, 1, 2, 3}[:len(rows)]) {
					t.Errorf("session %d has the turns %v", id, rows)
				}
			}
			if dropped != left.Load() || dropped == 0 {
				t.Errorf("%d turns are dropped, want %d", dropped, left.Load())
			}
			if begins && len(turns) != 300 {
				t.Errorf("%d sessions", len(turns))
			}
		})
	}
}

// TestSessionsThatWait: a session between two turns has nothing in flight, holds up no count of what is
// complete, and ends with the load, long before its next turn is due.
func TestSessionsThatWait(t *testing.T) {
	hour := int64(time.Hour)
	for _, begins := range []bool{false, true} {
		w := newWorld(t, 4)
		o := w.options()
		o.Sequences = &load.Sequences{Sessions: true}
		src := talks(4, []int64{hour, hour, hour, hour})
		o.Follow = src.Follow
		go func() {
			for w.c.Sent.Load() < 4 || w.c.InFlight.Load() > 0 || w.c.OldestDue.Load() < o.Start+int64(time.Millisecond) {
				time.Sleep(time.Millisecond) //nolint:forbidigo // counters of another goroutine tell when
			}
			w.c.StopAt.Store(w.clock.Now())
		}()
		var p Played
		if begins {
			o.Sequences.ArrivalBegins = true
			arrivals := load.Limit(load.Poisson(60_000, [2]uint64{1, 2}), 4)
			p = within(t, func() Played {
				return Open(background, arrivals, src, []Pool{w.pool(inline)}, w.out, &w.c, OpenOptions{Options: o})
			})
		} else {
			p = players["closed"](background, w, src, o)
		}
		w.finished(p)
		if p.Sent != 4 || p.Closed != 0 {
			t.Errorf("begins %t: %d sent, %d closed", begins, p.Sent, p.Closed)
		}
	}
}

// TestPausingSessionsHoldSlots: where arrivals wait for slots, it is known how many of them pause.
func TestPausingSessionsHoldSlots(t *testing.T) {
	for name, delay := range map[string]int64{"pauses": 20 * ms, "no pauses": 0} {
		w := newWorld(t, 2)
		o := w.options()
		o.Sequences = &load.Sequences{Sessions: true, ArrivalBegins: true}
		src := talks(2, []int64{delay, delay, delay, delay})
		o.Follow = src.Follow
		arrivals := load.Limit(load.Poisson(60_000, [2]uint64{1, 2}), 6)
		p := within(t, func() Played {
			return Open(background, arrivals, src, []Pool{w.pool(inline)}, w.out, &w.c, OpenOptions{Options: o})
		})
		w.finished(p)
		if pauses := delay > 0; p.WaitedPool == 0 && pauses || (p.HeldByPauses > 0) != pauses || p.HeldByPauses > 2 {
			t.Errorf("%s: %d waited, %d slots held", name, p.WaitedPool, p.HeldByPauses)
		}
	}
}

// TestEvery: slots with a pace begin one after the other, and each request is due a pace after the one
// before, or when that has ended if it is later. A send that comes late moves none of those after it.
func TestEvery(t *testing.T) {
	closedWays(t, func(t *testing.T, fresh func(int) *world) {
		for _, every := range []int64{1000, 20 * ms} { // no reply comes within the first
			w := fresh(4)
			o := w.options()
			o.Every, o.Limit = every, 40
			p := playClosed(background, w, load.Level(4), &fakeFeed{}, o)
			for i := range w.out.lanes[:4] {
				want := o.Start + every/4*int64(i)
				for k, s := range w.out.lanes[i].kept {
					if s.Due != want {
						t.Errorf("request %d of slot %d is due %d ns after its time", k, i, s.Due-want)
					}
					want = max(s.Due+every, s.LastByte)
				}
			}
			if p.Sent != 40 {
				t.Errorf("%d sent", p.Sent)
			}
		}
	})
}

// TestCancelAfterCountsFromTheSend: the time of a planned cancellation is known before the send returns, which may
// block, and is that of the request being sent, not of the one before.
func TestCancelAfterCountsFromTheSend(t *testing.T) {
	const after = int64(time.Hour)
	closedWays(t, func(t *testing.T, fresh func(int) *world) {
		w := fresh(4)
		w.onSend = func(s *backends.Sample) {
			for sl := range w.c.player.Load().attachedSlots {
				if sl.index != int(s.Lane) {
					continue
				}
				at := sl.cancelAt.Load()
				if s.N%2 == 0 && (at < after || at > s.SendStart+after) || s.N%2 == 1 && at != never {
					t.Errorf("request %d, sent at %d: cancelled at %d", s.N, s.SendStart, at)
				}
			}
		}
		o := w.options()
		o.Limit, o.Cancels = 100, true
		f := &fakeFeed{cancelAfter: func(n uint64) int64 { return after * int64((n+1)%2) }}
		if p := playClosed(background, w, load.Level(4), f, o); p.Sent != 100 {
			t.Errorf("sent %d", p.Sent)
		}
	})
}
