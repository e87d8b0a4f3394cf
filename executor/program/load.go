package program

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
)

// Amounts are the values of a node's load: as the plan writes them, or as earlier results gave them
// when the node starts.
type Amounts struct {
	Level  float64      // of a fixed load or a level
	Steps  []load.Step  // of a ramp
	Search *load.Search // nil: none
}

// Load says how the load of a node goes: what graph, validate, a run, a search and the check of
// planned samples read. Node.Load has the load of the first repeat, with the amounts that the plan
// writes; LoadWith fills in those that come from earlier results, what encoded data has, and the
// seed of a trial.
//
//	load         what is played                             without `for` and `until`, hold lasts
//	concurrency  n slots, or those of a ramp                as long as the ramp
//	rate         arrivals: constant, random, or of a ramp   as long as the ramp
//	intervals    arrivals: gaps of a file                   to the last gap, where they stop
//	schedule     arrivals: times of a file or of the data   to the last time
type Load struct {
	Label  string      // in a few words, for graphs and tables
	Stored result.Load // as results have it, with the amounts that the plan writes
	// of an amount that an earlier result gives, a hole in Node.Load; "": all are written
	Formula   string
	Open      bool            // an open loop: it has arrivals; else slots
	Level     float64         // of a fixed load; of intervals their mean rate; else 0
	First     float64         // of a ramp: the value of its first step
	Ramp      *load.Ramp      // nil: none, or not known
	Slots     int             // requests open at the same time at most
	Pace      float64         // arrivals a second at most; 0: unknown
	Warm      int64           // ns of warm-up
	WarmCount int64           // arrivals of warm-up, or sequences
	Length    int64           // ns of hold; 0: open
	Limit     int64           // arrivals of hold, or sequences; 0: none
	Ends      bool            // the arrivals end by themselves, even before hold is over
	Skipped   int             // rows of the data before the first that a schedule plays
	Search    *load.Search    // of a search: over which values; its trials have a Level
	Sequences *load.Sequences // nil: requests are independent
	Every     int64           // of users: ns from one due time of a slot to the next; 0: none

	// of an open loop, from its beginning; nil: not known
	arrivals func(cv float64, seed [2]uint64) load.Schedule
	// between which arrivals are exact in number; nil: they are not, or where hold ends is not known
	cuts []int64
	seed [2]uint64
	// ns after the warm-up at which the arrivals of an open loop end by themselves; 0: they go on,
	// or it is not known
	end int64
}

// compileLoads derives the load of each node. It reads the nodes, their sequences and what files
// have, and sets Node.Load.
func compileLoads(d *draft) {
	for _, n := range d.Nodes {
		amounts, _ := n.Amounts(nothing{})
		var rows []int
		for _, e := range n.Stage.Entries() {
			rows = append(rows, d.data[e.Request.Data].rows)
		}
		n.Load = n.LoadWith(amounts, rows, load.Seed(d.Plan.Seed, n.Stage.ID, n.ID))
		l := n.Load
		if l.Formula = formula(n); l.Formula != "" {
			l.Ramp, l.arrivals, l.end = nil, nil, 0
		}
		if l.Stored.Kind == "schedule" && l.arrivals != nil {
			last, s := int64(0), l.even()
			for due, ok := s.Next(); ok; due, ok = s.Next() {
				last = due
			}
			l.end = max(last-l.Warm, 1)
		}
	}
}

// Amounts returns the values of a node's load, with those of earlier results that v has. why says
// why one of them has none; then the node cannot run.
func (n *Node) Amounts(v expression.Values) (a Amounts, why string) {
	amount := func(l scenario.Level) float64 {
		value, because := n.Amount(l, v)
		why = cmp.Or(why, because)
		return value
	}
	switch q := quantity(n.Stage).(type) {
	case scenario.Ramp:
		for _, s := range q.Steps {
			a.Steps = append(a.Steps, load.Step{To: amount(s.To), Over: int64(s.Over), Hold: int64(s.Hold)})
		}
	case scenario.Search:
		a.Search = &load.Search{
			From: amount(q.From), To: amount(q.To), Precision: q.Precision, Amount: q.Amount,
			Confirm: q.Confirm, Whole: !n.Open,
		}
		if n.Open {
			a.Search.Unit = "/s"
		}
	case nil: // times of a file
	default:
		a.Level = amount(n.Level)
	}
	return a, why
}

