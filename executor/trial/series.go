package trial

import (
	"math"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// storedSeries returns what is stored of a series of windows: of each the metrics that its
// assertions name, and how many requests it is about. Verdicts are computed from that, now and
// later.
func storedSeries(w program.WindowSeries, s measure.Series) result.Series {
	out := result.Series{
		Phase: w.Place.Phase, Mix: w.Place.Mix, Every: seconds(w.Every), From: seconds(s.From), To: seconds(s.To),
		Missing: s.Missing, Windows: []result.SeriesWindow{},
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

// seriesSpans returns the spans of hold that a series of windows is cut from.
func seriesSpans(s *program.Parts, w program.WindowSeries) []measure.Span {
	for i, at := range s.Places {
		if at == w.Place && s.Measured.Scopes[i].Spans != nil {
			return s.Measured.Scopes[i].Spans
		}
	}
	if s.Measured.Holds != nil {
		return s.Measured.Holds
	}
	return []measure.Span{{From: 0, To: math.MaxInt64}}
}

// seriesStart returns when the scope of a series begins, ns since hold did.
func seriesStart(s *program.Parts, w program.WindowSeries) int64 { return seriesSpans(s, w)[0].From }

// seriesWindows counts the windows that a series will have in a hold of length ns.
func seriesWindows(s *program.Parts, w program.WindowSeries, length int64) (n int) {
	for _, span := range seriesSpans(s, w) {
		n += int(max(min(span.To, length)-span.From, 0) / w.Every)
	}
	return n
}
