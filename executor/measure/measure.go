// Package measure turns samples into numbers. One goroutine per node drains all lanes' rings every
// 5 to 20 ms, so nothing here is locked or merged during the run; other goroutines may read only
// Progress. It reads no clock, judges nothing, writes no files and talks to no server.
//
//	rings := measure.NewRings(lanes, 0, 0)            // handed to drive as its Handoff
//	f := measure.New(measure.Config{Rings: rings, …}) // one goroutine
//	f.Drain(clock.Now())                              // repeatedly, until the player is done
//	total := f.Finish(clock.Now())
//
// Samples are attributed by the times they carry, never by the time of the drain:
//
//	counts, distributions  requests due in the hold window [From, To) without warm-up
//	flow (throughput …)    completions (LastByte) in the hold window, whenever they were due
//	slices                 sent by due time, all else by completion
//	stability windows      Completed by completion (to decide), Due like the hold window (to report)
package measure

import "github.com/sluice-bench/sluice/backends"

// Sink receives every sample, including warm-up and parts of unfinished requests, before its buffer
// is reused. Write must be quick (buffer, then write from another goroutine) and must not keep s.
// After its first error it is not called again; Folder.SinkErr returns the error.
type Sink interface {
	Write(s *backends.Sample) error
}
