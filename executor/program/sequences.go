package program

import (
	"math"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Sequencing says how the requests of a node form sequences, as far as that is known without a server.
type Sequencing struct {
	scenario.Sequences
	Begin bool // each arrival begins a sequence: `of: sequences`, or a session
	// Sessions: they are conversations with a language model, which the server keeps no state of.
	Sessions bool
	// of each entry, the number of requests of each sequence of its data; nil in it: they are independent
	streams [][]int
}

// formSequences finds the nodes whose requests form sequences: those that say so, and those whose
// data is made of them. It refuses what does not fit them, reads draft.data and adds
// Node.Sequences.
func formSequences(d *draft) {
	for _, n := range d.Nodes {
		q := &Sequencing{Sequences: n.Stage.Sequencing(), Sessions: formsSessions(d, n)}
		formed := n.Stage.Sequences != nil && (!n.Users() || q.Length != nil) || q.Sessions
		for i, e := range n.Stage.Entries() {
			streams := d.data[e.Request.Data].streams
			q.streams = append(q.streams, streams)
			k := n.entries[i]
			// else they are conversations
			formed = formed || streams != nil && k != nil && k.abilities.Has(backends.Sequences)
		}
		switch l := n.Stage.Load.(type) {
		case scenario.Rate:
			q.Begin = l.Of == "sequences" || l.Of == "sessions"
		case scenario.Schedule:
			q.Begin = q.Sessions && l.File == nil
		}
		if formed {
			n.Sequences = q
			n.sort += " sequences"
		}
		checkSequences(d, n, q)
		checkStrict(d, n)
	}
}

// checkSequences refuses what wants sequences where there are none, and what sequences cannot have.
func checkSequences(d *draft, n *Node, q *Sequencing) {
	s := n.Stage
	if n.Sequences == nil {
		wantsSequences(d, n, q)
		return
	}
	if q.Sessions {
		checkSessions(d, n, q)
	}
	for _, k := range n.entries {
		if k != nil && !q.Sessions && !k.abilities.Has(backends.Sequences) {
			d.fail(q.Pos, "sequences", "stage %q sends sequences, and backend %s has none here", s.ID,
				k.kind.Name)
		}
	}
	for _, e := range s.Entries() {
		if e.Request.Batch > 1 {
			d.fail(e.Request.BatchPos, "sequences",
				"batch is %d, but the requests form sequences, whose steps are sent one by "+
					"one", e.Request.Batch)
		}
	}
	if u, _ := s.Extent.(scenario.UntilStable); u.Window.Sequences+u.Window.Sessions > 0 {
		d.fail(s.ExtentPos, "sequences", "a window cannot be a number of sequences or sessions").
			Detail = "write a duration, or a number of requests"
	}
	if l, ok := s.Load.(scenario.Schedule); ok && l.File == nil && !q.Sessions {
		d.fail(s.LoadPos, "sequences",
			"the times of the data's rows say when each is due, and sequences when each can be").
			Detail = "give the times in a file of their own: schedule: {file: times.txt, unit: ms}"
	}
}

// wantsSequences refuses what only sequences have.
func wantsSequences(d *draft, n *Node, q *Sequencing) {
	s := n.Stage
	stable, _ := s.Extent.(scenario.UntilStable)
	for _, c := range []struct {
		wanted bool
		pos    source.Pos
		what   string
	}{
		{q.Begin, s.LoadPos, "the rate of stage %q counts sequences"},
		{s.Warmup.Sequences > 0, s.WarmupPos, "the warm-up of stage %q lasts for sequences"},
		{s.Warmup.Sessions > 0, s.WarmupPos, "the warm-up of stage %q lasts for sessions"},
		{n.Span().Sequences+stable.Window.Sequences > 0, s.ExtentPos, "stage %q lasts for sequences"},
		{n.Span().Sessions+stable.Window.Sessions > 0, s.ExtentPos, "stage %q lasts for sessions"},
	} {
		if !c.wanted {
			continue
		}
		x := d.fail(c.pos, "sequences", c.what+", and its requests form none", s.ID)
		if x.Detail = "add `sequences: {}`, or data whose rows are in lists"; sendsText(d, n) {
			x.Detail = "give data whose rows have a session_id: those with the same one are the turns of a session; " +
				"or prompts with `turns`"
		}
	}
}

// checkIDs refuses ranges of ids that have fewer than the sequences that are open at a time, and
// different ranges with ids in common in stages that run side by side. It reads sequences and
// loads.
func checkIDs(d *draft) {
	for _, n := range d.Nodes {
		q := n.Sequences
		if q == nil || q.Sessions {
			continue
		}
		size, most := q.To-q.From+1, openSequences(d.Program, n)
		if q.To >= q.From && float64(size) < most && !math.IsInf(most, 1) {
			d.fail(q.IDsPos, "sequences",
				"%d ids are fewer than the %.0f sequences that can be open at a time", size, most).
				Detail = "two would have one id: widen the range"
		}
		for _, o := range d.Nodes {
			if o == n {
				break
			}
			p := o.Sequences
			if p == nil || p.Sessions || n.Stage.Group == nil || n.Stage.Group != o.Stage.Group ||
				p.From == q.From && p.To == q.To || p.To < q.From || q.To < p.From {
				continue
			}
			d.fail(q.IDsPos, "sequences",
				"ids %d to %d have some in common with those of stage %q, which runs at the same time",
				q.From, q.To, o.Stage.ID).
				Detail = "give both the same range, which they then share, or ranges apart"
		}
	}
}

// openSequences counts the sequences that can be open at a time and take their ids from the range of
// n: its own, and those of the stages of its group. +Inf: an earlier result decides.
func openSequences(p *Program, n *Node) (sum float64) {
	most := map[string]float64{n.Stage.ID: openAtOnce(n)}
	for _, o := range p.Nodes {
		q := o.Sequences
		if q == nil || n.Stage.Group == nil || o.Stage.Group != n.Stage.Group || o.Stage.ID == n.Stage.ID {
			continue
		}
		if q.From == n.Sequences.From && q.To == n.Sequences.To {
			most[o.Stage.ID] = max(most[o.Stage.ID], openAtOnce(o))
		}
	}
	for _, open := range most {
		sum += open
	}
	return sum
}

// openAtOnce counts the sequences of a node that can be open at a time; +Inf: an earlier result decides.
func openAtOnce(n *Node) float64 {
	if n.Open && !n.Sequences.Begin {
		return float64(n.Sequences.Live)
	}
	return inFlight(n)
}

// arrivalsOf counts the arrivals of the load for a number of sequences: of a load in which each begins
// one, as many.
func arrivalsOf(n *Node, sequences float64) float64 {
	if n.Sequences.Begin {
		return sequences
	}
	mean, _ := n.Sequences.expected()
	return sequences * mean
}

// planSequences fills in how many sequences are planned, and where arrivals begin them how many
// requests.
func planSequences(n *Node, p *Planned) {
	count := 0.0
	if n.Load.Sequences.LimitCountsSequences {
		count = float64(n.Load.Limit)
	}
	mean, sd := n.Sequences.expected()
	switch {
	case p.Requests < 0:
		p.Sequences = -1
	case n.Sequences.Begin:
		p.Sequences = p.Requests
		p.Requests *= mean
		p.SD = math.Hypot(p.SD*mean, sd*math.Sqrt(p.Sequences))
		p.Outside = max(p.Outside*mean, -1)
	case count > 0:
		p.Sequences, p.SD = count, sd*math.Sqrt(count)
	default:
		p.Sequences = p.Requests / mean
	}
}

// expected returns the mean number of requests of a sequence, and its standard deviation.
func (q *Sequencing) expected() (mean, sd float64) {
	if q.Length != nil {
		return feed.Expected(*q.Length)
	}
	n, sum, squares := 0.0, 0.0, 0.0
	for _, lengths := range q.streams {
		switch {
		case lengths == nil && q.Sessions:
			lengths = []int{1}
		case lengths == nil:
			lengths = []int{scenario.SequenceLength()}
		}
		for _, l := range lengths {
			n, sum, squares = n+1, sum+float64(l), squares+float64(l)*float64(l)
		}
	}
	mean = sum / n
	return mean, math.Sqrt(max(squares/n-mean*mean, 0))
}

// Drawn returns the distribution of a sequence's number of requests; nil: its data has the number.
func (q *Sequencing) Drawn() *scenario.Dist {
	if q.Length == nil && !q.Sessions && !slices.ContainsFunc(q.streams, func(s []int) bool { return s != nil }) {
		return &scenario.Dist{Shape: "constant", Mean: float64(scenario.SequenceLength())}
	}
	return q.Length
}

// passesOf counts the sequences that play every stream of each entry passes times.
func passesOf(q *Sequencing, passes int64, entries []scenario.Entry, seed uint64) int64 {
	var shares []feed.Share
	for i, e := range entries {
		shares = append(shares, feed.Share{Rows: max(len(q.streams[i]), 1), Weight: e.Weight})
	}
	return feed.Passes(passes, shares, seed)
}

// depthOf returns how many requests of a sequence of an open loop may be in flight, so that those
// of all are most: one where their order could be lost on the way, or the plan says so.
func depthOf(n *Node, most int) int {
	for _, e := range n.Stage.Entries() {
		if n.Sequences.Serial || !CarriesSeveral(e.Request.Target) {
			return 1
		}
	}
	return max(most/n.Sequences.Live, 1)
}

// CarriesSeveral reports whether one lane to a target can carry several requests, in their order.
func CarriesSeveral(t *scenario.Target) bool {
	return t.Streaming && t.GRPC() && !t.Connections.PerRequest
}
