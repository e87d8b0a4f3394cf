package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
	"github.com/sluice-bench/sluice/schema"
)

// The reference of the guide is made from the schema, the catalogue and the table of operators. It
// is between these two lines; `go generate ./schema` writes it, after the schema.
const (
	referenceBegin = "<!-- reference: begin -->\n"
	referenceEnd   = "<!-- reference: end -->\n"
)

// TestReference: the guide's reference is what is built.
func TestReference(t *testing.T) {
	data, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(data), referenceBegin)
	have, after, ends := strings.Cut(rest, referenceEnd)
	if !begins || !ends {
		t.Fatalf("the guide lacks the line %s or %s", referenceBegin, referenceEnd)
	}
	want := reference(t)
	if os.Getenv("UPDATE_GUIDE") != "" {
		if err := os.WriteFile(guide, []byte(before+referenceBegin+want+referenceEnd+after),
			0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have != want {
		t.Errorf("the reference is not up to date: run `go generate ./schema`")
	}
}

// TestReferenceIsComplete looks for every name by itself, so that a mistake of the writer above is seen.
func TestReferenceIsComplete(t *testing.T) {
	data, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), referenceBegin)
	for _, key := range schema.Keys() {
		if _, name := cutLast(key); !strings.Contains(text, name+"`") {
			t.Errorf("the guide lacks %s", key)
		}
	}
	for _, r := range metrics() {
		if !strings.Contains(text, "`"+r.Name+"`") {
			t.Errorf("the guide lacks the metric %s", r.Name)
		}
	}
	for _, o := range overloads() {
		if !strings.Contains(text, "`"+o.Op+"`") {
			t.Errorf("the guide lacks the operator %s", o.Op)
		}
	}
}

// section is one table of keys: those below a path, without those of sections of their own. An
// empty path is the plan.
type section struct{ title, path string }

func sections() []section {
	return []section{
		{"The plan", ""},
		{"A variable: `vars.NAME`, or a scalar that is its default", "vars.NAME"},
		{"A target: `target`, or `targets.NAME`", "target"},
		{"A dataset: `data`, or `datasets.NAME`", "data"},
		{"A generator: `generate.NAME`, or a constant, `random` or `zero`", "data.generate.NAME"},
		{"A stage, and `defaults`", "stages"},
		{
			"`load`. `concurrency` and `rate` are a scalar, a list, or a map that holds one of `levels`, `ramp`, " +
				"`search`",
			"stages.load",
		},
		{"An assertion: of a stage, of the plan, of `slos`, or a string that is `that`", "slos.NAME"},
		{"`output`", "output"},
	}
}

// rows are the keys of a section.
func (s section) rows() (keys []string) {
	for _, key := range schema.Keys() {
		if sectionOf(key) == s.path && !drawn(key) && !strings.HasPrefix(key, "stages.load.rate.") {
			keys = append(keys, key)
		}
	}
	return keys
}

// sectionOf is the deepest section above a key.
func sectionOf(key string) string {
	for up, _ := cutLast(key); up != ""; up, _ = cutLast(up) {
		if slices.ContainsFunc(sections(), func(s section) bool { return s.path == up }) {
			return up
		}
	}
	return ""
}

// drawn is a key of a dist, which is explained once.
func drawn(key string) bool {
	up, name := cutLast(key)
	p, ok := schema.Lookup(up)
	return ok && p.Path == up && strings.HasSuffix(p.Type, "dist") &&
		slices.Contains([]string{"mean", "std", "min", "max", "shape", "values"}, name)
}

func reference(t *testing.T) string {
	var b strings.Builder
	b.WriteString("\n### Every key\n\nTypes: a **duration** is `50ms`, `1.5s` or `1h30m`; a **rate** " +
		"`200/s` or `90/min`; a **ratio** `0.1%`; a **size** `64MiB`; a **power** `500W`; a **span** a\n" +
		"duration, `N requests` or `N passes`; a **dist** a constant or a map of `mean std min max shape " +
		"values`. Minutes are `m` or `min`, and a space may\n" +
		"stand before a unit, so that a value of the report can be copied: `36.81 ms`, `0.1 %`. Paths are " +
		"relative to the plan.\n")
	for _, s := range sections() {
		fmt.Fprintf(&b, "\n**%s**\n\n| key | type | default | |\n| --- | --- | --- | --- |\n", s.title)
		for _, key := range s.rows() {
			b.WriteString(keyRow(t, key, strings.TrimPrefix(strings.TrimPrefix(key, s.path), ".")))
		}
	}
	return b.String() + metricTables() + operators()
}

func keyRow(t *testing.T, key, name string) string {
	p, ok := schema.Lookup(key)
	if !ok {
		t.Fatalf("%s is a key that cannot be looked up", key)
	}
	typ := p.Type
	if len(p.Allowed) > 0 && typ != "int" {
		typ = strings.Replace(typ, "word", "`"+strings.Join(p.Allowed, "` `")+"`", 1)
	}
	mark := ""
	if p.Required {
		mark = " (required)"
	}
	value := ""
	if strings.HasPrefix(key, "stages.load.concurrency.") {
		typ = strings.Replace(typ, "int", "int or rate", 1)
	}
	if p.Default != "" {
		value = "`" + p.Default + "`"
	}
	return fmt.Sprintf("| `%s`%s | %s | %s | %s |\n", name, mark, typ, value, p.Description)
}

