package verdict

import (
	"slices"

	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// ReadsRequests reports whether an expression reads a value computed from requests.
func ReadsRequests(p *expression.Program) bool {
	return slices.ContainsFunc(p.Refs, func(r expression.Ref) bool { return r.Leaf.Row.From.OfRequests() })
}

// SamplesNeeded returns the fewest samples with which an assertion can pass: the number that its
// percentiles need, unless the plan sets one; with `confidence` the number that can prove its
// percentiles and ratios, at least that of the plan. 0: any number. possible is false if no number
// suffices.
func SamplesNeeded(a scenario.Assertion, p *expression.Program) (n int64, possible bool) {
	n, possible = samplesToProveRatios(a, p)
	if ReadsRequests(p) {
		n = max(n, int64(a.MinSamples))
	}
	if n > 0 && a.Confidence <= 0 {
		return n, possible
	}
	for _, r := range p.Refs {
		switch {
		case r.Leaf.Stat.Kind != metric.Percentile || r.Baseline:
		case a.Confidence > 0:
			n = max(n, stats.Samples(r.Leaf.Stat.P/100, a.Confidence, 0))
		default:
			n = max(n, stats.MinSamples(r.Leaf.Stat.P))
		}
	}
	return n, possible
}

// alpha is the one-sided risk of a wrong proof for a percentile, as in the samples that percentiles
// need.
const alpha = 0.05

// provenFalse reports whether a false comparison with too few samples is proven nevertheless: one
// percentile against a constant, with so many samples on the wrong side that chance is implausible.
//
// If the p-quantile were within the limit, each sample would be over it with probability 1-p at
// most, and the number over it among n would be at most as large as a binomial(n, 1-p) one. k over
// the limit refute that at 95 % when
//
//	P(B >= k) <= 0.05,  B binomial(n, 1-p)
//
// which is the exact one-sided test of Clopper and Pearson (Biometrika 26, 1934). For a lower limit
// (latency.p50 > 5ms) the samples that are not over it are counted against probability p. Two of
// two samples over a p99 limit are proof: 0.01² is far below 0.05.
func provenFalse(t expression.Truth, v Counted) bool {
	return t.Is < 0 && refuted(t, v, alpha)
}

// refuted reports whether the samples refute a comparison of one percentile with a constant at the
// given risk.
func refuted(t expression.Truth, v Counted, risk float64) bool {
	over, n, ok := countExceeding(t, v)
	if !ok {
		return false
	}
	p := t.Ref.Leaf.Stat.P / 100
	switch t.Op {
	case "<", "<=":
		return stats.BinomialTail(over, n, 1-p) <= risk
	case ">", ">=":
		return stats.BinomialTail(n-over, n, p) <= risk
	}
	return false
}

// countExceeding counts, among the n samples, those over the limit, if one percentile is compared with
// a constant.
func countExceeding(t expression.Truth, v Counted) (over, n int64, ok bool) {
	if t.Ref == nil || t.Limit.Need != 0 || t.Ref.Leaf.Stat.Kind != metric.Percentile {
		return 0, 0, false
	}
	over, n, ok = v.Exceeding(*t.Ref, t.Op, t.Limit.V)
	return over, n, ok && n > 0 && over >= 0 && over <= n
}
