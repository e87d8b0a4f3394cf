// Package measure turns samples into numbers. One goroutine per node drains all lanes' rings every 5 to 20 ms, so nothing
// here is locked, merged or swapped while the run goes on; the only thing that another goroutine may read is Live.
//
//	rings := measure.NewRings(lanes, 0, 0)            // handed to drive as its Handoff
//	f := measure.New(measure.Config{Rings: rings, …}) // one goroutine calls f.Drain(clock.Now()) until the player is done
//	total := f.Finish(clock.Now())
//
// Attribution, by the times that a sample carries and never by when it is drained:
//
//	counts, distributions   requests due in the hold window [From, To) that are not warm-up; their ends are awaited
//	flow (throughput …)     completions (LastByte) in the hold window, whatever they were due
//	slices                  sent by due, all else by completion
//	stability windows       Completed by completion (the decision), Due like the hold window (what is reported)
//
// It is not: a clock, a judge, a file format, a talker to servers.
package measure

import "github.com/sluice-bench/sluice/backends"

// Sink gets every sample, warm-up and the parts of those that go on included, before its buffer is given back. It must be quick (buffer, then write from
// its own goroutine) and must not keep s. After its first error it is called no more; Folder.SinkErr tells.
type Sink interface {
	Write(s *backends.Sample) error
}
