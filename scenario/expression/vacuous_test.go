package expression

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sluice-bench/sluice/scenario/source"
)

// TestVacuous holds the known ways in which gates of other tools passed without a measurement: an
// unreadable gate is refused at its place before anything is sent, and one without data is never
// true.
func TestVacuous(t *testing.T) {
	for _, row := range []struct {
		from, expr string
		v          values // nil: Compile must refuse
	}{
		{"k6#1053: a counter that was never incremented", "errors.count > 500", values{}},
		{"k6#1346: a metric without samples", "connect.p95 < 5ms", values{}},
		{"k6#2540: a ratio of nothing", "errors.ratio < 1%", values{"errors.ratio": nan()}},
		{"k6#4283: every iteration threw before its check", "errors.ratio <= 10%", values{}},
		{"k6#961: an assignment", "avg=123", nil},
		{"k6#961: a thrown exception", "throw new Error()", nil},
		{"k6#961: an unknown aggregate", "latency.foo < 5ms", nil},
		{"k6#2330: only wrong when it runs", "latency.p99 < undefined", nil},
		{"k6#2512: a name that cannot be read", "http_req_duration{status:200 < 5ms", nil},
		{"k6#6108: NaN as a limit", "latency.p99 < NaN", nil},
		{"k6#6108: an infinite limit", "latency.p99 < 1e400ms", nil},
		{"k6#6108: an infinite percentile", "latency.p(Inf) < 5ms", nil},
		{"k6#5424: p(101)", "latency.p(101) < 5ms", nil},
		{"k6#5424: p(-1)", "latency.p(-1) < 5ms", nil},
		{
			"vayu#1536: every request failed, p99 of nothing is 0", "latency.p99 <= 200ms",
			values{"errors.count": point(5999)},
		},
		{"argo-rollouts#4535: a null body", "throughput > 1/s", values{"throughput": {}}},
		{"argo-rollouts#4535: a condition of another type", "latency.p99", nil},
		{"artillery#375: NaN with few samples", "not (latency.p99 > 1s)", values{"latency.p99": nan()}},
		{
			"k6#1526: every request failed and nobody said that it may", "errors.count == 0",
			values{"errors.count": point(521)},
		},
		{
			"artillery#1287: two limits, one without data",
			"latency.p95 < 100ms and latency.max < 200ms",
			values{"latency.p95": point(0.05)},
		},
	} {
		p, ds := Compile(text(row.expr), newScope(t))
		if row.v == nil {
			if !ds.HasErrors() || p != nil {
				t.Errorf("%s: %s was compiled", row.from, row.expr)
			}
			continue
		}
		if ds.HasErrors() {
			t.Errorf("%s: %v", row.from, ds)
			continue
		}
		if got := p.Truth(row.v); got.Is == 1 {
			t.Errorf("%s: %s passed", row.from, row.expr)
		}
	}
}

// TestPositiveSense checks the direction of limits: true never means that a limit was crossed.
func TestPositiveSense(t *testing.T) {
	for _, row := range []struct {
		from, expr string
		failed     float64
		want       int8
	}{
		{"k6#1498: 515 of 521 checks pass, more than 95 %", "100% - errors.ratio >= 95%", 6, 1},
		{"k6#5316: the same as a share of failures", "errors.ratio < 5%", 6, 1},
		{"k6#5316: 27 of 521 fail", "100% - errors.ratio >= 95%", 27, -1},
		{"k6#1526: failed checks are a gate of their own", "errors.ratio < 5%", 27, -1},
	} {
		got := mustCompile(t, row.expr).Truth(values{"errors.ratio": point(row.failed / 521)})
		if got.Is != row.want {
			t.Errorf("%s: %s is %d, want %d", row.from, row.expr, got.Is, row.want)
		}
	}
}

func nan() Quantity {
	zero := 0.0
	q := point(zero / zero)
	return q
}

