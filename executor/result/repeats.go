package result

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/expression"
)

// repeats are the repeats of an expression that compares nodes, or a node with the baseline.
// Repeats that were played in turn (the points of one stage) are one group: a disturbance affects
// both sides, and their difference is steady. Stages, and the baseline, are independent groups.
//
// Each quantity gets its value with one repeat of one group left out in turn; the bounds follow
// from the variation of the difference of both sides. For two groups of plain means that equals
// Welch's test, for one the paired test.
type repeats struct {
	of     Stored
	groups []group
	total  int    // number of repeats of all groups
	why    string // reason if they cannot be used
}

type group struct {
	baseline bool
	stage    string
	n        int // number of repeats
	from     int // index of the first among all
}

// repeatsOf returns the groups of refs.
func (s Stored) repeatsOf(refs []expression.Ref) *repeats {
	r := &repeats{of: s}
	for _, ref := range refs {
		n, _, why := s.findNode(ref.Place)
		if why != "" {
			continue // the reference is unknown
		}
		r.add(ref.Baseline, n)
	}
	return r
}

func (r *repeats) add(baseline bool, n *Node) {
	count := len(n.Repeats)
	if r.why != "" {
		return
	}
	if count < 2 {
		r.why = fmt.Sprintf("stage %q ran once: `repeat: 6` there gives repeats to judge by", n.Stage)
		if baseline {
			r.why = fmt.Sprintf("the baseline has stage %q once: it must be made with `repeat`, such as 6",
				n.Stage)
		}
		return
	}
	for _, x := range n.Repeats {
		if x.Outcome != Done {
			r.why = fmt.Sprintf("repeat %d of stage %q is %s", x.Repeat+1, n.ID, x.Outcome)
			return
		}
	}
	if r.group(baseline, n.Stage, count) == nil {
		r.groups = append(r.groups, group{baseline: baseline, stage: n.Stage, n: count, from: r.total})
		r.total += count
	}
}

// resample sets q's values with one repeat left out in turn, and its own value to the mean of the
// repeats.
func (r *repeats) resample(q *expression.Quantity, ref expression.Ref) {
	values, why := r.values(ref)
	if why = cmp.Or(r.why, why); why != "" {
		q.Lo, q.Hi, q.Why = math.Inf(-1), math.Inf(1), why
		return
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	k := float64(len(values))
	q.V = sum / k
	q.Lo, q.Hi = q.V, q.V
	q.Again = slices.Repeat([]float64{q.V}, r.total)
	n, _, _ := r.of.findNode(ref.Place)
	if g := r.group(ref.Baseline, n.Stage, len(values)); g != nil {
		for i, v := range values {
			q.Again[g.from+i] = (sum - v) / (k - 1)
		}
	}
}

func (r *repeats) group(baseline bool, stage string, n int) *group {
	return find(r.groups,
		func(g *group) bool { return g.baseline == baseline && g.stage == stage && g.n == n })
}

// values returns the value of a reference in each repeat.
func (r *repeats) values(ref expression.Ref) (list []float64, why string) {
	return r.eachValue(ref, func(src source, m *Metric) (float64, string) { return src.value(m, ref.Leaf) })
}

// trend says how a reference changes over hold of a repeat, if it does in one; else "".
func (r *repeats) trend(ref expression.Ref, two float64) string {
	_, why := r.eachValue(ref, func(src source, m *Metric) (float64, string) {
		if m == nil {
			return 0, ""
		}
		if x, ok := src.interval(m, ref.Leaf, two); ok && x.Refused == stats.Trending {
			return 0, refusalText(x)
		}
		return 0, ""
	})
	return why
}

// eachValue returns what value reads of the metric of a reference in each repeat.
func (r *repeats) eachValue(
	ref expression.Ref, value func(source, *Metric) (float64, string),
) (list []float64, why string) {
	n, _, why := r.of.findNode(ref.Place)
	if why != "" {
		return nil, why
	}
	for _, x := range n.Repeats {
		src := source{node: n, metrics: x.Metrics}
		if ref.Phase != "" || ref.Mix != "" {
			part := findScope(x.Scopes, ref.Phase, ref.Mix)
			if part == nil {
				return nil, fmt.Sprintf("repeat %d did not measure %s apart", x.Repeat+1, partName(ref.Place))
			}
			src.metrics = part.Metrics
		}
		v, why := value(src, src.metrics[ref.Leaf.Row.Name])
		if why != "" {
			return nil, fmt.Sprintf("repeat %d: %s", x.Repeat+1, why)
		}
		list = append(list, v)
	}
	return list, ""
}

// Compare implements expression.Judge: it decides a comparison by the difference over the repeats.
func (s Stored) Compare(t expression.Truth) (decided expression.Truth, ok bool) {
	if s.repeats == nil || s.repeats.why != "" || !t.Observed.Known || !t.Limit.Known ||
		t.Observed.Why != "" || t.Limit.Why != "" {
		return t, false
	}
	apart := expression.Apart(t.Observed, t.Limit)
	if apart == nil {
		return t, false
	}
	var sizes []int
	for _, g := range s.repeats.groups {
		sizes = append(sizes, g.n)
	}
	d := t.Observed.V - t.Limit.V
	err, df, ok := stats.Jackknife(apart, sizes)
	if !ok {
		t.Why = "the difference has no value in some repeats"
		return t, true
	}
	half := 0.0
	if err > 0 {
		half = stats.StudentT(s.confidence, df) * err
	}
	margin := expression.Exactly(d, int64(s.repeats.total), 1)
	// the client's delay adds to what the repeats vary by
	a, b := t.Observed, t.Limit
	margin.Lo, margin.Hi = d-half-(a.V-a.Lo)-(b.Hi-b.V), d+half+(a.Hi-a.V)+(b.V-b.Lo)
	t.Margin, t.Is = &margin, expression.Decide(t.Op, margin, expression.Exactly(0, 0, 0))
	if t.Is == 0 {
		t.Why = "the repeats do not agree which side of the limit it is on"
	}
	return t, true
}
