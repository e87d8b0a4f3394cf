package expression

import (
	"testing"

	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// TestEveryDimensionHasLiterals compares every metric with a limit of its dimension: the unit that
// messages propose is one that can be written.
func TestEveryDimensionHasLiterals(t *testing.T) {
	dims := 0
	for d := metric.Dim(1); d.String() != "nothing"; d++ {
		dims++
		want := d
		if d == metric.Count { // a count is compared with a plain number
			want = metric.Number
		}
		if got, v, ok := Literal(example(kind(d))); !ok || got != want || v <= 0 {
			t.Errorf("%s: the example %q is %v of %s, %v", d, example(kind(d)), v, got, ok)
		}
	}
	if dims < 7 {
		t.Errorf("%d dimensions", dims)
	}
	s := newScope(t)
	for _, row := range s.catalogue.Rows() {
		for _, name := range row.Leaves() {
			leaf, _ := s.catalogue.Leaf(name)
			text := name + " < " + example(kind(leaf.Dim()))
			if _, diags := Compile(source.Text{Text: text}, s); diags.HasErrors() {
				t.Errorf("%s: %v", text, diags)
			}
		}
	}
}

func TestPowerLiterals(t *testing.T) {
	for text, want := range map[string]float64{
		"500W": 500, "0.5kW": 500, "300mW": 0.3, "0.5 kW": 500, "-1W": -1,
	} {
		if d, v, ok := Literal(text); !ok || d != metric.Power || v != want {
			t.Errorf("%s: %v of %s, %v", text, v, d, ok)
		}
	}
	for _, text := range []string{"500MW", "500w", "5W/s", "5Wh", "W"} {
		if d, v, ok := Literal(text); ok {
			t.Errorf("%s is taken for %v of %s", text, v, d)
		}
	}
}
