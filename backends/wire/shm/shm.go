// Package shm allocates system memory that this process shares with a server on the same machine.
//
// It is not: a registry of regions (servers keep their own), GPU memory, a lock between readers and
// writers.
//
// A region has a name only until the server has found the memory. Once both processes have it
// mapped the name can be removed (Unlink), so that nothing is left behind however this process
// ends. All of its pages are allocated at the start: a server that writes into a region cannot be
// killed for lack of memory.
package shm

import "fmt"

// Region is one piece of shared memory, mapped in this process.
type Region struct {
	key    string
	bytes  []byte
	linked bool
}

// Key returns the name by which a server opens the region; it begins with a slash.
func (r *Region) Key() string { return r.key }

// Bytes returns the content of the region; it must not be used after Close.
func (r *Region) Bytes() []byte { return r.bytes }

// NoMemoryError reports that the system does not have enough memory.
type NoMemoryError struct {
	Want, Free int64 // bytes
	Where      string
}

func (e *NoMemoryError) Error() string {
	return fmt.Sprintf("shared memory: %s wanted, %s has %s free",
		sizeText(e.Want), e.Where, sizeText(e.Free))
}

// sizeText formats a number of bytes with a unit of plans, rounded down.
func sizeText(n int64) string {
	const units = "KMGT"
	at := -1
	whole := n
	for whole >= 10<<10 && at+1 < len(units) {
		whole, at = whole>>10, at+1
	}
	if at < 0 {
		return fmt.Sprintf("%dB", n)
	}
	return fmt.Sprintf("%d%ciB", whole, units[at])
}
