package main

import (
	"fmt"
	"slices"
	"time"
)

// The bars, on a machine that has nothing else to do.
const (
	lateP99    = 150                   // µs
	firstAfter = 50 * time.Millisecond // start of the process to the first request at the server
	mostMemory = 100 << 20             // bytes
)

// open measures constant rates by the kernel's stamps at the server.
func (b *bench) open() error {
	b.out.head("HTTP open loop, constant", "lateness p50 µs", "p99 µs", "bar", "p99.9 µs",
		"CPU µs a request", "rate /s", "others' cores")
	for _, rate := range []int{1000, 5000, 20000} {
		c, err := b.sluice("http://"+b.server.HTTP,
			fmt.Sprintf("{rate: %d/s, max_in_flight: 64}", rate), b.paced.String())
		if err != nil {
			return err
		}
		l, err := b.server.lateness(rate, rate*int(b.paced.Seconds()))
		if err != nil {
			return err
		}
		if want := rate * int(b.paced.Seconds()); l.Count != want {
			return fmt.Errorf("%d requests came at %d/s, not %d", l.Count, rate, want)
		}
		b.out.row(fmt.Sprintf("%d/s", rate), l.P50, l.P99, atMost(l.P99, lateP99), l.P999,
			c.perRequest(), l.Rate, c.others)
	}
	return nil
}

// start measures from the start of the process to the arrival of its first inference request.
func (b *bench) start() error {
	const runs = 11
	b.out.head("start to first request", "median ms", "bar", "least ms", "most ms", "CPU ms of a run")
	for _, url := range []string{"http://" + b.server.HTTP, "grpc://" + b.server.GRPC} {
		var took []float64
		var all []cost
		for range runs {
			c, err := b.sluice(url, "{concurrency: 1}", "10 requests")
			if err != nil {
				return err
			}
			took = append(took, float64(c.First-c.started.UnixNano())/1e6)
			all = append(all, c)
		}
		slices.Sort(took)
		b.out.row(url[:4], took[runs/2], atMost(took[runs/2], firstAfter.Seconds()*1e3), took[0],
			took[runs-1],
			median(all, func(c cost) float64 { return c.cpu.Seconds() * 1e3 }))
	}
	return nil
}

// memory measures that a long run needs no more than a short one.
func (b *bench) memory() error {
	b.out.head("memory of a long closed loop, 64 in flight", "VmHWM MiB", "bar", "requests",
		"CPU µs a request")
	c, err := b.sluice("http://"+b.server.HTTP, "{concurrency: 64}", fmt.Sprintf("%d requests", b.many))
	if err != nil {
		return err
	}
	mib := float64(c.memory) / (1 << 20)
	b.out.row("HTTP", mib, atMost(mib, mostMemory/(1<<20)), float64(c.Count), c.perRequest())
	return nil
}
