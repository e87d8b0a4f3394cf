package executor

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/observe"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// measure turns what was folded into the numbers of the trial.
func (t *trial) measure() {
	end := t.end()
	t.folded += int64(t.folder.Drain(end))
	total := t.folder.Finish(end)
	t.out.Started, t.out.Duration = seconds(total.From), seconds(total.To-total.From)
	t.recorded(&total)
	reported := measure.Span{To: total.To - total.From}
	if t.steer.accepted != nil {
		first, last := t.steer.accepted[0], t.steer.accepted[len(t.steer.accepted)-1]
		total.Aggregate, total.Scopes = measure.MergeWindows(t.steer.accepted)
		reported = measure.Span{From: first.From - total.From, To: last.To - total.From}
		total.Keep(reported.From, reported.To)
		t.out.Duration = seconds(last.To - first.From)
	}
	if t.steer.stable != nil {
		t.out.Windows = t.steer.history
		for i := range t.out.Windows {
			t.out.Windows[i].From -= seconds(total.From)
			t.out.Windows[i].To -= seconds(total.From)
		}
	}
	t.books(&total, reported)
	t.read = &readings{
		total: total, parts: t.parts, stopped: total.Aggregate.Stopped(), sent: t.played.Sent, repeats: 1,
		use: t.watch.use(t), counted: t.in.series, percentiles: t.r.program.Plan.Output.Percentiles,
		mask: t.r.program.Plan.Mask, called: t.in.called, server: t.serverSlices(total.Slices, total.From), scrapes: t.scrapes(total.From, reported),
	}
	t.read.began, t.read.ended = t.counters(total.From, reported)
	t.read.fill(t.node, t.out)
	t.notesOnReadings()
	if t.node.Open {
		t.out.Load.ScheduleHash = fmt.Sprintf("%016x", t.played.Hash)
	}
}

// end is the moment at which the node's measurement ends at the latest. An open loop is done before hold is over when no
// arrival is due in what is left of it; that rest belongs to hold like any other time without an arrival. Only arrivals or
// data that ran out end hold early.
func (t *trial) end() int64 {
	now, stop := t.r.clock.Now(), t.control.StopAt.Load()
	if stop == math.MaxInt64 || stop <= now {
		return now
	}
	if t.course.ends || t.ranOut() {
		t.control.StopAt.Store(math.MaxInt64) // with the last completion, not with what the drain took
		return now
	}
	if t.course.length > 0 {
		return stop
	}
	return now
}

// ranOut reports that a dataset that is sent once has been sent.
func (t *trial) ranOut() bool {
	sent, rows := t.played.Sent+t.played.WarmSent, int64(0)
	for _, e := range t.in.entries {
		if !t.once(e.plan.Request.Data) {
			return false
		}
		rows += int64(e.choices() - t.course.skipped)
	}
	return sent >= rows
}

// readings is what the metrics of a node are read from, as plain sums: those of one trial, or of several repeats joined.
type readings struct {
	total       measure.Total // what metrics without a scope cover, the parts, the windows
	parts       program.Parts // what total.Scopes and total.Series are of
	stopped     int64         // requests of hold that we cancelled ourselves
	sent        int64         // those due on a ramp's way included
	repeats     int
	use         observe.Use
	counted     []backends.Series // by the server
	called      []called          // the models that the stage's own call
	began       tally             // by the server; nil: it keeps none, or nothing is known
	ended       tally
	server      []serverSlice
	scrapes     []result.Scrape
	percentiles []float64
	mask        func(string) string // of what a server said
}

// before is the readings of no repeat yet, to which m and its likes can be joined.
func (m *readings) before() *readings {
	return &readings{
		parts: m.parts, counted: m.counted, called: m.called, began: m.began, ended: m.began, percentiles: m.percentiles, mask: m.mask,
	}
}

// join adds the repeat that comes next.
func (m *readings) join(o *readings) {
	m.total.Join(&o.total, m.repeats)
	m.stopped += o.stopped
	m.sent += o.sent
	m.use = bothUses(m.use, o.use)
	m.ended = bothCounts(m.ended, o.began, o.ended)
	for _, s := range o.server {
		s.repeat += m.repeats
		m.server = append(m.server, s)
	}
	m.scrapes = joinScrapes(m.scrapes, o.scrapes, m.repeats)
	m.repeats += o.repeats
}

