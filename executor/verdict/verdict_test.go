package verdict

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

type scope struct{ c *metric.Catalogue }

func (s scope) Resolve(_ expression.Place, path string) (metric.Leaf, error) {
	return expression.Find(s.c, path)
}

func (scope) Variable(string) (string, string, error) { return "", "", errors.New("no variables here") }

func compile(t *testing.T, that string) *expression.Program {
	t.Helper()
	c, err := metric.New(append(metric.GoodputRows(), metric.CapacityRow(metric.Rate))...)
	if err != nil {
		t.Fatal(err)
	}
	p, ds := expression.Compile(source.Text{Text: that}, scope{c})
	if ds.HasErrors() {
		t.Fatalf("%s: %v", that, ds)
	}
	return p
}

// fake gives each leaf a quantity, and counts samples over limits.
type fake struct {
	q       map[string]expression.Quantity
	over, n int64 // of every percentile; n 0: cannot count
}

func (f fake) Quantity(r expression.Ref) expression.Quantity {
	if q, ok := f.q[r.Leaf.String()]; ok {
		return q
	}
	return expression.Quantity{Why: "no samples"}
}

func (f fake) Exceeding(expression.Ref, string, float64) (over, n int64, ok bool) {
	return f.over, f.n, f.n > 0
}

func quantity(v float64, n, need int64) expression.Quantity {
	return expression.Quantity{Known: true, V: v, Lo: v, Hi: v, N: n, Need: need}
}

func bounded(lo, v, hi float64) expression.Quantity {
	return expression.Quantity{Known: true, V: v, Lo: lo, Hi: hi, N: 5000, Need: 299}
}

// Demanding returns f: it has no bounds of its own, and its quantities say what they need.
func (f fake) Demanding(float64, int, []expression.Ref) expression.Values { return f }

func (fake) Doubt([]expression.Ref) string { return "" }

func (fake) Windows([]expression.Ref, float64) (result.Windowed, string) {
	return result.Windowed{}, ""
}

type boom struct{ fake }

// Demanding returns b.
func (b boom) Demanding(float64, int, []expression.Ref) expression.Values { return b }

func (boom) Quantity(expression.Ref) expression.Quantity { panic("boom") }

