package expression

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// overload is one rule of the operators, in words.
type overload struct{ Op, Left, Right, Result string }

// overloads lists what the operators and functions of the language take and return.
func overloads() []overload {
	kinds := []kind{duration, rate, count, ratio, size, power, number, truth}
	var rows []overload
	add := func(op string, l, r kind) {
		if rule, ok := ruleOf(op, l, r); ok {
			row := overload{Op: op, Left: l.String(), Result: rule.result.String()}
			if r != 0 {
				row.Right = r.String()
			}
			rows = append(rows, row)
		}
	}
	operators := strings.Fields("< <= > >= == != + - min max * / and or")
	for _, k := range kinds {
		for _, op := range operators {
			add(op, k, k)
		}
		for _, op := range strings.Fields("- abs not") {
			add(op, k, 0)
		}
	}
	for _, op := range operators {
		for _, r := range kinds {
			for _, l := range kinds {
				if l != r {
					add(op, l, r)
				}
			}
		}
	}
	return rows
}

// samples of each dimension: a metric of it, so that no row is a constant.
var sample = map[string]string{
	"duration": "latency.p99", "rate": "throughput", "count": "errors.count", "ratio": "errors.ratio",
	"size": "client.memory", "power": "board.power", "number": "load", "condition": "(latency.p50 < 1s)",
}

func written(op, l, r string) string {
	switch {
	case op == "min" || op == "max":
		return op + "(" + l + ", " + r + ")"
	case r == "" && op == "abs":
		return op + "(" + l + ")"
	case r == "":
		return op + " " + l
	}
	return l + " " + op + " " + r
}

// TestOverloads compiles every row of the table and every combination that is not in it: the rows
// give what they say, the others are refused. So the table in the documentation is the language.
func TestOverloads(t *testing.T) {
	scope := newScope(t)
	rows := map[string]string{}
	for _, o := range overloads() {
		key := written(o.Op, sample[o.Left], sample[o.Right])
		if was, duplicate := rows[key]; duplicate {
			t.Errorf("duplicate row %s: %s, %s", key, was, o.Result)
		}
		rows[key] = o.Result
	}
	for _, key := range combinations() {
		want, built := rows[key]
		p, ds := Compile(text(key), scope)
		q, qs := CompileQuantity(text(key), scope)
		got := ""
		switch {
		case p != nil:
			got = p.whole.kind.String()
		case q != nil:
			got = q.whole.kind.String()
		}
		if got != want {
			t.Errorf("%s is a %q, want %q (%v %v)", key, got, want, ds, qs)
		}
		if !built && (!ds.HasErrors() || !qs.HasErrors()) {
			t.Errorf("%s is not in the table and was compiled", key)
		}
		delete(rows, key)
	}
	if len(rows) > 0 {
		t.Errorf("rows that no combination reached: %v", rows)
	}
}

func combinations() []string {
	var all []string
	for _, l := range sample {
		for _, op := range []string{"not", "-", "abs"} {
			all = append(all, written(op, l, ""))
		}
		for _, r := range sample {
			for _, op := range strings.Fields("< <= > >= == != + - * / and or min max") {
				all = append(all, written(op, l, r))
			}
		}
	}
	return all
}

// TestOverloadsKeepUnknown runs every row with one side unknown: no result may be known.
func TestOverloadsKeepUnknown(t *testing.T) {
	for _, o := range overloads() {
		if o.Left == "condition" || o.Right == "condition" {
			continue // Kleene's tables
		}
		l, r := sample[o.Left], sample[o.Right]
		if l == r {
			r = map[string]string{
				"latency.p99": "latency.p50", "throughput": "requests.rate", "errors.count": "requests.count",
				"errors.ratio": "late.ratio", "client.memory": "client.memory",
				"board.power": "board.power", "load": "load",
			}[r]
		}
		s := written(o.Op, l, r)
		for _, missing := range []string{l, r} {
			v := values{l: point(2), r: point(3)}
			delete(v, missing)
			if missing == "" {
				continue
			}
			if p, ds := Compile(text(s), newScope(t)); !ds.HasErrors() {
				if got := p.Truth(v); got.Is != 0 {
					t.Errorf("%s without %s is %d", s, missing, got.Is)
				}
				continue
			}
			p, ds := CompileQuantity(text(s), newScope(t))
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			if got, _ := p.Quantity(v); got.Known {
				t.Errorf("%s without %s is %v", s, missing, got)
			}
		}
	}
}

// TestBareNumberBesideRatio: no ratio of the catalogue is compared with, added to or subtracted
// from a constant without a unit, on either side of an operator. Measured numbers and factors have
// no unit and stay.
func TestBareNumberBesideRatio(t *testing.T) {
	catalogue, err := metric.New(metric.GoodputRows()...)
	if err != nil {
		t.Fatal(err)
	}
	scope := testScope{catalogue}
	ratios := 0
	for _, row := range scope.catalogue.Rows() {
		if row.Dim != metric.Ratio {
			continue
		}
		ratios++
		leaf := row.Leaves()[0]
		for _, form := range []string{
			"M < 1", "M <= 0.5", "M > 0.99", "M >= 99", "1 > M", "0.5 >= M", "0 < M", "1 <= M",
			"M < ${x}", "M < 2 * 0.5", "M < -1",
			"1 - M < 5%", "M - 1 < 5%", "M + 0.1 < 5%", "0.1 + M < 5%", "min(M, 1) < 5%",
			"max(0.1, M) < 5%", "max(1%, M, 2) < 5%",
			"abs(1 - M) < 5%", "5% < 1 - M", "not (M < 1)", "M < 1% or M < 1",
		} {
			expr := strings.ReplaceAll(form, "M", leaf)
			p, ds := Compile(text(expr), scope)
			isWarning := func(d source.Diagnostic) bool { return d.Severity == source.Warning }
			wrong := slices.DeleteFunc(ds, isWarning)
			if p != nil || len(wrong) != 1 {
				t.Errorf("%s: %v", expr, wrong)
				continue
			}
			if d := wrong[0]; d.Code != codeType || !strings.Contains(d.Detail, "%") {
				t.Errorf("%s: %v", expr, d)
			}
		}
		for _, form := range []string{
			"M < 1%", "M / 2 < 1%", "0.5 * M < 1%", "M * 2 < 1%", "M < 0.5 * M + 1%", "M / M < 1.1",
			"M < errors.count / requests.count",
			`M < scrape("x").max`, "M < 1 + errors.count / requests.count",
			"errors.count / requests.count < 1%", "errors.count / requests.count < 0.01",
			`scrape("x").max < 0.9`, "max(M, errors.count / requests.count) < 1%",
		} {
			expr := strings.ReplaceAll(form, "M", leaf)
			if _, ds := Compile(text(expr), scope); ds.HasErrors() {
				t.Errorf("%s: %v", expr, ds)
			}
		}
	}
	if ratios < 8 {
		t.Errorf("%d ratios in the catalogue", ratios)
	}
}
