package executor

import (
	"math"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// storedSeries is what is stored of a series of windows: of each the metrics that its assertions name, and how many
// requests it is about. Verdicts are computed from that, now and later.
func storedSeries(w program.WindowSeries, s measure.Series) result.Series {
	out := result.Series{
		Phase: w.Place.Phase, Mix: w.Place.Mix, Every: seconds(w.Every), From: seconds(s.From), To: seconds(s.To), Missing: s.Missing,
		Windows: []result.Stretch{},
	}
	for _, x := range s.Windows {
		m := make(map[string]*result.Metric)
		for _, row := range w.Rows {
			m[row.Name] = reading(row, x.Aggregate, nil)
		}
		if m[metric.RequestsCount] == nil {
			m[metric.RequestsCount] = result.Number(metric.Count, float64(x.Aggregate.Sent))
		}
		if n := x.Aggregate.Stopped(); n > 0 {
			m[metric.Incomplete] = result.Number(metric.Count, float64(n))
		}
		out.Windows = append(out.Windows, result.Stretch{Repeat: x.Repeat, From: seconds(x.From), To: seconds(x.To), Metrics: m})
	}
	return out
}

// spansOf are the stretches of hold that a series is cut from.
func (t *trial) spansOf(w program.WindowSeries) []measure.Span {
	for i, at := range t.parts.Places {
		if at == w.Place && t.parts.Measured.Scopes[i].Spans != nil {
			return t.parts.Measured.Scopes[i].Spans
		}
	}
	if t.parts.Measured.Holds != nil {
		return t.parts.Measured.Holds
	}
	return []measure.Span{{From: 0, To: math.MaxInt64}}
}

// scopeStart is when the scope of a series begins, ns since hold did.
func (t *trial) scopeStart(w program.WindowSeries) int64 { return t.spansOf(w)[0].From }

// windowsOf is how many windows a series will have when hold lasts as long as it is to.
func (t *trial) windowsOf(w program.WindowSeries) (n int) {
	for _, s := range t.spansOf(w) {
		n += int(max(min(s.To, t.course.length)-s.From, 0) / w.Every)
	}
	return n
}
