package result

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/expression"
)

// Best is which node of a stage is the best: the largest value of an expression, or the smallest, among the
// nodes for which its conditions hold.
type Best struct {
	Stage string   `json:"stage"`
	Text  string   `json:"text" redact:"yes"` // as asked: max throughput where latency.p99 < 50ms
	Unit  string   `json:"unit"`
	Node  string   `json:"node,omitempty"` // the best one; absent: there is none
	Value *float64 `json:"value"`
	Low   *float64 `json:"low,omitempty"` // where this client was late
	High  *float64 `json:"high,omitempty"`
	// Separated says whether the 95 % intervals of its differences to all other candidates exclude 0, by Holm's
	// procedure; absent: there is no other candidate, or the repeats cannot tell.
	Separated *bool `json:"separated,omitempty"`
	// Tied are the candidates whose interval includes 0, or is unknown.
	Tied []string `json:"tied,omitempty"`
	// Ranking lists all nodes of the stage, the candidates first.
	Ranking []Ranked `json:"ranking"`
}

// Ranked is one node in a ranking.
type Ranked struct {
	Rank   int      `json:"rank"` // from 1
	Node   string   `json:"node"`
	Value  *float64 `json:"value"`
	Where  Verdict  `json:"where"`                         // of the conditions: pass makes it a candidate
	Reason string   `json:"reason,omitempty" redact:"yes"` // why it is none
	// Difference of the best one's value and this one's, by their repeats.
	Difference *Difference `json:"difference,omitempty"`
}

// Difference is how far two nodes are apart, with the bounds of Holm's procedure.
type Difference struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low"` // null: none
	High  *float64 `json:"high"`
	// Apart: the interval excludes 0, and so do those of all more distinct ones.
	Apart bool `json:"apart"`
	// Unknown says why the repeats of the two cannot tell: there is no interval then.
	Unknown string `json:"unknown,omitempty" redact:"yes"`
}

// bestConfidence is that of all differences to the best node together.
const bestConfidence = 0.95

// Measured is an expression with the node that it is evaluated on.
type Measured struct {
	Node    *Node
	Program *expression.Program
}

// Value returns the expression on its node: with repeats the mean of theirs, as Differences compares it.
func (m Measured) Value() expression.Quantity {
	reps := &repeats{}
	if reps.add(false, m.Node); reps.why == "" {
		if q := m.repeated(reps); q.Known && q.Why == "" {
			return q
		}
	}
	q, _ := m.Program.Quantity(Values(nil, m.Node))
	return q
}

// Differences compares one node with others of the same stage by their repeats, which were played in turn. Of
// all intervals together each excludes 0 wrongly with a probability of 5 % at most (Holm, Scandinavian Journal
// of Statistics 6, 1979): the k-th most distinct of m is judged at 5 % / (m-k), and none after the first that
// includes 0. A node whose repeats cannot tell has no interval, and counts as the least distinct one. why says
// why the repeats tell of none.
func Differences(of Measured, others []Measured) (list []*Difference, why string) {
	var pairs []*pair
	for _, other := range others {
		x := of.against(other)
		pairs, list = append(pairs, x), append(list, x.to)
		why = cmp.Or(why, x.to.Unknown)
	}
	if !slices.ContainsFunc(list, func(d *Difference) bool { return d.Unknown == "" }) {
		return nil, why
	}
	slices.SortStableFunc(pairs, func(a, b *pair) int { return cmp.Compare(a.p, b.p) })
	open := false
	for k, x := range pairs {
		if x.to.Unknown != "" { // as are all after it
			break
		}
		alpha, half := (1-bestConfidence)/float64(len(pairs)-k), 0.0
		if x.err > 0 {
			half = stats.StudentT(1-alpha/2, x.df) * x.err
		}
		low, high := x.to.Value-half-x.late, x.to.Value+half+x.latest
		x.to.Low, x.to.High = bound(low), bound(high)
		open = open || low <= 0 && high >= 0 || math.IsNaN(half)
		x.to.Apart = !open
	}
	return list, ""
}

// pair is the difference of two nodes, and what its repeats say of it.
type pair struct {
	to           *Difference
	p, err, df   float64 // p is 2 if the repeats cannot tell
	late, latest float64 // what the client's delay adds at both ends
}

// against compares two nodes by their repeats.
func (m Measured) against(other Measured) *pair {
	x := &pair{to: &Difference{Value: m.Value().V - other.Value().V}, p: 2}
	reps := &repeats{}
	reps.add(false, m.Node)
	reps.add(false, other.Node)
	if x.to.Unknown = reps.why; reps.why != "" {
		return x
	}
	a, b := m.repeated(reps), other.repeated(reps)
	if why := cmp.Or(a.Why, b.Why); why != "" || !a.Known || !b.Known {
		x.to.Unknown = cmp.Or(why, "a repeat has no value")
		return x
	}
	apart := expression.Apart(a, b)
	if apart == nil && a.V != b.V {
		x.to.Unknown = "its repeats have no values of their own"
		return x
	}
	if apart == nil {
		apart = make([]float64, reps.total)
	}
	var sizes []int
	for _, g := range reps.groups {
		sizes = append(sizes, g.n)
	}
	var ok bool
	if x.err, x.df, ok = stats.Jackknife(apart, sizes); !ok {
		x.to.Unknown = "a difference has no value in some repeats"
		return x
	}
	x.to.Value = a.V - b.V
	x.late, x.latest = (a.V-a.Lo)+(b.Hi-b.V), (a.Hi-a.V)+(b.V-b.Lo)
	if x.p = 1; x.to.Value != 0 {
		x.p = stats.TwoSided(x.to.Value/x.err, x.df)
	}
	return x
}

// repeated evaluates the expression with one repeat left out in turn.
func (m Measured) repeated(reps *repeats) expression.Quantity {
	own := *reps
	own.of = Values(nil, m.Node)
	v := own.of
	v.repeats = &own
	q, _ := m.Program.Quantity(v)
	return q
}

// bound returns a number, nil where it is none.
func bound(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// best returns the value of the best node of a stage.
func (s Stored) best(stage string) expression.Quantity {
	b := s.result.BestOf(stage)
	switch {
	case b == nil:
		return expression.Quantity{Need: 1, Why: fmt.Sprintf("stage %q did not run", stage)}
	case b.Value == nil:
		return expression.Quantity{Need: 1, Why: fmt.Sprintf("stage %q has no best node", stage)}
	}
	q := expression.Exactly(*b.Value, 1, 1)
	if b.Low != nil && b.High != nil && !s.measured {
		q.Lo, q.Hi = *b.Low, *b.High
	}
	return q
}

// BestOf returns which node of a stage is the best, nil if the stage has not ended or does not ask.
func (r *Result) BestOf(stage string) *Best {
	if r == nil {
		return nil
	}
	return find(r.Best, func(b *Best) bool { return b.Stage == stage })
}
