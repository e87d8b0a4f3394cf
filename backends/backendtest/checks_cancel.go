package backendtest

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest/cases"
)

// waitFor polls until is returns true; what describes the condition.
func waitFor(b *bench, what string, is func() bool) {
	b.t.Helper()
	end := time.Now().Add(b.s.Patience)
	for !is() {
		if time.Now().After(end) {
			b.t.Fatalf("no %s within %v", what, b.s.Patience)
		}
		runtime.Gosched()
	}
}

func checkCauses(t testing.TB, s Suite) {
	if !s.has(Never) {
		return
	}
	for _, m := range []mode{serial, parked} {
		b := newBench(t, &s, Never)
		p := b.player(m)
		for why, want := range map[backends.Cause]struct {
			class backends.ErrorClass
			flag  backends.Flags
		}{
			backends.CauseTimeout: {backends.TimedOut, backends.Timeout},
			backends.CauseDrain:   {backends.Stopped, backends.Incomplete},
			backends.CauseStop:    {backends.Stopped, backends.Incomplete},
			backends.CauseClosed:  {backends.Closed, 0},
		} {
			sample := p.send(b.call)
			p.cancel(p.gen, why)
			p.cancel(p.gen, backends.CauseTimeout) // the first one counts
			p.wait(sample)
			flags := sample.Flags & (backends.Timeout | backends.Incomplete)
			if sample.Class != want.class || flags != want.flag {
				t.Errorf("cause %d: class %v, flags %b; want %v, %b", why, sample.Class, flags, want.class,
					want.flag)
			}
		}
	}
}

// checkOtherGeneration: a cancel that comes too late, or for no request, changes nothing.
func checkOtherGeneration(t testing.TB, s Suite) {
	b := newBench(t, &s, None)
	p := b.player(parked)
	for range 20 {
		p.cancel(p.gen+1, backends.CauseTimeout) // not sent yet
		sample := p.send(b.call)
		p.cancel(p.gen-1, backends.CauseTimeout)
		p.cancel(p.gen+1, backends.CauseStop)
		p.wait(sample)
		p.cancel(p.gen, backends.CauseTimeout) // done
		b.class(None, sample)
		if sample.Flags&backends.Redialled != 0 {
			t.Errorf("a cancel of another generation cost the connection")
		}
	}
}

// checkCancelRaces cancels at every moment of a request, from a goroutine that knows only the
// generation.
func checkCancelRaces(t testing.TB, s Suite) {
	for _, m := range []mode{serial, parked} {
		b := newBench(t, &s, None)
		p := b.player(m)
		p.do(b.call) // it may wait for a connection
		start := p.clock.Now()
		p.do(b.call)
		took := min(max(2, p.clock.Now()-start), int64(2*time.Millisecond))
		random := rand.New(rand.NewPCG(1, 2))
		for range cases.Count(100, 300) {
			var wg sync.WaitGroup
			gen, until := p.gen+1, p.clock.Now()+random.Int64N(2*took)
			wg.Go(func() {
				for p.clock.Now() < until {
					runtime.Gosched()
				}
				p.cancel(gen, backends.CauseTimeout)
			})
			sample := p.send(b.call)
			p.wait(sample)
			wg.Wait()
			if sample.Class != backends.OK && sample.Class != backends.TimedOut {
				t.Fatalf("class %v, note %q of a request that was answered or cancelled", sample.Class,
					sample.Note)
			}
			if (sample.Class == backends.TimedOut) != (sample.Flags&backends.Timeout != 0) {
				t.Fatalf("class %v with flags %b", sample.Class, sample.Flags)
			}
		}
		b.class(None, p.do(b.call))
	}
}

// checkCancelDown cancels while the lane has no connection: the law applies there too.
func checkCancelDown(t testing.TB, s Suite) {
	if !s.has(Refused) {
		return
	}
	b := newBench(t, &s, Refused)
	p := b.player(parked)
	p.do(b.call)
	b.server.Down()
	for range 50 {
		sample := p.send(b.call)
		p.cancel(p.gen, backends.CauseTimeout)
		p.wait(sample)
		if sample.Class == backends.OK {
			t.Errorf("a request was answered by nobody")
		}
	}
}

func checkCloseParked(t testing.TB, s Suite) {
	b := newBench(t, &s, None)
	fresh := b.player(parked)
	fresh.close() // without a request
	used := b.player(parked)
	b.class(None, used.do(b.call))
	used.close()
	if err := used.lane.Close(); err != nil {
		t.Errorf("close twice: %v", err)
	}
}

func checkCloseInFlight(t testing.TB, s Suite) {
	if !s.has(Never) {
		return
	}
	for _, m := range []mode{serial, parked} {
		b := newBench(t, &s, Never)
		p := b.player(m)
		sample := p.send(b.call)
		if err := p.lane.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		p.wait(sample)
		if sample.Class != backends.Stopped || sample.Flags&backends.Incomplete == 0 {
			t.Errorf("class %v, flags %b of a request in flight at Close", sample.Class, sample.Flags)
		}
		p.close()
	}
}

// checkSendAfterClose: the law has no exception.
func checkSendAfterClose(t testing.TB, s Suite) {
	b := newBench(t, &s, None)
	p := b.player(serial)
	b.class(None, p.do(b.call))
	if err := p.lane.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if sample := p.do(b.call); sample.Class != backends.Stopped {
		t.Errorf("class %v of a request on a closed lane", sample.Class)
	}
	p.close()
}

// checkSendAfterEnd: Recv has reported the end of the lane. Later requests, in any slot and any
// number, are answered all the same, and the end is reported again.
func checkSendAfterEnd(t testing.TB, s Suite) {
	for _, used := range []bool{false, true} {
		b := newBench(t, &s, None)
		p := b.player(serial)
		if used {
			b.class(None, p.do(b.call))
		}
		p.close()
		for range 2 * s.depth() {
			if sample := p.do(b.call); sample.Class != backends.Stopped {
				t.Errorf("class %v of a request on a lane that has ended", sample.Class)
			}
		}
		if slot, done := p.lane.Recv(); slot != backends.None || done {
			t.Errorf("slot %d, done %v in the place of the end", slot, done)
		}
	}
}

// checkGrown opens lanes while others are in use.
func checkGrown(t testing.TB, s Suite) {
	b := newBench(t, &s, None)
	var players []*player
	for range 3 {
		lanes, err := b.lanes(2)
		if err != nil {
			t.Fatalf("open lanes: %v", err)
		}
		for _, l := range lanes {
			players = append(players, newPlayer(b, l, parked))
		}
		var samples []*backends.Sample
		for _, p := range players {
			samples = append(samples, p.send(b.call))
		}
		for i, p := range players {
			p.wait(samples[i])
			b.class(None, samples[i])
		}
	}
}

// checkUnreachable: lanes to an absent server return an error at once, and leave nothing open.
func checkUnreachable(t testing.TB, s Suite) {
	if !s.has(Refused) || s.Target.Connections == backends.PerRequest {
		return
	}
	b := newBench(t, &s, Refused)
	b.server.Down()
	ctx, cancel := context.WithTimeout(context.Background(), s.Patience)
	defer cancel()
	start := time.Now()
	lanes, _, err := b.conn.Lanes(ctx, 3, backends.LaneOptions{Depth: 1})
	if err == nil {
		t.Errorf("%d lanes to a server that is not there", len(lanes))
		for _, l := range lanes {
			_ = l.Close()
		}
	}
	if took := time.Since(start); took > s.Patience*3/4 {
		t.Errorf("it took %v to find that nobody listens", took)
	}
}
