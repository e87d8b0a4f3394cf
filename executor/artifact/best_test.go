package artifact

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/executor/result"
)

// ranked is a result of a stage of three nodes that says which is the best.
func ranked() *result.Result {
	value := func(v float64) *float64 { return &v }
	low, high := 350.0, 450.0
	node := func(id string) *result.Node {
		return &result.Node{
			ID: id, Stage: "c", Outcome: result.Done, Validity: result.Validity{OK: true},
			Configurations: []result.Configuration{{Target: "main", Model: "m/1", Text: "name: \"m\" # " + id + "\n"}},
		}
	}
	return &result.Result{
		Nodes: []*result.Node{node("c[n=1]"), node("c[n=2]"), node("c[n=4]")},
		Best: []result.Best{{
			Stage: "c", Text: "max throughput where latency.p99 < 50ms", Unit: "1/s", Node: "c[n=2]", Value: value(800),
			Ranking: []result.Ranked{
				{Rank: 1, Node: "c[n=2]", Value: value(800), Where: result.Pass},
				{
					Rank: 2, Node: "c[n=1]", Value: value(400), Where: result.Pass,
					Difference: &result.Difference{Value: 400, Low: &low, High: &high, Apart: true},
				},
				{Rank: 3, Node: "c[n=4]", Where: result.Inconclusive},
			},
		}},
	}
}

// TestBest: the table and stages.csv have the rank of each node, and the configuration that won is a file.
func TestBest(t *testing.T) {
	r := ranked()
	want := [][]string{
		{"1", "c[n=2]", "800/s", "hold", "", ""},
		{"2", "c[n=1]", "400/s", "hold", "400/s (350/s … 450/s)", "no"},
		{"3", "c[n=4]", "-", "not proven", "", ""},
	}
	if diff := cmp.Diff(want, bestGrid(r).rows); diff != "" {
		t.Error(diff)
	}
	r.Best[0].Ranking[1].Difference = nil
	if g := bestGrid(r); len(g.header) != 4 || len(g.rows[0]) != 4 {
		t.Errorf("without repeats: %v", g.header)
	}
	text, err := stagesCSV(r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	ranks := map[string]string{}
	for _, row := range rows {
		ranks[row[0]] = row[len(stageColumns)]
	}
	if diff := cmp.Diff(map[string]string{"node": "rank", "c[n=1]": "2", "c[n=2]": "1", "c[n=4]": "3"}, ranks); diff != "" {
		t.Error(diff)
	}
	files := bestConfigurations(r, Options{Configured: []Configured{{"c", "m/1"}}})
	if len(files) != 1 || files[0].Name != "config.pbtxt" ||
		string(files[0].Data) != "# c[n=2]: max throughput where latency.p99 < 50ms\nname: \"m\" # c[n=2]\n" {
		t.Errorf("%+v", files)
	}
}

// TestBestConfigurations: several configurations have the stage and the model in their names, each its own; the
// names are those of files that a run may replace, are known before it, and do not depend on how it ends.
func TestBestConfigurations(t *testing.T) {
	r := ranked()
	n := r.Nodes[1]
	n.Configurations = append(n.Configurations, result.Configuration{Model: "m 1"}, result.Configuration{Model: "../x"})
	o := Options{Configured: []Configured{{"c", "m/1"}, {"c", "m 1"}, {"c", "../x"}, {"d", "m/1"}}}
	var names []string
	for _, f := range bestConfigurations(r, o) {
		names = append(names, f.Name)
		if !isOutputName(f.Name) || !slices.Contains(o.names(), f.Name) {
			t.Errorf("%s is not taken for a file of a run", f.Name)
		}
	}
	if diff := cmp.Diff([]string{"config-c-m_1.pbtxt", "config-c-m_1-2.pbtxt", "config-c-.._x.pbtxt"}, names); diff != "" {
		t.Error(diff)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config-d-m_1.pbtxt"), []byte("name: \"own\""), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, o); err == nil || !strings.Contains(err.Error(), "config-d-m_1.pbtxt: no result of an earlier run lists it") {
		t.Errorf("a file in the way: %v", err)
	}
	r.Best[0].Node = ""
	if files := bestConfigurations(r, o); len(files) > 0 {
		t.Errorf("without a best node: %+v", files)
	}
}
