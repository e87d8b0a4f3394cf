package feed

import (
	"testing"
	"time"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// TestTimeUnitWithoutTimes: a unit of times is an error where no row has a time.
func TestTimeUnitWithoutTimes(t *testing.T) {
	for row, want := range map[string]string{
		`{"x": 1}`:                 `"time_unit" has no effect: no row has a "timestamp" or a "delay"`,
		`{"x": 1, "timestamp": 5}`: "",
		`{"x": 1, "delay": 5}`:     "",
	} {
		pos := source.Pos{File: "plan.yaml", Line: 3, Column: 9}
		_, _, diags := Check(&scenario.Dataset{
			Name: "main", Source: "rows", Rows: []scenario.Row{{JSON: row}}, TimeUnit: time.Millisecond,
			TimeUnitPos: pos,
		}, false)
		if got := diags.Error(); want == "" && len(diags) > 0 ||
			want != "" && (len(diags) != 1 || diags[0].Summary != want || diags[0].Pos != pos) {
			t.Errorf("%s: %s, want %q", row, got, want)
		}
	}
}
