package executor

import (
	"math"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// storedSeries is what is stored of a series of windows: of each the metrics that its assertions name, and how many
// requests it is about. Verdicts are computed from that, now and later.
func storedSeries(w windowed, s measure.Series) result.Series {
	out := result.Series{
		Phase: w.place.Phase, Mix: w.place.Mix, Every: seconds(w.every), From: seconds(s.From), To: seconds(s.To), Missing: s.Missing,
		Windows: []result.Stretch{},
	}
	for _, x := range s.Windows {
		m := make(map[string]*result.Metric)
		for _, row := range w.rows {
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
func (t *trial) spansOf(w windowed) []measure.Span {
	for i, at := range t.parts.places {
		if at == w.place && t.parts.parts.Scopes[i].Spans != nil {
			return t.parts.parts.Scopes[i].Spans
		}
	}
	if t.parts.parts.Holds != nil {
		return t.parts.parts.Holds
	}
	return []measure.Span{{From: 0, To: math.MaxInt64}}
}

// scopeStart is when the scope of a series begins, ns since hold did.
func (t *trial) scopeStart(w windowed) int64 { return t.spansOf(w)[0].From }

// windowsOf is how many windows a series will have when hold lasts as long as it is to.
func (t *trial) windowsOf(w windowed) (n int) {
	for _, s := range t.spansOf(w) {
		n += int(max(min(s.To, t.course.length)-s.From, 0) / w.every)
	}
	return n
}