// TestSize checks that neither length nor depth exhausts the parser, and that texts within the
// limits are read.
func TestSize(t *testing.T) {
	scope := newScope(t)
	for name, row := range map[string]struct {
		expr string
		code string
	}{
		"long":         {strings.Repeat(" ", 4090) + "1 < 2", ""},
		"too long":     {"latency.p99 < 5ms" + strings.Repeat(" and latency.p99 < 5ms", 200), codeTooLong},
		"deep":         {strings.Repeat("(", 60) + "latency.p99" + strings.Repeat(")", 60) + " < 5ms", "ok"},
		"too deep":     {strings.Repeat("(", 2000) + "1" + strings.Repeat(")", 2000), codeTooLong},
		"signs":        {strings.Repeat("-", 2000) + "1 < 2", codeTooLong},
		"nots":         {strings.Repeat("not ", 1000) + "1 < 2", codeTooLong},
		"million":      {strings.Repeat("(", 1_000_000), codeTooLong},
		"wide":         {"latency.p99" + strings.Repeat("+latency.p99", 300) + " < 5ms", "ok"},
		"many or":      {"latency.p99 < 5ms" + strings.Repeat(" or latency.p99 < 5ms", 180), "ok"},
		"empty":        {"", codeSyntax},
		"spaces":       {" \n\t ", codeSyntax},
		"folded lines": {"latency.p99\n  < 5ms\n  and errors.count == 0\n", "ok"},
	} {
		_, ds := Compile(text(row.expr), scope)
		switch {
		case row.code == "ok" && ds.HasErrors():
			t.Errorf("%s: %v", name, ds)
		case row.code != "ok" && !ds.HasErrors():
			t.Errorf("%s: no error", name)
		case row.code != "ok" && row.code != "" && ds[0].Code != row.code:
			t.Errorf("%s: code %s, want %s", name, ds[0].Code, row.code)
		}
	}
}

// TestPositions: carets follow the text's own place in the plan, over lines of a block scalar and
// past wide characters.
func TestPositions(t *testing.T) {
	const plan = "a: |-\n  latency.p50 < 10µs and\n    latecny.p99 < 5ms\nb: \"latecny.p99 < 5ms\"\n"
	root, ds := source.Parse("plan.yaml", []byte(plan))
	if ds.HasErrors() || root == nil {
		t.Fatalf("Parse: %v", ds)
	}
	for key, want := range map[string]string{"a": "plan.yaml:3:5", "b": "plan.yaml:4:5"} {
		_, ds := Compile(root.Get(key).AsText("/"+key), newScope(t))
		if len(ds) != 1 || ds[0].Pos.String() != want || ds[0].Width != len("latecny.p99") {
			t.Errorf("%s: %v, want one at %s", key, ds, want)
		}
	}
}

