package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// inputs is what a stage sends.
type inputs struct {
	entries  []*entry  // kinds of request: those of the mix, or one
	pools    []*target // where they go: each target once
	recorded []int64   // gaps or times of the load's file, or times of the data's rows, ns
	// series and stats are the server's own counters, those of several models added up; stats nil: there are none. note says
	// why, if they were wanted.
	series []backends.Series
	stats  counters
	called []called
	note   string
	// waiting is the node whose requests are made when its stage's turn comes; nil: they have been.
	waiting *program.Node
	probes  int // requests that were sent ahead of the clock
	err     error
}

// counters reads a server's counters.
type counters func(ctx context.Context, into []int64) (at int64, err error)

// entry is one kind of request of a stage.
type entry struct {
	plan   scenario.Entry
	pool   int // index of inputs.pools
	sig    backends.Signature
	number uint16           // in the stage's mix
	calls  []*backends.Call // none with shared memory: they come with it
	shared *sharer          // nil: tensors go over the network

	rows   int                // of its data
	delays []int64            // that the rows ask for, as feed.Built has them
	built  []backends.Request // what the calls were made of, where samples are kept
	// streams are the sequences that the data makes, as indexes of calls; nil: none.
	streams [][]int
	ids     *feed.IDs // of its sequences; nil: it has none
}

// choices is how many requests there are to choose from.
func (e *entry) choices() int {
	if e.shared != nil {
		return len(e.shared.requests)
	}
	return len(e.calls)
}

// held is the bytes of the encoded requests.
func (in *inputs) held() (n int) {
	if in == nil {
		return 0 // its turn to be prepared never came
	}
	for _, e := range in.entries {
		for _, c := range e.calls {
			n += c.Size
		}
		if e.shared != nil {
			for i := range e.shared.requests {
				n += bytesOf(&e.shared.requests[i])
			}
		}
	}
	return n
}

// requests is how many requests a span is; 0 for a duration.
func (in *inputs) requests(s scenario.Span, seed [2]uint64) int64 {
	if s.Passes == 0 {
		return s.Requests
	}
	var shares []feed.Share
	for _, e := range in.entries {
		shares = append(shares, feed.Share{Rows: e.rows, Batch: e.plan.Request.Batch, Weight: e.plan.Weight})
	}
	return feed.Passes(s.Passes, shares, seed[1])
}

// prepare opens the targets of all stages and encodes all their requests. What does not fit the model is a mistake of
// the plan; what cannot be reached fails its stages only.
func (r *runner) prepare(ctx context.Context) source.Diagnostics {
	var diags source.Diagnostics
	for _, n := range r.program.Nodes {
		if r.inputs[n.Stage] != nil || r.stops.now() != "" {
			continue
		}
		in := &inputs{}
		r.inputs[n.Stage] = in
		if r.program.Postponed(n.Stage) {
			in.waiting = n
			r.openAll(ctx, n, in)
			continue
		}
		diags = append(diags, r.gather(ctx, n, in)...)
	}
	if !diags.HasErrors() {
		r.probes()
	}
	return diags
}

// openAll opens the targets of a node's stage.
func (r *runner) openAll(ctx context.Context, n *program.Node, in *inputs) {
	for i, plan := range n.Stage.Entries() {
		if t := r.open(ctx, plan.Request.Target, n.Kinds[i]); in.err == nil {
			in.err = t.err
		}
	}
}

// gatherNow makes the inputs of a stage whose turn has come, where that could not be done before. A mistake of the plan
// that shows only now fails the stage.
func (r *runner) gatherNow(s *scenario.Stage, in *inputs) {
	if in.err != nil || in.waiting == nil {
		return
	}
	r.asking.Lock()
	defer r.asking.Unlock()
	n := in.waiting
	in.waiting = nil
	for _, d := range r.gather(r.stops.waiting, n, in) {
		if d.Severity == source.Error && in.err == nil {
			in.err = fmt.Errorf("%s: %s", d.Pos, d.Summary)
		}
	}
}

