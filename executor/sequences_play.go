package executor

import (
	"fmt"
	"sync"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// sequenced fills in what sequences mean for the course of a trial.
func (t *trial) sequenced(c *course) {
	q := t.node.Sequences
	if q == nil {
		return
	}
	c.sequences = &drive.Sequences{ArrivalBegins: q.Begin}
	s := t.node.Stage
	count := func(span scenario.Span) int64 {
		if span.Passes > 0 {
			return q.Passes(span.Passes, s.Entries(), t.seed()[1])
		}
		return span.Sequences
	}
	if n := count(s.Warmup); n > 0 {
		c.sequences.WarmCountsSequences, c.warmCount = true, n
	}
	if e, ok := s.Extent.(scenario.For); ok {
		if n := count(e.Span); n > 0 {
			c.sequences.LimitCountsSequences, c.limit = true, n
		}
	}
	if t.node.Open && !q.Begin {
		c.sequences.PipelineDepth = t.node.AtOnce(c.slots)
		c.slots = q.Live * c.sequences.PipelineDepth
	}
}

// stream is the source of a node whose requests form sequences. Its ids are given back when it has been played.
func (t *trial) stream() *feed.Sequences {
	q := t.node.Sequences
	homes, _ := t.course.homes()
	o := feed.SequenceOptions{
		Length: q.Drawn(), IDs: t.r.ids.of(q), Slots: homes, Seed: t.seed()[1], IDBase: t.idBase(), Budget: t.budget(),
	}
	for i, e := range t.in.entries {
		d := e.plan.Request.Data
		o.Entries = append(o.Entries, feed.SequenceEntry{
			Calls: t.calls[i], Streams: e.streams, Order: feed.Order(d.Order), Once: t.once(d), Varied: d.Generate != nil,
			Delays: e.delays, Weight: e.plan.Weight, Pool: e.pool,
		})
	}
	t.live = feed.NewSequences(o)
	return t.live
}

// budget is how many requests the sequences of a trial have together, so that each of them ends among those that are counted;
// 0: that is not known, or an arrival would find no sequence to go on with, and what is open at the end is closed beside them.
func (t *trial) budget() int64 {
	c := t.course
	if q := c.sequences; q == nil || t.node.Open || q.LimitCountsSequences || q.WarmCountsSequences || c.limit == 0 || c.warm > 0 {
		return 0
	}
	return c.warmCount + c.limit
}

// ranges are the ids of a run's sequences: stages that name the same range take of the same.
type ranges struct {
	mu  sync.Mutex // members of a group ask at the same time
	all map[[2]uint64]*feed.IDs
}

// of is the ids of a stage's range.
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

// notesOnSequences says what became of sequences that could not go on.
func (t *trial) notesOnSequences() {
	if n := t.played.LeftOpen; n > 0 {
		t.note(result.LeftOpen, "%s left open: the request that ends one was not answered. The server keeps them until it forgets them by itself",
			were("sequence", n))
	}
	if n := t.read.total.Aggregate.StepsDropped; n > 0 {
		t.note(result.StepsDropped, "%s never sent, because one before them in their sequence failed", were("request", n))
	}
}

// sequence is what makes the requests of an entry those of a sequence; nil: they stand alone.
func (e *entry) sequence(n *program.Node) *backends.Sequence {
	if n.Sequences == nil {
		return nil
	}
	return &backends.Sequence{Text: n.Sequences.Text || e.sig.Sequence == backends.TextSequences}
}

// keepsState compares what a model says of itself with what the stage sends: a model that keeps state takes no request that
// belongs to no sequence.
func (r *runner) keepsState(n *program.Node, e *entry) source.Diagnostics {
	what := source.Diagnostic{Severity: source.Error, Code: program.CodeSequences, Pos: n.Stage.IDPos}
	switch {
	case n.Sequences == nil && e.sig.Sequence > backends.NoSequences:
		what.Summary = fmt.Sprintf("stage %q sends requests that stand alone, and model %q keeps state between those of a sequence", n.Stage.ID, e.sig.Model)
		what.Detail = "add `sequences: {}`: sequences of 20 requests, or as long as the data's own"
	case n.Sequences != nil && e.sig.Sequence == backends.NoSequences:
		what.Severity, what.Pos = source.Warning, n.Sequences.Pos
		what.Summary = fmt.Sprintf("model %q says that it keeps no state between requests: the sequences of stage %q mean nothing to it", e.sig.Model, n.Stage.ID)
	default:
		return nil
	}
	return source.Diagnostics{what}
}

// sequenceSpan is the time in which the schedule wanted what was planned, ns: that of the arrivals that were played. Where
// they are steps and `for` counts sequences, nobody knows when the last one was due, and it is hold.
func (t *trial) sequenceSpan(hold int64) int64 {
	c, q := t.course, t.course.sequences
	switch {
	case q.ArrivalBegins && q.LimitCountsSequences && (q.WarmCountsSequences || c.warmCount == 0):
		return planSpan(c.arrivals(), c.warm, c.warmCount, t.played.Arrivals)
	case !q.ArrivalBegins && !q.LimitCountsSequences && !q.WarmCountsSequences:
		return planSpan(c.arrivals(), c.warm, c.warmCount, t.played.Planned)
	}
	return hold
}
