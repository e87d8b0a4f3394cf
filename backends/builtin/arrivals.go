package builtin

import (
	"sync"
	"time"
)

// maxArrivals is the number of arrival times that are kept, the latest ones: 16 MiB.
const maxArrivals = 2 << 20

// ring keeps the latest items, up to its limit.
type ring[T any] struct {
	mu    sync.Mutex
	limit uint64
	items []T
	n     uint64 // items so far
}

// add adds an item. The caller holds r.mu.
func (r *ring[T]) add(v T) {
	if r.n < r.limit {
		r.items = append(r.items, v)
	} else {
		r.items[r.n%r.limit] = v
	}
	r.n++
}

// from returns a copy of the kept items from number n on, and the number of the first. The caller
// holds r.mu.
func (r *ring[T]) from(n uint64) ([]T, uint64) {
	n = max(min(n, r.n), r.n-uint64(len(r.items)))
	list := make([]T, 0, r.n-n)
	for i := n; i < r.n; i++ {
		list = append(list, r.items[i%r.limit])
	}
	return list, n
}

func (r *ring[T]) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.items, r.n = r.items[:0], 0
}

// arrivals holds the times at which inference requests had been read, by the server's clock.
type arrivals struct {
	ring[int64]
	clock clock
	first int64 // time of the first arrival
}

// newArrivals reserves the whole ring at once: the kernel provides its pages on first use, and
// growing it under load would pause the server.
func newArrivals(c clock, limit uint64) *arrivals {
	return &arrivals{clock: c, ring: ring[int64]{limit: limit, items: make([]int64, 0, limit)}}
}

// stamp records an arrival now and returns its time and that of the first one.
func (a *arrivals) stamp() (now, first int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now = a.clock.now()
	if a.n == 0 {
		a.first = now
	}
	a.add(now)
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
	list, at := a.from(from)
	p := arrivalsPage{From: at, Next: a.n, Lost: at - min(from, a.n), Arrivals: list}
	if a.n > 0 {
		p.OriginNS = a.clock.origin.Add(time.Duration(a.first)).UnixNano()
	}
	for i := range list {
		list[i] -= a.first
	}
	return p
}

// start returns the time of the first arrival, by the server's clock.
func (a *arrivals) start() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.first
}
