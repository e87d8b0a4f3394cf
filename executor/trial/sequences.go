package trial

import (
	"math"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario"
)

// sequenceSource is the source of a node whose requests form sequences. The caller closes it once
// it has been played: then its ids can be taken again.
func sequenceSource(in *Input, p *program.Load, calls [][]*backends.Call) *feed.Sequences {
	slots, _ := sequenceSlots(p)
	o := feed.SequenceOptions{
		Length: in.Node.Sequences.Drawn(), IDs: in.Requests.Entries[0].IDs, Slots: slots, Seed: in.Seed[1],
		IDBase: in.IDBase, Budget: budget(p), Sessions: p.Sequences.Sessions,
		KeepText:  in.Requests.KeepReplies || in.Requests.textCounter() != nil,
		KeepCalls: in.Requests.KeepCalls,
	}
	for i, e := range in.Requests.Entries {
		d := e.Plan.Request.Data
		entry := feed.SequenceEntry{
			Calls: calls[i], Streams: e.Streams, Order: feed.Order(d.Order), Once: rowsOnce(in.Node, d),
			Varied: d.Generate != nil, Delays: e.Delays, Weight: e.Plan.Weight, Pool: e.Target,
		}
		if o.Sessions {
			setSession(in, p, e, &entry)
		}
		o.Entries = append(o.Entries, entry)
	}
	return feed.NewSequences(o)
}

// setSession fills in what the sessions of an entry have besides: each row of data without sessions is one.
func setSession(in *Input, p *program.Load, e *Entry, entry *feed.SequenceEntry) {
	entry.Varied, entry.Continue = false, e.Continue
	if entry.Streams == nil {
		for i := range entry.Calls {
			entry.Streams = append(entry.Streams, []int{i})
		}
	}
	entry.Streams = entry.Streams[min(p.Skipped, len(entry.Streams)):]
	s, ok := in.Node.Stage.Load.(scenario.Schedule)
	if !ok || s.File != nil {
		return
	}
	faster := func(v int64) int64 { return int64(math.Round(float64(v) / s.Speed)) }
	if entry.Delays != nil {
		entry.Delays = slices.Clone(entry.Delays)
		for i, v := range entry.Delays {
			entry.Delays[i] = faster(v)
		}
	}
	if e.Times == nil || e.Plan.Request.Data.Timing == "closed" {
		return
	}
	entry.Next = make([]int64, len(e.Times))
	for _, turns := range entry.Streams {
		for i, at := range turns[1:] {
			if e.Times[at] < 0 {
				continue
			}
			if entry.Delays != nil {
				entry.Delays[turns[i]] = 0
			}
			entry.Next[turns[i]] = max(faster(e.Times[at]-int64(s.From)), 1)
		}
	}
}

// sequenceSlots returns the number of slots with one request in flight each, or of sequences with up
// to atOnce.
func sequenceSlots(p *program.Load) (n, atOnce int) {
	atOnce = 1
	if p.Sequences != nil {
		atOnce = max(p.Sequences.PipelineDepth, 1)
	}
	return p.Slots / atOnce, atOnce
}

// budget returns the number of requests that the sequences of a trial have together, so that each
// sequence ends within the counted requests; 0: unknown, or an arrival would find no sequence to go
// on with, and open sequences are closed at the end.
func budget(p *program.Load) int64 {
	q := p.Sequences
	if q == nil || p.Open || q.LimitCountsSequences || q.WarmCountsSequences || p.Limit == 0 || p.Warm > 0 {
		return 0
	}
	return p.WarmCount + p.Limit
}
