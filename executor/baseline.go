package executor

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
)

// ifMissingSkip is the word of `baseline.if_missing` by which what cannot be compared is skipped.
const ifMissingSkip = "skip"

// readBaseline opens the stored result that the plan compares with. One that is not there leaves its assertions to
// if_missing; one that cannot be read, or is no result, is a mistake.
func (b *build) readBaseline() {
	base := b.program.Plan.Baseline
	if base == nil {
		return
	}
	out := &result.Baseline{File: base.File.Name}
	b.program.Baseline = out
	data, err := base.Read()
	if err == nil {
		out.Result, err = result.Read(bytes.NewReader(data))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		out.Missing = "there is no such file" // the plan's own check has warned of it
	case err != nil:
		first, rest, more := strings.Cut(err.Error(), "\n")
		d := b.fail(base.File.Pos, codeBaseline, "the baseline %s is not a result that can be read: %s", base.File.Name, first)
		if d.Detail = "a baseline is the result.json of an earlier run"; more {
			d.Detail += fmt.Sprintf("; %d more mistakes in it", 1+strings.Count(rest, "\n"))
		}
	}
}

// unmatched says why a check that compares with the baseline is skipped, "" where it is not: the plan wants it skipped
// where there is nothing to compare with. node is the judged one; "" for the plan's own checks.
func (p *Program) unmatched(c Check, node string) string {
	if p.Plan.Baseline == nil || p.Plan.Baseline.IfMissing != ifMissingSkip {
		return ""
	}
	for _, ref := range c.Program.Refs {
		id := ref.Node
		if id == "" {
			id = node
		}
		if ref.Baseline {
			if why := p.Baseline.Lacks(id); why != "" {
				return why + ", and if_missing is skip"
			}
		}
	}
	return ""
}

// compared adds to a reason what a reader of a comparison with the baseline should know.
func (p *Program) compared(c Check, reason string) string {
	for _, ref := range c.Program.Refs {
		if note := p.Baseline.Note(p.Plan.Fingerprint); ref.Baseline && note != "" {
			return reason + "; " + note
		}
	}
	return reason
}