// TestConcurrent evaluates one program from many goroutines, for the race detector.
func TestConcurrent(t *testing.T) {
	p := mustCompile(t, "latency.p99 < 2 * latency.p50 and errors.count == 0")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			v := values{"latency.p99": point(float64(i)), "latency.p50": point(3), "errors.count": point(0)}
			for range 100 {
				if want := sure(i < 6, i >= 6); p.Truth(v).Is != want {
					t.Errorf("%d: want %d", i, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

// FuzzCompile: no text makes Compile panic; it gives a program that evaluates, or errors that stand
// in the text.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		"latency.p99 < 50ms", `stage("a").latency.p(99.9) <= 1.1 * latency.p50`,
		"not (errors.ratio >= 0.1%) or ${n} < errors.count",
		"max(latency.p99, 1h30m, 5ns) - abs(-latency.min) > 0s",
		"requests.rate >= 0.99 * offered.rate", "a < b < c", "((", "))", "${", `"`,
		"1e999/s", "0x1p-2", "latency.p99.9.9", "µ", "\x00", "a?b:c", "[1..2]", "let a = 1; a",
		"latency?.p99", "-not-not-1", "p(p(1))", "stage(\"a\")(1)",
		`baseline.stage("a").phase("spike").mix("sql").model("detect").latency.p99 < 1s`,
		`scrape("x{a='v'}").rate > 0`,
		`phase("x").stage("a").latency.p99`, `baseline()`, `mix(("a")).latency.p99 < 1s`,
		`stage("a").phase("b")`, `(phase("a")).latency.p99`, "1/s/s/s",
	} {
		f.Add(s)
	}
	scope := newScope(f)
	f.Fuzz(func(t *testing.T, s string) {
		p, ds := Compile(text(s), scope)
		if (p == nil) != ds.HasErrors() {
			t.Fatalf("program %v with errors %v", p, ds)
		}
		for _, d := range ds {
			inside := d.Pos.Line == 3 && d.Pos.Column >= 5 && d.Pos.Column <= 5+len([]rune(s))
			if !inside || d.Code == "" || strings.Contains(d.Summary, "cannot be read") {
				t.Fatalf("bad diagnostic %+v", d)
			}
		}
		if p == nil {
			return
		}
		if got := p.Truth(values{}); got.Is == 1 || got.Err != nil {
			t.Fatalf("without data %q is %d, %v", s, got.Is, got.Err)
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	scope := newScope(b)
	for b.Loop() {
		if _, ds := Compile(text("latency.p99 < ${limit} and errors.ratio < 0.1%"), scope); ds != nil {
			b.Fatal(ds)
		}
	}
}

func BenchmarkTruth(b *testing.B) {
	p := mustCompile(b, "latency.p99 < ${limit} and errors.ratio < 0.1%")
	v := values{"latency.p99": point(0.02), "errors.ratio": point(0)}
	for b.Loop() {
		if p.Truth(v).Is != 1 {
			b.Fatal("not true")
		}
	}
}

// TestNeverInDoubt warns of comparisons that no run can change, at their place. They work all the same.
func TestNeverInDoubt(t *testing.T) {
	for _, row := range []struct{ expr, marked, want, why string }{
		{
			"errors.ratio < 150%", "errors.ratio < 150%", "this is always true",
			"errors.ratio is never above 100%",
		},
		{"errors.ratio >= 0%", "errors.ratio >= 0%", "this is always true", "errors.ratio is never negative"},
		{
			"150% > errors.ratio", "150% > errors.ratio", "this is always true",
			"errors.ratio is never above 100%",
		},
		{
			"errors.ratio > 100%", "errors.ratio > 100%", "this is never true",
			"errors.ratio is never above 100%",
		},
		{
			"requests.count >= 0", "requests.count >= 0", "this is always true",
			"requests.count is never negative",
		},
		{
			"requests.count != -1", "requests.count != -1", "this is always true",
			"requests.count is never negative",
		},
		{
			"requests.count == -1", "requests.count == -1", "this is never true",
			"requests.count is never negative",
		},
		{"latency.p99 < -5ms", "latency.p99 < -5ms", "this is never true", "latency.p99 is never negative"},
		{
			"latency.p99 < 5ms - 10ms", "latency.p99 < 5ms - 10ms", "this is never true",
			"latency.p99 is never negative",
		},
		{
			"latency.p99 < 5ms and (throughput > -1/s)", "throughput > -1/s", "this is always true",
			"throughput is never negative",
		},
		{
			"not (latency.count < ${below})", "latency.count < ${below}", "this is never true",
			"latency.count is never negative",
		},
		{"errors.ratio <= 100%", "", "", ""}, // how a plan says that errors are fine
		{"errors.ratio < 100%", "", "", ""},
		{"latency.p99 > 0s", "", "", ""},
		{"errors.count == 0", "", "", ""},
		{"client.cpu < 150%", "", "", ""},
		{"latency.p99 - latency.p50 < -5ms", "", "", ""},
		{"errors.count / requests.count < 2", "", "", ""},
	} {
		p, ds := Compile(text(row.expr), newScope(t))
		if p == nil || len(ds) != min(1, len(row.want)) {
			t.Errorf("%s: %v", row.expr, ds)
			continue
		}
		for _, d := range ds {
			marked := string([]rune(row.expr)[d.Pos.Column-5 : d.Pos.Column-5+d.Width])
			got := []string{string(d.Severity), d.Code, marked, d.Summary, d.Detail}
			want := []string{"warning", codeVacuous, row.marked, row.want, row.why}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", row.expr, got, want)
			}
		}
	}
}
