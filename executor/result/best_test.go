package result

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	plantext "github.com/sluice-bench/sluice/scenario/source"
)

// ownScope knows the metrics of a node.
type ownScope struct{ *metric.Catalogue }

func (ownScope) Variable(name string) (literal, typ string, err error) {
	return "", "", fmt.Errorf("no variable %s", name)
}

func (s ownScope) Resolve(_ expression.Place, path string) (metric.Leaf, error) {
	return expression.Find(s.Catalogue, path)
}

// played is a node with the throughput of each of its repeats, played in turn with those of the others.
func played(id string, perSecond ...float64) *Node {
	metrics := func(v float64) map[string]*Metric {
		n := 10.0
		return map[string]*Metric{
			"throughput":         {Unit: "1/s", Value: &v},
			metric.InFlightMax:   {Unit: "1", Value: &v},
			metric.RequestsCount: {Unit: "1", Value: &n},
		}
	}
	n := &Node{ID: id, Stage: "s", Outcome: Done, Metrics: metrics(2 * perSecond[0])} // not the mean of the repeats
	for i, v := range perSecond {
		n.Repeats = append(n.Repeats, Repeat{Repeat: i, Outcome: Done, Metrics: metrics(v)})
	}
	return n
}

// TestDifferences: the intervals are those of the paired t-test at Holm's levels. Expected values were computed
// by hand, with the t-quantiles of 3 degrees of freedom: 4.177 for 0.9875 and 3.182 for 0.975.
func TestDifferences(t *testing.T) {
	catalogue, err := metric.New()
	if err != nil {
		t.Fatal(err)
	}
	p, diags := expression.CompileQuantity(plantext.Text{Text: "throughput"}, ownScope{catalogue})
	if p == nil {
		t.Fatal(diags)
	}
	best := Measured{played("best", 100, 104, 98, 102), p}
	for name, c := range map[string]struct {
		others [][]float64
		want   string // value low high apart
	}{
		"steady differences": {[][]float64{{90, 94, 88, 92}, {50, 54, 48, 52}}, "10 10.0 10.0 true, 50 50.0 50.0 true"},
		// differences 10 12 8 10: mean 10, standard error 0.8165
		"one of three is chance": {
			[][]float64{{90, 92, 90, 92}, {101, 102, 98, 101}, {50, 54, 48, 52}},
			"10 6.6 13.4 true, 0.5 -1.6 2.6 false, 50 50.0 50.0 true",
		},
		// both would be apart alone (3.182 standard errors); together the more distinct one is not, so neither
		"neither of two": {
			[][]float64{{98, 101, 97.5, 99}, {98, 101, 97.5, 99}}, "2.125 -0.3 4.6 false, 2.125 0.2 4.0 false",
		},
		"itself": {[][]float64{{100, 104, 98, 102}}, "0 0.0 0.0 false"},
	} {
		var others []Measured
		for i, values := range c.others {
			others = append(others, Measured{played(fmt.Sprint("other", i), values...), p})
		}
		list, why := Differences(best, others)
		var got []string
		for _, d := range list {
			got = append(got, fmt.Sprintf("%g %.1f %.1f %v", d.Value, *d.Low, *d.High, d.Apart))
		}
		if text := strings.Join(got, ", "); text != c.want || why != "" {
			t.Errorf("%s: %s %s\nwant %s", name, text, why, c.want)
		}
	}
	// A node one of whose repeats has no value has no difference, and the others still have theirs.
	gap := played("gap", 90, 94, 88, 92)
	gap.Repeats[2].Metrics["throughput"].Value = nil
	others := []Measured{{gap, p}, {played("other", 90, 94, 88, 92), p}}
	list, why := Differences(best, others)
	if why != "" || len(list) != 2 || list[0].Apart || list[0].Low != nil || !strings.Contains(list[0].Unknown, "repeat 3") ||
		!list[1].Apart || list[1].Unknown != "" || *list[1].Low != 10 {
		t.Errorf("a repeat without a value: %s %+v", why, list)
	}
	if _, why := Differences(Measured{gap, p}, others[1:]); !strings.Contains(why, "repeat 3") {
		t.Errorf("a best one with a repeat without a value: %q", why)
	}
	// What ranks nodes is what their difference is made of.
	if v := best.Value().V; v != 101 {
		t.Errorf("the value with repeats is %v, their mean is 101", v)
	}
	once := Measured{&Node{ID: "once", Stage: "s", Outcome: Done, Metrics: best.Node.Metrics}, p}
	if _, why := Differences(best, []Measured{once}); !strings.Contains(why, "ran once") {
		t.Errorf("without repeats: %s", why)
	}
}
