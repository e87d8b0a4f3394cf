package verdict

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

func assertion(id string, v result.Verdict) result.Assertion {
	a := result.Assertion{ID: id, Verdict: v, Severity: "gate", Reason: "because"}
	if one := 1.0; v == result.Pass || v == result.Fail {
		a.Observed = &one
	}
	return a
}

// ofPlan gives a result assertions of the plan.
func ofPlan(r *result.Result, a ...result.Assertion) *result.Result {
	r.Assertions = a
	return r
}

// node is a node of stage s that ran to its end, answered ok requests, and has the given verdicts.
func node(ok int64, verdicts ...result.Verdict) *result.Node {
	n := &result.Node{
		ID: "s", Stage: "s", Outcome: result.Done, Validity: result.Validity{OK: true},
		Metrics: map[string]*result.Metric{metric.Latency: {Unit: "s", Count: &ok}},
	}
	for _, v := range verdicts {
		n.Assertions = append(n.Assertions, assertion("s/1", v))
	}
	return n
}

func with(n *result.Node, o result.Outcome, reason string) *result.Node {
	n.Outcome, n.Reason, n.ID = o, reason, "s["+string(o)+"]"
	return n
}

// neutral is a node that waits for a failure, and there was none.
func neutral(n *result.Node) *result.Node {
	n.Validity.Findings = []result.Finding{{Code: result.NotNeeded, Severity: "note"}}
	return n
}

// level is a level of stage s with its `while` as judged; ended: it is the one at which `while`
// does not hold.
func level(n *result.Node, at string, while result.Verdict, ended bool) *result.Node {
	n.ID, n.Point, n.Load.Kind = "s[rate="+at+"]", map[string]string{"rate": at, "axis": "x"}, "rate"
	n.While = []result.Assertion{assertion("", while)}
	if ended {
		n.Validity.Findings = []result.Finding{{
			Code: result.LadderEnd, Severity: "note",
			Text: "x is not true here",
		}}
	}
	return n
}

// tried is a search; found: its trial was confirmed.
func tried(n *result.Node, found bool) *result.Node {
	if !found {
		n.Reason = "no level was confirmed"
	}
	n.Trials = []result.Trial{{Used: found, While: []result.Assertion{assertion("", result.Pass)}}}
	return n
}

// repeated gives a node repeats of which so many requests succeeded.
func repeated(n *result.Node, succeeded ...int64) *result.Node {
	for i, ok := range succeeded {
		r := result.Repeat{Repeat: i, Metrics: map[string]*result.Metric{metric.Latency: {
			Unit:  "s",
			Count: &ok,
		}}}
		if ok == 0 {
			r.Reason = "no level was confirmed"
		}
		n.Repeats = append(n.Repeats, r)
	}
	return n
}

// mixed gives a node a mix of two entries of which so many requests succeeded.
func mixed(n *result.Node, a, b int64) *result.Node {
	for name, ok := range map[string]*int64{"a": &a, "b": &b} {
		n.Scopes = append(n.Scopes, result.Scope{
			Mix:     name,
			Metrics: map[string]*result.Metric{metric.Latency: {Unit: "s", Count: ok}},
		})
	}
	return n
}

func elsewhere(n *result.Node) *result.Node {
	n.Point["axis"] = "y"
	return n
}

// beside is n with the assertions of o.
func beside(n, o *result.Node) *result.Node {
	n.Assertions = append(n.Assertions, o.Assertions...)
	return n
}

func unobserved(n *result.Node) *result.Node {
	n.Assertions[0].Observed = nil
	return n
}

func warned(n *result.Node) *result.Node {
	for i := range n.Assertions {
		n.Assertions[i].Severity = "warn"
	}
	return n
}

func run(nodes ...*result.Node) *result.Result { return &result.Result{Nodes: nodes} }

