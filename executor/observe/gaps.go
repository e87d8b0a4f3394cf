package observe

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
