package backendtest

import (
	"slices"
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

// breakingFaults are the faults by which a connection ends with all its requests in flight.
var breakingFaults = []Fault{ResetBefore, ResetBody, ShortBody, Refused}

// checkAllSlots has all slots of a lane in flight when a fault happens: each is answered once, with
// the class of the fault or, if the connection breaks, of a broken connection.
func checkAllSlots(t testing.TB, s Suite, f Fault, m mode) {
	if !s.has(f) || s.depth() == 1 {
		return
	}
	b := newBench(t, &s, f)
	p := b.player(m)
	if f == Refused {
		b.class(None, p.do(b.call))
		b.server.Down()
	}
	for range 4 {
		samples := make([]*backends.Sample, s.depth())
		gens := make([]uint32, s.depth())
		for range samples {
			sample := p.begin(b.call)
			slot := p.slot(p.gen)
			samples[slot], gens[slot] = sample, p.gen
		}
		if f == Never {
			for _, gen := range gens {
				p.cancel(gen, backends.CauseTimeout)
			}
		}
		for range samples {
			r, ok := p.recv()
			if !ok {
				t.Fatalf("the law of Lane: a request was not answered within %v", p.patience)
			}
			if !r.done || r.slot < 0 || r.slot >= len(samples) || samples[r.slot] == nil {
				t.Fatalf("the law of Lane: Recv gave slot %d, done %v, which is not in flight", r.slot,
					r.done)
			}
			sample := samples[r.slot]
			samples[r.slot] = nil
			p.checkSample(sample, gens[r.slot])
			if sample.Class != backends.ResetByPeer || !slices.Contains(breakingFaults, f) {
				b.class(f, sample)
			}
		}
	}
}
