package program

import (
	"math"

	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/scenario"
)

// dues is what is known of the due times of an open loop before it runs.
type dues struct {
	// even gives a fresh schedule of the same rates without chance, its warm-up included; nil: nothing is known.
	even func() load.Schedule
	cv   float64 // of gaps that are drawn; 0: even is the schedule itself
	end  int64   // ns after the warm-up at which the load ends by itself; 0: it goes on
	ramp *load.Ramp
}

// mostWalked is how many arrivals are played to find out when one of them is due.
const mostWalked = 1 << 20

// duesOf are those of a node with an open loop whose values are written in the plan.
func duesOf(n *Node) dues {
	warm := int64(n.Stage.Warmup.Duration)
	switch l := n.Stage.Load.(type) {
	case scenario.Rate:
		return ratedDues(n, l, warm)
	case scenario.Intervals:
		a := dues{even: func() load.Schedule { return load.Gaps(n.Recorded, l.First == "zero", l.AtEnd != "stop") }}
		if n.Recorded == nil {
			return dues{}
		}
		if l.AtEnd == "stop" {
			for _, gap := range n.Recorded {
				a.end += gap
			}
		}
		return a
	case scenario.Schedule:
		if n.Recorded == nil {
			return dues{}
		}
		a := dues{even: func() load.Schedule {
			return load.Times(n.Recorded, l.Speed, int64(l.From), int64(l.To))
		}}
		a.end = max(a.last()-warm, 1)
		return a
	}
	return dues{}
}

func ratedDues(n *Node, l scenario.Rate, warm int64) dues {
	a := dues{cv: l.Arrivals.CV}
	if l.Arrivals.Exact {
		a.cv = 0
	}
	switch q := l.Level.(type) {
	case scenario.Fixed, scenario.Levels:
		if n.Level.Expr != nil || n.Level.Value <= 0 {
			return dues{}
		}
		a.even = func() load.Schedule { return load.Constant(n.Level.Value) }
	case scenario.Ramp:
		if a.ramp = rampOf(q); a.ramp == nil {
			return dues{}
		}
		a.end = a.ramp.Length()
		a.even = func() load.Schedule { return a.ramp.AfterWarmUp(warm).Arrivals(0, [2]uint64{}) }
	default:
		return dues{}
	}
	return a
}

// rampOf is a ramp whose values are all written in the plan, else nil.
func rampOf(q scenario.Ramp) *load.Ramp {
	var steps []load.Step
	for _, s := range q.Steps {
		if s.To.Expr != nil {
			return nil
		}
		steps = append(steps, load.Step{To: s.To.Value, Over: int64(s.Over), Hold: int64(s.Hold)})
	}
	return load.NewRamp(steps)
}

// count is how many requests are due from from and before to, ns from the start of the node; to -1: up to the end of the
// schedule. -1: not known.
func (a dues) count(from, to int64) float64 {
	if a.even == nil {
		return -1
	}
	if to < 0 {
		to = math.MaxInt64
	}
	return float64(load.Count(a.even(), from, to))
}

// sd is the standard deviation of a count.
func (a dues) sd(count float64) float64 { return a.cv * math.Sqrt(max(count, 0)) }

// due is when arrival k (from 0) is due; false: not known.
func (a dues) due(k int64) (int64, bool) {
	if a.even == nil || k > mostWalked {
		return 0, false
	}
	s := a.even()
	for ; k > 0; k-- {
		if _, ok := s.Next(); !ok {
			return 0, false
		}
	}
	return s.Next()
}

// last is when the last arrival of a schedule that ends is due.
func (a dues) last() int64 {
	last := int64(0)
	s := a.even()
	for due, ok := s.Next(); ok; due, ok = s.Next() {
		last = due
	}
	return last
}
