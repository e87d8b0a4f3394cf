package drive

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
)

// mixedFeed sends arrival n to pool(n).
type mixedFeed struct {
	pool  func(n uint64) int
	think int64
}

func (f *mixedFeed) Next(_ int, n uint64, t *feed.Turn) bool {
	t.Call, t.Pool, t.Think = &small, 0, f.think
	if f.pool != nil {
		t.Pool = f.pool(n)
	}
	return true
}

func (*mixedFeed) Finish(int, *feed.Turn) bool { return false }

// split gives each pool some of the world's lanes.
func (w *world) split(most int, lanes ...int) []Pool {
	all, pools := w.given(), []Pool{}
	for _, n := range lanes {
		pools = append(pools, Pool{
			Lanes: all[:n:n], Limits: inline, MaxSlots: most, Timeout: int64(w.timeout),
		})
		all = all[n:]
	}
	return pools
}

func alternate(n uint64) int { return int(n % 2) }

func TestOpenSendsOnTheTurnsPool(t *testing.T) {
	for name, lim := range map[string]backends.Limits{"inline": inline, "handed over": {Depth: 1}} {
		w := newWorld(t, 5)
		pools := w.split(4, 2, 3)
		pools[1].Limits = lim
		p := within(t, func() Played {
			return Open(background, burst(3000), &mixedFeed{pool: alternate}, pools, w.out, &w.c,
				OpenOptions{Options: w.options(), MaxInFlight: 100})
		})
		w.finished(p)
		if p.Sent != 3000 {
			t.Errorf("%s: %+v", name, p)
		}
		for n, s := range w.out.samples() {
			// The lanes of the second pool stand behind the four that the first one may have.
			if second := s.Lane >= 4; second != (n%2 == 1) || s.Lane == 2 || s.Lane == 3 || s.Lane > 6 {
				t.Fatalf("%s: arrival %d went to lane %d", name, n, s.Lane)
			}
		}
	}
}

// Requests in flight are bounded over all pools, however many lanes each has: an arrival that finds
// as many waits, or is dropped, for want of a place and not of a lane.
func TestOpenBoundsAllPoolsTogether(t *testing.T) {
	for _, drop := range []bool{false, true} {
		w := newWorld(t, 8)
		w.gate = make(chan struct{})
		w.onSend = func(*backends.Sample) {
			if n := w.c.InFlight.Load(); n > 3 {
				t.Errorf("%d in flight", n)
			}
		}
		if !drop {
			go w.answerWaits(17, 3)
		}
		o := OpenOptions{Options: w.options(), MaxInFlight: 3, Drop: drop}
		if drop {
			o.Drain = 0
		}
		p := within(t, func() Played {
			return Open(background, burst(20), &mixedFeed{pool: alternate}, w.split(0, 4, 4), w.out, &w.c, o)
		})
		w.finished(p)
		if drop && (p.Sent != 3 || p.DroppedPool != 17) || !drop && (p.Sent != 20 || p.WaitedPool != 17) ||
			p.PeakInFlight != 3 {
			t.Errorf("drop %v: %+v", drop, p)
		}
	}
}

// A reply can come before the pacer has left the Send of its request. Whoever receives it then
// sends nothing on that lane, be there something that waits.
func TestOpenLeavesALaneBeforeTheNext(t *testing.T) {
	w := newWorld(t, 2)
	w.gate = make(chan struct{})
	pools := w.split(1, 1, 1)
	grown := w.more(1)
	pools[0].MaxSlots, pools[0].Grow = 2,
		func(context.Context, int) ([]backends.Lane, error) { return grown, nil }
	var answered atomic.Bool
	w.out.onPut = func(s *backends.Sample) {
		if s.Lane == 1 {
			answered.Store(true)
		}
	}
	var met atomic.Int64
	w.onSent = func() {
		if w.lanes[2].sends.Load() == 0 || met.Add(1) > 1 {
			return
		}
		// The pacer's first request on the lane that was opened, with others waiting.
		for !answered.Load() {
			select {
			case w.gate <- struct{}{}:
			default:
				runtime.Gosched()
			}
		}
		for range 1000 { // nothing may come of it
			runtime.Gosched()
		}
		close(w.gate)
	}
	p := within(t, func() Played {
		return Open(background, burst(200), &mixedFeed{}, pools, w.out, &w.c,
			OpenOptions{Options: w.options(), MaxInFlight: 100})
	})
	w.finished(p)
	if p.Sent != 200 || met.Load() == 0 {
		t.Errorf("%+v", p)
	}
}

