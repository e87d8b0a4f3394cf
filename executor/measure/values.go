package measure

import (
	"math"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/executor/delay"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Dist returns the distribution of a row From Sample in its own unit (ns for durations), nil for
// any other row.
func (a *Aggregate) Dist(row *metric.Row) *stats.Dist {
	i := distOf(row.Name, a.Closed)
	if i < 0 {
		return nil
	}
	return &a.dists[i]
}

// Value returns the value of a row From Flow or Counts in the base unit of its dimension. ok is
// false without data, or if the row is not measured here.
func (a *Aggregate) Value(row *metric.Row) (float64, bool) {
	v := a.value(row.Name)
	return v, !math.IsNaN(v) && !math.IsInf(v, 0)
}

// Denominator returns the number of requests that the value of a row is a share of; for most rows
// those sent.
func (a *Aggregate) Denominator(row *metric.Row) int64 {
	switch row.Name {
	case metric.CoalescedRatio:
		return a.OK()
	case metric.DroppedRatio:
		return a.Planned
	case metric.GoodputRatio:
		return a.plannedJudged()
	}
	if strings.HasPrefix(row.Name, "errors.") {
		return a.judged()
	}
	return a.Sent
}

// judged returns the number of requests sent that can be errors or not: one that the client closed as
// planned is neither.
func (a *Aggregate) judged() int64 { return a.Sent - a.ByUs() }

// plannedJudged is judged with the requests that were due and never sent.
func (a *Aggregate) plannedJudged() int64 { return a.Planned - a.ByUs() }

// LeafValue returns the value of any leaf measured here in base units, as used for stability
// windows.
func (a *Aggregate) LeafValue(l metric.Leaf) (float64, bool) {
	d := a.Dist(l.Row)
	if d == nil {
		return a.Value(l.Row)
	}
	v, ok := statistic(d, l.Stat)
	if l.Row.Dim == metric.Duration && l.Stat.Kind != metric.N {
		v /= nsPerSecond
	}
	return v, ok
}

// Exceeding counts, among the n values of a row From Sample, those larger than limit or, with equal, as
// large; limit is in the row's base unit. ok is false if the row has no distribution here.
func (a *Aggregate) Exceeding(row *metric.Row, limit float64, equal bool) (over, n int64, ok bool) {
	d := a.Dist(row)
	if d == nil {
		return 0, 0, false
	}
	if row.Dim == metric.Duration {
		limit *= nsPerSecond
	}
	return d.Exceeding(limit, equal), d.N(), true
}

// statistic returns one statistic of d in d's own unit, false without values.
func statistic(d *stats.Dist, s metric.Stat) (float64, bool) {
	if s.Kind == metric.N {
		return float64(d.N()), true
	}
	if d.N() == 0 {
		return 0, false
	}
	switch s.Kind {
	case metric.Percentile:
		v, ok := d.Rank(s.P)
		return float64(v), ok
	case metric.Mean:
		return d.Mean(), true
	case metric.Min:
		return float64(d.Min()), true
	case metric.Max:
		return float64(d.Max()), true
	case metric.Std:
		return d.Std(), true
	case metric.N, metric.TheValue:
	}
	return 0, false
}

// medianService returns the median service time, ns; 0: unknown.
func (a *Aggregate) medianService() int64 {
	i := serviceTime
	if a.Closed {
		i = latency
	}
	median, _ := a.dists[i].Rank(50)
	return median
}

// LateLimit returns the send delay, in ns, from which a request is late: least, or 1 % of the median
// service time if that is longer.
func (a *Aggregate) LateLimit(least time.Duration) int64 {
	return max(int64(least), a.medianService()/100)
}

// SendDelays returns the own send delays of the client, ns; empty where no request has a due time of its own.
func (a *Aggregate) SendDelays() *stats.Dist { return &a.dists[clientDelay] }

// Blurred reports whether the client itself sent more than delay.BlurShare of the requests late, by over
// LateLimit(least): metrics without a bound then say nothing.
func (a *Aggregate) Blurred(least time.Duration) bool {
	own := a.SendDelays()
	return float64(own.Above(a.LateLimit(least))) > delay.BlurShare*float64(own.N())
}

// Late counts the late requests of the rows late.*, whose least limit no plan changes.
func (a *Aggregate) Late() int64 { return a.dists[sendDelay].Above(a.LateLimit(time.Millisecond)) }
