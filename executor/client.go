package executor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
)

// clientSummary returns the paragraph about the client over all nodes that measured something.
func clientSummary(nodes []*result.Node) string {
	var measured int
	var was, may []string
	for _, n := range nodes {
		if n.Validity.Summary == "" {
			continue
		}
		measured++
		switch {
		case !n.Validity.OK:
			was = append(was, n.ID)
		case hasFinding(n, result.ClientNear, result.BusyMachine):
			may = append(may, n.ID)
		}
	}
	switch {
	case measured == 0:
		return "Nothing was measured, so nothing can be said about this client."
	case len(was) > 0:
		return fmt.Sprintf("This client was the bottleneck in %s: the numbers there may be its own, "+
			"see their validity for what to change.%s", among(was, measured), also(may))
	case len(may) > 0:
		return fmt.Sprintf("This client, or its machine, may be part of the numbers in %s; "+
			"nowhere was a limit passed.", among(may, measured))
	}
	if measured == 1 {
		return "This client was not the bottleneck."
	}
	return fmt.Sprintf("This client was not the bottleneck in any of %d nodes.", measured)
}

func hasFinding(n *result.Node, codes ...string) bool {
	return slices.ContainsFunc(n.Validity.Findings, func(f result.Finding) bool {
		return slices.Contains(codes, f.Code)
	})
}

// among names nodes, with how many there are where they are not alone.
func among(nodes []string, all int) string {
	if all == 1 {
		return nodes[0]
	}
	return fmt.Sprintf("%d of %d nodes (%s)", len(nodes), all, few(nodes))
}

// also names the nodes in which the client may have mattered, "" for none.
func also(nodes []string) string {
	if len(nodes) == 0 {
		return ""
	}
	return fmt.Sprintf(" It may be part of the numbers in %d more (%s).", len(nodes), few(nodes))
}

// few returns the first names of a list.
func few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}

// joinSummaries returns the paragraph about a node that was measured several times, in repeats or
// in the trials of a search: that of the worst.
func joinSummaries(repeats []result.Validity) string {
	summary, broken := "", 0
	for _, r := range repeats {
		if summary == "" || !r.OK && broken == 0 {
			summary = r.Summary
		}
		if !r.OK {
			broken++
		}
	}
	switch {
	case len(repeats) < 2 || summary == "":
		return summary
	case broken > 0:
		return fmt.Sprintf("In %d of %d measurements: %s", broken, len(repeats), summary)
	}
	return fmt.Sprintf("The first of %d measurements, the others alike: %s", len(repeats), summary)
}