// Each pool grows when its own lanes are few, up to its own most.
func TestOpenGrowsEachPool(t *testing.T) {
	w := newWorld(t, 2)
	w.gate = make(chan struct{})
	var mu sync.Mutex
	var asked [2]int
	pools := w.split(0, 1, 1)
	for i := range pools {
		pools[i].MaxSlots = []int{2, 6}[i]
		pools[i].Grow = func(_ context.Context, n int) ([]backends.Lane, error) {
			mu.Lock()
			defer mu.Unlock()
			asked[i] += n
			return w.more(n), nil
		}
	}
	w.onSend = func(*backends.Sample) {
		if w.c.InFlight.Load() == 8 {
			close(w.gate)
		}
	}
	// 2 to the first, 6 to the second
	src := &mixedFeed{pool: func(n uint64) int { return min(int(n/2), 1) }}
	p := within(t, func() Played {
		return Open(background, burst(8), src, pools, w.out, &w.c,
			OpenOptions{Options: w.options(), MaxInFlight: 100})
	})
	w.finished(p)
	if p.Sent != 8 || p.PeakInFlight != 8 || asked != [2]int{1, 5} || p.WaitedPool != 0 {
		t.Errorf("asked for %v: %+v", asked, p)
	}
}

// One pool that is full does not excuse the other: only arrivals that wait for it have waited for a
// full pool.
func TestOpenFullPoolsAreToldApart(t *testing.T) {
	w := newWorld(t, 3)
	w.gate = make(chan struct{})
	pools := w.split(0, 2, 1)
	o := OpenOptions{Options: w.options(), Drop: true}
	o.Drain = 0
	src := &mixedFeed{pool: func(n uint64) int { return min(int(n), 1) }} // 1 to the first, 4 to the second
	p := within(t, func() Played { return Open(background, burst(5), src, pools, w.out, &w.c, o) })
	w.finished(p)
	if p.Sent != 2 || p.DroppedPool != 3 {
		t.Errorf("%+v", p)
	}
}

// A pool that is full and answers nothing holds up its own arrivals only: those of the other are
// sent on time, and what waits is sent in order as soon as a slot of its own is free.
func TestOpenFullPoolHoldsUpItsOwn(t *testing.T) {
	for name, lim := range map[string]backends.Limits{"inline": inline, "handed over": {Depth: 1}} {
		const each = 50
		w := newWorld(t, 2+each)
		w.gate = make(chan struct{})
		pools := w.split(0, 2, each)
		pools[0].Limits, pools[0].MaxSlots = lim, 2
		var second atomic.Int64
		w.onSend = func(s *backends.Sample) {
			if s.Lane < 2 {
				return
			}
			// the last one of the second pool: the first has two in flight, and the rest waits
			if second.Add(1) == each {
				if n := w.c.UnansweredBefore(never, -1); n < each {
					t.Errorf("%s: %d have no outcome, at least %d of the first pool have none",
						name, n, each)
				}
				if oldest := w.c.OldestDue.Load(); oldest > s.Due-int64(10*time.Millisecond) {
					t.Errorf("%s: all before %d are said to be complete, the first of all is not",
						name, oldest)
				}
				close(w.gate)
			}
		}
		o := OpenOptions{
			Options: w.options(), MaxInFlight: 2 * each,
			Replay: limit(load.Constant(1000), 2*each),
		}
		p := within(t, func() Played {
			return Open(background, limit(load.Constant(1000), 2*each), &mixedFeed{pool: alternate}, pools,
				w.out, &w.c, o)
		})
		w.finished(p)
		samples := w.out.samples()
		if p.Sent != 2*each || p.Waits[0] != each-2 || p.WaitedPool < each-2 {
			t.Errorf("%s: %+v", name, p)
		}
		begun := int64(0)
		for n := uint64(0); n < 2*each; n += 2 {
			s := samples[n]
			if n >= 4 && (s.Free <= s.Due || s.SendStart < s.Free) {
				t.Errorf("%s: arrival %d, due %d, could go at %d and went at %d", name, n, s.Due,
					s.Free, s.SendStart)
			}
			begun = max(begun, s.SendStart)
		}
		// Those of the second went while the first answered nothing: all before any of the first
		// but two.
		for n := uint64(1); n < 2*each; n += 2 {
			if s := samples[n]; s.SendStart > samples[4].SendStart {
				t.Errorf("%s: arrival %d of the second pool went after one that waited for the first",
					name, n)
			}
		}
	}
}

