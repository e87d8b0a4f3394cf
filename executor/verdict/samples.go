package verdict

import (
	"math"

	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// demanding is Values whose quantities need as many samples as an assertion's min_samples says.
type demanding struct {
	expression.Values
	need int64
}

func required(v expression.Values, minSamples int) expression.Values {
	if minSamples <= 0 {
		return v
	}
	return demanding{v, int64(minSamples)}
}

// Quantity replaces the need of what is made of requests. What is read once (the client's memory, the server's
// queue) has no samples that could be too few.
func (d demanding) Quantity(r expression.Ref) expression.Quantity {
	q := d.Values.Quantity(r)
	switch r.Leaf.Row.From {
	case metric.Sample, metric.Flow, metric.Counts:
	case metric.Driver, metric.Series, metric.Client:
		return q
	}
	q.Need = d.need
	if r.Leaf.Dim() == metric.Count && q.Known && q.V > float64(q.N) {
		q.N = int64(q.V) // whoever counted 500 requests has seen 500
	}
	return q
}

// alpha is the risk of calling a percentile proven that is not: one-sided, as in the samples that percentiles need.
const alpha = 0.05

// certain reports whether a comparison that is false with too few samples is proven false already: one percentile
// against a constant, and so many samples on the wrong side of it that they can hardly be chance.
//
// If the p-quantile were within a limit, each sample would be over it with probability 1-p at most, and the number over
// it among n would be at most as large as a binomial(n, 1-p) one. k over the limit refute that at 95 % when
//
//	P(B >= k) <= 0.05,  B binomial(n, 1-p)
//
// which is the exact one-sided test of Clopper and Pearson (Biometrika 26, 1934). For a lower limit (latency.p50 > 5ms)
// the samples that are not over it are counted against probability p. Two of two samples over a p99 limit are proof:
// 0.01² is far below 0.05.
func certain(t expression.Truth, v expression.Values) bool {
	c, ok := v.(counter)
	if !ok || t.Is >= 0 || t.Ref == nil || t.Limit.Need != 0 || t.Ref.Leaf.Stat.Kind != metric.Percentile {
		return false
	}
	over, n, ok := c.Above(*t.Ref, t.Limit.V)
	if !ok || n <= 0 || over < 0 || over > n {
		return false
	}
	p := t.Ref.Leaf.Stat.P / 100
	switch t.Op {
	case "<", "<=":
		return atLeast(over, n, 1-p) <= alpha
	case ">", ">=":
		return atLeast(n-over, n, p) <= alpha
	}
	return false
}

// atLeast is P(B >= k) for B binomial(n, q): terms are summed from k on in logarithms, so that none over- or underflows.
func atLeast(k, n int64, q float64) float64 {
	switch {
	case k <= 0:
		return 1
	case q <= 0:
		return 0
	case q >= 1:
		return 1
	}
	logQ, log1Q := math.Log(q), math.Log1p(-q)
	lgN, _ := math.Lgamma(float64(n + 1))
	sum := 0.0
	for i := k; i <= n; i++ {
		lgI, _ := math.Lgamma(float64(i + 1))
		lgRest, _ := math.Lgamma(float64(n - i + 1))
		term := math.Exp(lgN - lgI - lgRest + float64(i)*logQ + float64(n-i)*log1Q)
		sum += term
		if float64(i) > float64(n)*q && term < 1e-18 {
			break // past the mode the terms only fall
		}
	}
	return math.Min(sum, 1)
}
