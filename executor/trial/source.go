package trial

import (
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario"
)

// newSource returns what a trial sends: the data of the stage, or of the kinds of its mix, in turn
// or drawn, with the pauses of a closed loop. open are the sequences that the requests form, to be
// closed at the end; nil: they form none.
func newSource(in *Input, p *program.Load, calls [][]*backends.Call) (src feed.Source, open *feed.Sequences) {
	if p.Sequences != nil {
		open = sequenceSource(in, p, calls)
		return pausing(in, cancelling(in, open)), open
	}
	var kinds []feed.MixEntry
	for i, e := range in.Requests.Entries {
		d := e.Plan.Request.Data
		once := rowsOnce(in.Node, d)
		kind := feed.NewCalls(calls[i][p.Skipped:], feed.Order(d.Order), once, in.Seed[1], in.IDBase)
		kinds = append(kinds,
			feed.MixEntry{Calls: kind.Pausing(e.Delays), Weight: e.Plan.Weight, Pool: e.Target})
	}
	src = kinds[0].Calls
	if in.Node.Stage.Mix != nil {
		src = feed.NewMix(kinds, in.Seed[1])
	}
	return pausing(in, cancelling(in, src)), nil
}

// cancelling closes the share of the requests that the plan wants.
func cancelling(in *Input, src feed.Source) feed.Source {
	if !cancels(in) {
		return src
	}
	shares := make([]feed.CancelShare, len(in.Requests.Entries))
	for i, e := range in.Requests.Entries {
		if c := e.Plan.Request.Cancel; c != nil {
			shares[i] = feed.CancelShare{Ratio: c.Ratio, After: int64(c.After)}
		}
	}
	return feed.Cancel(src, shares, in.Seed[1])
}

// cancels reports whether this client is to close some of the requests.
func cancels(in *Input) bool {
	return slices.ContainsFunc(in.Requests.Entries, func(e *Entry) bool { return e.Plan.Request.Cancel != nil })
}

// pausing adds the pauses after replies of a closed loop: those that rows ask for, else those of
// the load.
func pausing(in *Input, src feed.Source) feed.Source {
	if think := pauses(in); think != nil {
		return feed.Think(src, *think, in.Seed[1])
	}
	return src
}

// pauses returns the pauses after replies where rows ask for none; nil: the load has none.
func pauses(in *Input) *scenario.Dist {
	c, closed := in.Node.Stage.Load.(scenario.Concurrency)
	if closed && c.Think == nil &&
		slices.ContainsFunc(in.Requests.Entries, func(e *Entry) bool { return e.Delays != nil }) {
		return &scenario.Dist{Shape: "constant"}
	}
	return c.Think
}

// waits reports whether requests are due at times of their own, and not when a reply has come: those of an open
// loop, of users, and after pauses.
func waits(in *Input, p *program.Load) bool { return p.Open || p.Every > 0 || pauses(in) != nil }

// ranOut reports whether all datasets of a trial are sent once, and have been.
func ranOut(in *Input, skipped int, sent int64) bool {
	rows := int64(0)
	for _, e := range in.Requests.Entries {
		if !rowsOnce(in.Node, e.Plan.Request.Data) {
			return false
		}
		rows += int64(e.Choices() - skipped)
	}
	return sent >= rows
}

// rowsOnce reports whether the rows of a dataset are sent once: as it says itself, or because each
// has its own time.
func rowsOnce(n *program.Node, d *scenario.Dataset) bool {
	s, ok := n.Stage.Load.(scenario.Schedule)
	return d.AtEnd == "stop" || ok && s.File == nil
}
