package executor

import (
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// disagreement says which of the stability metrics lie apart in the last windows, and how far: "throughput varied by 23 %
// (80/s to 98.4/s)".
func (s *steering) disagreement(windows int) string {
	var list []string
	for i, track := range s.tracks() {
		if !measure.Stable([]measure.Track{track}, s.stable.Within, windows) {
			list = append(list, spreadText(s.leaves[i], track.Spread(windows), windows, s.stable.Within))
		}
	}
	return strings.Join(list, ", ")
}

// spreadText is one metric of disagreement; what it varied by does not look like what is allowed.
func spreadText(leaf metric.Leaf, s measure.Spread, windows int, within float64) string {
	if s.Empty > 0 {
		return fmt.Sprintf("%s has no value in %d of the last %d windows", leaf, s.Empty, windows)
	}
	lo, hi := expression.FormatApart(leaf.Dim(), s.Lo, s.Hi)
	if s.Lo == 0 {
		return fmt.Sprintf("%s varied from %s to %s", leaf, lo, hi)
	}
	by, _ := expression.FormatApart(metric.Ratio, s.Hi/s.Lo-1, within)
	return fmt.Sprintf("%s varied by %s (%s to %s)", leaf, by, lo, hi)
}
