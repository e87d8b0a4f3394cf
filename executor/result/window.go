package result

import "github.com/sluice-bench/sluice/scenario/expression"

// View is one window of the scope that an assertion is about. Times in s since that scope began.
type View struct {
	Round    int
	From, To float64
	Values   expression.Values // of the node that it is cut from; other nodes and the baseline answer as a whole
}

// Windowed are the whole windows of one length of a scope.
type Windowed struct {
	Windows []View
	Missing int // windows that were not kept
}
