package drive

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
)

// world is one player's surroundings: a clock, lanes that reply when the gate lets them, and a record of everything.
type world struct {
	t     testing.TB
	clock backends.Clock
	// gate: nil replies at once, else each reply takes a token.
	gate chan struct{}
	deaf bool // lanes ignore Cancel

	lanes  []*fakeLane
	out    *fakeOut
	c      Control
	onSend func(s *backends.Sample)
	server *keeper // of sequences; nil: none
	closes bool    // what closes sequences needs no token
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
		l := &fakeLane{w: w, sent: make(chan struct{}, 1), cancel: make(chan backends.Cause, 1), closed: make(chan struct{})}
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

func (w *world) options() Options {
	return Options{Clock: w.clock, Start: w.clock.Now(), Timeout: int64(time.Minute), Drain: time.Minute}
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
		w.t.Errorf("%d sends, %d samples put, played %d and %d warm, control %d", sends, puts, p.Sent, p.WarmSent, w.c.Sent.Load())
	}
	if p.Planned != p.Sent+p.DroppedPool+p.DroppedStop {
		w.t.Errorf("planned %d is not sent %d + dropped %d + %d", p.Planned, p.Sent, p.DroppedPool, p.DroppedStop)
	}
	if w.c.InFlight.Load() != 0 || w.c.OldestDue.Load() != math.MaxInt64 {
		w.t.Errorf("in flight %d, oldest due %d", w.c.InFlight.Load(), w.c.OldestDue.Load())
	}
	if p.PeakInFlight > int64(len(w.lanes)) {
		w.t.Errorf("peak %d with %d lanes", p.PeakInFlight, len(w.lanes))
	}
}

// fakeLane answers in memory. It follows the law of Lane and counts when its caller does not.
type fakeLane struct {
	w        *world
	sent     chan struct{}
	cancel   chan backends.Cause
	closed   chan struct{}
	sends    atomic.Int64
	overlaps atomic.Int64
	sending  atomic.Bool

	mu     sync.Mutex
	flight *backends.Sample
	fields backends.Fields
}

func (l *fakeLane) Send(slot int, c *backends.Call, f backends.Fields, s *backends.Sample) {
	if !l.sending.CompareAndSwap(false, true) {
		l.overlaps.Add(1)
	}
	defer l.sending.Store(false)
	s.SendStart = l.w.clock.Now()
	l.sends.Add(1)
	l.mu.Lock()
	if l.flight != nil {
		l.overlaps.Add(1)
	}
	l.flight, l.fields = s, f
	l.mu.Unlock()
	s.BytesSent = 1
	if l.w.server != nil {
		l.w.server.take(f, s)
	}
	s.SendEnd = l.w.clock.Now()
	if l.w.onSend != nil {
		l.w.onSend(s)
	}
	l.sent <- struct{}{}
}

func (l *fakeLane) Recv() (int, bool) {
	select {
	case <-l.closed:
		return backends.None, false
	case <-l.sent:
	}
	var why backends.Cause
	l.mu.Lock()
	free := l.w.closes && l.flight.Flags&backends.Closing != 0
	l.mu.Unlock()
	if l.w.gate != nil && !free {
		select {
		case <-l.w.gate:
		case why = <-l.cancel:
		case <-l.closed:
			why = backends.CauseStop
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.flight
	l.flight = nil
	select { // a cancel that came too late is not for the next request
	case <-l.cancel:
	default:
	}
	s.LastByte = l.w.clock.Now()
	switch why {
	case backends.CauseTimeout, backends.CauseInactivity:
		s.Class, s.Flags = backends.TimedOut, s.Flags|backends.Timeout
	case backends.CauseDrain, backends.CauseStop:
		s.Class, s.Flags, s.Status = backends.Stopped, s.Flags|backends.Incomplete, int32(why)
	}
	if l.w.server != nil {
		l.w.server.answer(l.fields, s)
	}
	return 0, true
}

func (*fakeLane) Activity(int) int64 { return 0 }

func (l *fakeLane) Cancel(slot int, gen uint32, why backends.Cause) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w.deaf || l.flight == nil || l.flight.Gen != gen {
		return
	}
	select {
	case l.cancel <- why:
	default:
	}
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
	// empty, if set, says that there is no buffer this time.
	empty func() bool
	lanes []outLane
}

type outLane struct {
	buffer backends.Sample
	puts   int64
	kept   []backends.Sample
	_      [64]byte
}

func (o *fakeOut) Get(lane int) *backends.Sample {
	if o.empty != nil && o.empty() {
		return nil
	}
	return &o.lanes[lane].buffer
}

// Part implements Handoff.
func (o *fakeOut) Part(_ int, s *backends.Sample) bool {
	s.Events = s.Events[:0]
	return true
}

func (o *fakeOut) Put(lane int, s *backends.Sample) {
	if oldest := o.w.c.OldestDue.Load(); s.Due < oldest {
		o.w.t.Errorf("put a sample due at %d, although all before %d were said to be complete", s.Due, oldest)
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

func growing(lanes []backends.Lane, grow func(context.Context, int) ([]backends.Lane, error)) []Pool {
	return []Pool{{Lanes: lanes, Limits: inline, Grow: grow}}
}

func limit(s load.Schedule, n int64) load.Schedule { return load.Limit(s, n) }
