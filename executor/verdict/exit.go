package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
)

// Exit codes. Codes lists them all.
const (
	CodePass         = 0
	CodeFail         = 1
	CodePlan         = 2
	CodeInconclusive = 3
	CodeSetUp        = 4
	CodeInvalid      = 5
	CodeInternal     = 6
	CodeInterrupt    = 130
	CodeCrash        = 134 // 128 + SIGABRT
	CodeTerminate    = 143
)

// Code is one exit code and its meaning.
type Code struct {
	Code    int
	Verdict result.Verdict
	Meaning string
}

// Precedence orders the exit codes: if several apply, the first is that of the run. A proven
// failure stays a failure.
const Precedence = "130/143, 2, 6, 4, 1, 5, 3, 0"

// Codes lists every exit code in ascending order. After a crash the result keeps the state
// "running", as the process ends without choosing a code.
func Codes() []Code {
	return []Code{
		{CodePass, result.Pass, "all assertions passed"},
		{CodeFail, result.Fail, "an assertion failed"},
		{CodePlan, result.ErrorVerdict, "the plan or the command line is wrong; nothing was sent"},
		{
			CodeInconclusive, result.Inconclusive,
			"inconclusive: no data, no request that succeeded, no level that holds, too few samples, not " +
				"stable, or bounds around the limit",
		},
		{CodeSetUp, result.ErrorVerdict, "the target could not be reached, or setting up failed"},
		{CodeInvalid, result.Inconclusive, "the measurement is invalid: this machine could not keep up"},
		{
			CodeInternal, result.ErrorVerdict,
			"an internal error, or an expression that could not be evaluated",
		},
		{CodeInterrupt, result.Interrupted, "interrupted (SIGINT)"},
		{CodeCrash, result.ErrorVerdict, "a crash: fatal error of the runtime, SIGQUIT or SIGABRT"},
		{CodeTerminate, result.Interrupted, "terminated (SIGTERM, SIGHUP)"},
	}
}

// RunOutcome holds events of the run as a whole, besides its results. A text describes the event;
// "" means that it did not happen.
type RunOutcome struct {
	Signal    int    // 2 (SIGINT), 15 (SIGTERM) or 1 (SIGHUP) ended the run; 0: none
	Plan      string // a plan or usage error: nothing was sent
	Internal  string // an error of this program
	SetUp     string // set-up failed outside of a node
	OutOfTime string // max_duration ended the run before all was measured
}

// Exit returns the exit code of a run, its verdict and one sentence with the reason. r may be nil
// if nothing ran.
//
// A run passes if every gate passed and every node that ran has evidence: an OK request, and a gate
// or `while` that was judged on data. Otherwise it is inconclusive. Assertions of severity warn
// have no effect.
func Exit(r *result.Result, o RunOutcome) (code int, v result.Verdict, reason string) {
	for _, rule := range rules() {
		if reason, applies := rule.applies(r, o); applies {
			return rule.code(o), verdictOf(rule.code(o)), reason
		}
	}
	return CodePass, result.Pass, passed(r)
}

// RecordWriteError records in r why its files, or the report on it, could not be written. The exit
// code becomes 6 unless a stronger one applies.
func RecordWriteError(r *result.Result, why string) {
	if WithInternal(r.ExitCode) == CodeInternal {
		r.ExitCode, r.Verdict, r.Reason = Exit(nil, RunOutcome{Internal: why})
		return
	}
	if !strings.Contains(r.Reason, why) {
		r.Reason += "; " + why
	}
}

// WithInternal returns the exit code of a run that would have ended with code and had an internal
// error.
func WithInternal(code int) int {
	if slices.Contains([]int{CodeInterrupt, CodeTerminate, CodePlan}, code) {
		return code
	}
	return CodeInternal
}

func verdictOf(code int) result.Verdict {
	for _, c := range Codes() {
		if c.Code == code {
			return c.Verdict
		}
	}
	return result.ErrorVerdict
}

// rule is one exit code and when it applies. Rules are in the order of precedence.
type rule struct {
	code    func(RunOutcome) int
	applies func(*result.Result, RunOutcome) (reason string, ok bool)
}

func rules() []rule {
	always := func(code int) func(RunOutcome) int { return func(RunOutcome) int { return code } }
	return []rule{
		{signalCode, interrupted},
		{always(CodePlan), func(_ *result.Result, o RunOutcome) (string, bool) {
			return o.Plan,
				o.Plan != ""
		}},
		{always(CodeInternal), internal},
		{always(CodeSetUp), setUpFailed},
		{always(CodeFail), failed},
		{always(CodeInvalid), invalid},
		{always(CodeInconclusive), inconclusive},
	}
}

// sigHUP is the signal of a closed terminal. It ends a run like SIGTERM, with the same exit code.
const sigHUP = 1

// signalCode returns the exit code of a signal.
func signalCode(o RunOutcome) int {
	if o.Signal == sigHUP {
		return CodeTerminate
	}
	return 128 + o.Signal
}

