package trial

import (
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// storedSeries returns what is stored of a series of windows: of each the metrics that its
// assertions name, and the number of its requests. Verdicts are computed from that, now and later.
func storedSeries(w program.WindowSeries, s measure.Series) result.Series {
	out := result.Series{
		Phase: w.Place.Phase, Mix: w.Place.Mix, Every: seconds(w.Every), From: seconds(s.From),
		To: seconds(s.To), Missing: s.Missing, Windows: []result.SeriesWindow{},
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
		out.Windows = append(out.Windows, result.SeriesWindow{
			Repeat: x.Repeat, From: seconds(x.From), To: seconds(x.To), Metrics: m,
		})
	}
	return out
}
