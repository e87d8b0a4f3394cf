package executor

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sluice-bench/sluice/executor/result"
)

// cachesWhole answers with all tokens of a prompt as cached once it has seen the prompt.
func cachesWhole() func(http.ResponseWriter, string) {
	var seen sync.Map
	return func(w http.ResponseWriter, body string) {
		cached := 0
		if _, was := seen.LoadOrStore(body, true); was {
			cached = 100
		}
		cachedWords(cached)(w, body)
	}
}

// TestWarmRows: levels, repeats and stages whose rows the server's cache has from before are a finding; the first
// that sends them is none, however often it does, nor are rows of their own. The probe sends the last row, so that
// what is measured first is cold.
func TestWarmRows(t *testing.T) {
	t.Parallel()
	list := make([]string, 8)
	for i := range list {
		list[i] = fmt.Sprintf("{prompt: row %d, output_tokens: 1}", i)
	}
	rows, file := "{rows: ["+strings.Join(list, ", ")+"]}", filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(file, []byte(`{"prompt":"a"}`+"\n"+`{"prompt":"b"}`+"\n"+`{"prompt":"c"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ datasets, stages, warm string }{
		"levels": {"{main: " + rows + "}", "[{id: a, load: {concurrency: [1, 2]}, for: 1 pass}]", "a[concurrency=2]"},
		"stages": {
			"{main: " + rows + "}",
			"[{id: a, load: {concurrency: 1}, for: 1 pass}, {id: b, load: {concurrency: 1}, for: 1 pass}]", "b",
		},
		"repeats": {"{main: {file: " + file + "}}", "[{id: a, load: {concurrency: 1}, for: 1 pass, repeat: 2}]", "a"},
		"others": {
			"{x: " + rows + ", y: {file: " + file + "}}",
			"[{id: a, data: x, load: {concurrency: 1}, for: 1 pass}, {id: b, data: y, load: {concurrency: 1}, for: 1 pass}]", "",
		},
		"as often": {
			"{main: {rows: [{prompt: one}]}}",
			"[{id: a, load: {concurrency: 1}, for: 20 requests}, {id: b, load: {concurrency: 1}, for: 20 requests}]", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, url := talk(t, cachesWhole())
			r := play(t, `version: 1
target: {backend: openai, url: "`+url+`", model: m, streaming: true}
datasets: `+c.datasets+`
stages: `+c.stages+`
`, url, Env{})
			for _, n := range r.Nodes {
				if f := n.Finding(result.WarmCache); (f != nil) != (n.ID == c.warm) {
					t.Errorf("%s: finding %+v, want one of %q", n.ID, f, c.warm)
				}
			}
			if name == "levels" && (!strings.Contains(s.asked[0], "row 7") || !strings.Contains(s.asked[1], "row 0")) {
				t.Errorf("the probe sent %s, and the first measured request %s", s.asked[0], s.asked[1])
			}
		})
	}
}
