package expression

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/scenario/metric"
)

// TestSelector reads selectors as they are written. Labels that are not named may have any value.
func TestSelector(t *testing.T) {
	for path, want := range map[string]Selector{
		`scrape("a").max`:      {Name: "a", Labels: map[string]string{}, Stat: "max"},
		`scrape("a:b{}").last`: {Name: "a:b", Labels: map[string]string{}, Stat: "last"},
		`scrape("a{x='1', y='b,c=\"}'}").rate`: {
			Name: "a", Labels: map[string]string{"x": "1", "y": `b,c=\"}`}, Stat: "rate",
		},
	} {
		got, ok := Ref{Leaf: metric.Leaf{Row: &metric.Row{Name: path}}}.Selector()
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s: %v %s", path, ok, diff)
		}
	}
	if _, ok := (Ref{Leaf: metric.Leaf{Row: &metric.Row{Name: metric.Latency}}}).Selector(); ok {
		t.Error("latency is no selector")
	}
	s := Selector{Name: "a", Labels: map[string]string{"x": "1"}}
	for _, c := range []struct {
		name   string
		labels map[string]string
		want   bool
	}{
		{"a", map[string]string{"x": "1", "y": "2"}, true},
		{"a", map[string]string{"x": "2"}, false},
		{"a", nil, false},
		{"b", map[string]string{"x": "1"}, false},
	} {
		if got := s.Matches(c.name, c.labels); got != c.want {
			t.Errorf("%s %v: %v", c.name, c.labels, got)
		}
	}
}
