// Package observe reads counters beside the samples: this process's own health, and the server's
// statistics. Everything is a snapshot at a time of the run clock, and the difference between two
// of them. It judges nothing and starts no goroutines.
package observe
