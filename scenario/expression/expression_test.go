package expression

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// testScope resolves against the whole catalogue, with stages "a" and "sweep[concurrency=1]" and a
// few variables.
type testScope struct{ catalogue *metric.Catalogue }

func value(name string, dim metric.Dim) metric.Row {
	return metric.Row{Name: name, Dim: dim, From: metric.Series, Help: "A value."}
}

func newScope(t testing.TB) testScope {
	t.Helper()
	c, err := metric.New(
		metric.SeriesRow("queue", "Time in the queue.", "ns", true),
		metric.SeriesRow("executions", "Executions.", "1", false),
		value("board.power", metric.Power),
		value("load", metric.Number),
	)
	if err != nil {
		t.Fatal(err)
	}
	return testScope{c}
}

func (s testScope) Resolve(at Place, path string) (metric.Leaf, error) {
	node := at.Node
	if stages := []string{"a", "sweep[concurrency=1]"}; node != "" && node != stages[0] && node != stages[1] {
		return metric.Leaf{}, &NameError{source.Errorf("unknown-name", "there is no stage %s", node).
			Among(source.Nearest(node, stages), stages), InStage}
	}
	for _, part := range []struct {
		name  string
		part  Part
		known string
	}{{at.Phase, InPhase, "spike"}, {at.Mix, InMix, "sql"}, {at.Model, InModel, "detect"}} {
		if part.name != "" && part.name != part.known {
			known := []string{part.known}
			return metric.Leaf{}, &NameError{
				source.Errorf("unknown-name", "there is no %s %s", part.part, part.name).
					Among(source.Nearest(part.name, known), known), part.part,
			}
		}
	}
	return Find(s.catalogue, path)
}

func (testScope) Variable(name string) (string, string, error) {
	v, ok := map[string][2]string{
		"limit": {"50ms", "duration"}, "share": {"0.1%", "ratio"}, "n": {"500", "int"},
		"x":     {"1.5", "number"},
		"below": {"-5", "int"}, "floor": {"200/s", "rate"}, "room": {"64 MiB", "size"},
		"evil": {"1ms or 1 < 2", "text"}, "flag": {"true", "bool"}, "fake": {"1ms or 1 < 2", "duration"},
	}[name]
	if !ok {
		return "", "", fmt.Errorf("there is no variable %s", name)
	}
	return v[0], v[1], nil
}

// text places an expression at line 3, column 5 of a plan.
func text(s string) source.Text {
	return source.Text{Text: s, Pos: source.Pos{File: "plan.yaml", Line: 3, Column: 5}, Path: "/assert/0"}
}

// values gives quantities by the reference's text; one that is not there is no data.
type values map[string]Quantity

func (v values) Quantity(r Ref) Quantity {
	q, ok := v[r.String()]
	if !ok {
		return Quantity{Why: "no samples"}
	}
	return q
}

func point(v float64) Quantity { return Quantity{Known: true, V: v, Lo: v, Hi: v, N: 10000, Need: 1} }

func within(lo, v, hi float64) Quantity {
	return Quantity{Known: true, V: v, Lo: lo, Hi: hi, N: 10000, Need: 1}
}

func mustCompile(t testing.TB, s string) *Program {
	t.Helper()
	p, ds := Compile(text(s), newScope(t))
	if ds.HasErrors() {
		t.Fatalf("Compile(%q): %v", s, ds)
	}
	return p
}

// render shows diagnostics below the expression: carets and one line each.
func render(s string, ds source.Diagnostics) string {
	var b strings.Builder
	b.WriteString(s + "\n")
	for _, d := range ds {
		b.WriteString(strings.Repeat(" ", d.Pos.Column-5) + strings.Repeat("^", max(1, d.Width)) + "\n")
		b.WriteString("  " + d.Code + ": " + d.Summary)
		if d.Detail != "" {
			b.WriteString(" | " + d.Detail)
		}
		if len(d.Allowed) > 0 {
			b.WriteString(" | allowed: " + strings.Join(d.Allowed, " "))
		}
		if d.Nearest != "" {
			b.WriteString(" | nearest: " + d.Nearest)
		}
		b.WriteString("\n")
	}
	return b.String()
}
