// Package verdict judges: truth, samples and validity become a verdict, and the verdicts of a run become its exit code.
//
// It is not: a reader of live state, an evaluator of expressions, a writer of text for terminals.
package verdict

import (
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
)

// Context is what is known about the node that an assertion is judged on, beside its numbers. The zero Context is a
// node that ran to its end and measured validly. Each text says why, for people; "" means it is not so.
type Context struct {
	SkippedBecause   string // the node did not run
	InvalidBecause   string // the measurement cannot be trusted
	UnstableBecause  string // until: stable was never reached
	InterruptedAfter string // the node was stopped: what of it was measured ("12 s of 60 s")
}

// Judge judges one assertion.
func Judge(a scenario.Assertion, p *expression.Program, c Context, v expression.Values) result.Assertion {
	return result.Assertion{ID: a.ID, Verdict: result.Inconclusive}
}

// Counter is what Values may also offer: how many of the n samples behind a reference are over a limit. It decides
// whether a percentile is over its limit for certain although there are fewer samples than it needs.
type Counter interface {
	Above(r expression.Ref, limit float64) (over, n int64, ok bool)
}