// LoadWith returns the load of a trial of the node. rows counts the rows of the data of each entry,
// 0: unknown.
func (n *Node) LoadWith(a Amounts, rows []int, seed [2]uint64) *Load {
	s := n.Stage
	l := &Load{
		Stored: result.Load{
			Value: n.Level.Value, Batch: s.Request.Batch,
			Model:     cmp.Or(s.Request.Model, s.Request.Target.Model),
			Transport: s.Request.Target.Transport(),
		},
		Open: n.Open, Level: a.Level, Search: a.Search,
		Warm: int64(s.Warmup.Duration), WarmCount: requestsOf(n, s.Warmup, rows, seed), seed: seed,
	}
	l.Length, l.Limit = int64(n.Span().Duration), requestsOf(n, n.Span(), rows, seed)
	pool, _ := scenario.Open(s.Load)
	l.Stored.MaxInFlight, l.Stored.Overflow, l.Slots = pool.MaxInFlight, pool.Overflow, pool.MaxInFlight
	switch load := s.Load.(type) {
	case scenario.Concurrency:
		l.Label = l.setClosed(n, a)
	case scenario.Rate:
		if load.Of != "requests" {
			l.Stored.Of = load.Of
		}
		set := func() string { return l.setRate(n, a, load) }
		if n.Users() {
			set = func() string { return l.setUsers(n, a) }
		}
		l.Label = set()
	case scenario.Intervals:
		l.Label = l.setGaps(n.recorded, load)
	case scenario.Schedule:
		l.Label = l.setTimes(n.recorded, load)
	}
	l.Label += playText(n)
	if l.Stored.Exact {
		l.cuts = cutsOf(l)
	}
	if n.Sequences != nil { // after the cuts: from here on limits may count sequences
		l.setSequences(n)
	}
	return l
}

// requestsOf counts the requests of a span; 0: a duration, or not known.
func requestsOf(n *Node, s scenario.Span, rows []int, seed [2]uint64) int64 {
	if s.Passes == 0 {
		return s.Requests
	}
	var shares []feed.Share
	for i, e := range n.Stage.Entries() {
		if rows[i] == 0 {
			return 0
		}
		shares = append(shares, feed.Share{Rows: rows[i], Batch: e.Request.Batch, Weight: e.Weight})
	}
	return feed.Passes(s.Passes, shares, seed[1])
}

// setClosed keeps requests in flight: as many as the level, or as the ramp says at the time. Like
// those of the other kinds it returns the load in words.
func (l *Load) setClosed(n *Node, a Amounts) string {
	l.Stored.Kind, l.Slots = "concurrency", int(a.Level)
	if q, ok := quantity(n.Stage).(scenario.Periodic); ok {
		l.Slots, l.Ends = q.To, true
		l.Stored.Periodic = &result.Periodic{From: q.From, To: q.To, Step: q.Step, Responses: q.Responses}
		return fmt.Sprintf("%d to %d in flight, %d more each time", q.From, q.To, q.Step)
	}
	if l.followRamp(n, a.Steps) {
		l.Slots = int(math.Round(l.Ramp.Peak()))
	}
	if q := n.Sequences; q != nil && q.Sessions {
		return quantityText(n) + " live sessions"
	} else if q != nil {
		return quantityText(n) + " live sequences"
	}
	return quantityText(n) + " in flight"
}

// setRate has arrivals at a rate, or at that of a ramp.
func (l *Load) setRate(n *Node, a Amounts, r scenario.Rate) string {
	how := r.Arrivals
	l.Stored.Kind, l.Stored.Arrivals, l.Stored.CV, l.Stored.Exact = "rate", how.Word, how.CV, how.Exact
	if l.Pace = a.Level; l.Pace > 0 {
		l.arrivals = func(cv float64, seed [2]uint64) load.Schedule { return load.Gamma(a.Level, cv, seed) }
	}
	if l.followRamp(n, a.Steps) {
		l.Pace, l.end = l.Ramp.Peak(), l.Ramp.Length()
		if l.WarmCount > 0 && l.First > 0 { // the ramp begins at a time
			l.Warm, l.WarmCount = timeOf(l.WarmCount, l.First), 0
		}
		l.arrivals = l.Ramp.AfterWarmUp(l.Warm).Arrivals
	}
	text := quantityText(n) + arrivalText(how)
	if r.Of != "requests" && r.Of != "" {
		text += ", of " + r.Of
	}
	return text
}

// followRamp makes hold follow a ramp, if the load has one: as long as its steps, or as `for` says.
func (l *Load) followRamp(n *Node, steps []load.Step) bool {
	q, ok := quantity(n.Stage).(scenario.Ramp)
	if !ok {
		return false
	}
	l.Ramp, l.First = load.NewRamp(steps), steps[0].To
	if _, itself := n.Stage.Extent.(scenario.ByLoad); itself {
		l.Length = l.Ramp.Length()
	}
	for _, s := range q.Steps {
		l.Stored.Ramp = append(l.Stored.Ramp, result.RampStep{
			To: s.To.Value, Over: s.Over.Seconds(), Hold: s.Hold.Seconds(), Name: s.Name,
		})
	}
	return true
}

// setGaps has arrivals after recorded gaps.
func (l *Load) setGaps(recorded []int64, i scenario.Intervals) string {
	l.Stored.Kind, l.Stored.File, l.Ends = "intervals", i.File.Name, i.AtEnd == "stop"
	sum := int64(0)
	for _, gap := range recorded {
		sum += gap
	}
	if sum > 0 {
		l.Level = float64(len(recorded)) * 1e9 / float64(sum)
	}
	if l.Ends {
		l.end = sum
	}
	if recorded != nil {
		l.arrivals = func(float64, [2]uint64) load.Schedule {
			return load.Gaps(recorded, i.First == "zero", !l.Ends)
		}
	}
	return "gaps of " + filepath.Base(i.File.Name)
}