// What still waits when the player is halted was not sent.
func TestOpenHaltLeavesWhatWaits(t *testing.T) {
	w := newWorld(t, 3)
	w.gate = make(chan struct{})
	o := OpenOptions{Options: w.options(), MaxInFlight: 100}
	o.WarmCount = 3
	ctx, stop := context.WithCancel(background)
	src := &mixedFeed{pool: func(n uint64) int {
		if n == 19 {
			stop()
		}
		return 0
	}}
	p := within(t, func() Played {
		return Open(ctx, limit(load.Constant(1000), 20), src, w.split(0, 1, 2),
			w.out, &w.c, o)
	})
	w.finished(p)
	if p.Sent != 0 || p.WarmSent != 1 || p.DroppedStop < 16 || p.DroppedStop > 17 {
		t.Errorf("%+v", p)
	}
}

// Each pool has its own timeout: one request is cancelled by its own, and the other beside it goes
// on until it is answered.
func TestTimeoutOfEachPool(t *testing.T) {
	play := map[string]func(w *world, src feed.Source, pools []Pool, o Options) Played{
		"open": func(w *world, src feed.Source, pools []Pool, o Options) Played {
			return Open(background, burst(2), src, pools, w.out, &w.c,
				OpenOptions{Options: o, MaxInFlight: 100})
		},
		"closed": func(w *world, src feed.Source, pools []Pool, o Options) Played {
			o.Limit = 2
			return Closed(background, load.Level(2), src, pools, w.out, &w.c, o)
		},
	}
	for name, play := range play {
		for short := range uint64(2) {
			w := newWorld(t, 4)
			w.gate = make(chan struct{})
			pools := w.split(0, 2, 2)
			pools[short].Timeout = int64(5 * time.Millisecond)
			var sent atomic.Int64
			w.onSend = func(*backends.Sample) {
				if sent.Add(1) == 2 {
					go func() {
						for w.c.InFlight.Load() > 1 {
							runtime.Gosched()
						}
						close(w.gate)
					}()
				}
			}
			p := within(t, func() Played { return play(w, &mixedFeed{pool: alternate}, pools, w.options()) })
			w.finished(p)
			for n, s := range w.out.samples() {
				if (s.Class == backends.TimedOut) != (n%2 == short) {
					t.Errorf("%s: request %d, of which %d has the short timeout, ended as %v", name, n,
						short, s.Class)
				}
			}
		}
	}
}

func TestClosedSendsOnTheTurnsPool(t *testing.T) {
	w := newWorld(t, 6)
	o := w.options()
	o.Limit = 3001
	p := within(t, func() Played {
		return Closed(background, load.Level(3), &mixedFeed{pool: alternate}, w.split(0, 3, 3),
			w.out, &w.c, o)
	})
	w.finished(p)
	if p.Sent != 3001 || p.PeakInFlight > 3 {
		t.Errorf("%+v", p)
	}
	for n, s := range w.out.samples() {
		if second := s.Lane >= 3; second != (n%2 == 1) {
			t.Fatalf("request %d went to lane %d", n, s.Lane)
		}
	}
}

