package executor

import (
	"fmt"
	"math"
	"slices"

	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/observe"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// measure turns what was folded into the node's numbers: one entry for each catalogue row that the node can produce.
func (t *trial) measure() {
	total := t.folder.Finish(t.end())
	all := total.Aggregate
	t.out.Started, t.out.Duration = seconds(total.From), seconds(total.To-total.From)
	if t.steer.accepted != nil {
		first, last := t.steer.accepted[0], t.steer.accepted[len(t.steer.accepted)-1]
		all = measure.MergeWindows(t.steer.accepted)
		t.out.Duration = seconds(last.To - first.From)
	}
	if t.steer.stable != nil {
		t.out.Windows = t.steer.history
		for i := range t.out.Windows {
			t.out.Windows[i].From -= seconds(total.From)
			t.out.Windows[i].To -= seconds(total.From)
		}
	}
	t.read = &readings{
		total: total, all: all, played: t.played, stopped: all.Stopped(), use: t.watch.use(), growth: t.growth(),
		span: t.span(total.To - total.From), percentiles: t.r.program.Plan.Output.Percentiles,
	}
	t.read.fill(t.node, t.out)
	if t.node.Open {
		t.out.Load.ScheduleHash = fmt.Sprintf("%016x", t.played.Hash)
	}
}

// end is the moment at which the node's measurement ends at the latest. An open loop is done before hold is over when no
// arrival is due in what is left of it; that rest belongs to hold like any other time without an arrival. Only a dataset
// that ran out ends hold early.
func (t *trial) end() int64 {
	now, stop := t.r.clock.Now(), t.control.StopAt.Load()
	ranOut := t.node.Stage.Request.Data.AtEnd == "stop" && t.played.Sent+t.played.WarmSent >= int64(len(t.in.calls))
	if t.steer.length > 0 && !ranOut && stop != math.MaxInt64 {
		return max(now, stop)
	}
	return now
}

// readings is what the metrics of a node are read from: those of one trial, or of several rounds joined.
type readings struct {
	total       measure.Total
	all         *measure.Aggregate // what metrics without a scope cover
	played      drive.Played
	stopped     int64 // requests of hold that we cancelled ourselves
	span        int64 // ns in which the schedule wanted what was planned
	use         observe.Use
	growth      []observe.Reading // what the server counted during hold; nil without statistics
	percentiles []float64
}

// fill puts every row that the node can produce into its result.
func (m *readings) fill(n *Node, out *result.Node) {
	for _, row := range n.Catalogue.Rows() {
		if !row.Later && n.lacks(row, nil) == "" {
			m.read(row, out.Metrics)
		}
	}
	out.Slices = slices.Concat([]result.Slice{}, resultSlices(m.total.Slices))
	out.Errors = failures(m.all)
}

// read puts one row into the result. A row without data stands there without a value: it was asked for and not had.
func (m *readings) read(row *metric.Row, out map[string]*result.Metric) {
	if row.Shape == metric.Distribution {
		d := m.all.Dist(row)
		if d == nil {
			d = new(stats.Dist)
		}
		out[row.Name] = result.Distribution(row, d, m.percentiles)
		return
	}
	var v float64
	var ok bool
	switch row.From {
	case metric.Flow, metric.Counts:
		v, ok = m.all.Value(row)
	case metric.Driver:
		v, ok = m.driver(row.Name)
	case metric.Client:
		v, ok = m.client(row.Name)
	case metric.Series:
		if m.growth == nil {
			return // the server keeps none: absent, not empty
		}
		v, ok = m.server(row.Name)
	case metric.Sample:
	}
	out[row.Name] = result.Scalar(row, v, ok && !math.IsNaN(v) && !math.IsInf(v, 0))
}

// driver reads the player's own books.
func (m *readings) driver(name string) (float64, bool) {
	p := m.played
	dropped := float64(p.DroppedPool + p.DroppedStop)
	switch name {
	case metric.OfferedRate:
		return float64(p.Planned) / seconds(m.span), p.Planned > 0 && m.span > 0
	case metric.DroppedCount:
		return dropped, p.Planned > 0
	case metric.DroppedRatio:
		return dropped / float64(p.Planned), p.Planned > 0
	case metric.Incomplete:
		return float64(p.DroppedStop + m.stopped), p.Planned > 0
	case metric.InFlightMax:
		return float64(p.PeakInFlight), p.Sent+p.WarmSent > 0
	}
	return 0, false
}

// span is the time in which the schedule wanted what was planned: hold, ns. Of `for: N requests` it is that of the
// schedule, not that of the slowest reply: from the first arrival to the one that would have come after the last.
func (t *trial) span(hold int64) int64 {
	e, ok := t.node.Stage.Extent.(scenario.For)
	if !t.node.Open || !ok || e.Span.Requests == 0 || t.steer.stopped != "" {
		return hold
	}
	return planSpan(t.schedule(), int64(t.node.Stage.Warmup.Duration), t.node.Stage.Warmup.Requests, t.played.Planned)
}

// planSpan is the time from the first of n arrivals after the warm-up to the arrival that follows them, ns.
func planSpan(s load.Schedule, warm, skip, n int64) int64 {
	var from int64
	for i := int64(0); ; {
		due, ok := s.Next()
		if !ok {
			return 0
		}
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
	use := m.use
	switch name {
	case metric.ClientCPU:
		return use.Share, use.Share >= 0
	case metric.ClientPerSent:
		sent := m.played.Sent
		return seconds(use.CPU()) / float64(sent), use.CPU() >= 0 && sent > 0
	case metric.ClientMemory:
		return float64(use.Memory), use.Memory >= 0
	}
	return 0, false
}

// server reads the growth of the server's counters between the snapshots at the ends of hold.
func (m *readings) server(name string) (float64, bool) {
	for _, r := range m.growth {
		if r.Row.Name == name {
			return r.V, r.OK
		}
	}
	return 0, false
}

func resultSlices(list []measure.Slice) []result.Slice {
	var out []result.Slice
	for _, s := range list {
		out = append(out, result.Slice{
			From: seconds(s.From), To: seconds(s.To), Sent: s.Sent, OK: s.OK, Failed: s.Failed, Items: s.Items, InFlight: s.InFlight,
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
