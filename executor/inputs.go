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
	// waiting is the node whose requests are made when its stage begins; nil: they are made.
	waiting *program.Node
	probes  int // requests that were sent ahead of the clock
	err     error
}

// held counts the bytes of the encoded requests.
func (in *inputs) held() (n int) {
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
	telling sync.Mutex // one event at a time
	clean   cleanup
	targets map[*scenario.Target]*target
	inputs  map[*scenario.Stage]*inputs
	room    int64 // bytes that encoded requests may still take
	// ids of sequences by their range: stages that name the same range take of the same
	ids    map[[2]uint64]*feed.IDs
	asking sync.Mutex      // members of a group ask their models at the same time
	asked  map[model]error // those that were asked for a real answer
	// models that are loaded with configurations of the plan; guarded by asking
	configured []*configured
	loading    sync.Map // a *sync.Mutex for each name of these
}

// tell passes an event on.
func (su *setup) tell(e Event) {
	if su.env.Events != nil {
		su.telling.Lock()
		defer su.telling.Unlock()
		su.env.Events(e)
	}
}

// prepare opens the targets of all stages and encodes all their requests. What does not fit the
// model is a mistake of the plan; what cannot be reached fails its stages only.
func (su *setup) prepare(ctx context.Context) source.Diagnostics {
	diags := su.execute()
	if diags.HasErrors() {
		return diags
	}
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

// gatherNow makes the inputs of a stage that begins, where that could not be done before. A
// mistake of the plan that shows only now fails the stage.
func (su *setup) gatherNow(in *inputs) {
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
	in.KeepReplies, in.KeepCalls = su.env.Replies, su.env.Record != nil
	for i, plan := range n.Stage.Entries() {
		t := su.open(ctx, plan.Request.Target, n.Kind(i))
		if in.err = t.err; in.err != nil {
			return diags
		}
		at := slices.Index(in.Targets, &t.Target)
		if at < 0 {
			at, in.Targets = len(in.Targets), append(in.Targets, &t.Target)
		}
		e := &trial.Entry{Plan: plan, Target: at, Number: uint16(i)}
		if e.Signature, in.err = describe(su.stops.waiting, t, plan.Request.Model); in.err != nil {
			in.err = trial.About(t.Plan, in.err)
			return diags
		}
		can := program.Abilities(t.Kind, t.Plan)
		e.Signature.Bodies = can.WholeBodies()
		if k := su.program.Tokenizer(t.Plan); k != nil {
			e.Signature.Count = k.Count
			e.CountText = textCounter(t.Conn, e.Signature, k.Count)
		}
		if err := decoupled(t, e.Signature); err != nil {
			in.err = trial.About(t.Plan, err)
			return diags
		}
		in.Entries = append(in.Entries, e)
		diags = append(diags, binaryTensors(t, e.Signature)...)
		if q := n.Sequences; q != nil && !q.Sessions {
			key := [2]uint64{q.From, q.To}
			if su.ids[key] == nil {
				su.ids[key] = feed.NewIDs(q.From, q.To, 0, 0)
			}
			e.IDs = su.ids[key]
		}
		diags = append(diags, keepsState(n, e)...)
		learn := func(requests []backends.Request) { in.err = su.learnLengths(t, e, requests, &in.probes) }
		diags = append(diags,
			encode(e, t.Conn, n, su.program.Plan.Seed, &su.room, su.env.Record != nil, learn)...)
		if in.err != nil {
			in.err = trial.About(t.Plan, in.err)
			return diags
		}
		for _, c := range e.Calls {
			c.KeepAnswer = c.KeepAnswer || e.CountText != nil
		}
	}
	in.err = su.statistics(in)
	return diags
}

// textCounter returns what counts the tokens of the answer that a sample keeps; nil: no answer has text.
func textCounter(
	conn backends.Conn, sig backends.Signature, count func(text string) int,
) func(*backends.Sample) (int, bool) {
	read, ok := conn.(backends.Texter)
	if !ok || sig.Text && sig.Batched { // embeddings and ranks
		return nil
	}
	return func(reply *backends.Sample) (tokens int, ok bool) {
		texts, ok := read.Texts(reply)
		for _, text := range texts {
			tokens += count(text)
		}
		return tokens, ok
	}
}

// statistics decides whether the servers' own counters of the stage's models are read, and of those
// that they call. Those of one kind add up.
func (su *setup) statistics(in *inputs) error {
	var seen []model
	var readers []trial.Counters
	var all []trial.Called
	for _, e := range in.Entries {
		t := su.targets[e.Plan.Request.Target]
		m := model{target: t, name: e.Plan.Request.Model}
		if slices.Contains(seen, m) {
			continue
		}
		seen = append(seen, m)
		read, note, err := ownCounters(su.stops.waiting, e, t)
		if err != nil {
			return trial.About(t.Plan, err)
		}
		if read == nil {
			in.Note = note
			return nil
		}
		readers = append(readers, read)
		list, note, err := callTree(su.stops.waiting, e, t)
		if err != nil {
			return trial.About(t.Plan, err)
		}
		all, in.Note = append(all, list...), cmp.Or(in.Note, note)
	}
	first := in.Targets[0].Kind
	if slices.ContainsFunc(in.Targets, func(t *trial.Target) bool { return t.Kind.Name != first.Name }) {
		in.Note = "the kinds of request go to backends that count differently"
		return nil
	}
	in.Series, in.Counters, in.Called = first.Series, added(readers), all
	return nil
}

// ownCounters returns the counters of an entry's model. Without: note says why, where that is worth
// saying.
func ownCounters(
	ctx context.Context, e *trial.Entry, t *target,
) (read trial.Counters, note string, err error) {
	if _, ok := t.Conn.(backends.Observer); !ok || t.Plan.Statistics == "none" {
		return nil, "", nil
	}
	err = errors.New("the server's extensions do not include statistics")
	if e.Signature.Statistics {
		read, err = counters(ctx, t, e.Plan.Request.Model, "")
	}
	switch {
	case err == nil:
		return read, "", nil
	case t.Plan.Statistics == "require":
		return nil, "", fmt.Errorf("statistics are required: %w", err)
	}
	return nil, err.Error(), nil
}

// counters returns the counters of a model of a target whose statistics are read, once it has read them.
func counters(ctx context.Context, t *target, model, version string) (trial.Counters, error) {
	read := func(ctx context.Context, into []int64) (int64, error) {
		return t.Conn.(backends.Observer).Stats(ctx, model, version, into)
	}
	ctx, cancel := context.WithTimeout(ctx, t.Plan.Timeout)
	defer cancel()
	_, err := read(ctx, make([]int64, len(t.Kind.Series)))
	return read, err
}

// added reads several models as one: the sums, at the time of the last.
func added(readers []trial.Counters) trial.Counters {
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
