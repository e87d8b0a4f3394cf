// Package shm is memory of the system that this process shares with a server on the same machine.
//
// It is not: a register of regions (servers keep their own), memory of a GPU, a lock between readers and writers.
//
// A region has a name only as long as the server needs it to find the memory. Once both have it mapped the name can go
// (Unlink), so that nothing is left behind however this process ends. All of its pages are there from the beginning: a
// server that writes into a region cannot be killed for want of memory.
package shm

import "fmt"

// Region is one piece of shared memory, mapped here.
type Region struct {
	key    string
	bytes  []byte
	linked bool
}

// Key is what a server opens the region by: a name that begins with a slash.
func (r *Region) Key() string { return r.key }

// Bytes are those of the region; not to be touched after Close.
func (r *Region) Bytes() []byte { return r.bytes }

// NoMemoryError is the error of a system that does not have the memory.
type NoMemoryError struct {
	Want, Free int64 // bytes
	Where      string
}

func (e *NoMemoryError) Error() string {
	return fmt.Sprintf("shared memory: %s wanted, %s has %s free", sizeText(e.Want), e.Where, sizeText(e.Free))
}

// sizeText is a number of bytes as plans write it, never more than there are.
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