func metricTables() string {
	var b, classes strings.Builder
	b.WriteString("\n### Every metric\n\nDistributions have `.p50` … any `.p(99.9)`, `.mean` `.min` " +
		"`.max` `.std` `.count`. Percentiles are nearest-rank.\n\n" +
		"| metric | dimension | |\n| --- | --- | --- |\n")
	for _, r := range metrics() {
		dim := r.Dim.String()
		if r.IsDistribution() {
			dim = "distribution of " + dim
		}
		var notes []string
		switch r.Loads {
		case metric.OpenLoop:
			notes = append(notes, "Open loops only.")
		case metric.DueTimes:
			notes = append(notes, "Open loops, users and think times only.")
		case metric.AnyLoad, metric.ClosedLoop:
		}
		if r.Needs != "" {
			notes = append(notes, "Needs "+r.Needs+".")
		}
		row := fmt.Sprintf("| `%s` | %s | %s |\n", r.Name, dim,
			strings.Join(append([]string{sentence(r.Help)}, notes...), " "))
		ratio, isClass := strings.CutSuffix(r.Name, ".ratio")
		if isClass = isClass && strings.Count(ratio, ".") == 1 &&
			strings.HasPrefix(ratio, "errors."); isClass {
			_, help, _ := strings.Cut(r.Help, ": ")
			fmt.Fprintf(&classes, "| `%s.count` `%s` | %s |\n", ratio, r.Name, help)
		} else if !strings.HasPrefix(r.Name, "errors.") || strings.Count(r.Name, ".") == 1 {
			b.WriteString(row)
		}
	}
	b.WriteString("\nErrors by class:\n\n| metrics | a request failed because |\n| --- | --- |\n")
	return b.String() + classes.String()
}

// sentence begins with a capital and ends with a full stop.
func sentence(text string) string {
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

// overload is one rule of the operators, in words.
type overload struct{ Op, Left, Right, Result string }

// overloads lists what the operators and functions of expressions take and give, by trying all of
// them on a metric of each dimension and a condition.
func overloads() (rows []overload) {
	kinds := strings.Fields("duration rate count ratio size power number condition")
	try := func(form, op, left, right string) {
		for _, k := range kinds {
			operand := k
			if k == "condition" {
				operand = "(rate < rate)"
			}
			if k == left {
				form = strings.Replace(form, "L", operand, 1)
			}
			if k == right {
				form = strings.Replace(form, "R", operand, 1)
			}
		}
		text := source.Text{Text: strings.Replace(form, "OP", op, 1)}
		if _, ds := expression.Compile(text, kindScope{}); !ds.HasErrors() {
			rows = append(rows, overload{op, left, right, "condition"})
		} else if p, ds := expression.CompileQuantity(text, kindScope{}); !ds.HasErrors() {
			_, dim := p.Quantity(kindScope{})
			rows = append(rows, overload{op, left, right, dim.String()})
		}
	}
	binary := func(op, l, r string) {
		form := "L OP R"
		if op == "min" || op == "max" {
			form = "OP(L, R)"
		}
		try(form, op, l, r)
	}
	operators := strings.Fields("< <= > >= == != + - min max * / and or")
	for _, k := range kinds {
		for _, op := range operators {
			binary(op, k, k)
		}
		for op := range strings.FieldsSeq("- abs not") {
			try("OP(L)", op, k, "")
		}
	}
	for _, op := range operators {
		for _, r := range kinds {
			for _, l := range kinds {
				if l != r {
					binary(op, l, r)
				}
			}
		}
	}
	return rows
}

// kindScope has a metric of each dimension, which is named after it and has no data.
type kindScope struct{}

func (kindScope) Resolve(_ expression.Place, path string) (metric.Leaf, error) {
	for d := metric.Duration; d <= metric.Number; d++ {
		if d.String() == path {
			return metric.Leaf{Row: &metric.Row{Name: path, Dim: d}}, nil
		}
	}
	return metric.Leaf{}, expression.Wrong("", "no %s", path)
}

func (kindScope) Variable(name string) (string, string, error) {
	return "", "", expression.NoVariable(name, nil)
}

func (kindScope) Quantity(expression.Ref) expression.Quantity { return expression.Quantity{} }

// operators writes the table of overloads, one row for each operator and what it makes of what.
func operators() string {
	type line struct{ right, result string }
	var b strings.Builder
	b.WriteString("\n### What expressions can do\n\nAlso `and`, `or`, `not` on conditions, and brackets. No " +
		"data on one side makes a comparison unknown; false beats unknown, unknown\n" +
		"beats true. There is no chained comparison: write `20ms <= latency.p50 and latency.p50 < 30ms`.\n\n| " +
		"operators | left | right | gives |\n| --- | --- | --- | --- |\n")
	var order []line
	ops := map[line][]string{}
	lefts := map[line]map[string][]string{}
	for _, o := range overloads() {
		l := line{o.Right, o.Result}
		if o.Left == o.Right {
			l.right = "the same"
		}
		if o.Left == o.Result {
			l.result = "the same"
		}
		if lefts[l] == nil {
			order, lefts[l] = append(order, l), map[string][]string{}
		}
		if !slices.Contains(ops[l], o.Op) {
			ops[l] = append(ops[l], o.Op)
		}
		lefts[l][o.Op] = append(lefts[l][o.Op], o.Left)
	}
	for _, l := range order {
		for len(ops[l]) > 0 { // operators that take the same share a row
			first := lefts[l][ops[l][0]]
			var same, others []string
			for _, op := range ops[l] {
				if slices.Equal(lefts[l][op], first) {
					same = append(same, "`"+op+"`")
				} else {
					others = append(others, op)
				}
			}
			ops[l] = others
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", strings.Join(same, " "),
				strings.Join(first, ", "), l.right, l.result)
		}
	}
	return b.String()
}
