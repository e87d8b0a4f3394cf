// Package observe reads counters beside the samples: this process's own health, and the server's
// statistics. Everything is a snapshot at a time of the run clock, and the difference between two
// of them. It judges nothing and starts no goroutines.
package observe

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// Client is a snapshot of this process. Unknown values are -1. A snapshot costs about 40 µs: take
// one at the edges of a phase, not per request.
type Client struct {
	At      int64 // run clock, ns
	CPU     int64 // CPU time so far, ns
	PeakRSS int64 // peak resident bytes so far
	// Starved is the time in which some runnable task of this machine or container waited for a
	// CPU, in ns (pressure stall information).
	Starved int64
	// Stolen is the time that the hypervisor gave to others while CPUs of this machine had work; Ticks
	// is the time of all its CPUs. Both in the kernel's ticks.
	Stolen, Ticks int64
}

// ReadClient takes a snapshot; at is the current run clock.
func ReadClient(at int64) Client { return readClient(at, "/proc") }

func readClient(at int64, proc string) Client {
	c := Client{At: at, CPU: cpuTime(), PeakRSS: -1, Starved: -1}
	c.Stolen, c.Ticks = cpuTicks(proc + "/stat")
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
	_, value, _ := strings.Cut(string(text), key)
	var n int64
	if _, err := fmt.Sscan(value, &n); err != nil {
		return -1
	}
	return n << 10
}

// cpuTicks reads the first line of /proc/stat, "cpu USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL GUEST …",
// of which USER and NICE contain the guests; -1, -1 if it cannot. The lines after it grow with the machine.
func cpuTicks(file string) (stolen, all int64) {
	f, err := os.Open(file)
	if err != nil {
		return -1, -1
	}
	defer f.Close()
	var name string
	var n [8]int64
	_, err = fmt.Fscan(bufio.NewReaderSize(f, 256), &name, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6],
		&n[7])
	if err != nil || name != "cpu" {
		return -1, -1
	}
	for _, ticks := range n {
		all += ticks
	}
	return n[7], all
}

// pressureTotal reads "some avg10=… total=45068762", in µs, as ns; -1 if it cannot.
func pressureTotal(text []byte) int64 {
	line, _, _ := strings.Cut(string(text), "\n")
	_, total, _ := strings.Cut(line, "total=")
	var n int64
	if _, err := fmt.Sscan(total, &n); err != nil || !strings.HasPrefix(line, "some ") {
		return -1
	}
	return n * int64(time.Microsecond)
}

// Use is the consumption of this process between two snapshots. Unknown values are -1.
type Use struct {
	Wall    int64   // in ns
	CPU     int64   // CPU time used, ns
	Share   float64 // CPU time over the available CPU time
	Memory  int64   // peak resident bytes so far
	Starved int64   // in ns
	Stolen  float64 // share of the time of the machine's CPUs; 0 if unknown
}

// Between returns the consumption from a to b of a process that may use cpus CPUs.
func Between(a, b Client, cpus float64) Use {
	u := Use{
		Wall: b.At - a.At, CPU: increase(a.CPU, b.CPU), Share: -1,
		Memory: b.PeakRSS, Starved: increase(a.Starved, b.Starved),
	}
	if u.Wall > 0 && cpus > 0 && u.CPU >= 0 {
		u.Share = float64(u.CPU) / (float64(u.Wall) * cpus)
	}
	if ticks := increase(a.Ticks, b.Ticks); ticks > 0 {
		u.Stolen = float64(max(increase(a.Stolen, b.Stolen), 0)) / float64(ticks)
	}
	return u
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
