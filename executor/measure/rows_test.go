package measure

import (
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Each catalogue row that is measured here has exactly one way to be read, and nothing else has
// one: neither what others count nor what this version measures nowhere.
func TestRowsMatchTheCatalogue(t *testing.T) {
	full := Aggregate{
		Window: 1,
		Counts: Counts{
			Sent: 2, Good: 1, Reconnects: 1, Coalesced: 1, Sequences: 1, StepsDropped: 1, DecodeTokens: 1,
			DecodeTime: 1, CachedOf: 1,
		},
		Flow:         Flow{Completed: 1, Items: 1, Responses: 1, EndedSequences: 1, GoodCompleted: 1},
		PlayerCounts: PlayerCounts{Planned: 2, Offered: 1, PeakInFlight: 1}, HasGoodput: true,
	}
	full.Class[backends.OK] = 1
	full.dists[responses].Add(1)
	full.dists[perToken].Add(1)
	rows := map[string]metric.From{}
	for _, row := range catalogue(t).Rows() {
		rows[row.Name] = row.From
		_, isValue := full.Value(row)
		isExtract := extractOf(row.Name) >= 0
		if isExtract != (row.From == metric.Sample) {
			t.Errorf("%s: extract %v, row From %d", row.Name, isExtract, row.From)
		}
		if isValue != row.From.Counted() {
			t.Errorf("%s: value %v, row From %d", row.Name, isValue, row.From)
		}
		if isExtract != (row.IsDistribution() && row.From != metric.Scrape) {
			t.Errorf("%s: extract %v, row origin %d", row.Name, isExtract, row.From)
		}
	}
	seen := map[string]bool{}
	for _, e := range extracts {
		if rows[e.row] == 0 || seen[e.row] {
			t.Errorf("extract %q has no row, or stands twice", e.row)
		}
		seen[e.row] = true
	}
	for i, name := range map[int]string{
		latency: "latency", closedLoop - 1: "client.turnaround",
		serviceTime: "service_time", sendDelay: "send_delay",
	} {
		if extracts[i].row != name {
			t.Errorf("extracts[%d] is %s, want %s", i, extracts[i].row, name)
		}
	}
}