// bothUses is what a process took in two repeats. What is not known of one is not known of both.
func bothUses(a, b observe.Use) observe.Use {
	add := func(x, y int64) int64 {
		if x < 0 || y < 0 {
			return -1
		}
		return x + y
	}
	u := observe.Use{
		Wall: a.Wall + b.Wall, User: add(a.User, b.User), System: add(a.System, b.System), Starved: add(a.Starved, b.Starved),
		Memory: max(a.Memory, b.Memory), Share: -1,
	}
	if a.Share >= 0 && b.Share >= 0 && u.Wall > 0 {
		u.Share = (a.Share*float64(a.Wall) + b.Share*float64(b.Wall)) / float64(u.Wall)
	}
	return u
}

// bothCounts is an end of counters that have grown by another repeat as well, for each model.
func bothCounts(end, from, to tally) (all tally) {
	if len(end) != len(from) || len(end) != len(to) {
		return nil
	}
	for i := range end {
		all = append(all, bothSnapshots(end[i], from[i], to[i]))
	}
	return all
}

// bothSnapshots is that of one model. A counter that went back spoils the sum.
func bothSnapshots(end, from, to observe.Snapshot) observe.Snapshot {
	if len(end.Values) != len(from.Values) || len(end.Values) != len(to.Values) {
		return observe.Snapshot{}
	}
	sum := observe.Snapshot{At: to.At, Values: slices.Clone(end.Values)}
	for i := range sum.Values {
		if to.Values[i] < from.Values[i] {
			return observe.Snapshot{Values: make([]int64, len(sum.Values))} // before every start
		}
		sum.Values[i] += to.Values[i] - from.Values[i]
	}
	return sum
}

// fill puts every row that the node can produce into its result, its parts, its windows, its slices and its failures.
func (m *readings) fill(n *program.Node, out *result.Node) {
	growth := m.growth()
	for _, row := range n.Catalogue.Rows() {
		if !row.Later && n.Lacks(row) == "" {
			m.read(row, growth, out.Metrics)
		}
	}
	out.Scopes, out.Series = nil, nil
	for i, at := range m.parts.Places {
		out.Scopes = append(out.Scopes, scopeOf(n, at, m.total.Scopes[i], m.percentiles))
	}
	for i, w := range m.parts.Series {
		out.Series = append(out.Series, storedSeries(w, m.total.Series[i]))
	}
	out.Slices = slices.Concat([]result.Slice{}, onSlices(resultSlices(m.total.Slices), m.server))
	out.Models, out.Scrapes = m.models(), m.scrapes
	out.Errors = failures(m.total.Aggregate)
	out.Redact(m.mask) // an example is cut, and what is made of it later hides where
}

// growth is what the server counted, nil when nothing is known.
func (m *readings) growth() []observe.Reading {
	if m.began == nil || m.ended == nil {
		return nil
	}
	return observe.Growth(m.counted, m.began[0], m.ended[0])
}

// read puts one row into the result. A row without data stands there without a value: it was asked for and not had.
func (m *readings) read(row *metric.Row, growth []observe.Reading, out map[string]*result.Metric) {
	if row.Summed() {
		out[row.Name] = reading(row, m.total.Aggregate, m.percentiles)
		return
	}
	var v float64
	var ok bool
	switch row.From {
	case metric.Client:
		v, ok = m.client(row.Name)
	case metric.Series:
		i := slices.IndexFunc(growth, func(r observe.Reading) bool { return r.Row.Name == row.Name })
		if i < 0 {
			return // the server keeps none: absent, not empty
		}
		v, ok = growth[i].V, growth[i].OK
	case metric.Scrape:
		if g := gpu(row, m.scrapes, m.percentiles); g != nil {
			out[row.Name] = g
		}
		return // a server without GPUs: absent, not empty
	default: // capacity: whoever searches knows
	}
	out[row.Name] = result.Scalar(row, v, ok && !math.IsNaN(v) && !math.IsInf(v, 0))
}

