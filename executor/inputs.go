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
	"github.com/sluice-bench/sluice/executor/trial"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// inputs holds what a stage sends, and the error of preparing it.
type inputs struct {
	trial.Requests
	targets []*target // of Requests.Targets
	// waiting is the node whose requests are made when its stage's turn comes; nil: they have been.
	waiting *program.Node
	probes  int // requests that were sent ahead of the clock
	err     error
}

// held counts the bytes of the encoded requests.
func (in *inputs) held() (n int) {
	if in == nil {
		return 0 // its turn to be prepared never came
	}
	for _, e := range in.Entries {
		for _, c := range e.Calls {
			n += c.Size
		}
		if e.Shared != nil {
			for i := range e.Shared.Requests {
				n += bytesOf(&e.Shared.Requests[i])
			}
		}
	}
	return n
}

// setup holds what a run prepares before it measures, and undoes: open targets and encoded requests.
type setup struct {
	program *program.Program
	env     Env
	clock   backends.Clock
	stops   *stops
	tell    func(Event)
	clean   cleanup
	targets map[*scenario.Target]*target
	inputs  map[*scenario.Stage]*inputs
	room    int64 // bytes that encoded requests may still take
	ids     ranges
	asking  sync.Mutex      // members of a group ask their models at the same time
	asked   map[model]error // those that were asked for a real answer
}

func newSetup(p *program.Program, e Env, clock backends.Clock) *setup {
	return &setup{
		program: p, env: e, clock: clock, targets: make(map[*scenario.Target]*target),
		inputs: make(map[*scenario.Stage]*inputs), room: maxCalls, asked: make(map[model]error),
	}
}

// prepare opens the targets of all stages and encodes all their requests. What does not fit the
// model is a mistake of the plan; what cannot be reached fails its stages only.
func (su *setup) prepare(ctx context.Context) source.Diagnostics {
	var diags source.Diagnostics
	for _, n := range su.program.Nodes {
		if su.inputs[n.Stage] != nil || su.stops.now() != "" {
			continue
		}
		in := &inputs{}
		su.inputs[n.Stage] = in
		if su.program.Postponed(n.Stage) {
			in.waiting = n
			su.openAll(ctx, n, in)
			continue
		}
		diags = append(diags, su.gather(ctx, n, in)...)
	}
	if !diags.HasErrors() {
		su.probes()
	}
	return diags
}

// openAll opens the targets of a node's stage.
func (su *setup) openAll(ctx context.Context, n *program.Node, in *inputs) {
	for i, plan := range n.Stage.Entries() {
		if t := su.open(ctx, plan.Request.Target, n.Kind(i)); in.err == nil {
			in.err = t.err
		}
	}
}

// gatherNow makes the inputs of a stage whose turn has come, where that could not be done before. A
// mistake of the plan that shows only now fails the stage.
func (su *setup) gatherNow(s *scenario.Stage, in *inputs) {
	if in.err != nil || in.waiting == nil {
		return
	}
	su.asking.Lock()
	defer su.asking.Unlock()
	n := in.waiting
	in.waiting = nil
	for _, d := range su.gather(su.stops.waiting, n, in) {
		if d.Severity == source.Error && in.err == nil {
			in.err = fmt.Errorf("%s: %s", d.Pos, d.Summary)
		}
	}
}

// gather makes the inputs of a node's stage.
func (su *setup) gather(ctx context.Context, n *program.Node, in *inputs) (diags source.Diagnostics) {
	for i, plan := range n.Stage.Entries() {
		t := su.open(ctx, plan.Request.Target, n.Kind(i))
		if in.err = t.err; in.err != nil {
			return diags
		}
		e := &trial.Entry{Plan: plan, Target: in.targetOf(t), Number: uint16(i)}
		if e.Signature, in.err = su.describe(su.stops.waiting, t, plan.Request.Model); in.err != nil {
			in.err = trial.About(t.Plan, in.err)
			return diags
		}
		if err := decoupled(t, e.Signature); err != nil {
			in.err = trial.About(t.Plan, err)
			return diags
		}
		in.Entries = append(in.Entries, e)
		diags = append(diags, binaryTensors(t, e.Signature)...)
		if n.Sequences != nil {
			e.IDs = su.ids.of(n.Sequences)
		}
		diags = append(diags, keepsState(n, e)...)
		diags = append(diags, encode(e, t.Conn, n, su.program.Plan.Seed, &su.room, su.env.Record != nil)...)
	}
	in.err = su.statistics(su.stops.waiting, in)
	return diags
}

// targetOf returns the index of a target.
func (in *inputs) targetOf(t *target) int {
	if i := slices.Index(in.targets, t); i >= 0 {
		return i
	}
	in.targets, in.Targets = append(in.targets, t), append(in.Targets, &t.Target)
	return len(in.targets) - 1
}

// statistics decides whether the servers' own counters of the stage's models are read, and of those
// that they call. Those of one kind add up.
func (su *setup) statistics(ctx context.Context, in *inputs) error {
	var seen []model
	var readers []trial.Counters
	var all []trial.Called
	for _, e := range in.Entries {
		t := in.targets[e.Target]
		m := model{target: t, name: e.Plan.Request.Model}
		if slices.Contains(seen, m) {
			continue
		}
		seen = append(seen, m)
		read, note, err := reader(ctx, e, t)
		if err != nil {
			return trial.About(t.Plan, err)
		}
		if read == nil {
			in.Note = note
			return nil
		}
		readers = append(readers, read)
		list, note, err := su.callTree(ctx, e, t)
		if err != nil {
			return trial.About(t.Plan, err)
		}
		all, in.Note = append(all, list...), cmp.Or(in.Note, note)
	}
	first := in.targets[0].Kind
	if slices.ContainsFunc(in.targets, func(t *target) bool { return t.Kind.Name != first.Name }) {
		in.Note = "the kinds of request go to backends that count differently"
		return nil
	}
	in.Series, in.Counters, in.Called = first.Series, added(readers), all
	return nil
}

// reader asks whether the counters of an entry's model can be read, once. Without: note says why,
// where that is worth saying.
func reader(ctx context.Context, e *trial.Entry, t *target) (read trial.Counters, note string, err error) {
	o, ok := t.Conn.(backends.Observer)
	if !ok || t.Plan.Statistics == "none" {
		return nil, "", nil
	}
	err = errors.New("the server's extensions do not include statistics")
	read = func(ctx context.Context, into []int64) (int64, error) {
		return o.Stats(ctx, e.Plan.Request.Model, "", into)
	}
	if e.Signature.Statistics {
		ctx, cancel := context.WithTimeout(ctx, t.Plan.Timeout)
		defer cancel()
		_, err = read(ctx, make([]int64, len(t.Kind.Series)))
	}
	switch {
	case err == nil:
		return read, "", nil
	case t.Plan.Statistics == "require":
		return nil, "", fmt.Errorf("statistics are required: %w", err)
	}
	return nil, err.Error(), nil
}

// added reads several models as one: the sums, at the time of the last.
func added(readers []trial.Counters) trial.Counters {
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
