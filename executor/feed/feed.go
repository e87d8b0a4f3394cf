// Package feed says what is sent next: it turns the plan's data and the model's signature into Calls before the clock
// starts, and hands them out while it runs.
//
// It is not: a clock, a transport, a parser of plans.
package feed

import "github.com/sluice-bench/sluice/backends"

// Source hands out the next request of a slot. No allocation, a few ns. A slot's calls come from one goroutine at a time.
type Source interface {
	// Next fills t for arrival n. False: nothing more.
	Next(slot int, n uint64, t *Turn) bool
}

// Turn is one request to send.
type Turn struct {
	Call   *backends.Call
	Fields backends.Fields
}
