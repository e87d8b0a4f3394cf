package main

import (
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// capacity is the number of arrivals that are stored: 256 MiB of address space, of which only
// written pages use memory.
const capacity = 32 << 20

// arrivals is when each request came, ns since origin. Many threads add; readers come when the load
// is over.
type arrivals struct {
	origin time.Time
	n      atomic.Int64
	at     []int64

	// captured are the bytes of the first request since the last reset: other clients can send the
	// very same.
	captured atomic.Pointer[[]byte]
}

func newArrivals(most int) *arrivals { return &arrivals{origin: time.Now(), at: make([]int64, most)} }

// reset forgets all.
func (a *arrivals) reset() {
	a.n.Store(0)
	a.captured.Store(nil)
}

// add notes an arrival. Those over the capacity are counted only.
func (a *arrivals) add(at int64, request []byte) {
	if i := a.n.Add(1) - 1; i < int64(len(a.at)) {
		a.at[i] = at
	}
	if a.captured.Load() == nil {
		b := slices.Clone(request)
		a.captured.CompareAndSwap(nil, &b)
	}
}

// sorted is the arrivals in order of time: threads note them in nearly that order.
func (a *arrivals) sorted() []int64 {
	out := slices.Clone(a.at[:min(a.n.Load(), int64(len(a.at)))])
	slices.Sort(out)
	return out
}

// count holds the number of requests and the times of the wall clock between which they arrived.
type count struct {
	Count   int64   `json:"count"`
	First   int64   `json:"first"`   // ns since 1970
	Seconds float64 `json:"seconds"` // first to last
}

func (a *arrivals) count() count {
	c := count{Count: a.n.Load()}
	if at := a.sorted(); len(at) > 0 {
		c.First = a.origin.UnixNano() + at[0]
		c.Seconds = float64(at[len(at)-1]-at[0]) / 1e9
	}
	return c
}

// lateness is how far behind a constant rate the arrivals were, µs.
type lateness struct {
	Count int     `json:"count"`
	Rate  float64 `json:"rate"` // achieved
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p99.9"`
	Max   float64 `json:"max"`
}

// late judges the last n arrivals (what comes before are a client's own checks) against rate per
// second. The client's own start is not known: the schedule is laid so that 1 % of the arrivals are
// early. A client that is late by always the same time is thus not found out; one that falls
// behind, bunches or stalls is.
func (a *arrivals) late(rate float64, n int) lateness {
	at := a.sorted()
	at = at[max(0, len(at)-n):]
	if len(at) < 2 {
		return lateness{Count: len(at)}
	}
	behind := make([]float64, len(at))
	for k := range at {
		behind[k] = float64(at[k]-at[0])/1e3 - float64(k)*1e6/rate
	}
	slices.Sort(behind)
	zero := rank(behind, 0.01)
	return lateness{
		Count: len(at), Rate: float64(len(at)-1) / float64(at[len(at)-1]-at[0]) * 1e9,
		P50: rank(behind, 0.5) - zero, P99: rank(behind, 0.99) - zero, P999: rank(behind, 0.999) - zero,
		Max: behind[len(behind)-1] - zero,
	}
}

// rank is the nearest-rank quantile of sorted values.
func rank(sorted []float64, p float64) float64 {
	return sorted[max(0, int(math.Ceil(p*float64(len(sorted))))-1)]
}
