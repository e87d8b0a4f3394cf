package result

import (
	"fmt"

	"github.com/sluice-bench/sluice/scenario/metric"
)

// Baseline is the stored result that a plan compares with.
type Baseline struct {
	File    string
	Result  *Result // nil: there is none
	Missing string  // why there is none
}

// Unfit is why a result that the command line names cannot be compared with; "": it passed.
func (r *Result) Unfit() string {
	text := "its verdict is " + orElse(string(r.Verdict), "missing")
	switch r.State {
	case StateRunning:
		return "it is of a run that has not ended"
	case StatePartial:
		text += ", and it is partial"
	default:
		if r.Verdict == Pass {
			return ""
		}
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// Lacks is why there is nothing to compare node id with: no result, or none of that node. What is there and cannot be
// trusted is not lacking.
func (b *Baseline) Lacks(id string) string {
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

// Node is the stored node of an id; nil: there is none.
func (b *Baseline) Node(id string) *Node {
	if b == nil || b.Result == nil {
		return nil
	}
	for _, n := range b.Result.Nodes {
		if n.ID == id {
			return n
		}
	}
	return nil
}

// node is a node of the baseline, and why it may not serve as evidence: a run that was cut short, a measurement
// that is not valid, one whose own gate failed, one without a request that was answered well.
func (b *Baseline) node(id string) (n *Node, why string) {
	if why := b.Lacks(id); why != "" {
		return nil, why
	}
	if b.Result.State == StateRunning {
		return b.Node(id), fmt.Sprintf("the baseline %s is not a whole run: it goes on, or was killed", b.File)
	}
	if b.Result.State == StatePartial || b.Result.Verdict == Interrupted || b.Result.Verdict == ErrorVerdict {
		return b.Node(id), fmt.Sprintf("the baseline %s is not a whole run: %s", b.File, orElse(b.Result.Reason, "it ended in error"))
	}
	n = b.Node(id)
	if why := n.distrust(); why != "" {
		return n, "in the baseline, " + why
	}
	for _, a := range n.Assertions {
		if a.Verdict == Fail && a.Severity != Warn {
			return n, fmt.Sprintf("in the baseline, stage %q failed its own gate %s: %s", id, a.ID, a.Reason)
		}
	}
	if n.answered() == 0 {
		return n, fmt.Sprintf("in the baseline, no request of stage %q was answered well", id)
	}
	return n, ""
}

// answered is how many requests were answered well.
func (n *Node) answered() int64 {
	if m := n.Metrics[metric.Latency]; m != nil && m.Count != nil {
		return *m.Count
	}
	return 0
}

// Note is what a reader of a comparison should know: the baseline is of another plan. "": nothing.
func (b *Baseline) Note(fingerprint string) string {
	if b == nil || b.Result == nil || b.Result.Plan.Fingerprint == fingerprint {
		return ""
	}
	return fmt.Sprintf("the baseline %s was measured with another plan (fingerprint %.12s, this is %.12s)",
		b.File, b.Result.Plan.Fingerprint, fingerprint)
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
