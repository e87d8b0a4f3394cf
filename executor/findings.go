package executor

import (
	"fmt"

	"github.com/sluice-bench/sluice/executor/result"
)

// invalid records why the measurement cannot be trusted.
func (t *trial) invalid(code, format string, args ...any) {
	t.find(code, result.Invalidating, fmt.Sprintf(format, args...))
	t.out.Validity.OK = false
}

// note records what a reader should know, without doubt about the numbers.
func (t *trial) note(code, format string, args ...any) {
	t.find(code, result.Note, fmt.Sprintf(format, args...))
}

func (t *trial) find(code, severity, text string) {
	v := &t.out.Validity
	v.Findings = append(v.Findings, result.Finding{Code: code, Severity: severity, Text: text})
}

// outcome settles how the trial ended, unless that is known already.
func (t *trial) outcome() {
	switch {
	case t.steer.stopped != "":
		t.out.Outcome, t.out.Reason = result.InterruptedNode, t.steer.stopped
	case !t.out.Validity.OK:
		t.out.Outcome = result.Invalid
		for _, f := range t.out.Validity.Findings {
			if f.Severity == result.Invalidating {
				t.out.Reason = f.Text
				break
			}
		}
	case t.steer.unstable != "":
		t.out.Outcome, t.out.Reason = result.Unstable, t.steer.unstable
	default:
		t.out.Outcome = result.Done
	}
}
