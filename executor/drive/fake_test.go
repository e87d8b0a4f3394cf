package drive

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
)

// world is one player's surroundings: a clock, lanes that reply when the gate lets them, and a
// record of everything.
type world struct {
	t     testing.TB
	clock backends.Clock
	// gate: nil replies at once, else each reply takes a token.
	gate chan struct{}
	deaf bool // lanes ignore Cancel

	timeout time.Duration // of requests; 0: none

	depth  int  // of lanes; 0: 1
	held   bool // see closed
	lanes  []*fakeLane
	out    *fakeOut
	c      Control
	onSend func(s *backends.Sample)
	onSent func()                        // when it can be answered
	server *keeper                       // of sequences; nil: none
	closes bool                          // what closes sequences needs no token
	early  func(s *backends.Sample) bool // is answered before others; nil: none is
}

func newWorld(t testing.TB, lanes int) *world {
	w := &world{t: t, clock: backends.Clock{Origin: time.Now().Add(-time.Second)}}
	w.out = &fakeOut{w: w, lanes: make([]outLane, 1024)}
	w.more(lanes)
	return w
}

// more makes n lanes.
func (w *world) more(n int) []backends.Lane {
	var lanes []backends.Lane
	for range n {
		l := &fakeLane{
			w: w, kick: make(chan struct{}, 1), closed: make(chan struct{}),
			flights: make([]flight, max(w.depth, 1)), open: make([]int, 0, max(w.depth, 1)),
		}
		w.lanes = append(w.lanes, l)
		lanes = append(lanes, l)
	}
	return lanes
}

func (w *world) given() []backends.Lane {
	var lanes []backends.Lane
	for _, l := range w.lanes {
		lanes = append(lanes, l)
	}
	return lanes
}

// share makes the world's lanes fewer, with room for depth requests each and per of them for every
// lane that there was. The pool has no more slots than that.
func (w *world) share(depth, per int) Pool {
	slots := len(w.lanes) * per
	w.lanes, w.depth = nil, depth
	w.more((slots + depth - 1) / depth)
	pool := w.pool(backends.Limits{Depth: depth, Inline: 50})
	pool.MaxSlots = slots
	return pool
}

// pool has the world's lanes.
func (w *world) pool(lim backends.Limits) Pool {
	return Pool{Lanes: w.given(), Limits: lim, Timeout: int64(w.timeout)}
}

// answerWaits lets a request be answered whenever the pacer waits for a slot, so often, and rest
// more in the end.
func (w *world) answerWaits(waits, rest int) {
	for range waits {
		w.pacerWaits()
		w.gate <- struct{}{}
	}
	for range rest {
		w.gate <- struct{}{}
	}
}

// pacerWaits returns when the pacer waits for a slot.
func (w *world) pacerWaits() {
	for p := w.c.player.Load(); p == nil || !p.pacerWaits.Load(); p = w.c.player.Load() {
		runtime.Gosched()
	}
}

func (w *world) options() Options {
	return Options{Clock: w.clock, Start: w.clock.Now(), Drain: time.Minute}
}

// finished checks the law: every Send is one Put, every lane is closed, nothing is in flight.
func (w *world) finished(p Played) {
	w.t.Helper()
	var sends, puts int64
	for i, l := range w.lanes {
		sends += l.sends.Load()
		if !l.isClosed() {
			w.t.Errorf("lane %d is open at the end", i)
		}
		if n := l.overlaps.Load(); n != 0 {
			w.t.Errorf("lane %d: %d sends overlapped", i, n)
		}
	}
	for i := range w.out.lanes {
		puts += w.out.lanes[i].puts
	}
	if sends != puts || sends != p.Sent+p.WarmSent || w.c.Sent.Load() != sends {
		w.t.Errorf("%d sends, %d samples put, played %d and %d warm, control %d", sends, puts, p.Sent,
			p.WarmSent, w.c.Sent.Load())
	}
	if p.Planned != p.Sent+p.DroppedPool+p.DroppedStop {
		w.t.Errorf("planned %d is not sent %d + dropped %d + %d", p.Planned, p.Sent, p.DroppedPool,
			p.DroppedStop)
	}
	if w.c.InFlight.Load() != 0 || w.c.OldestDue.Load() != math.MaxInt64 {
		w.t.Errorf("in flight %d, oldest due %d", w.c.InFlight.Load(), w.c.OldestDue.Load())
	}
	if room := int64(len(w.lanes) * max(w.depth, 1)); p.PeakInFlight > room {
		w.t.Errorf("peak %d with room for %d", p.PeakInFlight, room)
	}
}

