package triton_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/triton"
)

// lane is one stream lane to a server, of some depth, and a call for it with bytes of input.
type lane struct {
	backends.Lane
	t     testing.TB
	clock backends.Clock
	call  *backends.Call
	gen   uint32
}

func openLane(t testing.TB, h func(talk) error, depth, bytes int) *lane {
	t.Helper()
	url, _ := serve(t, h)
	l := &lane{t: t, clock: backends.Clock{Origin: time.Now().Add(-time.Second)}}
	c, err := triton.Kind().Open(t.Context(),
		backends.Target{URL: url, Model: "m", Endpoint: "infer", Streaming: true}, l.clock)
	if err != nil {
		t.Fatal(err)
	}
	request := backends.Request{Inputs: []backends.Tensor{
		{Name: "IN", Type: tensor.Uint8, Shape: []int64{int64(bytes)}, Data: make([]byte, bytes)},
	}}
	if l.call, err = c.Prepare(request); err != nil {
		t.Fatal(err)
	}
	lanes, limits, err := c.Lanes(t.Context(), 1, backends.LaneOptions{Depth: depth})
	if err != nil || limits.Depth != depth {
		t.Fatal(limits, err)
	}
	l.Lane = lanes[0]
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return l
}

// send begins a request in a slot. Its id is its generation.
func (l *lane) send(slot, events int) *backends.Sample {
	l.gen++
	s := &backends.Sample{Gen: l.gen, Due: l.clock.Now(), Events: make([]backends.Event, 0, events)}
	l.Send(slot, l.call, backends.Fields{ID: uint64(l.gen)}, s)
	return s
}

// done waits for the end of one request, and drains events. parts is how often it had to.
func (l *lane) done(samples ...*backends.Sample) (slot, parts int) {
	watch := time.AfterFunc(20*time.Second, func() { panic("nothing came for 20 s") })
	defer watch.Stop()
	for {
		slot, done := l.Recv()
		if done {
			return slot, parts
		}
		parts++
		samples[slot].Events = samples[slot].Events[:0]
	}
}

// TestWritesBeforeReading: requests over what the transport takes at once, to a server that writes
// more than the client's window before it reads on. Who only sent would wait for it for ever.
func TestWritesBeforeReading(t *testing.T) {
	const depth, size, responses = 8, 1 << 20, 4
	big := strings.Repeat("\x00", 1<<19)
	l := openLane(t, each(func(s talk, id string) error {
		for i := range responses {
			last := byte(0)
			if i == responses-1 {
				last = 1
			}
			if err := s.send(reply(id,
				final(last)+outputs+field(5, "\x0a\x01B\x12\x05BYTES\x1a\x01\x01")+field(6, big))); err != nil {
				return err
			}
		}
		return nil
	}), depth, size)
	samples := make([]*backends.Sample, depth)
	for i := range samples {
		samples[i] = l.send(i, 2)
	}
	for n := range 3 * depth {
		slot, parts := l.done(samples...)
		s := samples[slot]
		if s.Class != backends.OK || s.Responses != responses || s.BytesSent < size ||
			s.BytesReceived < responses*int64(len(big)) || s.SendEnd == 0 {
			t.Fatalf("%v %q, %d responses, %d bytes sent, %d received, %d parts",
				s.Class, s.Note, s.Responses, s.BytesSent, s.BytesReceived, parts)
		}
		if n < 2*depth {
			samples[slot] = l.send(slot, 2)
		}
	}
}