func interrupted(_ *result.Result, o RunOutcome) (string, bool) {
	switch o.Signal {
	case 0:
		return "", false
	case sigHUP:
		return "terminated by SIGHUP, as its terminal has gone: the result is partial", true
	case CodeTerminate - 128:
		return "terminated by SIGTERM: the result is partial", true
	}
	return "interrupted by SIGINT: the result is partial", true
}

func internal(r *result.Result, o RunOutcome) (string, bool) {
	if o.Internal != "" {
		return "internal error: " + o.Internal, true
	}
	return assertions(r, "could not be evaluated",
		func(_ *result.Node, a result.Assertion) bool { return a.Verdict == result.ErrorVerdict })
}

func setUpFailed(r *result.Result, o RunOutcome) (string, bool) {
	if o.SetUp != "" {
		return o.SetUp, true
	}
	return nodes(r, "could not be set up", func(n *result.Node) bool { return n.Outcome == result.Failed })
}

func invalid(r *result.Result, _ RunOutcome) (string, bool) {
	return nodes(r, "has no valid measurement", func(n *result.Node) bool {
		ran := n.Outcome == result.Done || n.Outcome == result.Unstable
		return n.Outcome == result.Invalid || ran && !n.Validity.OK
	})
}

func failed(r *result.Result, _ RunOutcome) (string, bool) {
	return assertions(r, "failed", func(_ *result.Node,
		a result.Assertion,
	) bool {
		return a.Verdict == result.Fail
	})
}

func inconclusive(r *result.Result, o RunOutcome) (string, bool) {
	if o.OutOfTime != "" {
		return o.OutOfTime, true
	}
	if reason, ok := assertions(r, "inconclusive", unproven); ok {
		return reason, true
	}
	if r == nil || len(r.Nodes) == 0 {
		return "nothing was measured", true
	}
	if reason, ok := nodes(r, "was skipped for want of data", lacksData); ok {
		return reason, true
	}
	return emptyPass(r)
}

// unproven reports an inconclusive assertion. One that was skipped with its stage does not count:
// the cause is recorded at the node, and counts there.
func unproven(_ *result.Node, a result.Assertion) bool { return a.Verdict == result.Inconclusive }

// lacksData reports a node that was skipped because an earlier result has no value for its load.
func lacksData(n *result.Node) bool {
	return n.Outcome == result.SkippedNode && slices.ContainsFunc(n.Validity.Findings,
		func(f result.Finding) bool { return f.Code == result.NoData })
}

// assertions returns a sentence about the gates that match.
func assertions(r *result.Result, what string, match func(*result.Node, result.Assertion) bool) (string,
	bool,
) {
	all, hits := 0, []string{}
	first := ""
	for _, g := range gates(r) {
		all++
		if !match(g.node, g.assertion) {
			continue
		}
		hits = append(hits, g.assertion.ID)
		if first == "" {
			first = g.assertion.ID + onNode(g.node, g.assertion.ID) + ": " + g.assertion.Reason
		}
	}
	switch len(hits) {
	case 0:
		return "", false
	case 1:
		return fmt.Sprintf("1 of %d %s %s: %s", all, plural(all, "assertion"), what, first), true
	}
	return fmt.Sprintf("%d of %d assertions %s, the first is %s", len(hits), all, what, first), true
}

// onNode names the node of an assertion whose id does not contain it.
func onNode(n *result.Node, id string) string {
	if n == nil || strings.HasPrefix(id, n.ID+"/") {
		return ""
	}
	return " on " + n.ID
}

type gate struct {
	node      *result.Node // nil: an assertion of the plan
	assertion result.Assertion
}

// gates returns the assertions that count, those of nodes first.
func gates(r *result.Result) []gate {
	var all []gate
	if r == nil {
		return nil
	}
	for _, n := range r.Nodes {
		for _, a := range n.Assertions {
			if a.Severity != result.Warn {
				all = append(all, gate{n, a})
			}
		}
	}
	for _, a := range r.Assertions {
		if a.Severity != result.Warn {
			all = append(all, gate{nil, a})
		}
	}
	return all
}

// nodes returns a sentence about the first node that matches.
func nodes(r *result.Result, what string, match func(*result.Node) bool) (string, bool) {
	if r == nil {
		return "", false
	}
	for _, n := range r.Nodes {
		if match(n) {
			return strings.TrimSuffix(fmt.Sprintf("%s %s: %s", n.ID, what, nodeReason(n)), ": "), true
		}
	}
	return "", false
}

func nodeReason(n *result.Node) string {
	if n.Reason != "" {
		return n.Reason
	}
	for _, f := range n.Validity.Findings {
		if f.Severity == result.Invalidating {
			return f.Text
		}
	}
	return ""
}

func passed(r *result.Result) string {
	n := 0
	for _, g := range gates(r) {
		if g.assertion.Verdict == result.Pass {
			n++
		}
	}
	if n == 0 {
		return "every `while` held on data"
	}
	return fmt.Sprintf("%d %s passed", n, plural(n, "assertion"))
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