// TestExit is a row for each cause of each exit code.
func TestExit(t *testing.T) {
	outOfCPU := node(9, result.Inconclusive)
	outOfCPU.Validity = result.Validity{Findings: []result.Finding{
		{Severity: "note", Text: "pool full"},
		{Severity: "invalid", Text: "client out of CPU"},
	}}
	idle := node(0, result.Pass)
	idle.Metrics[metric.RequestsCount] = newBuild(t).value(metric.RequestsCount, 0)
	for _, row := range []struct {
		name   string
		r      *result.Result
		o      RunOutcome
		code   int
		reason string
	}{
		{"pass", run(node(9, result.Pass)), RunOutcome{}, 0, "1 assertion passed"},
		{
			"passes", ofPlan(run(node(9, result.Pass)), assertion("plan/1", result.Pass)),
			RunOutcome{},
			0,
			"2 assertions passed",
		},
		{
			"pass beside a stage skipped on purpose",
			run(node(9, result.Pass), neutral(with(node(0, result.Skipped), result.SkippedNode,
				"when: failure"))),
			RunOutcome{},
			0, "1 assertion passed",
		},
		{"level where while ended", run(level(node(9, result.Pass), "1", result.Pass, false),
			level(node(0, result.Skipped), "2", result.Fail, true)), RunOutcome{}, 0, "1 assertion passed"},
		{"a while that held", run(level(node(9), "1", result.Pass, false),
			level(node(0), "2", result.Fail, true)), RunOutcome{}, 0, "every `while` held on data"},
		{
			"a search that was confirmed", run(tried(node(9), true)),
			RunOutcome{},
			0,
			"every `while` held on data",
		},
		{
			"warnings never change it",
			run(beside(node(9, result.Pass),
				warned(node(9, result.Inconclusive, result.ErrorVerdict, result.Fail)))),
			RunOutcome{},
			0,
			"1 assertion passed",
		},
		{
			"fail", run(node(9, result.Pass, result.Fail)),
			RunOutcome{},
			1,
			"1 of 2 assertions failed: s/1: because",
		},
		{
			"fails", run(node(9, result.Fail, result.Fail)),
			RunOutcome{},
			1,
			"2 of 2 assertions failed, the first is s/1: because",
		},
		{
			"fail of the plan", ofPlan(run(node(9, result.Pass)), assertion("plan/1", result.Fail)),
			RunOutcome{},
			1, "1 of 2 assertions failed: plan/1: because",
		},
		{
			"fail on a level", run(with(node(9, result.Fail), result.Done, "")),
			RunOutcome{},
			1,
			"1 of 1 assertion failed: s/1 on s[done]: because",
		},
		{"plan", nil, RunOutcome{Plan: "unknown key"}, 2, "unknown key"},
		{
			"no samples", run(node(0, result.Inconclusive)),
			RunOutcome{},
			3,
			"1 of 1 assertion inconclusive: s/1: because",
		},
		{
			"no samples and only warnings", run(warned(node(0, result.Inconclusive))),
			RunOutcome{},
			3,
			"no request of s succeeded",
		},
		{
			"no samples and a warning that passed", run(warned(node(0, result.Pass))),
			RunOutcome{},
			3,
			"no request of s succeeded",
		},
		{
			"no samples and while unknown", run(node(0, result.Skipped)),
			RunOutcome{},
			3,
			"no request of s succeeded",
		},
		{
			"nothing was sent, and a gate passed", run(idle),
			RunOutcome{},
			3,
			"no request of s was sent while it was measured",
		},
		{
			"errors allowed, none answered", run(node(0, result.Pass)),
			RunOutcome{},
			3,
			"no request of s succeeded",
		},
		{
			"one point answers, the other does not", run(node(9, result.Pass),
				with(node(0, result.Pass), result.Done, "")),
			RunOutcome{},
			3,
			"no request of s[done] succeeded",
		},
		{
			"none answered, and a gate failed", run(node(0, result.Fail)),
			RunOutcome{},
			1,
			"1 of 1 assertion failed: s/1: because",
		},
		{
			"only warnings, measured", run(warned(node(9, result.Fail))),
			RunOutcome{},
			3,
			"no gate of s was judged on data: assert something that is measured there",
		},
		{
			"a gate that passes without data", run(unobserved(node(9, result.Pass))),
			RunOutcome{},
			3,
			"no gate of s was judged on data: assert something that is measured there",
		},
		{
			"a gate of the plan alone", ofPlan(run(node(9)), assertion("plan/1", result.Pass)),
			RunOutcome{},
			3, "no gate of s was judged on data: assert something that is measured there",
		},
		{
			"no level holds", run(level(node(9), "1", result.Fail, true)),
			RunOutcome{},
			3,
			"no level of s holds: s[rate=1]: because",
		},
		{
			"no level holds, cut short by an assertion", run(level(node(9), "1", result.Pass, true)),
			RunOutcome{},
			3, "no level of s holds: s[rate=1]: x is not true here",
		},
		{
			"no level holds at one point of two",
			run(elsewhere(level(node(9), "1", result.Pass, false)), level(node(9), "1", result.Fail,
				true)),
			RunOutcome{},
			3, "no level of s holds: s[rate=1]: because",
		},
		{
			"a while that is not proven", run(level(node(9), "1", result.Inconclusive, false)),
			RunOutcome{},
			3, "no gate of s[rate=1] was judged on data: assert something that is measured there",
		},
		{
			"a search that found nothing", run(tried(node(9), false)),
			RunOutcome{},
			3,
			"the search of s found nothing: no level was confirmed",
		},
		{
			"a search that found nothing in one of its repeats", run(repeated(tried(node(9), true), 9, 0)),
			RunOutcome{},
			3, "the search of s found nothing in repeat 2 of 2: no level was confirmed",
		},
		{
			"a search that found something in each", run(repeated(tried(node(9), true), 9, 9)),
			RunOutcome{},
			0, "every `while` held on data",
		},
		{
			"an entry of the mix that no request answered", run(mixed(node(9, result.Pass), 9, 0)),
			RunOutcome{},
			3,
			"no request of entry \"b\" of the mix of s succeeded: send more requests, or give it a larger weight",
		},
		{
			"entries of the mix", run(mixed(node(9, result.Pass), 8, 1)),
			RunOutcome{},
			0,
			"1 assertion passed",
		},
		{
			"a stage skipped although nothing failed",
			run(node(9, result.Pass), with(node(0, result.Skipped), result.SkippedNode,
				"it needs another")),
			RunOutcome{},
			3,
			"s[skipped] was skipped although nothing failed: it needs another",
		},
		{
			"a stage skipped for a failure that counts for nobody",
			run(node(9, result.Fail), with(node(0, result.Skipped), result.SkippedNode,
				"it needs another")),
			RunOutcome{},
			1, "1 of 2 assertions failed: s/1: because",
		},
		{
			"unstable", run(with(node(9, result.Inconclusive), result.Unstable, "x")),
			RunOutcome{},
			3,
			"1 of 1 assertion inconclusive: s/1 on s[unstable]: because",
		},
		{"plan assertion on a skipped stage", ofPlan(run(node(9, result.Pass)),
			assertion("plan/1", result.Skipped)), RunOutcome{}, 0, "1 assertion passed"},
		{
			"every stage skipped", run(with(node(0, result.Skipped), result.SkippedNode, "x")),
			RunOutcome{},
			3, "every stage was skipped: nothing was measured",
		},
		{"nothing ran", &result.Result{}, RunOutcome{}, 3, "nothing was measured"},
		{"no result", nil, RunOutcome{}, 3, "nothing was measured"},
		{
			"node interrupted without a signal", run(with(node(9), result.InterruptedNode, "max_duration")),
			RunOutcome{},
			3, "s[interrupted] was interrupted: max_duration",
		},
		{
			"set-up", run(with(node(0, result.Skipped), result.Failed, "connection refused")),
			RunOutcome{},
			4, "s[failed] could not be set up: connection refused",
		},
		{"set-up before any node", nil, RunOutcome{SetUp: "cannot reach it"}, 4, "cannot reach it"},
		{
			"invalid", run(with(node(9, result.Inconclusive), result.Invalid, "client late")),
			RunOutcome{},
			5, "s[invalid] has no valid measurement: client late",
		},
		{
			"invalid by its findings", run(outOfCPU),
			RunOutcome{},
			5,
			"s has no valid measurement: client out of CPU",
		},
		{"internal", nil, RunOutcome{Internal: "boom"}, 6, "internal error: boom"},
		{
			"evaluation", run(node(9, result.ErrorVerdict)),
			RunOutcome{},
			6,
			"1 of 1 assertion could not be evaluated: s/1: because",
		},
		{
			"SIGINT", run(node(9, result.Pass)),
			RunOutcome{Signal: 2},
			130,
			"interrupted by SIGINT: the result is partial",
		},
		{"SIGTERM", nil, RunOutcome{Signal: 15}, 143, "terminated by SIGTERM: the result is partial"},
		{
			"SIGHUP", nil,
			RunOutcome{Signal: 1},
			143,
			"terminated by SIGHUP, as its terminal has gone: the result is partial",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, v, reason := Exit(row.r, row.o)
			if code != row.code || reason != row.reason || v != verdictOf(row.code) {
				t.Errorf("got  %d %s: %s\nwant %d %s: %s", code, v, reason, row.code,
					verdictOf(row.code), row.reason)
			}
		})
	}
}

