package result

import (
	"fmt"
	"math"
	"slices"

	"github.com/sluice-bench/sluice/scenario/expression"
)

// View is one window of the scope that an assertion is about. Times in s since that scope began.
type View struct {
	Repeat   int
	From, To float64
	Values   expression.Values // of the node that it is cut from; other nodes and the baseline answer as a whole
}

// Windowed are the whole windows of one length of a scope.
type Windowed struct {
	Windows []View
	Missing int // windows that were not kept
}

// window is the part of a node's time that Stored answers for.
type window struct {
	node        *Node
	every, from float64 // s; from since hold start
	repeat      int
	index       int // where it stands in the series that it was found in
}

// covers reports whether the numbers of a place are those of the window.
func (w *window) covers(n *Node, at expression.Place) bool {
	return w != nil && n == w.node && !at.Baseline
}

// metrics are the numbers of a place in the window.
func (w *window) metrics(at expression.Place) (map[string]*Metric, string) {
	s := w.node.Every(at.Phase, at.Mix, w.every)
	if s == nil {
		return nil, fmt.Sprintf("the windows of %g s were not kept", w.every)
	}
	is := func(x Stretch) bool { return x.Repeat == w.repeat && math.Abs(x.From-w.from) < 1e-9 }
	if w.index < len(s.Windows) && is(s.Windows[w.index]) { // scopes of one time have the same windows
		return s.Windows[w.index].Metrics, ""
	}
	if i := slices.IndexFunc(s.Windows, is); i >= 0 {
		return s.Windows[i].Metrics, ""
	}
	return nil, fmt.Sprintf("there is no window of %g s at %g s", w.every, w.from)
}

// Windows are those of the node that refs are about, the first that is not of the baseline, in the scope of its first
// reference. why: there are none.
func (s Stored) Windows(refs []expression.Ref, every float64) (out Windowed, why string) {
	for _, ref := range refs {
		if ref.Baseline {
			continue
		}
		n, _, why := s.find(ref.Place)
		if why != "" {
			return out, why
		}
		series := n.Every(ref.Phase, ref.Mix, every)
		if series == nil {
			return out, fmt.Sprintf("the windows of %g s were not kept", every)
		}
		out.Missing = series.Missing
		for i, x := range series.Windows {
			at := s
			at.window = &window{node: n, every: every, from: x.From, repeat: x.Repeat, index: i}
			out.Windows = append(out.Windows, View{Repeat: x.Repeat, From: x.From - series.From, To: x.To - series.From, Values: at})
		}
		return out, ""
	}
	return out, "it names no metric of this run"
}