// setTimes has arrivals at recorded times. Those of the data's rows belong to their rows.
func (l *Load) setTimes(recorded []int64, s scenario.Schedule) string {
	l.Stored.Kind, l.Stored.Speed, l.Ends = "schedule", s.Speed, true
	if recorded != nil {
		l.arrivals = func(float64, [2]uint64) load.Schedule { return timesOf(recorded, s) }
	}
	if s.File != nil {
		l.Stored.File = s.File.Name
		return timesText(s, filepath.Base(s.File.Name))
	}
	for l.Skipped < len(recorded) && recorded[l.Skipped] < int64(s.From) {
		l.Skipped++
	}
	return timesText(s, "the data's rows")
}

// timesOf returns the part of recorded times that a schedule plays.
func timesOf(recorded []int64, s scenario.Schedule) load.Schedule {
	return load.Times(recorded, s.Speed, int64(s.From), int64(s.To))
}

// setSequences fills in what the sequences of a node mean for its load.
func (l *Load) setSequences(n *Node) {
	q, s := n.Sequences, n.Stage
	l.Sequences = &load.Sequences{ArrivalBegins: q.Begin, Sessions: q.Sessions}
	count := func(span scenario.Span) int64 {
		if span.Passes > 0 {
			return passesOf(q, span.Passes, s.Entries(), l.seed[1])
		}
		return span.Sequences + span.Sessions
	}
	if k := count(s.Warmup); k > 0 {
		l.Sequences.WarmCountsSequences, l.WarmCount = true, k
	}
	if k := count(n.Span()); k > 0 {
		l.Sequences.LimitCountsSequences, l.Limit = true, k
	}
	if n.Open && !q.Begin {
		l.Sequences.PipelineDepth = depthOf(n, l.Slots)
		l.Slots = q.Live * l.Sequences.PipelineDepth
	}
}

// Arrivals returns the arrivals of an open loop from the beginning of its warm-up, which a chance
// of the trial's own decides.
func (l *Load) Arrivals() load.Schedule {
	return load.Exact(l.arrivals(l.Stored.CV, l.seed), l.cuts...)
}

// cutsOf returns the times between which arrivals are exact in number: the ends of the warm-up, of
// each hold, and of the whole. None where the end of hold is unknown.
func cutsOf(l *Load) (cuts []int64) {
	length := l.Length
	if length == 0 && l.Limit > 0 && l.Pace > 0 && l.Ramp == nil {
		length = timeOf(l.Limit, l.Pace)
	}
	warm := l.Warm
	if l.WarmCount > 0 && l.Pace > 0 {
		warm = timeOf(l.WarmCount, l.Pace)
	}
	if length == 0 {
		return nil
	}
	cuts = []int64{warm, warm + length}
	if l.Ramp != nil {
		for _, h := range l.Ramp.Holds(l.Length) {
			cuts = append(cuts, warm+h.From, warm+h.To)
		}
	}
	slices.Sort(cuts)
	return slices.DeleteFunc(slices.Compact(cuts), func(at int64) bool { return at == 0 })
}

// timeOf returns the time that a number of arrivals takes at a rate, ns.
func timeOf(arrivals int64, rate float64) int64 {
	return int64(math.Ceil(float64(arrivals) / rate * 1e9))
}

// What is known of the due times of an open loop before it runs: its arrivals without chance.

// mostWalked bounds the arrivals that are played to find out when one of them is due.
const mostWalked = 1 << 20

// openRamp reports whether a load is an open loop along a known ramp.
func (l *Load) openRamp() bool { return l.Ramp != nil && l.arrivals != nil }

// count returns how many requests are due from from and before to, ns from the start of the node.
// -1: not known.
func (l *Load) count(from, to int64) float64 {
	if l.arrivals == nil {
		return -1
	}
	return float64(load.Count(l.even(), from, to))
}

// sd returns the standard deviation of a count of arrivals; 0: there is none, or they are not known.
func (l *Load) sd(count float64) float64 {
	if l.Stored.Exact || l.arrivals == nil {
		return 0
	}
	return l.Stored.CV * math.Sqrt(max(count, 0))
}

// due returns when arrival k (from 0) is due, ns; false: not known.
func (l *Load) due(k int64) (int64, bool) {
	if l.arrivals == nil || k > mostWalked {
		return 0, false
	}
	s := l.even()
	for ; k > 0; k-- {
		if _, ok := s.Next(); !ok {
			return 0, false
		}
	}
	return s.Next()
}

// even returns the arrivals of an open loop, if they are known, at the same rates without chance, from
// the beginning of its warm-up.
func (l *Load) even() load.Schedule { return l.arrivals(0, l.seed) }