// TestPrecedence: with every cause at once, taking away the strongest gives the next, in the order
// that help and README say.
func TestPrecedence(t *testing.T) {
	error6, set4 := node(9, result.ErrorVerdict), with(node(0), result.Failed, "refused")
	invalid5, fail1, open3, pass := with(node(9), result.Invalid, "late"), node(9, result.Fail),
		node(9, result.Inconclusive), node(9, result.Pass)
	nodes := []*result.Node{error6, set4, fail1, invalid5, open3, pass}
	var order []string
	for _, row := range []struct {
		o    RunOutcome
		from int
		want int
	}{
		{RunOutcome{Signal: 2, Plan: "p", Internal: "i", SetUp: "s"}, 0, 130},
		{RunOutcome{Signal: 15, Plan: "p", Internal: "i", SetUp: "s"}, 0, 143},
		{RunOutcome{Plan: "p", Internal: "i", SetUp: "s"}, 0, 2},
		{RunOutcome{Internal: "i", SetUp: "s"}, 1, 6},
		{RunOutcome{SetUp: "s"}, 0, 6},
		{RunOutcome{SetUp: "s"}, 2, 4},
		{RunOutcome{}, 1, 4},
		{RunOutcome{}, 2, 1},
		{RunOutcome{}, 3, 5},
		{RunOutcome{}, 4, 3},
		{RunOutcome{}, 5, 0},
	} {
		if got, _, _ := Exit(run(nodes[row.from:]...), row.o); got != row.want {
			t.Errorf("%+v with nodes from %d: %d, want %d", row.o, row.from, got, row.want)
		}
		if code := strconv.Itoa(row.want); !slices.Contains(order, code) {
			order = append(order, code)
		}
	}
	got := strings.Replace(strings.Join(order, ", "), "130, 143", "130/143", 1)
	if got != Precedence {
		t.Errorf("the order is %s, Precedence is %s", got, Precedence)
	}
}

