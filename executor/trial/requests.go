package trial

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/scenario"
)

// Requests holds what a trial sends, prepared, where it goes, and how the servers' own counters are
// read.
type Requests struct {
	Entries []*Entry  // kinds of request: those of the mix, or one
	Targets []*Target // where they go: each target once
	// Counters reads the counters of Series, those of several models added up; nil: there are none.
	// Note says why, if they were wanted.
	Counters Counters
	Series   []backends.Series
	Called   []Called
	Note     string
	// KeepReplies: samples are to keep the replies (backends.Target.KeepReplies).
	KeepReplies bool
	KeepCalls   bool // the calls of turns are wanted after they were sent
}

// Counters reads a server's counters.
type Counters func(ctx context.Context, into []int64) (at int64, err error)

// Called is a model that a stage's own model calls: as its configuration says, or as the plan does
// of what it calls from its own code.
type Called struct {
	Name     string
	Version  string // "": all together
	Only     string // the version that is served where all are read together, if it is one
	By       string // the model that calls it
	Counters Counters
}

// Target is one open server.
type Target struct {
	Plan    *scenario.Target
	Kind    *backends.Kind
	Conn    backends.Conn
	Metrics []*Endpoint   // those that the plan names
	Ended   func() string // how an embedded server ended by itself, "" while it runs; nil: it is another one
}

// Entry is one kind of request.
type Entry struct {
	Plan      scenario.Entry
	Target    int    // index of Requests.Targets
	Number    uint16 // in the stage's mix
	Signature backends.Signature
	Calls     []*backends.Call // none with shared memory: opening it makes them
	Shared    *Shared          // nil: tensors go over the network

	Rows    int                // of its data
	Delays  []int64            // that the rows ask for, as feed.Built has them
	Built   []backends.Request // what the calls were made of, where samples are kept
	Prompts []int              // tokens of requests, by the target's tokenizer, 0: unknown; nil: of all
	// CountText returns the tokens of the answer that a sample keeps, by the target's tokenizer; false: they are
	// unknown. nil: its server counts.
	CountText func(reply *backends.Sample) (tokens int, ok bool)
	Streams   [][]int   // the sequences that the data makes, as indexes of calls; nil: none
	IDs       *feed.IDs // of its sequences; nil: it has none
	Lengths   string    // why answers have not the exact lengths that requests ask for; "": they may
	Times     []int64   // of the turns of its sessions, as feed.Built has them
	// Continue makes the next turn of a session of the one before and its answer; nil: turns are sent as
	// they are.
	Continue func(prev, next *backends.Call, reply *backends.Sample) (*backends.Call, error)
}

// Shared holds what an entry's requests need that go through shared memory.
type Shared struct {
	backends.Shared
	Memory   *scenario.Memory
	Requests []backends.Request
}

// ReleaseLimit bounds giving back shared memory, and the least time that a server has to open it.
const ReleaseLimit = 10 * time.Second

// Choices counts the requests to choose from.
func (e *Entry) Choices() int {
	if e.Shared != nil {
		return len(e.Shared.Requests)
	}
	return len(e.Calls)
}

// OpenShared opens the memory of the entry's requests for a number of slots. The server has as long
// for it as for a request, and at least what it has to give it back.
func (e *Entry) OpenShared(
	ctx context.Context, t *Target, slots int,
) ([]*backends.Call, backends.Release, error) {
	ctx, cancel := context.WithTimeout(ctx, max(t.Plan.Timeout, ReleaseLimit))
	defer cancel()
	calls, release, err := e.Shared.Open(ctx, slots)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", e.Shared.Memory.Pos, err)
	}
	for _, c := range calls {
		c.Entry = e.Number
	}
	return calls, release, nil
}

// textCounter returns what counts the tokens of answers; nil: those of none are counted.
func (in *Requests) textCounter() func(*backends.Sample) (int, bool) {
	if !slices.ContainsFunc(in.Entries, func(e *Entry) bool { return e.CountText != nil }) {
		return nil
	}
	return func(s *backends.Sample) (int, bool) {
		if int(s.Entry) >= len(in.Entries) || in.Entries[s.Entry].CountText == nil {
			return 0, false
		}
		return in.Entries[s.Entry].CountText(s)
	}
}

// rows counts the rows of the data of each entry.
func (in *Requests) rows() (n []int) {
	for _, e := range in.Entries {
		n = append(n, e.Rows)
	}
	return n
}