// fakeLane answers in memory, not always in the order of the requests. It follows the law of Lane
// and counts when its caller does not.
type fakeLane struct {
	w        *world
	closed   chan struct{}
	kick     chan struct{} // a token: look again
	sends    atomic.Int64
	overlaps atomic.Int64
	sending  atomic.Bool

	mu      sync.Mutex
	flights []flight // by slot
	open    []int    // slots in flight, as they were sent
	turn    int
}

// flight is a request in flight; s is nil where there is none.
type flight struct {
	s      *backends.Sample
	fields backends.Fields
	why    backends.Cause
}

func (l *fakeLane) Send(slot int, c *backends.Call, f backends.Fields, s *backends.Sample) {
	if !l.sending.CompareAndSwap(false, true) {
		l.overlaps.Add(1)
	}
	defer l.sending.Store(false)
	s.SendStart = l.w.clock.Now()
	l.sends.Add(1)
	if int(s.Slot) != slot {
		l.overlaps.Add(1)
	}
	s.BytesSent = 1
	if l.w.server != nil {
		l.w.server.take(f, s)
	}
	s.SendEnd = l.w.clock.Now()
	if l.w.onSend != nil {
		l.w.onSend(s)
	}
	l.mu.Lock()
	if l.flights[slot].s != nil {
		l.overlaps.Add(1)
	}
	l.flights[slot] = flight{s: s, fields: f}
	l.open = append(l.open, slot)
	l.mu.Unlock()
	l.look()
	if l.w.onSent != nil {
		l.w.onSent()
	}
}

// look lets Recv look again.
func (l *fakeLane) look() {
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

func (l *fakeLane) Recv() (int, bool) {
	for {
		closed := l.isClosed()
		l.mu.Lock()
		at := l.ended()
		waits := len(l.open) > 0
		l.mu.Unlock()
		switch {
		case at >= 0:
			return l.answer(at), true
		case closed:
			return backends.None, false
		}
		var gate chan struct{}
		if waits {
			gate = l.w.gate
		}
		select {
		case <-gate:
			l.mu.Lock()
			at = l.any()
			l.mu.Unlock()
			return l.answer(at), true
		case <-l.kick:
		case <-l.closed:
		}
	}
}

// ended is the place in open of a request that needs no token; -1: there is none.
func (l *fakeLane) ended() int {
	for i, slot := range l.open {
		if f := &l.flights[slot]; f.why != 0 || l.w.closes && f.s.Flags&backends.Closing != 0 {
			return i
		}
	}
	switch {
	case len(l.open) == 0:
		return -1
	case l.isClosed():
		l.flights[l.open[0]].why = backends.CauseStop
		return 0
	case l.w.gate == nil:
		return l.any()
	}
	return -1
}

func (l *fakeLane) any() int {
	for i, slot := range l.open {
		if l.w.early != nil && l.w.early(l.flights[slot].s) {
			return i
		}
	}
	l.turn++
	return l.turn * 7 % len(l.open)
}

func (l *fakeLane) answer(at int) (slot int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	slot = l.open[at]
	l.open = append(l.open[:at], l.open[at+1:]...)
	f := l.flights[slot]
	l.flights[slot] = flight{}
	s := f.s
	s.LastByte = l.w.clock.Now()
	switch f.why {
	case backends.CauseTimeout, backends.CauseInactivity:
		s.Class, s.Flags = backends.TimedOut, s.Flags|backends.Timeout
	case backends.CauseDrain, backends.CauseStop, backends.CauseClosed:
		s.Class, s.Flags, s.Status = backends.Stopped, s.Flags|backends.Incomplete, int32(f.why)
	}
	if l.w.server != nil {
		l.w.server.answer(f.fields, s)
	}
	return slot
}

func (*fakeLane) Activity(int) int64 { return 0 }

func (l *fakeLane) Cancel(slot int, gen uint32, why backends.Cause) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := &l.flights[slot]
	if l.w.deaf || l.w.gate == nil || f.s == nil || f.s.Gen != gen || f.why != 0 {
		return
	}
	f.why = why
	l.look()
}

