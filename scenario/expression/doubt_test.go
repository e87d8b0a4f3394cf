package expression

import (
	"testing"

	"github.com/sluice-bench/sluice/scenario/source"
)

// TestNeverInDoubt is comparisons that no run can change: each is warned of where it stands, and
// works all the same.
func TestNeverInDoubt(t *testing.T) {
	for _, row := range []struct{ expr, marked, want, why string }{
		{"errors.ratio < 150%", "errors.ratio < 150%", "this is always true", "errors.ratio is never above 100%"},
		{"errors.ratio >= 0%", "errors.ratio >= 0%", "this is always true", "errors.ratio is never negative"},
		{"150% > errors.ratio", "150% > errors.ratio", "this is always true", "errors.ratio is never above 100%"},
		{"errors.ratio > 100%", "errors.ratio > 100%", "this is never true", "errors.ratio is never above 100%"},
		{"requests.count >= 0", "requests.count >= 0", "this is always true", "requests.count is never negative"},
		{"requests.count != -1", "requests.count != -1", "this is always true", "requests.count is never negative"},
		{"requests.count == -1", "requests.count == -1", "this is never true", "requests.count is never negative"},
		{"latency.p99 < -5ms", "latency.p99 < -5ms", "this is never true", "latency.p99 is never negative"},
		{"latency.p99 < 5ms - 10ms", "latency.p99 < 5ms - 10ms", "this is never true", "latency.p99 is never negative"},
		{"latency.p99 < 5ms and (throughput > -1/s)", "throughput > -1/s", "this is always true", "throughput is never negative"},
		{"not (latency.count < ${below})", "latency.count < ${below}", "this is never true", "latency.count is never negative"},
		{"errors.ratio <= 100%", "", "", ""}, // how a plan says that errors are fine
		{"errors.ratio < 100%", "", "", ""},
		{"latency.p99 > 0s", "", "", ""},
		{"errors.count == 0", "", "", ""},
		{"client.cpu < 150%", "", "", ""},
		{"latency.p99 - latency.p50 < -5ms", "", "", ""},
		{"errors.count / requests.count < 2", "", "", ""},
	} {
		p, ds := Compile(text(row.expr), newScope(t))
		if p == nil || len(ds) != min(1, len(row.want)) {
			t.Errorf("%s: %v", row.expr, ds)
			continue
		}
		for _, d := range ds {
			marked := string([]rune(row.expr)[d.Pos.Column-5 : d.Pos.Column-5+d.Width])
			if d.Severity != source.Warning || d.Code != codeVacuous || marked != row.marked || d.Summary != row.want || d.Detail != row.why {
				t.Errorf("%s: %+v\nmarked %q", row.expr, d, marked)
			}
		}
	}
}
