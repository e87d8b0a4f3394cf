package artifact

import (
	"bytes"
	"encoding/csv"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
	"github.com/sluice-bench/sluice/executor/result"
)

// timelineColumns are the columns of timeline.csv before the server's own counters.
var timelineColumns = []string{
	"node", "repeat", "from_s", "to_s", "sent", "ok", "failed", "items", "in_flight", "latency_p50_ms",
	"latency_p99_ms", "latency_max_ms", "tokens", "ttft_p50_ms", "ttft_p99_ms",
}

// timelineCSV returns a row for each slice of hold, of a second or more, of each node: requests by when they
// were due, answers and their times by when they ended. An empty cell means no data.
func timelineCSV(r *result.Result, _ Options) ([]byte, error) {
	counters := map[string]bool{}
	for _, n := range r.Nodes {
		for _, s := range n.Slices {
			for name := range s.Server {
				counters[name] = true
			}
		}
	}
	server := slices.Sorted(maps.Keys(counters))
	header := slices.Clone(timelineColumns)
	for _, name := range server {
		header = append(header, clean.Cell(clean.Line(strings.ReplaceAll(name, ".", "_"))))
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(header) // the writer keeps its error
	for _, n := range r.Nodes {
		for i := range n.Slices {
			_ = w.Write(sliceCells(n, &n.Slices[i], server))
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

func sliceCells(n *result.Node, s *result.Slice, server []string) []string {
	ms := func(v *float64) string {
		if v == nil {
			return ""
		}
		return decimal(*v * 1e3)
	}
	cells := []string{
		clean.Cell(clean.Line(n.ID)), whole(int64(s.Repeat + 1)), decimal(s.From), decimal(s.To), whole(s.Sent),
		whole(s.OK), whole(s.Failed), whole(s.Items), whole(s.InFlight), ms(s.LatencyP50), ms(s.LatencyP99),
		ms(s.LatencyMax), whole(s.Tokens), ms(s.TTFTP50), ms(s.TTFTP99),
	}
	for _, name := range server {
		cell := ""
		if v, ok := s.Server[name]; ok {
			cell = decimal(v)
		}
		cells = append(cells, cell)
	}
	return cells
}