func (l *fakeLane) Close() error {
	close(l.closed) // panics the second time
	return nil
}

func (l *fakeLane) isClosed() bool {
	select {
	case <-l.closed:
		return true
	default:
		return false
	}
}

// fakeOut keeps a copy of every sample, unless light.
type fakeOut struct {
	w     *world
	light bool
	onPut func(s *backends.Sample)
	// empty, if set, says that there is no buffer for a slot this time.
	empty func(slot int) bool
	lanes []outLane
}

type outLane struct {
	buffer backends.Sample
	puts   int64
	kept   []backends.Sample
	_      [64]byte
}

func (o *fakeOut) Get(lane int) *backends.Sample {
	if o.empty != nil && o.empty(lane) {
		return nil
	}
	o.lanes[lane].buffer.Reset()
	return &o.lanes[lane].buffer
}

// Part implements Handoff.
func (o *fakeOut) PutEvents(_ int, s *backends.Sample) bool {
	s.Events = s.Events[:0]
	return true
}

func (o *fakeOut) Put(lane int, s *backends.Sample) {
	if oldest := o.w.c.OldestDue.Load(); s.Due < oldest {
		o.w.t.Errorf("put a sample due at %d, although all before %d were said to be complete",
			s.Due, oldest)
	}
	if o.onPut != nil {
		o.onPut(s)
	}
	l := &o.lanes[lane]
	l.puts++
	if int(s.Lane) != lane {
		o.w.t.Errorf("lane %d put a sample of lane %d", lane, s.Lane)
	}
	if !o.light {
		l.kept = append(l.kept, *s)
	}
}

// inOrder are all that were put, in the order of their numbers.
func (o *fakeOut) inOrder() (all []backends.Sample) {
	for i := range o.lanes {
		all = append(all, o.lanes[i].kept...)
	}
	slices.SortFunc(all, func(a, b backends.Sample) int { return cmp.Compare(a.N, b.N) })
	return all
}

// samples are all that were put, by number; two with one number are an error.
func (o *fakeOut) samples() map[uint64]backends.Sample {
	all := map[uint64]backends.Sample{}
	for i := range o.lanes {
		for _, s := range o.lanes[i].kept {
			if _, twice := all[s.N]; twice {
				o.w.t.Errorf("number %d was sent twice", s.N)
			}
			all[s.N] = s
		}
	}
	return all
}

// fakeFeed gives one call for ever, or until end requests were given.
type fakeFeed struct {
	size func(n uint64) int // nil: 1
	end  int64
	each func(n uint64)
	// cancelAfter is Turn.CancelAfter; nil: 0
	cancelAfter func(n uint64) int64

	given atomic.Int64
	calls sync.Map // size → *Call
}

func (f *fakeFeed) Next(slot int, n uint64, t *feed.Turn) bool {
	if f.end > 0 && f.given.Add(1) > f.end {
		return false
	}
	if f.each != nil {
		f.each(n)
	}
	if f.cancelAfter != nil {
		t.CancelAfter = f.cancelAfter(n)
	}
	t.Call = &small
	if f.size != nil {
		c, _ := f.calls.LoadOrStore(f.size(n), &backends.Call{Size: f.size(n), Row: 7, Items: 3})
		t.Call = c.(*backends.Call)
	}
	return true
}

func (*fakeFeed) Finish(int, *feed.Turn) bool { return false }

// within fails the test if what does not return in a generous time.
func within(t testing.TB, what func() Played) Played {
	t.Helper()
	done := make(chan Played, 1)
	go func() { done <- what() }()
	select {
	case p := <-done:
		return p
	case <-time.After(30 * time.Second):
		panic(fmt.Sprintf("%s: the player did not return", t.Name()))
	}
}

var (
	background = context.Background()
	small      = backends.Call{Size: 1, Row: 7, Items: 3}
)

// one is the pools of a node with one target.
func one(lanes []backends.Lane, lim backends.Limits) []Pool {
	return []Pool{{Lanes: lanes, Limits: lim}}
}

// growing is a pool that grows to most lanes.
func growing(lanes []backends.Lane, most int,
	grow func(context.Context, int) ([]backends.Lane, error),
) []Pool {
	return []Pool{{Lanes: lanes, Limits: inline, MaxSlots: most, Grow: grow}}
}

func limit(s load.Schedule, n int64) load.Schedule { return load.Limit(s, n) }
