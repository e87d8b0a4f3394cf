package result

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Stored evaluates references from a stored result. It implements the Values of package verdict.
type Stored struct {
	result     *Result
	node       *Node
	baseline   *Baseline
	confidence float64  // of each bound; 0: no bounds
	minSamples int64    // that the plan demands of metrics of requests; 0: those that each needs
	repeats    *repeats // if set, bounds come from repeats, else from samples
	window     *window  // if set, the numbers of one node are those of a window
	measured   bool     // the client is taken to have been on time
}

var _ expression.Values = Stored{}

// Values returns r as seen from node n; n nil means the plan, where every reference names its node.
func Values(r *Result, n *Node) Stored { return Stored{result: r, node: n} }

// Against returns s with the result for `baseline`; nil: the plan names none.
func (s Stored) Against(b *Baseline) Stored {
	s.baseline = b
	return s
}

// Quantity returns the quantity of a reference. The measurement of another node counts only if it
// can be trusted: an invalid, unstable or interrupted one is unknown here, as its own assertions
// would be inconclusive.
func (s Stored) Quantity(ref expression.Ref) expression.Quantity {
	if sel, ok := ref.Selector(); ok {
		return s.scrapeQuantity(ref, sel)
	}
	if ref.Leaf.Row.Name == metric.Best && !ref.Baseline {
		return s.best(ref.Node)
	}
	need := s.samplesNeeded(ref)
	unknown := func(why string) expression.Quantity { return expression.Quantity{Need: need, Why: why} }
	src, why := s.source(ref.Place)
	if why != "" {
		return unknown(why)
	}
	m := src.metrics[ref.Leaf.Row.Name]
	v, why := src.value(m, ref.Leaf)
	if why != "" {
		return unknown(src.prefix + why)
	}
	q := expression.Exactly(v, src.sampleCount(m, ref.Leaf), need)
	switch {
	case ref.Leaf.Stat.Adjusted && (s.repeats != nil || s.confidence > 0):
		q.Lo, q.Hi = math.Inf(-1), math.Inf(1)
		q.Why = ref.Leaf.String() + " has no confidence bounds: leave `confidence` out"
		return q
	case s.repeats != nil:
		s.repeats.resample(&q, ref)
	case s.confidence > 0:
		if src.setBounds(&q, m, ref.Leaf, s.confidence); q.Why != "" || q.Lo != q.Hi { // else it is a fact
			s.boundByRepeats(&q, src.node, ref)
		}
	}
	src.widenByOpen(&q, ref.Leaf)
	if !s.measured {
		s.widenByClient(&q, src, m, ref)
	}
	if s.demandsSamples(ref) && ref.Leaf.Dim() == metric.Count {
		q.N = max(q.N, int64(q.V)) // a count of 500 requests has seen 500
	}
	return q
}

// samplesNeeded returns the number of samples that a reference needs: that of the plan, else for a
// percentile as many as can prove it. With bounds any number is enough, as the bounds decide.
func (s Stored) samplesNeeded(ref expression.Ref) int64 {
	switch {
	case s.demandsSamples(ref):
		return s.minSamples
	case ref.Leaf.Stat.Kind != metric.Percentile || s.confidence > 0 && s.repeats == nil:
		return 1
	}
	return stats.MinSamples(ref.Leaf.Stat.P)
}

// demandsSamples reports whether the plan demands a number of samples of a reference. Single readings
// (the client's memory, the server's queue, a search's capacity) cannot have too few.
func (s Stored) demandsSamples(ref expression.Ref) bool {
	return s.minSamples > 0 && ref.Leaf.Row.From.OfRequests()
}

// source holds the numbers of one place.
type source struct {
	node    *Node
	metrics map[string]*Metric
	whole   bool   // of the whole node, not of a part
	excused bool   // failures that may be the late client's are none
	prefix  string // prefix of a message about another node
}

// source returns the numbers of a place, or why there are none.
func (s Stored) source(at expression.Place) (source, string) {
	n, where, why := s.findNode(at)
	if why != "" {
		return source{}, why
	}
	src := source{node: n, metrics: n.Metrics, whole: true, prefix: where}
	if s.window.covers(n, at) {
		src.metrics, why = s.window.metrics(at)
		src.whole = false
		return src, why
	}
	if at.Model != "" {
		m := n.Model(at.Model)
		if m == nil {
			return src, fmt.Sprintf("%sthe server's statistics have no composing model %q", where, at.Model)
		}
		src.metrics, src.whole = m.Metrics, false
	} else if at.Phase != "" || at.Mix != "" {
		part := n.Scope(at.Phase, at.Mix)
		if part == nil {
			return src, where + partName(at) + " was not measured apart"
		}
		if part.Reason != "" {
			return src, where + "there is no steady span: " + part.Reason
		}
		src.metrics, src.whole = part.Metrics, false
	}
	return src, ""
}

// partName names the part of a node at a place.
func partName(at expression.Place) string {
	return strings.TrimSuffix(expression.Place{Phase: at.Phase, Mix: at.Mix}.String(), ".")
}

