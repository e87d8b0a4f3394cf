package trial

import (
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/program"
)

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

// sequenceSlots returns the number of slots with one request in flight each, or of sequences with up
// to atOnce.
func sequenceSlots(p *program.Load) (n, atOnce int) {
	atOnce = 1
	if p.Sequences != nil {
		atOnce = max(p.Sequences.PipelineDepth, 1)
	}
	return p.Slots / atOnce, atOnce
}

// sequenceSource is the source of a node whose requests form sequences. The caller closes it once
// it has been played: then its ids can be taken again.
func sequenceSource(in *Input, p *program.Load, calls [][]*backends.Call) *feed.Sequences {
	slots, _ := sequenceSlots(p)
	o := feed.SequenceOptions{
		Length: in.Node.Sequences.Drawn(), IDs: in.Requests.Entries[0].IDs, Slots: slots, Seed: in.Seed[1],
		IDBase: in.IDBase, Budget: budget(p),
	}
	for i, e := range in.Requests.Entries {
		d := e.Plan.Request.Data
		o.Entries = append(o.Entries, feed.SequenceEntry{
			Calls: calls[i], Streams: e.Streams, Order: feed.Order(d.Order), Once: rowsOnce(in.Node, d),
			Varied: d.Generate != nil, Delays: e.Delays, Weight: e.Plan.Weight, Pool: e.Target,
		})
	}
	return feed.NewSequences(o)
}