// A reply on a second pool's lane is waited for when the node ends, timed out and cancelled like
// any other.
func TestClosedCancelsOnEveryPool(t *testing.T) {
	w := newWorld(t, 4)
	w.gate = make(chan struct{})
	w.timeout = time.Millisecond
	o := w.options()
	o.Limit = 8
	p := within(t, func() Played {
		return Closed(background, load.Level(2), &mixedFeed{pool: alternate}, w.split(0, 2, 2),
			w.out, &w.c, o)
	})
	w.finished(p)
	for n, s := range w.out.samples() {
		if s.Class != backends.TimedOut {
			t.Errorf("request %d: class %v", n, s.Class)
		}
	}
	if p.Sent != 8 {
		t.Errorf("%+v", p)
	}
}

func TestUnansweredBefore(t *testing.T) {
	w := newWorld(t, 4)
	w.gate = make(chan struct{})
	if n := w.c.UnansweredBefore(never, -1); n != 0 {
		t.Errorf("%d before there is a player", n)
	}
	o := OpenOptions{Options: w.options()}
	var sent atomic.Int64
	asked := make(chan struct{})
	w.onSend = func(*backends.Sample) {
		if sent.Add(1) == 4 {
			close(asked)
		}
	}
	go func() {
		<-asked
		// Arrivals are due at 0, 1, 2 and 3 ms and none is answered; a fifth waits for a slot, or
		// for its time.
		for ms, want := range map[int64]int64{0: 0, 1: 1, 2: 2, 3: 3} {
			if n := w.c.UnansweredBefore(o.Start+ms*int64(time.Millisecond), -1); n != want {
				t.Errorf("%d older than %d ms, want %d", n, ms, want)
			}
		}
		if n := w.c.UnansweredBefore(never, -1); n < 4 || n > 5 {
			t.Errorf("%d in all", n)
		}
		close(w.gate)
	}()
	p := playOpen(background, w, limit(load.Constant(1000), 5), &fakeFeed{}, inline, o)
	if p.Sent != 5 || w.c.UnansweredBefore(never, -1) != 0 {
		t.Errorf("%d older at the end: %+v", w.c.UnansweredBefore(never, -1), p)
	}
}

// Shards of one schedule, played by players of their own on pools of their own, are together the
// whole: every arrival is sent once, at its own time, with the call of its own number.
func TestShardsPlayTheWhole(t *testing.T) {
	seed := [2]uint64{1, 2}
	ramp := load.NewRamp([]load.Step{{To: 40_000, Over: int64(50 * time.Millisecond)}})
	for name, fresh := range map[string]func() load.Schedule{
		"constant": func() load.Schedule { return limit(load.Constant(20_000), 1001) },
		"poisson":  func() load.Schedule { return limit(load.Poisson(20_000, seed), 1001) },
		"ramp": func() load.Schedule {
			return limit(ramp.Arrivals(0, seed),
				ramp.Length()/int64(time.Millisecond)*20+1)
		},
	} {
		whole := map[uint64]int64{}
		s := fresh()
		for due, ok := s.Next(); ok; due, ok = s.Next() {
			whole[uint64(len(whole))] = due
		}
		for _, count := range []int{2, 3} {
			seen := map[uint64]int64{}
			for i := range count {
				w := newWorld(t, 3)
				o := OpenOptions{Options: w.options()}
				o.Shard = load.Shard{Index: i, Count: count}
				calls := []*backends.Call{{Row: 0}, {Row: 1}, {Row: 2}}
				src := feed.NewCalls(calls, feed.Sequential, false, 0, 0)
				p := within(t, func() Played {
					return Open(background, load.Sharded(fresh(), o.Shard), src, []Pool{w.pool(inline)},
						w.out, &w.c, o)
				})
				w.finished(p)
				for n, sample := range w.out.samples() {
					if _, twice := seen[n]; twice || sample.Row != uint32(n%3) {
						t.Errorf("%s: arrival %d is sent twice (%v) or has row %d", name, n,
							twice, sample.Row)
					}
					seen[n] = sample.Due - o.Start
				}
			}
			if len(seen) != len(whole) {
				t.Errorf("%s in %d shards: %d arrivals of %d", name, count, len(seen), len(whole))
			}
			for n, due := range whole {
				if seen[n] != due {
					t.Fatalf("%s: arrival %d due at %d, in the whole at %d", name, n, seen[n], due)
				}
			}
		}
	}
}
