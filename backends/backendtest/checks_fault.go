package backendtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

// checkFault sends several requests, one after the other, to a server with a fault: each must be
// answered with the class of the fault.
func checkFault(t testing.TB, s Suite, f Fault, m mode) {
	if !s.has(f) {
		return
	}
	b := newBench(t, &s, f)
	p := b.player(m)
	if f == Refused {
		b.class(None, p.do(b.call))
		b.server.Down()
	}
	for i := range 5 {
		sample := p.send(b.call)
		if f == Never {
			p.cancel(p.gen, backends.CauseTimeout)
		}
		p.wait(sample)
		if f == Refused && i == 0 && sample.Class == backends.ResetByPeer {
			continue // sent before the end of the connection was seen
		}
		b.class(f, sample)
		if f == Never && sample.Flags&backends.Timeout == 0 {
			t.Errorf("a timeout without its flag")
		}
		if f == None && !s.Shared && i > 0 && sample.Flags&backends.Reused == 0 {
			t.Errorf("request %d went out on a connection that had carried one, without the flag", i)
		}
		if f == None && sample.Flags&backends.Redialled != 0 {
			t.Errorf("request %d was redialled, though the connection was kept", i)
		}
	}
}

// checkStamps compares the stamps with servers that wait. Conditions that a busy machine cannot
// break are checked for every request: no stamp can precede the server's wait. The others must hold
// once in twenty requests.
func checkStamps(t testing.TB, s Suite) {
	for _, m := range []mode{serial, parked} {
		checkStamp(t, &s, Delay, m, "a send that does not wait for the reply", func(p *backends.Sample) bool {
			if wait := p.FirstByte - p.SendStart; wait < int64(Pause) {
				t.Errorf("first byte %d ns after the start of sending; the server waited %v", wait, Pause)
			}
			return p.SendEnd-p.SendStart < int64(Pause)
		})
		checkStamp(t, &s, SlowBody, m, "a first byte before the pause", func(p *backends.Sample) bool {
			if wait := p.LastByte - p.SendStart; wait < int64(Pause) {
				t.Errorf("last byte %d ns after the start of sending; the server waited %v", wait, Pause)
			}
			return p.LastByte-p.FirstByte > int64(Pause)/2
		})
	}
}

// checkStamp sends until right returns true for a sample.
func checkStamp(t testing.TB, s *Suite, f Fault, m mode, what string, right func(*backends.Sample) bool) {
	if !s.has(f) {
		return
	}
	b := newBench(t, s, f)
	p := b.player(m)
	for range 20 {
		sample := p.do(b.call)
		b.class(f, sample)
		if right(sample) {
			return
		}
	}
	t.Errorf("not once in 20 requests: %s", what)
}

func checkFailureText(t testing.TB, s Suite) {
	if !s.has(Failure) {
		return
	}
	b := newBench(t, &s, Failure)
	if sample := b.player(serial).do(b.call); !strings.Contains(string(sample.Note), FailureText) ||
		sample.Status == 0 {
		t.Errorf("status %d, note %q; the server said %q", sample.Status, sample.Note, FailureText)
	}
}

// checkTLS: a client and a server that cannot agree on TLS are distinguished from an unreachable
// server, at the start or at the first request.
func checkTLS(t testing.TB, s Suite) {
	if !s.has(BadTLS) {
		return
	}
	b := newBench(t, &s, BadTLS)
	lanes, err := b.lanes(1)
	if err == nil {
		b.class(BadTLS, newPlayer(b, lanes[0], serial).do(b.call))
		return
	}
	if text := strings.ToLower(err.Error()); !strings.Contains(text, "tls") {
		t.Errorf("the error does not speak of TLS: %v", err)
	}
}

// checkCloseAfter: unannounced closes cost reconnects, not errors.
func checkCloseAfter(t testing.TB, s Suite, m mode) {
	if !s.has(CloseAfter) {
		return
	}
	b := newBench(t, &s, CloseAfter)
	p := b.player(m)
	redialled := 0
	for range 10 {
		sample := p.do(b.call)
		b.class(CloseAfter, sample)
		if sample.Flags&backends.Redialled != 0 {
			redialled++
		}
	}
	if redialled < 9 && !s.Shared {
		t.Errorf("10 requests on 10 connections: %d redialled", redialled)
	}
}

// checkCloseUnder: a request on a stale connection is sent once more, unless it is part of a
// sequence: the server may have processed the first copy.
func checkCloseUnder(t testing.TB, s Suite) {
	if !s.has(CloseUnder) || s.Target.Connections == backends.PerRequest {
		return
	}
	// Several times: a sender and its receiver may see the close in either order.
	for _, m := range append(slices.Repeat([]mode{serial}, 10), parked) {
		b := newBench(t, &s, CloseUnder)
		p := b.player(m)
		b.class(None, p.do(b.call))
		sample := p.do(b.call)
		if s.depth() > 1 {
			if !s.Blocking { // other requests may be on it, so none is sent twice
				b.class(ResetBefore, sample)
			}
			continue
		}
		b.class(CloseUnder, sample)
		if sample.Flags&(backends.Redialled|backends.Resent) != backends.Redialled|backends.Resent ||
			sample.Flags&backends.Reused != 0 {
			t.Errorf("flags %b of a request that was sent again", sample.Flags)
		}
		b = newBench(t, &s, CloseUnder) // lanes of one Conn may share a connection
		p = b.player(m)
		stateful := *b.call
		stateful.Stateful = true
		b.class(None, p.do(&stateful))
		b.class(ResetBefore, p.do(&stateful))
	}
}

// checkCloseIdle: a parked lane sees a close and has another connection before the next Send.
func checkCloseIdle(t testing.TB, s Suite) {
	if !s.has(CloseIdle) {
		return
	}
	b := newBench(t, &s, CloseIdle)
	p := b.player(parked)
	b.class(CloseIdle, p.do(b.call))
	if b.server.Accepted != nil && !s.Shared {
		waitFor(b, "a new connection after the close", func() bool { return b.server.Accepted() >= 2 })
	}
	sample := p.do(b.call)
	b.class(CloseIdle, sample)
	if !s.Shared && sample.Flags&backends.Redialled == 0 {
		t.Errorf("the reconnect is not flagged")
	}
	b.class(CloseIdle, p.do(b.call))
}