// value returns a leaf of the source in its base unit, or why there is none.
func (s source) value(m *Metric, leaf metric.Leaf) (float64, string) {
	if m == nil {
		return 0, leaf.Row.Name + " was not measured"
	}
	v, ok := m.Stat(leaf.Stat)
	if onlyFailures := leaf.Stat.Adjusted && m.Dist != nil && s.unanswered() > 0; !ok && !onlyFailures {
		return 0, leaf.String() + " has no value"
	}
	sent, counted := s.metrics[metric.RequestsCount].Stat(metric.Stat{})
	if counted && sent == 0 && dependsOnRequests(leaf.Row) {
		return 0, "no request was sent"
	}
	if leaf.Stat.Adjusted && m.Dist == nil {
		return 0, leaf.String() + " is unknown: the result does not hold its distribution"
	}
	if leaf.Stat.Adjusted {
		return adjusted(m, leaf.Stat, float64(s.unanswered())), ""
	}
	switch missing := s.missing(leaf.Row); {
	case missing == 0:
		return v, ""
	case leaf.Row.Some:
		return 0, fmt.Sprintf("%d requests that were due have no outcome, and whether %s counts them is not known",
			missing, leaf.Row.Name)
	case leaf.Row.Name == metric.Interactivity:
		return s.interactivity(m, missing)
	default:
		return statOverAll(m, leaf.Stat, v, float64(missing))
	}
}

// interactivity returns metric.Interactivity, of which m is a set, over all requests, including those without
// an outcome.
func (s source) interactivity(m *Metric, missing int64) (v float64, why string) {
	times, own := s.metrics[metric.NTPOT], s.metrics[metric.Interactivity]
	switch {
	case times == nil:
	case m == own.Low:
		times = times.Low
	case m == own.High:
		times = times.High
	}
	if times == nil || times.Dist == nil {
		return 0, fmt.Sprintf("%d requests that were due have no outcome, and the result does not hold %s",
			missing, metric.NTPOT)
	}
	v, why = statOverAll(times, metric.Stat{Kind: metric.Percentile, P: 90}, 0, float64(missing))
	if why != "" {
		return 0, why
	}
	return 1 / v, ""
}

// unanswered counts the requests that were due and not answered well: they failed, were dropped or have no
// outcome. Dropped are, too, those of the ones without an outcome that were not sent before the node ended.
func (s source) unanswered() int64 {
	failed := s.metrics[metric.ErrorsCount]
	if s.excused && failed != nil && failed.Low != nil {
		failed = failed.Low
	}
	n, _ := failed.Stat(metric.Stat{})
	return int64(n) + max(s.count(metric.Incomplete), s.open(metric.ServiceTime)+s.count(metric.DroppedCount))
}

// adjusted returns a percentile over the values of m and others that are larger than all; it may be one of
// them, which is infinite.
func adjusted(m *Metric, of metric.Stat, others float64) float64 {
	have := float64(m.Dist.N())
	rank := math.Ceil(of.P / 100 * (have + others))
	if rank > have {
		return math.Inf(1)
	}
	v, _ := m.Stat(metric.Stat{Kind: metric.Percentile, P: 100 * (rank - 0.5) / have})
	return v
}

// missing counts the requests without an outcome that a row must count as slower than all others.
func (s source) missing(row *metric.Row) int64 {
	switch row.OutlastedBy() {
	case metric.DueRequests:
		return s.count(metric.Incomplete)
	case metric.SentRequests:
		return s.open(row.Name)
	case metric.NoRequest:
	}
	return 0
}

// open counts the requests that were sent and have no outcome; those that have one have a value of row.
func (s source) open(row string) int64 {
	answered, _ := s.metrics[row].Stat(metric.Stat{Kind: metric.N})
	return max(0, min(s.count(metric.Incomplete),
		s.count(metric.RequestsCount)-s.count(metric.ErrorsCount)-int64(answered)))
}

// count returns a metric that is a number of requests, 0 without data.
func (s source) count(name string) int64 {
	n, _ := s.metrics[name].Stat(metric.Stat{})
	return int64(n)
}

// widenByOpen widens a number of errors by the requests that were sent and have no outcome: they
// are neither errors nor successes. A budget is kept if it is kept with all of them failed, and
// broken if it is broken without them.
func (s source) widenByOpen(q *expression.Quantity, leaf metric.Leaf) {
	open := s.open(metric.ServiceTime)
	if open == 0 || !leaf.Row.OfErrors() {
		return
	}
	more := float64(open)
	if leaf.Row.Dim == metric.Ratio {
		more /= float64(s.count(metric.RequestsCount))
	}
	q.Hi += more
	q.Why = fmt.Sprintf("%d of the requests have no outcome, and may have failed: they were still open "+
		"after the drain", open)
	if open == 1 {
		q.Why = "1 of the requests has no outcome, and may have failed: it was still open after the drain"
	}
}

