package observe

// Gaps finds out that the whole process stood still: stopped, swapped out, or its machine suspended. It is told the time
// by something that runs at a steady pace, and remembers the longest stretch between two tellings. The zero Gaps is ready.
type GapMeter struct {
	last, Longest int64 // ns
}

// Tick tells the time, run clock.
func (g *GapMeter) Tick(now int64) {
	if g.last != 0 {
		g.Longest = max(g.Longest, now-g.last)
	}
	g.last = now
}