// TestJudge is a row for each way to each verdict, with the words that people read.
func TestJudge(t *testing.T) {
	const p99 = "latency.p99 < 50ms"
	good, bad := quantity(0.0312, 1200, 299), quantity(0.0612, 1200, 299)
	one := func(q expression.Quantity) fake {
		return fake{q: map[string]expression.Quantity{"latency.p99": q, "latency.p50": q}}
	}
	for _, row := range []struct {
		name    string
		that    string
		a       scenario.Assertion
		c       Context
		v       Values
		verdict result.Verdict
		reason  string
	}{
		{
			"true", p99,
			scenario.Assertion{},
			Context{},
			one(good), result.Pass,
			"latency.p99 is 31.2 ms, the limit is 50 ms (n = 1200)",
		},
		{
			"false", p99,
			scenario.Assertion{},
			Context{},
			one(bad), result.Fail,
			"latency.p99 is 61.2 ms, the limit is 50 ms (n = 1200)",
		},
		{
			"false by a hair", p99,
			scenario.Assertion{},
			Context{},
			one(quantity(0.050004, 1200, 299)),
			result.Fail, "latency.p99 is 50.004 ms, the limit is 50 ms (n = 1200)",
		},
		{
			"computed limit", "requests.rate >= 0.99 * offered.rate",
			scenario.Assertion{},
			Context{},
			fake{q: map[string]expression.Quantity{
				"requests.rate": quantity(150, 9000, 1),
				"offered.rate":  quantity(200, 1, 1),
			}},
			result.Fail, "requests.rate is 150/s, the limit is 198/s = 0.99 * offered.rate (n = 9000)",
		},
		{
			"must be", "errors.count == 0",
			scenario.Assertion{},
			Context{},
			fake{q: map[string]expression.Quantity{"errors.count": quantity(3, 500, 1)}},
			result.Fail,
			"errors.count is 3, it must be 0 (n = 500)",
		},
		{
			"skipped", p99,
			scenario.Assertion{},
			Context{SkippedBecause: "gate failed", InvalidBecause: "x"},
			one(good), result.Skipped, "gate failed",
		},
		{
			"ended the run", p99,
			scenario.Assertion{},
			Context{
				CertainBecause: "certainly false", InterruptedAfter: "2 s of 60 s",
				InvalidBecause: "x", SkippedBecause: "x",
			},
			one(good), result.Fail, "certainly false",
		},
		{
			"invalid beats pass", p99,
			scenario.Assertion{},
			Context{InvalidBecause: "client out of CPU"},
			one(good), result.Inconclusive, "the measurement is invalid: client out of CPU",
		},
		{
			"invalid beats fail", p99,
			scenario.Assertion{},
			Context{InvalidBecause: "client out of CPU", UnstableBecause: "x"},
			one(bad),
			result.Inconclusive, "the measurement is invalid: client out of CPU",
		},
		{
			"interrupted", p99,
			scenario.Assertion{},
			Context{InterruptedAfter: "12 s of 60 s"},
			one(good),
			result.Inconclusive, "interrupted: 12 s of 60 s",
		},
		{
			"unstable", p99,
			scenario.Assertion{},
			Context{UnstableBecause: "10 windows"},
			one(bad),
			result.Inconclusive, "not stable: 10 windows",
		},
		{
			"nowhere to be judged", p99,
			scenario.Assertion{},
			Context{NoLevelBecause: "latency.p50 < 1ms is not true at the first level already"},
			one(good),
			result.Inconclusive,
			"there is no level to judge it on: latency.p50 < 1ms is not true at the first level already",
		},
		{
			"nowhere, and no data passes", p99,
			scenario.Assertion{OnNoData: "pass"},
			Context{NoLevelBecause: "x"},
			fake{},
			result.Inconclusive,
			"there is no level to judge it on: x",
		},
		{
			"invalid excuses on_no_data", p99,
			scenario.Assertion{OnNoData: "pass"},
			Context{InvalidBecause: "late"},
			fake{},
			result.Inconclusive,
			"the measurement is invalid: late",
		},
		{
			"panic", p99,
			scenario.Assertion{},
			Context{},
			boom{},
			result.ErrorVerdict,
			"evaluating latency.p99 < 50ms: boom",
		},
		{
			"no data", p99,
			scenario.Assertion{},
			Context{},
			fake{},
			result.Inconclusive,
			"no data: latency.p99: no samples",
		},
		{
			"no data fails", p99,
			scenario.Assertion{OnNoData: "fail"},
			Context{},
			fake{},
			result.Fail,
			"no data, and on_no_data is fail: latency.p99: no samples",
		},
		{
			"no data passes", p99,
			scenario.Assertion{OnNoData: "pass"},
			Context{},
			fake{},
			result.Pass,
			"no data, and on_no_data is pass: latency.p99: no samples",
		},
		{
			"not no data", "not (latency.p99 >= 50ms)",
			scenario.Assertion{},
			Context{},
			fake{},
			result.Inconclusive, "no data: latency.p99: no samples",
		},
		{
			"NaN", "not (latency.p99 >= 50ms)",
			scenario.Assertion{},
			Context{},
			one(quantity(math.NaN(), 9, 1)), result.Inconclusive,
			"no data: latency.p99: not a finite number",
		},
		{
			"bounds", p99,
			scenario.Assertion{OnNoData: "pass"},
			Context{},
			one(bounded(0.04, 0.045, 0.055)),
			result.Inconclusive,
			"the limit lies within the confidence bounds: latency.p99 is 45 ms (40 ms … 55 ms), the limit is 50 ms (n = 5000)",
		},
		{
			"bounds decide", p99,
			scenario.Assertion{},
			Context{},
			one(bounded(0.04, 0.045, 0.049)),
			result.Pass, "latency.p99 is 45 ms (40 ms … 49 ms), the limit is 50 ms (n = 5000)",
		},
		{
			"too few, true", p99,
			scenario.Assertion{},
			Context{},
			one(quantity(0.03, 287, 299)),
			result.Inconclusive,
			"12 more requests needed for p99 (have 287 of 299): so far latency.p99 is 30 ms, the limit is 50 ms",
		},
		{
			"one too few", p99,
			scenario.Assertion{},
			Context{},
			one(quantity(0.03, 298, 299)),
			result.Inconclusive,
			"1 more request needed for p99 (have 298 of 299): so far latency.p99 is 30 ms, the limit is 50 ms",
		},
		{
			"just enough", p99,
			scenario.Assertion{},
			Context{},
			one(quantity(0.03, 299, 299)), result.Pass,
			"latency.p99 is 30 ms, the limit is 50 ms (n = 299)",
		},
		{
			"too few, false", p99,
			scenario.Assertion{},
			Context{},
			one(quantity(0.06, 287, 299)),
			result.Inconclusive,
			"12 more requests needed for p99 (have 287 of 299): so far latency.p99 is 60 ms, the limit is 50 ms",
		},
		{
			"too few, but proven", p99,
			scenario.Assertion{},
			Context{},
			fake{
				q:    map[string]expression.Quantity{"latency.p99": quantity(0.06, 100, 299)},
				over: 4, n: 100,
			},
			result.Fail, "latency.p99 is 60 ms, the limit is 50 ms (n = 100)",
		},
		{
			"too few, nearly proven", p99,
			scenario.Assertion{},
			Context{},
			fake{
				q:    map[string]expression.Quantity{"latency.p99": quantity(0.06, 100, 299)},
				over: 3, n: 100,
			},
			result.Inconclusive,
			"199 more requests needed for p99 (have 100 of 299): so far latency.p99 is 60 ms, the limit is 50 ms",
		},
		{
			"true is never proven early", p99,
			scenario.Assertion{},
			Context{},
			fake{
				q:    map[string]expression.Quantity{"latency.p99": quantity(0.03, 100, 299)},
				over: 0, n: 100,
			},
			result.Inconclusive,
			"199 more requests needed for p99 (have 100 of 299): so far latency.p99 is 30 ms, the limit is 50 ms",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := Judge(row.a, compile(t, row.that), row.c, row.v)
			if got.Verdict != row.verdict || got.Reason != row.reason {
				t.Errorf("got  %s: %s\nwant %s: %s", got.Verdict, got.Reason, row.verdict, row.reason)
			}
		})
	}
	if got := Judge(scenario.Assertion{}, nil, Context{}, fake{}); got.Verdict != result.ErrorVerdict {
		t.Errorf("without a program: %+v", got)
	}
}