// statOverAll returns a statistic of reply times over all requests, including those without an
// outcome, which took longer than all others: without them a server that cannot keep up would look
// fast. v is the statistic of the others.
func statOverAll(m *Metric, of metric.Stat, v, missing float64) (all float64, why string) {
	p := of.P
	switch of.Kind {
	case metric.Mean, metric.Max, metric.Std:
		return 0,
			fmt.Sprintf("%.0f requests that were due have no outcome, so the %s of all of them is not "+
				"known", missing, of)
	case metric.Percentile:
	case metric.Min, metric.N, metric.TheValue:
		return v, ""
	}
	if m.Dist == nil {
		return v, ""
	}
	have := float64(m.Dist.N())
	rank := math.Ceil(p / 100 * (have + missing))
	if rank > have {
		return 0,
			fmt.Sprintf("%.0f of %.0f requests that were due have no outcome, so the p%v of all of them "+
				"is not known", missing, have+missing, p)
	}
	all, _ = m.Stat(metric.Stat{Kind: metric.Percentile, P: 100 * (rank - 0.5) / have})
	return all, ""
}

// Exceeding counts, among the n values of a reference, those larger than limit, in base units, to judge
// whether op limit is false: with < and >= those as large too; where the client was late, those that are
// larger at least (<) or at most (>). Requests without an outcome are larger than any limit. ok is false
// if the reference is no percentile of a stored distribution, or its node cannot be trusted.
func (s Stored) Exceeding(ref expression.Ref, op string, limit float64) (over, n int64, ok bool) {
	src, why := s.source(ref.Place)
	if why != "" || ref.Leaf.Stat.Kind != metric.Percentile {
		return 0, 0, false
	}
	m := src.metrics[ref.Leaf.Row.Name]
	switch {
	case !s.measured && src.droppedLate() && !ref.Leaf.Row.OutlivesDrops():
		return 0, 0, false
	case m == nil || m.Low == nil || s.measured:
	case strings.HasPrefix(op, "<"):
		m = m.Low
	default:
		m = m.High
	}
	if m == nil || m.Dist == nil || m.Dist.N() == 0 && !ref.Leaf.Stat.Adjusted {
		return 0, 0, false
	}
	missing := src.missing(ref.Leaf.Row)
	if missing > 0 && ref.Leaf.Row.Some {
		return 0, 0, false
	}
	if ref.Leaf.Stat.Adjusted {
		src.excused = m != src.metrics[ref.Leaf.Row.Name] && strings.HasPrefix(op, "<")
		missing = src.unanswered()
	}
	return m.Dist.Exceeding(limit*m.perUnit(), expression.TakesEqual(op)) + missing, m.Dist.N() + missing, true
}

// findNode returns the node of a place, or why it cannot be read. prefix begins a message about it.
func (s Stored) findNode(at expression.Place) (n *Node, where, why string) {
	id := at.Node
	if id == "" && s.node != nil {
		id = s.node.ID
	}
	if at.Baseline {
		n, why := s.baseline.trustedNode(id)
		return n, "the baseline: ", why
	}
	switch {
	case id == "":
		return nil, "", "no stage is named"
	case s.node != nil && id == s.node.ID:
		return s.node, "", ""
	}
	if n := s.result.node(id); n != nil {
		return n, fmt.Sprintf("stage %q: ", id), n.whyUntrusted()
	}
	return nil, "", fmt.Sprintf("there is no stage %q in the result", id)
}

// Doubt returns why an existing measurement that refs read cannot be trusted, else "".
func (s Stored) Doubt(refs []expression.Ref) string {
	for _, ref := range refs {
		if n, _, why := s.findNode(ref.Place); n != nil && n != s.node &&
			n.Outcome != SkippedNode && why != "" {
			return why
		}
	}
	return ""
}

// whyUntrusted returns why the numbers of another node must not be used, else "".
func (n *Node) whyUntrusted() string {
	if n.Outcome == Done && n.Validity.OK {
		return ""
	}
	word := map[Outcome]string{
		SkippedNode: "was skipped", Unstable: "did not become stable", InterruptedNode: "was interrupted",
		Failed: "could not run",
	}[n.Outcome]
	text := fmt.Sprintf("stage %q %s", n.ID, cmp.Or(word, "has no valid measurement"))
	if cause := n.Cause(); cause != "" {
		text += ": " + cause
	}
	return text
}

// dependsOnRequests reports whether row has no meaning without requests.
func dependsOnRequests(row *metric.Row) bool {
	return row.From.OfRequests() && row.Name != metric.RequestsCount
}

// sampleCount returns the number of measurements of a leaf: the values of a distribution, the
// requests of a rate or ratio, 1 for a single reading.
func (s source) sampleCount(m *Metric, l metric.Leaf) int64 {
	switch {
	case l.Stat.Kind == metric.N || !dependsOnRequests(l.Row):
		return 1
	case m.Count != nil && l.Stat.Adjusted:
		return *m.Count + s.unanswered()
	case m.Count != nil:
		return *m.Count
	}
	return s.count(metric.RequestsCount)
}
