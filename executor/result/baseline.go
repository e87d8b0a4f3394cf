package result

import (
	"cmp"
	"fmt"

	"github.com/sluice-bench/sluice/scenario/metric"
)

// Baseline is the stored result that a plan compares with.
type Baseline struct {
	File    string
	Result  *Result // nil: unavailable
	Missing string  // reason if Result is nil
}

// WhyNotComparable returns why a result named on the command line is no basis for a comparison, ""
// if it passed.
func (r *Result) WhyNotComparable() string {
	text := "its verdict is " + string(cmp.Or(r.Verdict, "missing"))
	switch r.State {
	case StateRunning:
		return "it is of a run that has not ended"
	case StatePartial:
		text += ", and it is partial"
	default:
		if r.Verdict == Pass {
			return ""
		}
		if r.Allowed {
			text += ", and was allowed"
		}
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// WhyMissing returns why node id has no counterpart: no result, or no such node in it; else "". A
// node that exists but cannot be trusted is not missing.
func (b *Baseline) WhyMissing(id string) string {
	switch {
	case b == nil:
		return "the plan names no baseline"
	case b.Result == nil:
		return fmt.Sprintf("there is no baseline %s: %s", b.File, b.Missing)
	}
	if b.Node(id) == nil {
		return fmt.Sprintf("the baseline %s has no stage %q", b.File, id)
	}
	return ""
}

// Node returns the stored node of an id, nil if there is none.
func (b *Baseline) Node(id string) *Node {
	if b == nil || b.Result == nil {
		return nil
	}
	return b.Result.node(id)
}

func (r *Result) node(id string) *Node {
	if n := find(r.Nodes, func(n **Node) bool { return (*n).ID == id }); n != nil {
		return *n
	}
	return nil
}

// trustedNode returns a node of the baseline, and why it cannot serve as evidence: the run was cut
// short, the measurement is invalid, its own gate failed, or it has no OK request.
func (b *Baseline) trustedNode(id string) (n *Node, why string) {
	if why := b.WhyMissing(id); why != "" {
		return nil, why
	}
	if b.Result.State == StateRunning {
		return b.Node(id), fmt.Sprintf("the baseline %s is not a whole run: it goes on, or was killed",
			b.File)
	}
	if b.Result.State == StatePartial || b.Result.Verdict == Interrupted ||
		b.Result.Verdict == ErrorVerdict {
		return b.Node(id), fmt.Sprintf("the baseline %s is not a whole run: %s", b.File,
			cmp.Or(b.Result.Reason, "it ended in error"))
	}
	if b.Result.Allowed {
		return b.Node(id), fmt.Sprintf("the baseline %s proves nothing: it is inconclusive, and was allowed",
			b.File)
	}
	n = b.Node(id)
	if why := n.whyUntrusted(); why != "" {
		return n, "in the baseline, " + why
	}
	for _, a := range n.Assertions {
		if a.Verdict == Fail && a.Severity != Warn {
			return n, fmt.Sprintf("in the baseline, stage %q failed its own gate %s: %s", id, a.ID, a.Reason)
		}
	}
	if Succeeded(n.Metrics) == 0 {
		return n, fmt.Sprintf("in the baseline, no request of stage %q was answered well", id)
	}
	return n, ""
}

// Succeeded returns the number of OK requests.
func Succeeded(metrics map[string]*Metric) int64 {
	n, _ := metrics[metric.Latency].Stat(metric.Stat{Kind: metric.N})
	return int64(n)
}

// PlanMismatch returns a note if the baseline was measured with another plan, else "".
func (b *Baseline) PlanMismatch(fingerprint string) string {
	if b == nil || b.Result == nil || b.Result.Plan.Fingerprint == fingerprint {
		return ""
	}
	return fmt.Sprintf("the baseline %s was measured with another plan (fingerprint %.12s, this is %.12s)",
		b.File, b.Result.Plan.Fingerprint, fingerprint)
}