// TestMeasurementsThatFailed is the precedence case of argo-rollouts#4479 and #2026: five
// measurements of which none succeeded, and a limit of two failures. Errors and failures never sum
// up to success.
func TestMeasurementsThatFailed(t *testing.T) {
	for _, row := range []struct {
		verdicts []result.Verdict
		code     int
		reason   string
	}{
		{
			[]result.Verdict{
				result.ErrorVerdict, result.ErrorVerdict, result.ErrorVerdict,
				result.ErrorVerdict, result.ErrorVerdict,
			},
			6,
			"5 of 5 assertions could not be evaluated, the first is s/1: because",
		},
		{
			[]result.Verdict{result.Fail, result.Fail, result.Fail, result.Fail, result.Fail},
			1,
			"5 of 5 assertions failed, the first is s/1: because",
		},
		{
			[]result.Verdict{
				result.Fail, result.ErrorVerdict, result.Inconclusive, result.Pass,
				result.Pass,
			},
			6, "1 of 5 assertions could not be evaluated: s/1: because",
		},
		{
			[]result.Verdict{result.Fail, result.Fail, result.Inconclusive, result.Pass, result.Pass},
			1,
			"2 of 5 assertions failed, the first is s/1: because",
		},
		{
			[]result.Verdict{result.Pass, result.Pass, result.Pass, result.Pass, result.Inconclusive},
			3,
			"1 of 5 assertions inconclusive: s/1: because",
		},
		{
			[]result.Verdict{result.Skipped, result.Skipped, result.Skipped, result.Skipped, result.Skipped},
			3, "no request of s succeeded",
		},
	} {
		if code, _, reason := Exit(run(node(0, row.verdicts...)), RunOutcome{}); code != row.code ||
			reason != row.reason {
			t.Errorf("%v: exit %d, %s; want %d, %s", row.verdicts, code, reason, row.code, row.reason)
		}
	}
}

// TestCodes: the table is whole, in order, and says for each code what Exit gives.
func TestCodes(t *testing.T) {
	want := []int{0, 1, 2, 3, 4, 5, 6, 130, 134, 143}
	codes := Codes()
	if len(codes) != len(want) {
		t.Fatalf("%d codes, want %d", len(codes), len(want))
	}
	for i, c := range codes {
		if c.Code != want[i] || c.Meaning == "" || c.Verdict == "" {
			t.Errorf("code %d: %+v, want code %d", i, c, want[i])
		}
	}
}
