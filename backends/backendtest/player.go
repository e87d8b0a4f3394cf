package backendtest

import (
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

// mode selects how a lane is driven: by one goroutine that sends and receives in turn, as in closed
// loops, or with another one parked in Recv, as in open loops.
type mode bool

const (
	serial mode = false
	parked mode = true
)

// received is the result of one Recv.
type received struct {
	slot int
	done bool
}

// player drives one lane and checks the law: every Send is answered by exactly one Recv.
type player struct {
	t     testing.TB
	clock backends.Clock
	lane  backends.Lane
	mode  mode
	gen   uint32
	depth int           // of the lane: requests take slots in turn
	got   chan received // parked: results of the goroutine in Recv; closed after None
	ended bool

	patience time.Duration
}

func newPlayer(b *bench, lane backends.Lane, m mode) *player {
	p := &player{
		t: b.t, clock: b.clock, lane: lane, mode: m, got: make(chan received, 64), patience: b.s.Patience,
		depth: b.s.depth(),
	}
	if m == parked {
		go p.park()
	}
	b.t.Cleanup(p.close)
	return p
}

// park receives until the end of the lane. A lane that returns results without end is stopped
// before it fills memory.
func (p *player) park() {
	defer close(p.got)
	for {
		slot, done := p.lane.Recv()
		if slot == backends.None && !done {
			return
		}
		select {
		case p.got <- received{slot, done}:
		default:
			return
		}
	}
}

// send starts a request.
func (p *player) send(c *backends.Call) *backends.Sample {
	p.t.Helper()
	select {
	case r, more := <-p.got:
		p.t.Fatalf("the law of Lane: slot %d, done %v that no Send belongs to (lane ended: %v)",
			r.slot, r.done, !more)
	default:
	}
	return p.begin(c)
}

// begin sends, whatever else is in flight.
func (p *player) begin(c *backends.Call) *backends.Sample {
	p.gen++
	now := p.clock.Now()
	s := &backends.Sample{
		Due: now, Free: now, Gen: p.gen, Row: c.Row, Items: c.Items, Slot: uint16(p.slot(p.gen)),
	}
	p.lane.Send(p.slot(p.gen), c, backends.Fields{ID: uint64(p.gen)}, s)
	return s
}

// slot returns the slot of the request of a generation.
func (p *player) slot(gen uint32) int { return int(gen) % p.depth }

// cancel ends the request of a generation.
func (p *player) cancel(gen uint32, why backends.Cause) { p.lane.Cancel(p.slot(gen), gen, why) }

// wait receives the answer. A lane that is stuck is closed.
func (p *player) wait(s *backends.Sample) {
	p.t.Helper()
	r, ok := p.recv()
	if !ok {
		p.t.Fatalf("the law of Lane: a request was not answered within %v", p.patience)
	}
	if r.slot != p.slot(p.gen) || !r.done {
		p.t.Fatalf("the law of Lane: Recv gave slot %d, done %v for a request in slot %d",
			r.slot, r.done, p.slot(p.gen))
	}
	p.checkSample(s, p.gen)
}

func (p *player) recv() (received, bool) {
	if p.mode == parked {
		select {
		case r, ok := <-p.got:
			return r, ok
		case <-time.After(p.patience):
			return received{}, false
		}
	}
	watch := time.AfterFunc(p.patience, func() { _ = p.lane.Close() })
	slot, done := p.lane.Recv()
	return received{slot, done}, watch.Stop()
}

// checkSample checks the conditions of every finished sample.
func (p *player) checkSample(s *backends.Sample, gen uint32) {
	p.t.Helper()
	now := p.clock.Now()
	stamps := []int64{s.Due, s.SendStart, s.SendEnd, s.FirstByte, s.LastByte}
	for _, at := range stamps[1:] {
		if at != 0 && (at < s.Due || at > now) {
			p.t.Errorf("stamps (due, send start, send end, first byte, last byte) %v "+
				"are not between due and now %d", stamps, now)
		}
	}
	if s.Gen != gen {
		p.t.Errorf("the lane changed the generation from %d to %d", gen, s.Gen)
	}
	if s.LastByte != 0 && s.FirstByte > s.LastByte || s.SendEnd != 0 && s.SendStart > s.SendEnd ||
		s.FirstByte != 0 && s.SendEnd > s.FirstByte {
		p.t.Errorf("stamps %v are out of order", stamps)
	}
	if s.Class.Failed() && len(s.Note) == 0 {
		p.t.Errorf("class %v without a note", s.Class)
	}
	if s.Class == backends.OK {
		p.checkGoodSample(s, stamps)
	}
}

// checkGoodSample checks the conditions of a request that was answered.
func (p *player) checkGoodSample(s *backends.Sample, stamps []int64) {
	p.t.Helper()
	for _, at := range stamps {
		if at == 0 {
			p.t.Errorf("stamps %v of a good request have a hole", stamps)
		}
	}
	if s.FirstByte < s.SendStart {
		p.t.Errorf("first byte at %d, sent at %d", s.FirstByte, s.SendStart)
	}
	if s.BytesSent <= 0 || s.BytesReceived <= 0 || s.Responses != 1 {
		p.t.Errorf("%d bytes sent, %d received, %d responses", s.BytesSent, s.BytesReceived, s.Responses)
	}
	if s.Flags&(backends.Timeout|backends.Incomplete) != 0 {
		p.t.Errorf("flags %b of a good request", s.Flags)
	}
}

// do plays one request.
func (p *player) do(c *backends.Call) *backends.Sample {
	p.t.Helper()
	s := p.send(c)
	p.wait(s)
	return s
}

// close closes the lane and checks that Recv then reports the end, and nothing else.
func (p *player) close() {
	p.t.Helper()
	if p.ended {
		return
	}
	p.ended = true
	if err := p.lane.Close(); err != nil {
		p.t.Errorf("close the lane: %v", err)
	}
	if p.mode == serial {
		if r, ok := p.recv(); !ok || r.slot != backends.None || r.done {
			p.t.Errorf("the law of Lane: after Close, Recv gave slot %d, done %v", r.slot, r.done)
		}
		return
	}
	select {
	case r, more := <-p.got:
		if more {
			p.t.Errorf("the law of Lane: slot %d, done %v that no Send belongs to", r.slot, r.done)
		}
	case <-time.After(p.patience):
		p.t.Errorf("Recv did not return after Close")
	}
}
