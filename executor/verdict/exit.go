package verdict

import (
	"cmp"
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
		{
			CodeInvalid, result.Inconclusive,
			"the measurement is invalid, or leaves an assertion open: this machine could not keep up",
		},
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
	OutOfTime string // max_duration, or an assertion, ended the run before all was measured
}

// Exit returns the exit code of a run, its verdict and one sentence with the reason. r may be nil
// if nothing ran.
//
// A run passes if every gate passed and every node that ran has evidence: an OK request, and a gate
// or `while` that was judged on data. Otherwise it is inconclusive. Assertions of severity warn
// have no effect.
func Exit(r *result.Result, o RunOutcome) (code int, v result.Verdict, reason string) {
	if r == nil {
		r = &result.Result{}
	}
	internal := gatesWith(r, result.ErrorVerdict, "could not be evaluated")
	if o.Internal != "" {
		internal = "internal error: " + o.Internal
	}
	for _, rule := range []struct { // in the order of Precedence; one without a reason does not apply
		code   int
		reason string
	}{
		signals[o.Signal],
		{CodePlan, o.Plan},
		{CodeInternal, internal},
		{CodeSetUp, cmp.Or(o.SetUp, firstNode(r, "could not be set up", hasOutcome(result.Failed)))},
		{CodeFail, gatesWith(r, result.Fail, "failed")},
		{CodeInvalid, cmp.Or(firstNode(r, "has no valid measurement", isInvalid), leftOpen(r))},
		{CodeInconclusive, inconclusive(r, o)},
	} {
		if rule.reason != "" {
			return rule.code, verdictOf(rule.code), rule.reason
		}
	}
	return CodePass, result.Pass, passed(r)
}

// RecordWriteError records in r why its files, or the report on it, could not be written. The exit
// code becomes 6 unless a stronger one applies.
func RecordWriteError(r *result.Result, why string) {
	if WithInternal(r.ExitCode) == CodeInternal {
		r.ExitCode, r.Verdict, r.Reason = Exit(nil, RunOutcome{Internal: why})
		r.Allowed = false
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

// signals holds the exit codes of signals, and the reasons. SIGHUP, of a closed terminal, ends a run
// like SIGTERM.
var signals = map[int]struct {
	code   int
	reason string
}{
	1:  {CodeTerminate, "terminated by SIGHUP, as its terminal has gone: the result is partial"},
	2:  {CodeInterrupt, "interrupted by SIGINT: the result is partial"},
	15: {CodeTerminate, "terminated by SIGTERM: the result is partial"},
}

func hasOutcome(o result.Outcome) func(*result.Node) bool {
	return func(n *result.Node) bool { return n.Outcome == o }
}

func isInvalid(n *result.Node) bool {
	ran := n.Outcome == result.Done || n.Outcome == result.Unstable
	return n.Outcome == result.Invalid || ran && !n.Validity.OK
}

// inconclusive returns what is open or missing. A gate that was skipped with its stage is not open:
// the cause is recorded at the node, and counts there.
func inconclusive(r *result.Result, o RunOutcome) string {
	if reason := cmp.Or(o.OutOfTime, gatesWith(r, result.Inconclusive, "inconclusive")); reason != "" {
		return reason
	}
	return missingForPass(r, judgedOnData)
}

// leftOpen returns a sentence about the gates that are open only because this client was late.
func leftOpen(r *result.Result) string {
	late := func(a result.Assertion) bool { return a.Cause == result.CauseClient }
	return gatesThat(r, late, "left open by this client")
}

// gatesWith returns a sentence about the assertions that count with a verdict, "" if there are none.
func gatesWith(r *result.Result, v result.Verdict, what string) string {
	return gatesThat(r, func(a result.Assertion) bool { return a.Verdict == v }, what)
}

// gatesThat returns a sentence about the assertions that count and match, "" if there are none.
func gatesThat(r *result.Result, match func(result.Assertion) bool, what string) (sentence string) {
	all, hits := 0, 0
	for on, a := range r.Judged() {
		if a.Severity == result.Warn {
			continue
		}
		all++
		if !match(a) {
			continue
		}
		if hits++; hits == 1 {
			sentence = a.ID
			if on != nil && !strings.HasPrefix(a.ID, on.ID+"/") {
				sentence += " on " + on.ID // which the id does not contain
			}
			sentence += ": " + a.Reason
		}
	}
	switch hits {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 of %d %s %s: %s", all, plural(all, "assertion"), what, sentence)
	}
	return fmt.Sprintf("%d of %d assertions %s, the first is %s", hits, all, what, sentence)
}

// firstNode returns a sentence about the first node that matches, "" if none does.
func firstNode(r *result.Result, what string, match func(*result.Node) bool) string {
	i := slices.IndexFunc(r.Nodes, match)
	if i < 0 {
		return ""
	}
	n := r.Nodes[i]
	return strings.TrimSuffix(fmt.Sprintf("%s %s: %s", n.ID, what, n.Cause()), ": ")
}

func passed(r *result.Result) string {
	n := 0
	for _, a := range r.Judged() {
		if a.Severity != result.Warn && a.Verdict == result.Pass {
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
