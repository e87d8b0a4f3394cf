package trial

import (
	"fmt"
	"math"
	"strings"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// stability judges the windows of `until: stable`.
type stability struct {
	stable   scenario.UntilStable // zero: the extent is another
	leaves   []metric.Leaf        // what windows are compared by
	while    []program.Check      // of the node: false in a window, it counts as hopeless
	settled  bool                 // the latest windows agree, or waiting longer is of no use
	seen     int                  // windows judged so far
	hopeless int                  // latest windows in a row that exceed `while`
	history  []result.Window
}

// judge looks at the windows that were closed since it was last asked, and says whether the node
// could be over: the last ones agree, or there were as many as allowed, or `while` was false in
// each of the last ones, so that waiting longer would not bring the level back.
func (s *stability) judge(closed []*measure.Window) bool {
	for _, w := range closed {
		if w.Index < s.seen {
			continue
		}
		s.seen = w.Index + 1
		s.history = append(s.history, s.read(w))
		if s.hopeless++; !s.exceedsWhile(w) {
			s.hopeless = 0
		}
		s.settled = s.over(len(closed))
	}
	return s.settled
}

// exceedsWhile reports whether one of the node's `while` conditions is false in a window.
func (s *stability) exceedsWhile(w *measure.Window) bool {
	for _, c := range s.while {
		if c.Truth(windowValues{w.Completed}).Is < 0 {
			return true
		}
	}
	return false
}

// windowValues judges a condition on one window. What another node measured, or what is not known
// for a window, is unknown, and unknown ends nothing.
type windowValues struct{ of *measure.Aggregate }

// Quantity implements expression.Values.
func (v windowValues) Quantity(ref expression.Ref) expression.Quantity {
	value, ok := v.of.LeafValue(ref.Leaf)
	if ref.Place != (expression.Place{}) || !ok {
		return expression.Quantity{Why: "not known for a window"}
	}
	return expression.Quantity{Known: true, V: value, Lo: value, Hi: value, N: v.of.Sent}
}

// over reports whether stability is decided, one way or the other; kept is the number of windows in
// memory.
func (s *stability) over(kept int) bool {
	need := s.stable.Windows
	return kept >= need && len(s.history) >= need &&
		(s.agree() || s.hopeless >= need || len(s.history) >= s.stable.MaxWindows)
}

// accept takes the last windows for the measurement. unstable says why they do not agree.
func (s *stability) accept(closed []*measure.Window) (accepted []*measure.Window, unstable string) {
	need := s.stable.Windows
	if !s.agree() && s.hopeless < need {
		unstable = fmt.Sprintf("no agreement within %.3g %% after %d windows: %s; the last %d are reported",
			100*s.stable.Within, len(s.history), s.disagreement(), need)
	}
	for i := len(s.history) - need; i < len(s.history); i++ {
		s.history[i].Used = true
	}
	return closed[len(closed)-need:], unstable
}

// read takes the stability metrics of a window.
func (s *stability) read(w *measure.Window) result.Window {
	out := result.Window{From: seconds(w.From), To: seconds(w.To), Values: make(map[string]*float64)}
	for _, leaf := range s.leaves {
		out.Values[leaf.String()] = nil
		if v, ok := w.Completed.LeafValue(leaf); ok {
			out.Values[leaf.String()] = &v
		}
	}
	return out
}

// agree reports whether the last windows agree in each stability metric.
func (s *stability) agree() bool { return len(s.leaves) > 0 && s.disagreement() == "" }

// disagreement says which of the stability metrics lie apart in the last windows, and how far:
// "throughput varied by 23 % (80/s to 98.4/s)".
func (s *stability) disagreement() string {
	var list []string
	for _, leaf := range s.leaves {
		if spread := s.spread(leaf); !spread.Within(s.stable.Within) {
			list = append(list, spreadText(leaf, spread, s.stable))
		}
	}
	return strings.Join(list, ", ")
}

// spread returns the range of a stability metric in the last windows.
func (s *stability) spread(leaf metric.Leaf) measure.Spread {
	var values []float64
	for _, w := range s.history[len(s.history)-s.stable.Windows:] {
		v := math.NaN()
		if p := w.Values[leaf.String()]; p != nil {
			v = *p
		}
		values = append(values, v)
	}
	return measure.SpreadOf(values, leaf.Row.From != metric.Counts)
}

// spreadText describes one metric of a disagreement. What it varied by never reads like what is allowed.
func spreadText(leaf metric.Leaf, s measure.Spread, of scenario.UntilStable) string {
	if s.Empty > 0 {
		return fmt.Sprintf("%s has no value in %d of the last %d windows", leaf, s.Empty, of.Windows)
	}
	lo, hi := expression.FormatApart(leaf.Dim(), s.Lo, s.Hi)
	if s.Lo == 0 {
		return fmt.Sprintf("%s varied from %s to %s", leaf, lo, hi)
	}
	by, _ := expression.FormatApart(metric.Ratio, s.Hi/s.Lo-1, of.Within)
	return fmt.Sprintf("%s varied by %s (%s to %s)", leaf, by, lo, hi)
}