// scopeOf is what is stored of a part of a node. Rows that only the node as a whole has are left out.
func scopeOf(n *program.Node, at expression.Place, a *measure.Aggregate, percentiles []float64) result.Scope {
	out := result.Scope{
		Phase: at.Phase, Mix: at.Mix, Duration: seconds(a.Window), Metrics: make(map[string]*result.Metric), Errors: failures(a),
	}
	for _, e := range n.Stage.Mix {
		if e.Name == at.Mix {
			out.Target, out.Model, out.Batch = e.Request.Target.Name, cmp.Or(e.Request.Model, e.Request.Target.Model), e.Request.Batch
		}
	}
	for _, row := range n.Catalogue.Rows() {
		if row.OfPart() && !row.Later && n.Lacks(row) == "" {
			out.Metrics[row.Name] = reading(row, a, percentiles)
		}
	}
	return out
}

// reading is a row of a, with the percentiles named.
func reading(row *metric.Row, a *measure.Aggregate, percentiles []float64) *result.Metric {
	if row.Shape == metric.Distribution {
		d := a.Dist(row)
		if d == nil {
			d = new(stats.Dist)
		}
		return result.Distribution(row, d, percentiles)
	}
	v, ok := a.Value(row)
	return result.Scalar(row, v, ok)
}

// notesOnReadings says what a reader must know of the numbers.
func (t *trial) notesOnReadings() {
	for _, r := range t.read.growth() {
		if r.Why != "" {
			t.note("statistics", "%s: %s", r.Row.Name, r.Why)
			break // one cause, many rows
		}
	}
	for i, w := range t.parts.Series {
		if s := t.read.total.Series[i]; s.Missing > 0 {
			t.note("windows", "%d windows of %s are more than the %d that are kept: an assertion on them cannot pass; use a longer `every`",
				s.Missing+len(s.Windows), source.Duration(time.Duration(w.Every)), measure.MaxWindows)
		}
	}
}

// span is the time in which the schedule wanted what was planned: hold, ns. Of `for: N requests` it is that of the
// schedule, not that of the slowest reply: from the first arrival to the one that would have come after the last.
func (t *trial) span(hold int64) int64 {
	c := t.course
	if c.profile != nil || c.limit == 0 && !c.ends || t.steer.stopped != "" || t.short.that != "" {
		return hold
	}
	if c.sequences != nil {
		return t.sequenceSpan(hold)
	}
	return planSpan(c.arrivals(), c.warm, c.warmCount, t.played.Planned)
}

// planSpan is the time from the first of n arrivals after the warm-up to the arrival that follows them, ns. After the last
// of all that is one mean gap.
func planSpan(s load.Schedule, warm, skip, n int64) int64 {
	var from, last int64
	for i := int64(0); ; {
		due, ok := s.Next()
		if !ok {
			if i < 2 {
				return 0
			}
			return (last - from) / (i - 1) * i
		}
		last = due
		if due < warm || skip > 0 {
			skip--
			continue
		}
		if i == 0 {
			from = due
		}
		if i == n {
			return due - from
		}
		i++
	}
}

// client reads what this process used during hold.
func (m *readings) client(name string) (float64, bool) {
	switch name {
	case metric.ClientCPU:
		return m.use.Share, m.use.Share >= 0
	case metric.ClientPerSent:
		return seconds(m.use.CPU()) / float64(m.sent), m.use.CPU() >= 0 && m.sent > 0
	case metric.ClientMemory:
		return float64(m.use.Memory), m.use.Memory >= 0
	}
	return 0, false
}

func resultSlices(list []measure.Slice) []result.Slice {
	var out []result.Slice
	for _, s := range list {
		out = append(out, result.Slice{
			Repeat: s.Repeat, From: seconds(s.From), To: seconds(s.To), Sent: s.Sent, OK: s.OK, Failed: s.Failed, Items: s.Items, InFlight: s.InFlight,
			LatencyP50: optional(s.N, s.P50), LatencyP99: optional(s.N, s.P99), LatencyMax: optional(s.N, s.Max),
		})
	}
	return out
}

// optional is ns as seconds, or nothing when it stands for no values.
func optional(n, ns int64) *float64 {
	if n == 0 {
		return nil
	}
	v := seconds(ns)
	return &v
}
