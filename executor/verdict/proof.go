package verdict

import (
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// mostWeighed is how many comparisons of one expression are tried in all their outcomes, three each.
const maxComparisons = 6

// proofOfRatios is the fewest requests with which an assertion with `confidence` can be proven true as far as it compares
// ratios with constants: those that are so when all requests, or none, are counted by the ratio. What else it compares
// is taken to come out as it should. False: no number of requests is enough, as for errors.ratio <= 0%.
func samplesToProveRatios(a scenario.Assertion, p *expression.Program) (n int64, possible bool) {
	if a.Confidence <= 0 || byRepeats(p.Refs) {
		return 0, true
	}
	all := &assumedOutcomes{}
	p.Truth(all)
	if len(all.asked) > maxComparisons {
		return 0, true
	}
	total := 1
	for range all.asked {
		total *= 3
	}
	for i := range total {
		s := &assumedOutcomes{outcomes: outcomes(i, len(all.asked))}
		if p.Truth(s).Is < 1 {
			continue
		}
		if least, ok := s.minSamples(a.Confidence); ok && (!possible || least < n) {
			n, possible = least, true
		}
	}
	return n, possible
}

// proof is how many samples it takes at least to prove a comparison of one percentile or ratio true; 0: it is no such.
func samplesToProve(t expression.Truth, confidence float64) (n int64) {
	switch {
	case comparesRatio(t):
		n, _ = samplesForShare(t.Limit.V, confidence, t.Op == "<" || t.Op == "<=")
	case t.Ref != nil && t.Ref.Leaf.Stat.Kind == metric.Percentile:
		n = stats.Samples(t.Ref.Leaf.Stat.P/100, confidence, 0)
	}
	return n
}

// byRepeats reports whether repeats decide and not requests: an expression of two nodes, or of a baseline.
func byRepeats(refs []expression.Ref) bool {
	for _, r := range refs {
		if r.Baseline || r.Node != refs[0].Node {
			return true
		}
	}
	return false
}

// outcomes are the i-th way in which n comparisons may come out: false, unknown or true each.
func outcomes(i, n int) []int8 {
	list := make([]int8, n)
	for k := range list {
		list[k] = int8(i%3) - 1
		i /= 3
	}
	return list
}

// supposed are values without numbers whose comparisons come out as said, in the order in which they are asked.
type assumedOutcomes struct {
	outcomes []int8
	asked    []expression.Truth
}

// Quantity implements expression.Values. Need tells it from a constant of the plan.
func (*assumedOutcomes) Quantity(expression.Ref) expression.Quantity {
	return expression.Quantity{Need: 1}
}

// Compare implements expression.Judge.
func (s *assumedOutcomes) Compare(t expression.Truth) (expression.Decision, bool) {
	s.asked = append(s.asked, t)
	if len(s.asked) > len(s.outcomes) {
		return expression.Decision{}, true
	}
	return expression.Decision{Is: s.outcomes[len(s.asked)-1]}, true
}

// cost is how many requests it takes at least to prove all that came out true or false.
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

// ofRatio reports whether a comparison is one of a share of the requests with a constant of the plan.
func comparesRatio(t expression.Truth) bool {
	return t.Ref != nil && t.Ref.Leaf.Row.From.Counted() && t.Ref.Leaf.Row.Dim == metric.Ratio && t.Limit.Known && t.Limit.Need == 0
}

// fewest is the smallest number of requests that can prove, by the bounds of Clopper and Pearson, that a share is below q
// when none of them is counted, or above q when all are.
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
