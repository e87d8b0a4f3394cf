package measure

import (
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/delay"
)

// Config configures a folder. Times are ns on the run clock.
type Config struct {
	Rings *Rings
	// HoldStart returns the due time from which requests count; 0 while unknown (drive's
	// Control.HoldStart.Load).
	HoldStart func() int64
	// HoldEnd returns the end of the hold window; 0 or math.MaxInt64 while open (`for: N requests`,
	// `until: stable`). It may become known later (Control.StopAt.Load), but not before the time of
	// samples that were already folded.
	HoldEnd  func() int64
	InFlight func() int64 // number of requests in flight, for slices and progress
	Slice    int64        // length of a slice, ns; 0: 1 s. It doubles whenever a node has more than 3,600
	Length   int64        // of hold, ns, as far as it is known before; 0: it is not
	Windows  Windows
	Breakdown
	// Settled returns a time such that all samples due before it have been handed over (drive's
	// Control.OldestDue.Load); 0: unknown. Windows that end before it are packed.
	Settled func() int64
	Closed  bool // the load is a closed loop, see Aggregate.Closed
	Waits   bool // requests have due times of their own, so that a send can be late; always in an open loop
	// SlotsAt returns how many slots of a closed loop are open at a time; nil: the loop is open.
	SlotsAt func(t int64) int
	Limited bool // the plan says how many requests are sent: a client on time would have sent no more
	Tokens  bool // replies may be generated text
	// Prompt returns the tokens of a request, which count where its answer has no usage; 0: unknown. nil: all are.
	Prompt func(entry uint16, row uint32) int
	// Count returns the tokens of the text that a sample keeps (Sample.Text); false: unknown. It may be called by
	// several goroutines at once, until Finish returns. nil: no text is counted.
	Count func(s *backends.Sample) (tokens int, ok bool)
	// CountAtOnce: decisions during hold need the tokens, so they are counted as answers come, and not when the
	// player has ended. Beside: others are measured meanwhile, so that one CPU has to do.
	CountAtOnce, Beside bool
	// Counted takes the number of tokens of an answer without usage; nil: it is not wanted.
	Counted func(id uint64, tokens int64)
	// Timeout is the shortest timeout of a request, ns; 0: none.
	Timeout int64
	// Client knows when this client was late or stood still, and Log is the player's in it; both nil:
	// it is taken to be on time.
	Client *delay.Client
	Log    *delay.Log
	Sink   Sink // may be nil
}
