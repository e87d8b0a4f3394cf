package verdict

import (
	"testing"
	"time"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
)

// TestUnseenErrors: windows say nothing of the errors after the last whole one, so no budget for
// windows holds beside these.
func TestUnseenErrors(t *testing.T) {
	b := newBuild(t)
	on := func(failed int, inWindows ...int) result.Stored {
		n, s := b.node("s", failed, same(10, 200)...), result.Series{Every: 1, To: 2.5}
		for i, k := range inWindows {
			s.Windows = append(s.Windows,
				result.SeriesWindow{From: float64(i), To: float64(i + 1), Metrics: b.numbers(k, same(10, 80)...)})
		}
		n.Series = []result.Series{s}
		return result.Values(&result.Result{Nodes: []*result.Node{n}}, n)
	}
	every, half := scenario.Assertion{Every: time.Second}, scenario.Assertion{Every: time.Second, Allow: .5}
	const clean = "true in 2 of 2 windows; the closest, 0 s to 1 s: errors.count is 0, it must be 0 (n = 80)"
	for _, row := range []stored{
		{"none", "errors.count == 0", every, on(0, 0, 0), result.Pass, clean},
		{
			"after the last window", "errors.count == 0", every, on(5, 0, 0), result.Inconclusive,
			"5 errors are in no whole window of 1 s: let the stage be a multiple of it; of the windows: " +
				clean,
		},
		{
			"one", "errors.count == 0", every, on(1, 0, 0), result.Inconclusive,
			"1 error is in no whole window of 1 s: let the stage be a multiple of it; of the windows: " +
				clean,
		},
		{
			"a share", "errors.ratio < 10%", every, on(5, 2, 0), result.Inconclusive,
			"3 errors are in no whole window of 1 s: let the stage be a multiple of it; of the windows: true in 2 of 2 windows; the closest, 0 s to 1 s: errors.ratio is 2.439 %, the limit is 10 % (n = 82)",
		},
		{
			"a share, all in windows", "errors.ratio < 10%", every, on(5, 2, 3), result.Pass,
			"true in 2 of 2 windows; the closest, 1 s to 2 s: errors.ratio is 3.614 %, the limit is 10 % (n = 83)",
		},
		{
			"windows that may be false", "errors.count == 0", half, on(9, 4, 0), result.Inconclusive,
			"5 errors are in no whole window of 1 s: let the stage be a multiple of it; of the windows: true in 1 of 2 windows, 50 % of them may be false; the first that is false, 0 s to 1 s: errors.count is 4, it must be 0 (n = 84)",
		},
		{
			"false in a window", "errors.count == 0", every, on(9, 4, 0), result.Fail,
			"true in 1 of 2 windows; the first that is false, 0 s to 1 s: errors.count is 4, it must be 0 (n = 84)",
		},
		{
			"no budget for errors", "latency.p50 < 1s", every, on(5, 0, 0), result.Pass,
			"true in 2 of 2 windows; the closest, 0 s to 1 s: latency.p50 is 10 ms, the limit is 1 s (n = 80)",
		},
	} {
		row.test(t)
	}
}
