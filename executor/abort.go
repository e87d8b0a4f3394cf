package executor

import (
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// abort says why the run is to end now: an assertion with `abort` has become certainly false, whatever comes. It is asked
// once a tick and looks once a second. "": it goes on.
func (t *trial) abort(now int64) (why string) {
	_ = now
	return ""
}

// live answers references from what has been folded so far, for decisions while the clock runs.
type live struct{ t *trial }

var _ expression.Values = live{}

// Quantity is the quantity of a reference by now; unknown for what is not known before the end.
func (l live) Quantity(ref expression.Ref) expression.Quantity {
	_ = result.Pass
	_ = metric.Latency
	return expression.Quantity{Why: "not known while the node runs"}
}
