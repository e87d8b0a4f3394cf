package program

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// ifMissingSkip is the word of `baseline.if_missing` by which what cannot be compared is skipped.
const ifMissingSkip = "skip"

// readBaseline opens the stored result that the plan or the command line compares with. One of the
// plan that is not there leaves its assertions to if_missing; one that cannot be read, or is no
// result, is a mistake. One that the command line names must have passed.
func readBaseline(d *draft) {
	base := d.Plan.Baseline
	if base == nil {
		return
	}
	out := &result.Baseline{File: base.File.Name}
	d.Baseline = out
	if newestPassed(d, base, out) {
		return
	}
	data, err := base.Read()
	if err == nil {
		out.Result, err = result.Read(bytes.NewReader(data))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		out.Missing = "there is no such file" // the plan's own check has reported it
	case err != nil:
		reportNoResult(d, base, err)
	case base.Named() && out.Result.WhyNotComparable() != "":
		d.fail(base.File.Pos, "bad-baseline",
			"the baseline %s did not pass: %s", base.File.Name, out.Result.WhyNotComparable()).
			Detail = "name the result.json of a run that passed, or a folder: its newest result that " +
			"passed is taken"
	}
}

func reportNoResult(d *draft, base *scenario.Baseline, err error) {
	first, rest, more := strings.Cut(err.Error(), "\n")
	diag := d.fail(base.File.Pos, "bad-baseline", "the baseline %s is not a result that can be read: %s",
		base.File.Name, first)
	if diag.Detail = "a baseline is the result.json of an earlier run"; more {
		diag.Detail += fmt.Sprintf("; %d more mistakes in it", 1+strings.Count(rest, "\n"))
	}
}

// newestPassed takes the newest result of this plan that passed, where the command line names a
// folder. Without one the assertions are left to if_missing. False: it names no folder.
func newestPassed(d *draft, base *scenario.Baseline, out *result.Baseline) bool {
	found := 0
	isFolder := base.Folder(func(file string, data []byte) {
		r, err := result.Read(bytes.NewReader(data))
		if err != nil || r.Plan.Name != d.Plan.Name {
			return
		}
		if found++; r.WhyNotComparable() != "" || out.Result != nil && !r.Started.After(out.Result.Started) {
			return
		}
		out.File, out.Result = file, r
	})
	if isFolder && out.Result == nil {
		out.Missing = fmt.Sprintf("of its %d results of plan %q none passed", found, d.Plan.Name)
		d.warn(base.File.Pos, "bad-baseline",
			"folder %s holds no result of plan %q that passed", base.File.Name, d.Plan.Name).
			Detail = fmt.Sprintf("assertions with `baseline` will be %s",
			map[bool]string{true: "skipped", false: "inconclusive"}[base.IfMissing == ifMissingSkip])
	}
	return isFolder
}

// checkComparisons reports a baseline that nothing is compared with: one that the command line
// names is a mistake, for the gate that it is meant for is missing. So is one that has none of the
// stages that are compared with it.
func checkComparisons(d *draft) {
	base := d.Plan.Baseline
	if base == nil || d.diags.HasErrors() {
		return
	}
	compared, ids := 0, []string{}
	for n, c := range d.checks() {
		for _, ref := range c.Refs {
			if !ref.Baseline {
				continue
			}
			compared++
			id := ref.Node
			if id == "" {
				id = n.ID
			}
			if d.Baseline.Node(id) != nil {
				return
			}
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	switch {
	case compared == 0 && base.Named():
		d.fail(base.File.Pos, "bad-baseline", "nothing in the plan compares with a baseline").
			Detail = "leave --baseline out, or assert something, such as latency.p95 <= 1.1 * " +
			"baseline.latency.p95"
	case compared == 0:
		d.warn(base.File.Pos, "unused-entry", "nothing in the plan compares with the baseline").
			Detail = "remove it, or assert something, such as latency.p95 <= 1.1 * baseline.latency.p95"
	case base.Named() && d.Baseline.Result != nil:
		d.fail(base.File.Pos, "bad-baseline",
			"the baseline %s has none of the stages that are compared with it: %s",
			d.Baseline.File, strings.Join(ids, ", ")).
			Detail = fmt.Sprintf("it is a result of plan %q", d.Baseline.Result.Plan.Name)
	}
}

// Unmatched says why a check that compares with the baseline is skipped, "" where it is not: the
// plan wants it skipped where there is nothing to compare with. node is the judged one; "" for the
// plan's own checks.
func (p *Program) Unmatched(c Check, node string) string {
	if p.Plan.Baseline == nil || p.Plan.Baseline.IfMissing != ifMissingSkip {
		return ""
	}
	for _, ref := range c.Refs {
		if !ref.Baseline {
			continue
		}
		if why := p.Baseline.WhyMissing(cmp.Or(ref.Node, node)); why != "" {
			return why + ", and if_missing is skip"
		}
	}
	return ""
}

// Compared adds to a reason what a reader of a comparison with the baseline should know.
func (p *Program) Compared(c Check, reason string) string {
	for _, ref := range c.Refs {
		if note := p.Baseline.PlanMismatch(p.Plan.Fingerprint()); ref.Baseline && note != "" {
			return reason + "; " + note
		}
	}
	return reason
}

// What baseline.stage("id") means where the plan has no such node: the stored result has its own.

// resolveStored finds a metric of a node that only the stored result has. Where there is no result
// yet every name may be right: what it lacks is no data then.
func resolveStored(d *draft, at expression.Place, path string) (metric.Leaf, error) {
	base := d.Baseline
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
		err = expression.Wrong("", "the baseline did not measure %s on stage %q", leaf.Row.Name, at.Node)
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
	return checkPart(n.ID, at, phases, entries)
}

// storedCatalogue returns the rows that a stored node has measured; nil: those that one may have.
func storedCatalogue(n *result.Node) (*metric.Catalogue, error) {
	if n == nil {
		return metric.New(append(metric.GoodputRows(), metric.CapacityRow(metric.Rate))...)
	}
	return result.Catalogue(n)
}

// lintStored warns of what cannot be checked while there is no stored result.
func lintStored(d *draft, c Check) {
	if d.Baseline == nil || d.Baseline.Result != nil {
		return
	}
	for _, ref := range c.Refs {
		if onlyStored(d, ref.Place) {
			d.warnOnce(c.That.At(ref.At[0]), "unknown-name", "the plan has no stage %q", ref.Node).
				Detail = "the baseline may have one: it does not exist yet, so this is unknown"
		}
	}
}

// onlyStored reports whether a place is of the stored result alone: this plan has no node of that id.
func onlyStored(d *draft, at expression.Place) bool {
	if !at.Baseline || at.Node == "" || d.byNode[at.Node] != nil {
		return false
	}
	return d.byID[at.Node] == nil || d.Baseline.Node(at.Node) != nil
}
