package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestRowNames: names of metrics stand in the catalogue. Outside it only the layout of perf_analyzer's CSV, which others
// fixed, and the table that ties rows to samples may spell them; everybody else uses a constant or a loop.
func TestRowNames(t *testing.T) {
	spelled := []string{"scenario/metric/", "executor/artifact/perf_analyzer", "executor/measure/rows.go", "schema/generate/"} // there a plan key
	var names []string
	for _, r := range metrics() {
		if strings.Contains(r.Name, ".") || strings.Contains(r.Name, "_") || r.Name == "latency" {
			names = append(names, r.Name) // throughput and connect are also plain words
		}
	}
	for file := range sources(t) {
		path := strings.TrimPrefix(file, "../../")
		if slices.ContainsFunc(spelled, func(p string) bool { return strings.HasPrefix(path, p) }) {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, _ := strconv.Unquote(lit.Value); slices.Contains(names, text) {
					t.Errorf("%s spells the metric %q: use a constant of scenario/metric", path, text)
				}
			}
			return true
		})
	}
}
