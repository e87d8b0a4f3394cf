package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// againPlan has what is drawn: data, arrivals, lengths of time to think, the order of rows; and
// what is counted.
const againPlan = `
version: 1
seed: 7
target: {backend: triton, url: "builtin://http", model: simple}
data: {generate: {INPUT0: {min: 0, max: 50}}, count: 9, order: random}
stages:
  - {id: closed, load: {concurrency: 2, think: {min: 1ms, max: 2ms}}, for: 40 requests}
  - {id: open, load: {rate: 300/s, arrivals: poisson}, for: 60 requests, assert: [errors.ratio < 1%, 'stage("closed").requests.count == 40']}
  - {id: swept, load: {concurrency: [1, 2]}, for: 20 requests, repeat: 2}
output: {formats: [json, csv, junit, markdown, perf_analyzer_csv], samples: csv}
`

// TestAgain: a plan that is run twice gives the same artifacts, byte for byte, but for what was
// measured. Whether a measurement is valid or has bounds is measured too: what is written for people says
// it in whole sentences, and is compared where both runs are valid and exact.
func TestAgain(t *testing.T) {
	t.Parallel()
	var runs [2]map[string]string
	var valid [2]bool
	for i := range runs {
		dir := filepath.Join(t.TempDir(), "bench")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		sluice(t, dir, againPlan, 0, 5)
		names, err := filepath.Glob(filepath.Join(dir, "out", "*"))
		if err != nil || len(names) < 6 {
			t.Fatal(names, err)
		}
		runs[i] = map[string]string{}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			valid[i] = valid[i] || bytes.Contains(text, []byte(`"exit_code": 0`)) &&
				!bytes.Contains(text, []byte(`"severity": "bounded"`))
			runs[i][filepath.Base(name)] = unmeasured(t, filepath.Base(name),
				bytes.ReplaceAll(text, []byte(dir), []byte("DIR")))
		}
	}
	if !valid[0] || !valid[1] {
		for _, run := range runs {
			delete(run, "junit.xml")
			delete(run, "summary.md")
		}
	}
	if diff := cmp.Diff(runs[0], runs[1]); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{
		`"schedule_hash": "`, `"seed": 7`, `"id": "swept[concurrency=2]"`,
		`"value": 40`,
	} {
		if !strings.Contains(runs[0]["result.json"], want) {
			t.Errorf("result.json without what was measured lacks %s", want)
		}
	}
}

// quantity is a number with the unit behind it.
var quantity = regexp.MustCompile(`[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?( ` +
	`?(ns|µs|ms|s|%|kB|MB|GB|KiB|MiB|GiB|B))?\b%?`)

// unmeasured is an artifact without what was measured: the rest must not differ.
func unmeasured(t *testing.T, name string, text []byte) string {
	t.Helper()
	switch filepath.Ext(name) {
	case ".json":
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		out, err := json.MarshalIndent(bare(v, false), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	case ".csv":
		rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		// requests of several slots end in any order, and perf_analyzer's rows go by throughput
		if name != "stages.csv" {
			slices.SortFunc(rows[1:], func(a,
				b []string,
			) int {
				return strings.Compare(planned(rows[0], a), planned(rows[0], b))
			})
		}
		var b strings.Builder
		for _, row := range rows {
			b.WriteString(planned(rows[0], row) + "\n")
		}
		return b.String()
	}
	plain := string(text)
	// sections that a busy machine has and another has not
	for _, part := range []string{"### Findings", "### Client", "### Server"} {
		if i := strings.Index(plain, part); i >= 0 {
			rest := plain[i+len(part):]
			end := strings.Index(rest, "\n#")
			if end < 0 {
				end = strings.LastIndex(rest, "\nplan ")
			}
			plain = strings.TrimRight(plain[:i], "\n") + "\n\n" + strings.TrimLeft(rest[max(end, 0):], "\n")
		}
	}
	return quantity.ReplaceAllString(plain, "#")
}

// planned are the cells of a row that the plan decides.
func planned(header, row []string) string {
	var kept []string
	for i, column := range header {
		switch column {
		case "node", "scope", "stage", "point", "target", "model", "load", "level", "batch", "labels",
			"requests_count", "errors_count", "n", "row", "entry", "class", "status", "phase",
			"items", "bytes_sent", "Concurrency":
			if i < len(row) {
				kept = append(kept, row[i])
			}
		}
	}
	return strings.Join(kept, ",")
}

// bare returns a value of result.json without times, measured numbers, and texts about them.
func bare(v any, measured bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if measured && (k == "low" || k == "high") { // the bounds of a client that sent late
				continue
			}
			switch k {
			case "started", "ended", "duration", "slices", "clients", "validity", "observed",
				"reason", "distribution", "environment", "at",
				"settings", "findings", "samples", "summary", "file", "resolved", "outcome",
				"verdict", "exit_code":
				continue
			case "metrics":
				out[k] = bare(x, true)
			case "requests.count", "errors.count", "load":
				out[k] = bare(x, false)
			default:
				out[k] = bare(x, measured)
			}
		}
		return out
	case []any:
		for i := range v {
			v[i] = bare(v[i], measured)
		}
		return v
	case float64:
		if measured {
			return "#"
		}
	}
	return v
}
