package verdict

import "github.com/sluice-bench/sluice/executor/result"

// Exit codes.
const (
	CodePass         = 0
	CodeFail         = 1
	CodePlan         = 2
	CodeInconclusive = 3
	CodeSetUp        = 4
	CodeInvalid      = 5
	CodeInternal     = 6
	CodeInterrupt    = 130
	CodeTerminate    = 143
)

// Code is one exit code and its meaning.
type Code struct {
	Code    int
	Verdict result.Verdict
	Meaning string
}

// Codes lists every exit code, by number.
func Codes() []Code { return nil }

// Occasion is what happened to the run as a whole, beside its results. Each text says what; "" means it did not happen.
type Occasion struct {
	Signal   int    // 2 (SIGINT) or 15 (SIGTERM) ended the run; 0: none
	Plan     string // a plan or usage error: nothing was sent
	Internal string // a mistake of this program
	SetUp    string // set-up failed before any node could run
}

// Exit gives the exit code of a run, its verdict and one sentence that says why. r may be nil where nothing ran.
func Exit(r *result.Result, o Occasion) (code int, v result.Verdict, reason string) {
	return CodeInconclusive, result.Inconclusive, ""
}