// gather makes the inputs of a node's stage.
func (r *runner) gather(ctx context.Context, n *program.Node, in *inputs) (diags source.Diagnostics) {
	for i, plan := range n.Stage.Entries() {
		t := r.open(ctx, plan.Request.Target, n.Kinds[i])
		if in.err = t.err; in.err != nil {
			return diags
		}
		e := &entry{plan: plan, pool: in.poolOf(t), number: uint16(i)}
		if e.sig, in.err = r.describe(r.stops.waiting, t, plan.Request.Model); in.err != nil {
			in.err = about(t.plan, in.err)
			return diags
		}
		if err := decoupled(t, e.sig); err != nil {
			in.err = about(t.plan, err)
			return diags
		}
		in.entries = append(in.entries, e)
		diags = append(diags, r.tensors(t, e.sig)...)
		if n.Sequences != nil {
			e.ids = r.ids.of(n.Sequences)
		}
		diags = append(diags, r.keepsState(n, e)...)
		diags = append(diags, e.encode(t.conn, n, r.program.Plan.Seed, &r.room, r.env.Record != nil)...)
	}
	in.err, in.recorded = r.statistics(r.stops.waiting, in), n.Recorded
	return diags
}

// poolOf is the index of a target's pool.
func (in *inputs) poolOf(t *target) int {
	if i := slices.Index(in.pools, t); i >= 0 {
		return i
	}
	in.pools = append(in.pools, t)
	return len(in.pools) - 1
}

// statistics decides whether the servers' own counters of the stage's models are read, and of those that they call. Those
// of one kind add up.
func (r *runner) statistics(ctx context.Context, in *inputs) error {
	var seen []model
	var readers []counters
	var all []called
	for _, e := range in.entries {
		t := in.pools[e.pool]
		m := model{target: t, name: e.plan.Request.Model}
		if slices.Contains(seen, m) {
			continue
		}
		seen = append(seen, m)
		read, note, err := e.reader(ctx, t)
		if err != nil {
			return about(t.plan, err)
		}
		if read == nil {
			in.note = note
			return nil
		}
		readers = append(readers, read)
		list, note, err := r.callTree(ctx, e, t)
		if err != nil {
			return about(t.plan, err)
		}
		all, in.note = append(all, list...), cmp.Or(in.note, note)
	}
	first := in.pools[0].kind
	if slices.ContainsFunc(in.pools, func(t *target) bool { return t.kind.Name != first.Name }) {
		in.note = "the kinds of request go to backends that count differently"
		return nil
	}
	in.series, in.stats, in.called = first.Series, added(readers), all
	return nil
}

// reader asks whether the counters of an entry's model can be read, once. Without: note says why, where that is worth
// saying.
func (e *entry) reader(ctx context.Context, t *target) (read counters, note string, err error) {
	o, ok := t.conn.(backends.Observer)
	if !ok || t.plan.Statistics == "none" {
		return nil, "", nil
	}
	err = errors.New("the server's extensions do not include statistics")
	read = func(ctx context.Context, into []int64) (int64, error) {
		return o.Stats(ctx, e.plan.Request.Model, "", into)
	}
	if e.sig.Statistics {
		ctx, cancel := context.WithTimeout(ctx, t.plan.Timeout)
		defer cancel()
		_, err = read(ctx, make([]int64, len(t.kind.Series)))
	}
	switch {
	case err == nil:
		return read, "", nil
	case t.plan.Statistics == "require":
		return nil, "", fmt.Errorf("statistics are required: %w", err)
	}
	return nil, err.Error(), nil
}

// added reads several models as one: the sums, at the time of the last.
func added(readers []counters) counters {
	if len(readers) == 1 {
		return readers[0]
	}
	return func(ctx context.Context, into []int64) (at int64, err error) {
		one := make([]int64, len(into))
		clear(into)
		for _, read := range readers {
			if at, err = read(ctx, one); err != nil {
				return at, err
			}
			for i, v := range one {
				into[i] += v
			}
		}
		return at, nil
	}
}

// ranges holds the ids of a run's sequences: stages that name the same range take of the same.
type ranges struct {
	mu  sync.Mutex // members of a group ask at the same time
	all map[[2]uint64]*feed.IDs
}

// of returns the ids of a stage's range.
func (r *ranges) of(q *program.Sequencing) *feed.IDs {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := [2]uint64{q.From, q.To}
	if r.all == nil {
		r.all = make(map[[2]uint64]*feed.IDs)
	}
	if r.all[key] == nil {
		r.all[key] = feed.NewIDs(q.From, q.To, 0, 0)
	}
	return r.all[key]
}