// TestJudgeFields is everything that the stored assertion holds.
func TestJudgeFields(t *testing.T) {
	a := scenario.Assertion{
		ID: "steady/1", Description: "fast", SLO: "latency", Severity: "warn",
		That: source.Text{
			Text: "50ms > latency.p99",
			Pos:  source.Pos{File: "plan.yaml", Line: 4, Column: 7},
		},
		Use: source.Pos{File: "plan.yaml", Line: 41, Column: 9},
	}
	observed, limit := 0.0312, 0.05
	want := result.Assertion{
		ID: "steady/1", Description: "fast", That: "50ms > latency.p99", At: "plan.yaml:41:9",
		SLO: "latency", Severity: "warn",
		Verdict: result.Pass, Unit: "s", Op: "<", Observed: &observed, Limit: &limit,
		Samples: 1200, Needed: 299,
		Reason: "latency.p99 is 31.2 ms, the limit is 50 ms (n = 1200)",
	}
	v := fake{q: map[string]expression.Quantity{"latency.p99": quantity(0.0312, 1200, 299)}}
	if diff := cmp.Diff(want, Judge(a, compile(t, a.That.Text), Context{}, v)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	a.Use, a.Severity = source.Pos{}, ""
	got := Judge(a, compile(t, a.That.Text), Context{}, fake{})
	if got.At != "plan.yaml:4:7" || got.Severity != "gate" || got.Observed != nil || got.Limit == nil {
		t.Errorf("without data: %+v", got)
	}
}

// TestVacuous: gates of other tools that passed without data or with every request failed. None may
// pass here.
func TestVacuous(t *testing.T) {
	all := func(q expression.Quantity, names ...string) fake {
		f := fake{q: map[string]expression.Quantity{}}
		for _, n := range names {
			f.q[n] = q
		}
		return f
	}
	for _, row := range []struct {
		from, that string
		v          Values
	}{
		{"k6#1053", "errors.status.count > 500", fake{}},
		{"k6#1346", "connect.p95 < 5ms", fake{}},
		{"k6#2540", "errors.ratio < 1%", all(quantity(math.NaN(), 0, 1), "errors.ratio")},
		{"k6#4283", "errors.ratio <= 10%", fake{}},
		{
			"vayu#1536", "latency.p99 <= 200ms",
			all(quantity(5999, 5999, 1), "errors.count", "requests.count"),
		},
		{"argo-rollouts#4535", "throughput > 1/s", all(expression.Quantity{}, "throughput")},
		{"artillery#375", "latency.p99 < 1s", all(quantity(math.NaN(), 3, 299), "latency.p99")},
		{"artillery#375 with a number", "latency.p99 < 1s", all(quantity(0.1, 3, 299), "latency.p99")},
	} {
		for _, c := range []Context{
			{},
			{UnstableBecause: "x"},
			{InvalidBecause: "x"},
			{InterruptedAfter: "x"},
			{SkippedBecause: "x"},
		} {
			for _, onNoData := range []string{"", "inconclusive", "fail"} {
				a := scenario.Assertion{ID: "s/1", OnNoData: onNoData}
				if got := Judge(a, compile(t, row.that), c, row.v); got.Verdict == result.Pass {
					t.Errorf("%s: %s passed in %+v: %s", row.from, row.that, c, got.Reason)
				}
			}
		}
	}
}

// TestCertain: what proves a false percentile comparison, on both kinds of limit, and what does not.
func TestCertain(t *testing.T) {
	for _, row := range []struct {
		that    string
		over, n int64
		want    bool
	}{
		{"latency.p99 < 50ms", 2, 2, true},
		{"latency.p99 < 50ms", 1, 2, true}, // 1.99 %
		{"latency.p99 < 50ms", 1, 5, true}, // 4.9 %
		{"latency.p99 < 50ms", 1, 6, false},
		{"latency.p99 < 50ms", 0, 6, false},
		{"latency.p50 < 50ms", 4, 4, false}, // 6.25 %
		{"latency.p50 <= 50ms", 5, 5, true},
		{"latency.p50 > 50ms", 0, 5, true},
		{"latency.p50 > 50ms", 1, 5, false},
		{"latency.p90 > 50ms", 0, 5, false}, // 59 %
		{"latency.p90 > 50ms", 0, 29, true},
		{"50ms <= latency.p50", 0, 4, false},
		{"not (latency.p50 <= 50ms)", 0, 5, true},
		{"latency.mean < 50ms", 5, 5, false},
		{"latency.p99 < 2 * latency.p50", 5, 5, false},
		{"latency.p99 < 50ms", 9, 5, false},
	} {
		p := compile(t, row.that)
		wrong := 0.06
		if p.Truth(fake{q: both(0.06)}).Is > 0 {
			wrong = 0.04
		}
		f := fake{q: both(wrong), over: row.over, n: row.n}
		if got := provenFalse(p.Truth(f), f); got != row.want {
			t.Errorf("%s, %d of %d over it: certain = %v, want %v", row.that, row.over, row.n, got, row.want)
		}
	}
}

func both(v float64) map[string]expression.Quantity {
	return map[string]expression.Quantity{
		"latency.p99": quantity(3*v, 5, 299), "latency.p50": quantity(v, 4, 5),
		"latency.mean": quantity(v, 4, 5),
		"latency.p90":  quantity(v, 28, 29),
	}
}
