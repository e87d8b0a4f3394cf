package program

import (
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// What baseline.stage("id") means where the plan has no such node: the stored result has its own.

// onlyStored reports whether a place is of the stored result alone: this plan has no node of that id.
func onlyStored(d *draft, at expression.Place) bool {
	if !at.Baseline || at.Node == "" || d.byNode[at.Node] != nil {
		return false
	}
	return d.byID[at.Node] == nil || d.program.Baseline.Node(at.Node) != nil
}

// resolveStored finds a metric of a node that only the stored result has. Where there is no result
// yet every name may be right: what it lacks is no data then.
func resolveStored(d *draft, at expression.Place, path string) (metric.Leaf, error) {
	base := d.program.Baseline
	if base == nil {
		return metric.Leaf{}, expression.NoBaseline()
	}
	n := base.Node(at.Node)
	if n == nil && base.Result != nil {
		var known []string
		for _, o := range base.Result.Nodes {
			known = append(known, o.ID)
		}
		e := expression.NoStage(at.Node, known)
		e.Summary = fmt.Sprintf("neither the plan nor the baseline has a stage %q", at.Node)
		return metric.Leaf{}, e
	}
	if n != nil {
		if err := hasStored(n, at); err != nil {
			return metric.Leaf{}, err
		}
	}
	c, err := storedCatalogue(n)
	if err != nil {
		return metric.Leaf{}, err
	}
	leaf, err := expression.Find(c, path)
	if err == nil && n != nil && n.Metrics[leaf.Row.Name] == nil {
		err = &expression.NameError{
			Summary: fmt.Sprintf("the baseline did not measure %s on stage %q", leaf.Row.Name, at.Node),
		}
	}
	return leaf, err
}

// hasStored says what part of a place a stored node does not have.
func hasStored(n *result.Node, at expression.Place) error {
	var phases, entries []string
	for _, s := range n.Scopes {
		if s.Phase != "" && !slices.Contains(phases, s.Phase) {
			phases = append(phases, s.Phase)
		}
		if s.Mix != "" && !slices.Contains(entries, s.Mix) {
			entries = append(entries, s.Mix)
		}
	}
	switch {
	case at.Phase != "" && !slices.Contains(phases, at.Phase):
		return expression.NoPhase(n.ID, at.Phase, phases)
	case at.Mix != "" && !slices.Contains(entries, at.Mix):
		return expression.NoMix(n.ID, at.Mix, entries)
	}
	return nil
}

// storedCatalogue is what a stored node has measured; nil: whatever one may have.
func storedCatalogue(n *result.Node) (*metric.Catalogue, error) {
	if n == nil {
		return metric.New(append(metric.GoodputRows(), metric.CapacityRow(metric.Rate))...)
	}
	return result.Catalogue(n)
}

// lintStored warns of what cannot be checked while there is no stored result.
func lintStored(d *draft, c Check) {
	if d.program.Baseline == nil || d.program.Baseline.Result != nil {
		return
	}
	for _, ref := range c.Program.Refs {
		if onlyStored(d, ref.Place) {
			d.warnOnce(c.Assertion.That.At(ref.At[0]), "unknown-name", "the plan has no stage %q", ref.Node).
				Detail = "the baseline may have one: it is not there yet, so nobody can tell"
		}
	}
}
