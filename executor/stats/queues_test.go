package stats

import (
	"container/heap"
	"math"
	"math/rand/v2"
)

// request is one of a simulated run: due and latency in units of the mean service time.
type request struct {
	due, latency float64
	failed       bool
}

// queue draws runs of one system at one load: requests in the order of their times, after the system
// has forgotten how it began.
type queue struct {
	name string
	draw func(r *rand.Rand, n int, load float64) []request
}

// queues returns systems that differ in what makes requests wait for each other.
func queues() []queue {
	exponential := func(r *rand.Rand) float64 { return r.ExpFloat64() }
	return []queue{
		{"M/M/1", open(1, exponential)},
		{"M/G/1 lognormal", open(1, lognormal)},
		{"M/G/1 Pareto", open(1, pareto)},
		{"M/M/4", open(4, exponential)},
		{"closed loop of 16", closed(16)},
		{"M/M/1 with stalls", stalled},
		{"independent", independent},
	}
}

// lognormal has mean 1 and a squared coefficient of variation of 4.
func lognormal(r *rand.Rand) float64 {
	s2 := math.Log(5)
	return math.Exp(r.NormFloat64()*math.Sqrt(s2) - s2/2)
}

// pareto has mean 1 and exponent 3.5: its fourth moment is infinite.
func pareto(r *rand.Rand) float64 {
	const a = 3.5
	return (a - 1) / a * math.Pow(1-r.Float64(), -1/a)
}

// warm returns the number of requests after which a queue has forgotten that it began empty.
func warm(load float64) int {
	return 500 + int(20/math.Pow(1-math.Sqrt(load), 2)) // 20 relaxation times
}

// busy decides about errors: one in 1,000, and one in 5 of those that wait longer than 8 services.
func busy(r *rand.Rand, wait float64) bool {
	u := r.Float64()
	return u < 0.001 || wait > 8 && u < 0.2
}

// open is a queue with Poisson arrivals and n servers.
func open(servers int, service func(*rand.Rand) float64) func(*rand.Rand, int, float64) []request {
	return func(r *rand.Rand, n int, load float64) []request {
		skip, now, free := warm(load), 0.0, make(times, servers)
		list := make([]request, 0, n)
		for i := range n + skip {
			now += r.ExpFloat64() / load
			start := max(now, free[0])
			free[0] = start + service(r)*float64(servers)
			done := free[0]
			if servers > 1 {
				heap.Fix(&free, 0)
			}
			if i >= skip {
				list = append(list, request{now, done - now, busy(r, start-now)})
			}
		}
		return list
	}
}

// closed is a loop of clients that think for an exponential time, such that one server is used at about
// the load.
func closed(clients int) func(*rand.Rand, int, float64) []request {
	return func(r *rand.Rand, n int, load float64) []request {
		think := float64(clients)/load - 1/(1-load*float64(clients)/float64(clients+1))
		think = max(think, 1)
		due := make(times, clients)
		for i := range due {
			due[i] = r.ExpFloat64() * think
		}
		heap.Init(&due)
		skip, free := 2000, 0.0
		list := make([]request, 0, n)
		for i := range n + skip {
			now := due[0]
			start := max(now, free)
			free = start + r.ExpFloat64()
			due[0] = free + r.ExpFloat64()*think
			heap.Fix(&due, 0)
			if i >= skip {
				list = append(list, request{now, free - now, busy(r, start-now)})
			}
		}
		return list
	}
}

// stalled is M/M/1 whose server pauses for 20 services, 500 apart.
func stalled(r *rand.Rand, n int, load float64) []request {
	skip, now, free, pause := warm(load), 0.0, 0.0, 500*r.ExpFloat64()
	list := make([]request, 0, n)
	for i := range n + skip {
		now += r.ExpFloat64() / load
		start := max(now, free)
		for pause < start {
			free = max(pause, free) + 20
			start = max(start, free)
			pause += 20 + 500*r.ExpFloat64()
		}
		free = start + 0.9*r.ExpFloat64()
		if i >= skip {
			list = append(list, request{now, free - now, busy(r, start-now)})
		}
	}
	return list
}

// independent is a constant rate far from capacity: latencies that do not depend on each other.
func independent(r *rand.Rand, n int, load float64) []request {
	list := make([]request, n)
	for i := range list {
		list[i] = request{float64(i) / load, 0.5 + lognormal(r), r.Float64() < 0.01}
	}
	return list
}

type times []float64

func (h times) Len() int           { return len(h) }
func (h times) Less(i, j int) bool { return h[i] < h[j] }
func (h times) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *times) Push(any)          {}
func (h *times) Pop() any          { return nil }
