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
)

// ifMissingSkip is the word of `baseline.if_missing` by which what cannot be compared is skipped.
const ifMissingSkip = "skip"

// readBaseline opens the stored result that the plan or the command line compares with. One of the
// plan that is not there leaves its assertions to if_missing; one that cannot be read, or is no
// result, is a mistake. One that the command line names must have passed.
func readBaseline(d *draft) {
	base := d.program.Plan.Baseline
	if base == nil {
		return
	}
	out := &result.Baseline{File: base.File.Name}
	d.program.Baseline = out
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
			Detail = "name the result.json of a run that passed, or a folder: its newest result that passed is taken"
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
		if err != nil || r.Plan.Name != d.program.Plan.Name {
			return
		}
		if found++; r.WhyNotComparable() != "" || out.Result != nil && !r.Started.After(out.Result.Started) {
			return
		}
		out.File, out.Result = file, r
	})
	if isFolder && out.Result == nil {
		out.Missing = fmt.Sprintf("of its %d results of plan %q none passed", found, d.program.Plan.Name)
		d.warn(base.File.Pos, "bad-baseline",
			"folder %s holds no result of plan %q that passed", base.File.Name, d.program.Plan.Name).
			Detail = fmt.Sprintf("assertions with `baseline` will be %s",
			map[bool]string{true: "skipped", false: "inconclusive"}[base.IfMissing == ifMissingSkip])
	}
	return isFolder
}

// checkComparisons reports a baseline that nothing is compared with: one that the command line
// names is a mistake, for the gate that it is meant for is missing. So is one that has none of the
// stages that are compared with it.
func checkComparisons(d *draft) {
	base := d.program.Plan.Baseline
	if base == nil || d.diags.HasErrors() {
		return
	}
	compared, ids := 0, []string{}
	for _, c := range comparisonsOf(d.program) {
		for _, ref := range c.refs {
			id := cmp.Or(ref.Node, c.node)
			if compared++; d.program.Baseline.Node(id) == nil && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
			if d.program.Baseline.Node(id) != nil {
				return
			}
		}
	}
	switch {
	case compared == 0 && base.Named():
		d.fail(base.File.Pos, "bad-baseline", "nothing in the plan compares with a baseline").
			Detail = "leave --baseline out, or assert something, such as latency.p95 <= 1.1 * baseline.latency.p95"
	case compared == 0:
		d.warn(base.File.Pos, "unused-entry", "nothing in the plan compares with the baseline").
			Detail = "remove it, or assert something, such as latency.p95 <= 1.1 * baseline.latency.p95"
	case base.Named() && d.program.Baseline.Result != nil:
		d.fail(base.File.Pos, "bad-baseline",
			"the baseline %s has none of the stages that are compared with it: %s",
			d.program.Baseline.File, strings.Join(ids, ", ")).
			Detail = fmt.Sprintf("it is a result of plan %q", d.program.Baseline.Result.Plan.Name)
	}
}

// comparison is the references of a check to the baseline, and the node that it is judged on; "":
// it is the plan's.
type comparison struct {
	node string
	refs []expression.Ref
}

// comparisonsOf lists all that the plan compares with the baseline.
func comparisonsOf(p *Program) (list []comparison) {
	gather := func(node string, checks []Check) {
		for _, c := range checks {
			refs := slices.DeleteFunc(slices.Clone(c.Program.Refs), func(r expression.Ref) bool { return !r.Baseline })
			if len(refs) > 0 {
				list = append(list, comparison{node, refs})
			}
		}
	}
	for _, n := range p.Nodes {
		gather(n.ID, n.Checks)
		gather(n.ID, n.While)
	}
	gather("", p.Assert)
	return list
}

// Unmatched says why a check that compares with the baseline is skipped, "" where it is not: the
// plan wants it skipped where there is nothing to compare with. node is the judged one; "" for the
// plan's own checks.
func (p *Program) Unmatched(c Check, node string) string {
	if p.Plan.Baseline == nil || p.Plan.Baseline.IfMissing != ifMissingSkip {
		return ""
	}
	for _, ref := range c.Program.Refs {
		id := ref.Node
		if id == "" {
			id = node
		}
		if ref.Baseline {
			if why := p.Baseline.WhyMissing(id); why != "" {
				return why + ", and if_missing is skip"
			}
		}
	}
	return ""
}

// Compared adds to a reason what a reader of a comparison with the baseline should know.
func (p *Program) Compared(c Check, reason string) string {
	for _, ref := range c.Program.Refs {
		if note := p.Baseline.PlanMismatch(p.Plan.Fingerprint); ref.Baseline && note != "" {
			return reason + "; " + note
		}
	}
	return reason
}
