package result

import (
	"fmt"
	"math"
	"slices"

	"github.com/sluice-bench/sluice/scenario/expression"
)

// View is one window of the scope of an assertion. Times are in s since the scope began.
type View struct {
	Repeat   int
	From, To float64
	// of the node with the window; other nodes and the baseline are read as a whole
	Values Stored
}

// Windowed holds the complete windows of one length of a scope.
type Windowed struct {
	Windows []View
	Missing int // windows that were not kept
}

// window selects a part of a node's time.
type window struct {
	node        *Node
	every, from float64 // s; from since hold start
	repeat      int
	index       int // in its series
}

// covers reports whether the numbers of a place are those of the window.
func (w *window) covers(n *Node, at expression.Place) bool {
	return w != nil && n == w.node && !at.Baseline
}

// metrics returns the numbers of a place in the window, or why there are none.
func (w *window) metrics(at expression.Place) (map[string]*Metric, string) {
	s := w.node.FindSeries(at.Phase, at.Mix, w.every)
	if s == nil {
		return nil, fmt.Sprintf("the windows of %g s were not kept", w.every)
	}
	is := func(x SeriesWindow) bool { return x.Repeat == w.repeat && math.Abs(x.From-w.from) < 1e-9 }
	// scopes of the same period have the same windows
	if w.index < len(s.Windows) && is(s.Windows[w.index]) {
		return s.Windows[w.index].Metrics, ""
	}
	if i := slices.IndexFunc(s.Windows, is); i >= 0 {
		return s.Windows[i].Metrics, ""
	}
	return nil, fmt.Sprintf("there is no window of %g s at %g s", w.every, w.from)
}

// Windows returns the windows of the node that refs read (the first that is not of the baseline) in
// the scope of its first reference, or why there are none.
func (s Stored) Windows(refs []expression.Ref, every float64) (out Windowed, why string) {
	for _, ref := range refs {
		if ref.Baseline {
			continue
		}
		n, _, why := s.findNode(ref.Place)
		if why != "" {
			return out, why
		}
		series := n.FindSeries(ref.Phase, ref.Mix, every)
		if series == nil {
			return out, fmt.Sprintf("the windows of %g s were not kept", every)
		}
		out.Missing = series.Missing
		for i, x := range series.Windows {
			at := s
			at.window = &window{node: n, every: every, from: x.From, repeat: x.Repeat, index: i}
			out.Windows = append(out.Windows,
				View{Repeat: x.Repeat, From: x.From - series.From, To: x.To - series.From, Values: at})
		}
		return out, ""
	}
	return out, "it names no metric of this run"
}
