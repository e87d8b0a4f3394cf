package trial

import (
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
)

// budget returns how many requests the sequences of a trial have together, so that each of them
// ends among those that are counted; 0: unknown, or an arrival would find no sequence to go on
// with, and what is open at the end is closed beside them. open: the load is an open loop.
func (p *loadPlan) budget(open bool) int64 {
	q := p.sequences
	if q == nil || open || q.LimitCountsSequences || q.WarmCountsSequences || p.limit == 0 || p.warm > 0 {
		return 0
	}
	return p.warmCount + p.limit
}

// sequenceSlots returns how many slots there may be that have one request in flight each, or of
// sequences that have up to atOnce.
func (p *loadPlan) sequenceSlots() (n, atOnce int) {
	atOnce = 1
	if p.sequences != nil {
		atOnce = max(p.sequences.PipelineDepth, 1)
	}
	return p.slots / atOnce, atOnce
}

// sequenceSource is the source of a node whose requests form sequences. The caller closes it once
// it has been played: then its ids can be taken again.
func sequenceSource(in *Input, p *loadPlan, calls [][]*backends.Call) *feed.Sequences {
	slots, _ := p.sequenceSlots()
	o := feed.SequenceOptions{
		Length: in.Node.Sequences.Drawn(), IDs: in.Requests.Entries[0].IDs, Slots: slots, Seed: in.Seed[1],
		IDBase: in.IDBase, Budget: p.budget(in.Node.Open),
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
