// Package observe reads what others count beside the samples: this process's own health, and the server's statistics.
// Everything is a snapshot at a moment of the run's clock and the growth between two of them.
//
// It is not: a part of latency, a judge of what it reads, a poller with goroutines of its own.
package observe
