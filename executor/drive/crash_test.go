package drive

import (
	"fmt"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/load"
)

// brittle is a lane that breaks when it receives the reply to a request.
type brittle struct{ backends.Lane }

func (b brittle) Recv() (int, bool) {
	if slot, done := b.Lane.Recv(); slot == backends.None {
		return slot, done
	}
	panic("a reply too much")
}

// TestPanic: a panic on a lane, in the data or while lanes are opened ends the player, which passes
// it on; all other lanes are closed and no goroutine is left (goleak).
func TestPanic(t *testing.T) {
	for name, c := range map[string]struct {
		inline int
		lane   bool // the first lane breaks when it receives
		send   bool // the fifth request breaks when it is sent
		source bool
	}{
		"a reply":                         {inline: 1 << 20, lane: true},
		"a reply where sends block":       {lane: true},
		"a request":                       {inline: 1 << 20, send: true},
		"a request where sends block":     {send: true},
		"a large request":                 {inline: 1, send: true},
		"data":                            {inline: 1 << 20, source: true},
		"data where the lane would block": {source: true},
	} {
		for _, loop := range []string{"open", "closed", "closed, together"} {
			t.Run(fmt.Sprint(name, ", ", loop), func(t *testing.T) {
				w := newWorld(t, 4)
				w.held = loop == "closed, together"
				pools := w.closed()
				pools[0].Limits.Inline = c.inline
				if lanes := pools[0].Lanes; c.lane {
					lanes[0] = brittle{lanes[0]}
				}
				if c.send {
					w.onSend = func(s *backends.Sample) {
						if s.N == 5 {
							panic("a request too much")
						}
					}
				}
				src := &fakeFeed{size: func(uint64) int { return 100 }}
				if c.source {
					src.each = func(n uint64) {
						if n == 5 {
							panic("no fifth row")
						}
					}
				}
				func() {
					defer func() {
						if v := recover(); v == nil {
							t.Error("nothing was passed on")
						}
					}()
					if loop == "open" {
						Open(t.Context(), load.Constant(5000), src, pools, w.out, &w.c,
							OpenOptions{Options: w.options(), MaxInFlight: 4})
						return
					}
					Closed(t.Context(), load.Level(4), src, pools, w.out, &w.c, w.options())
				}()
				for i, l := range w.lanes {
					if !l.isClosed() {
						t.Errorf("lane %d is open at the end", i)
					}
				}
			})
		}
	}
}
