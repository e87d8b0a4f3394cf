// Package observe reads counters beside the samples: this process's own health, and the server's
// statistics. Everything is a snapshot at a time of the run clock, and the difference between two
// of them. It judges nothing and starts no goroutines.
package observe

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Client is a snapshot of this process. Unknown values are -1. A snapshot costs about 40 µs: take
// one at the edges of a phase, not per request.
type Client struct {
	At           int64 // run clock, ns
	User, System int64 // CPU time so far, ns
	PeakRSS      int64 // peak resident bytes so far
	// Starved is the time in which some runnable task of this machine or container waited for a
	// CPU, in ns (pressure stall information).
	Starved int64
}

// ReadClient takes a snapshot; at is the current run clock.
func ReadClient(at int64) Client { return readClient(at, "/proc") }

func readClient(at int64, proc string) Client {
	c := Client{At: at, PeakRSS: -1, Starved: -1}
	c.User, c.System = cpuTime()
	if text, err := os.ReadFile(proc + "/self/status"); err == nil {
		c.PeakRSS = kilobytes(text, "VmHWM:")
	}
	if text, err := os.ReadFile(proc + "/pressure/cpu"); err == nil {
		c.Starved = pressureTotal(text)
	}
	return c
}

// kilobytes reads a line "VmHWM: 123 kB" as bytes, -1 if there is none.
func kilobytes(text []byte, key string) int64 {
	for line := range bytes.Lines(text) {
		if f := strings.Fields(string(line)); len(f) > 1 && f[0] == key {
			if n, err := strconv.ParseInt(f[1], 10, 64); err == nil {
				return n << 10
			}
		}
	}
	return -1
}

// pressureTotal reads "some avg10=… total=45068762", in µs, as ns; -1 if it cannot.
func pressureTotal(text []byte) int64 {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	if !bytes.HasPrefix(line, []byte("some ")) {
		return -1
	}
	_, total, ok := bytes.Cut(line, []byte("total="))
	n, err := strconv.ParseInt(string(bytes.TrimSpace(total)), 10, 64)
	if !ok || err != nil {
		return -1
	}
	return n * int64(time.Microsecond)
}

// Use is the consumption of this process between two snapshots. Unknown values are -1.
type Use struct {
	Wall         int64   // in ns
	User, System int64   // in ns
	Share        float64 // CPU time over the available CPU time
	Memory       int64   // peak resident bytes so far
	Starved      int64   // in ns
}

// Between returns the consumption from a to b of a process that may use cpus CPUs.
func Between(a, b Client, cpus float64) Use {
	u := Use{
		Wall: b.At - a.At, User: increase(a.User, b.User), System: increase(a.System, b.System), Share: -1,
		Memory: b.PeakRSS, Starved: increase(a.Starved, b.Starved),
	}
	if u.Wall > 0 && cpus > 0 && u.User >= 0 && u.System >= 0 {
		u.Share = float64(u.User+u.System) / (float64(u.Wall) * cpus)
	}
	return u
}

// CPU returns the CPU time used in ns, -1 if unknown.
func (u Use) CPU() int64 {
	if u.User < 0 || u.System < 0 {
		return -1
	}
	return u.User + u.System
}

// increase returns b-a, -1 if either is unknown or the counter decreased.
func increase(a, b int64) int64 {
	if a < 0 || b < a {
		return -1
	}
	return b - a
}

// AvailableCPUs returns the number of CPUs this process may use at once: the least of its affinity,
// its container's quota and GOMAXPROCS.
func AvailableCPUs() float64 {
	// runtime.NumCPU is the affinity of this process at its start (sched_getaffinity).
	return availableCPUs(float64(min(runtime.NumCPU(), runtime.GOMAXPROCS(0))), "/proc", "/sys/fs/cgroup")
}

// GapMeter detects that the whole process stood still: stopped, swapped out, or its machine
// suspended. A periodic caller reports the time, and the meter keeps the longest gap between two
// reports. The zero GapMeter is ready to use.
type GapMeter struct {
	last, Longest int64 // in ns
}

// Tick reports the time on the run clock.
func (g *GapMeter) Tick(now int64) {
	if g.last != 0 {
		g.Longest = max(g.Longest, now-g.last)
	}
	g.last = now
}
