package builtin

import (
	"slices"
	"sync"
	"time"
)

// maxArrivals is the number of arrival times that are kept, the latest ones: 16 MiB.
const maxArrivals = 2 << 20

// arrivals holds the times at which inference requests had been read, by the server's clock.
type arrivals struct {
	clock clock

	mu    sync.Mutex
	ring  []int64 // of the server's clock; at its capacity the oldest is overwritten
	n     uint64  // number of arrivals since the start
	first int64   // of the server's clock
}

// newArrivals reserves the whole ring at once: the kernel provides its pages on first use, and
// growing it under load would pause the server.
func newArrivals(c clock, limit int) *arrivals {
	return &arrivals{clock: c, ring: make([]int64, 0, limit)}
}

// stamp records an arrival now and returns its time and that of the first one.
func (a *arrivals) stamp() (now, first int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now = a.clock.now()
	if a.n == 0 {
		a.first = now
	}
	if len(a.ring) < cap(a.ring) {
		a.ring = append(a.ring, now)
	} else {
		a.ring[a.n%uint64(cap(a.ring))] = now
	}
	a.n++
	return now, a.first
}

// arrivalsPage is a part of the arrivals as the control listener serves it.
type arrivalsPage struct {
	// Number of the first one here; later than requested if older ones are lost
	From     uint64  `json:"from"`
	Next     uint64  `json:"next"`      // from of the next page
	Lost     uint64  `json:"lost"`      // requested but overwritten
	OriginNS int64   `json:"origin_ns"` // wall time of the first arrival, ns since the epoch; 0: none yet
	Arrivals []int64 `json:"arrivals"`  // ns since the first arrival
}

// page returns the arrivals from number from on.
func (a *arrivals) page(from uint64) arrivalsPage {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := arrivalsPage{From: min(from, a.n), Next: a.n, Arrivals: []int64{}}
	if oldest := a.n - uint64(len(a.ring)); p.From < oldest {
		p.Lost, p.From = oldest-p.From, oldest
	}
	p.Arrivals = slices.Grow(p.Arrivals, int(a.n-p.From))
	if a.n > 0 {
		p.OriginNS = a.clock.origin.Add(time.Duration(a.first)).UnixNano()
	}
	for i := p.From; i < a.n; i++ {
		p.Arrivals = append(p.Arrivals, a.ring[i%uint64(cap(a.ring))]-a.first)
	}
	return p
}

// start returns the time of the first arrival, by the server's clock.
func (a *arrivals) start() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.first
}

func (a *arrivals) count() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.n
}

func (a *arrivals) reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ring, a.n, a.first = a.ring[:0], 0, 0
}
