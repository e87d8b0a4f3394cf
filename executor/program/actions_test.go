package program

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario"
)

// TestLoadClash: two stages of a group may not give one model of a server a configuration each, however its URL is
// spelled; they may if the servers differ, and one behind the other.
func TestLoadClash(t *testing.T) {
	for _, c := range []struct {
		a, b  string // URLs
		clash bool
	}{
		{"http://localhost:8000", "http://localhost:8000", true},
		{"http://localhost:8000", "http://LOCALHOST:8000/", true},
		{"http://localhost:8000", "http://127.0.0.1:8000", true},
		{"grpc://[::1]:8001", "grpc://localhost:8001", true},
		{"http://models.test", "http://models.test:80", true},
		{"https://models.test", "https://models.test.:443", true},
		{"http://models.test:8000/a", "http://models.test:8000/a/", true},
		{"http+unix:///run/a.sock", "http+unix:///run/./a.sock", true},
		{"http://models.test:8000/a", "http://models.test:8000/b", false},
		{"http://a.test:8000", "http://b.test:8000", false},
		{"http://localhost:8000", "http://localhost:9000", false},
		{"http+unix:///run/a.sock", "http+unix:///run/b.sock", false},
		{"builtin://http", "builtin://http", false}, // a server each
	} {
		stage := func(id, target string) string {
			return fmt.Sprintf("{id: %s, target: %s, load: {concurrency: 1}, for: 1s, before: [{load_model: {name: m, "+
				"config: {max_batch_size: 1}}}]}", id, target)
		}
		text := fmt.Sprintf("version: 1\ntargets:\n  x: {backend: triton, url: %q, model: m}\n"+
			"  y: {backend: triton, url: %q, model: m}\nstages:\n", c.a, c.b)
		for name, stages := range map[string]string{
			"together":             "  - parallel: [" + stage("a", "x") + ", " + stage("b", "y") + "]\n",
			"one behind the other": "  - " + stage("a", "x") + "\n  - " + stage("b", "y") + "\n",
		} {
			plan, diags := scenario.Parse("plan.yaml", []byte(text+stages), scenario.Overrides{})
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			_, diags = Compile(plan, all.Kinds())
			said := saidOf(diags)
			if clash := strings.Contains(said, "load-clash"); clash != (c.clash && name == "together") {
				t.Errorf("%s and %s, %s: %s", c.a, c.b, name, said)
			}
		}
	}
}
