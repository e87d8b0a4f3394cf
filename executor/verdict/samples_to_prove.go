package verdict

import (
	"iter"
	"math"

	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// maxComparisons limits the comparisons of an expression whose combinations of outcomes are tried,
// three each.
const maxComparisons = 6

// samplesToProveRatios returns the fewest requests with which an assertion with `confidence` can be
// proven true, considering only its comparisons of ratios with constants, and all or no requests
// counted by the ratio. Other comparisons are assumed to turn out as needed. possible is false if
// no number suffices, as for errors.ratio <= 0%.
func samplesToProveRatios(a scenario.Assertion, p *expression.Program) (n int64, possible bool) {
	if a.Confidence <= 0 || ByRepeats(p.Refs) {
		return 0, true
	}
	all := &assumedOutcomes{}
	p.Truth(all)
	if len(all.asked) > maxComparisons {
		return 0, true
	}
	for choice := range combinations(len(all.asked)) {
		s := &assumedOutcomes{outcomes: choice}
		if p.Truth(s).Is < 1 {
			continue
		}
		if least, ok := s.minSamples(a.Confidence); ok && (!possible || least < n) {
			n, possible = least, true
		}
	}
	return n, possible
}

// samplesToProve returns the fewest samples that can prove a comparison of one percentile or ratio
// true; 0: another comparison.
func samplesToProve(t expression.Truth, confidence float64) (n int64) {
	switch {
	case comparesRatio(t):
		n, _ = samplesForShare(t.Limit.V, confidence, t.Op == "<" || t.Op == "<=")
	case t.Ref != nil && t.Ref.Leaf.Stat.Kind == metric.Percentile:
		n = stats.Samples(t.Ref.Leaf.Stat.P/100, confidence, 0)
	}
	return n
}

// ByRepeats reports whether an expression is judged on repeats, not on requests: it reads two nodes
// or a baseline.
func ByRepeats(refs []expression.Ref) bool {
	for _, r := range refs {
		if r.Baseline || r.Node != refs[0].Node {
			return true
		}
	}
	return false
}

// combinations returns all combinations of n values of -1, 0 and 1, such as outcomes of comparisons.
func combinations(n int) iter.Seq[[]int8] {
	return func(yield func([]int8) bool) {
		list := make([]int8, n)
		for i := range int(math.Pow(3, float64(n))) {
			for k := range list {
				list[k] = int8(i%3) - 1
				i /= 3
			}
			if !yield(list) {
				return
			}
		}
	}
}

// assumedOutcomes are values without numbers whose comparisons have assumed outcomes, in the order
// in which they are evaluated.
type assumedOutcomes struct {
	outcomes []int8
	asked    []expression.Truth
}

// Quantity implements expression.Values. Need distinguishes it from a constant of the plan.
func (*assumedOutcomes) Quantity(expression.Ref) expression.Quantity {
	return expression.Quantity{Need: 1}
}

// Compare implements expression.Judge.
func (s *assumedOutcomes) Compare(t expression.Truth) (decided expression.Truth, ok bool) {
	if i := len(s.asked); i < len(s.outcomes) {
		t.Is = s.outcomes[i]
	}
	s.asked = append(s.asked, t)
	return t, true
}

// minSamples returns the fewest requests that can prove all assumed outcomes.
func (s *assumedOutcomes) minSamples(confidence float64) (n int64, possible bool) {
	for i, t := range s.asked {
		if s.outcomes[i] == 0 || !comparesRatio(t) {
			continue
		}
		below := t.Op == "<" || t.Op == "<="
		least, ok := samplesForShare(t.Limit.V, confidence, below == (s.outcomes[i] > 0))
		if !ok {
			return 0, false
		}
		n = max(n, least)
	}
	return n, true
}

// comparesRatio reports whether a comparison is between a share of the requests and a constant of
// the plan.
func comparesRatio(t expression.Truth) bool {
	return t.Ref != nil && t.Ref.Leaf.Row.From.Counted() && t.Ref.Leaf.Row.Dim == metric.Ratio &&
		t.Limit.Known && t.Limit.Need == 0
}

// samplesForShare returns the fewest requests that can prove, by the bounds of Clopper and Pearson,
// that a share is below q if none is counted, or above q if all are.
func samplesForShare(q, confidence float64, below bool) (n int64, possible bool) {
	if !below {
		q = 1 - q
	}
	switch {
	case q <= 0:
		return 0, false
	case q >= 1:
		return 1, true
	}
	n = stats.Samples(1-q, confidence, 0)
	return n, n > 0
}