// TestMatching: replies come in another order than the requests, with errors among them, one of
// which names no request.
func TestMatching(t *testing.T) {
	l := openLane(t, func(s talk) error {
		var ids []string
		for range 4 {
			id, err := s.recv()
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		for _, text := range []string{
			reply(ids[3], final(0)+outputs), fault(ids[1], "not this one"), reply(ids[2], final(1)+outputs),
			reply(ids[3], final(0)+outputs),
			reply(ids[1], final(1)), // of the one that has failed
			reply(ids[3], final(1)), field(1, "unknown request"),
		} {
			if err := s.send(text); err != nil {
				return err
			}
		}
		_, err := s.recv()
		return err
	}, 4, 4)
	var samples []*backends.Sample
	for i := range 4 {
		samples = append(samples, l.send(i, 8))
	}
	for range samples {
		l.done(samples...)
	}
	for slot, want := range []struct {
		class     backends.ErrorClass
		responses uint32
		note      string
	}{
		{backends.Server, 0, "unknown request"},
		{backends.Server, 0, "not this one"},
		{backends.OK, 1, ""},
		{backends.OK, 2, ""},
	} {
		if s := samples[slot]; s.Class != want.class || s.Responses != want.responses ||
			string(s.Note) != want.note {
			t.Errorf("slot %d: %v, %d responses, %q; want %+v", slot, s.Class, s.Responses, s.Note, want)
		}
	}
	if s := samples[3]; len(s.Events) != 2 || s.Events[1].At != s.LastByte || s.Events[0].At != s.FirstByte {
		t.Errorf("events %v, first byte %d, last %d: the end is no response", s.Events, s.FirstByte, s.LastByte)
	}
}

// TestStrays: a reply for nobody is told, and costs nobody anything.
func TestStrays(t *testing.T) {
	l := openLane(t, each(func(s talk, id string) error {
		if err := s.send(reply("99999", final(1)+outputs)); err != nil {
			return err
		}
		return right(s, id)
	}), 2, 4)
	s := l.send(0, 0)
	strays, answered := 0, 0
	for strays == 0 || answered == 0 {
		switch slot, done := l.Recv(); {
		case slot == backends.None && done:
			strays++
		case slot == 0 && done:
			answered++
		default:
			t.Fatalf("slot %d, done %v", slot, done)
		}
	}
	if s.Class != backends.OK || strays != 1 {
		t.Errorf("%v, %d strays", s.Class, strays)
	}
}

// TestCancelOne: cancelling a request leaves the others on its stream alone, and its late replies
// are counted for no request.
func TestCancelOne(t *testing.T) {
	streams := make(chan struct{}, 10)
	first := make(chan string, 1)
	l := openLane(t, func(s talk) error {
		streams <- struct{}{}
		return each(func(s talk, id string) error {
			select {
			case first <- id:
				return nil // the first request waits
			default:
			}
			if id == "00000000000000000003" {
				if err := right(s, <-first); err != nil {
					return err
				}
			}
			return right(s, id)
		})(s)
	}, 3, 4)
	samples := []*backends.Sample{l.send(0, 0), l.send(1, 0), nil}
	if slot, _ := l.done(samples...); slot != 1 || samples[1].Class != backends.OK {
		t.Fatalf("slot %d: %v", slot, samples[1].Class)
	}
	l.Cancel(0, 1, backends.CauseInactivity)
	if slot, _ := l.done(samples...); slot != 0 || samples[0].Class != backends.TimedOut ||
		string(samples[0].Note) != "nothing came within the inactivity_timeout" {
		t.Fatalf("slot %d: %v %q", slot, samples[0].Class, samples[0].Note)
	}
	samples[2] = l.send(2, 0)
	if slot, _ := l.done(samples...); slot != 2 || samples[2].Class != backends.OK || len(streams) != 1 {
		t.Errorf("slot %d: %v, %d streams", slot, samples[2].Class, len(streams))
	}
}

// TestBroken: when a stream breaks each request on it is answered once, and the next ones have
// another stream.
func TestBroken(t *testing.T) {
	streams := 0
	l := openLane(t, func(s talk) error {
		streams++
		if streams > 1 {
			return each(right)(s)
		}
		var id string
		for range 4 {
			var err error
			if id, err = s.recv(); err != nil {
				return err
			}
		}
		if err := s.send(reply(id, final(0)+outputs)); err != nil {
			return err
		}
		return fmt.Errorf("the model fell over")
	}, 4, 4)
	var samples []*backends.Sample
	for i := range 4 {
		samples = append(samples, l.send(i, 8))
	}
	seen := map[int]bool{}
	for range 4 {
		slot, _ := l.done(samples...)
		s := samples[slot]
		if seen[slot] || s.Class != backends.Status || !strings.Contains(string(s.Note), "the model fell over") ||
			(s.Flags&backends.NoFinal != 0) != (slot == 3) {
			t.Errorf("slot %d: %v %q flags %b", slot, s.Class, s.Note, s.Flags)
		}
		seen[slot] = true
	}
	samples[2] = l.send(2, 0)
	if slot, _ := l.done(samples...); slot != 2 || samples[2].Class != backends.OK {
		t.Errorf("slot %d: %v %q", slot, samples[2].Class, samples[2].Note)
	}
}

// TestFlat: a request with a million responses takes no more memory than one with a tenth of them.
func TestFlat(t *testing.T) {
	const responses, room = 1_000_000, 256
	more, last := []byte(reply("00000000000000000001",
		final(0)+outputs)), reply("00000000000000000001", final(1))
	l := openLane(t, each(func(s talk, _ string) error {
		for range responses {
			if err := s.SendMsg(&more); err != nil {
				return err
			}
		}
		return s.send(last)
	}), 1, 4)
	s := l.send(0, room)
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var tenth int64
	parts := 0
	for {
		if _, done := l.Recv(); done {
			break
		}
		s.Events = s.Events[:0]
		if parts++; parts == responses/10/room {
			tenth = heap()
		}
	}
	if s.Class != backends.OK || s.Responses != responses || parts != responses/room {
		t.Errorf("%v %q, %d responses in %d parts", s.Class, s.Note, s.Responses, parts)
	}
	if grown := heap() - tenth; grown > 1<<20 {
		t.Errorf("after a million responses the heap has %d bytes more than after 100,000", grown)
	}
}
