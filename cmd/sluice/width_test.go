package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/backends/builtin"
)

// TestWidth checks that no line is wider than a terminal of 80 columns: of any command, its help,
// and the answers of explain. Only JSON, generated plans and lines that hold a long path may be.
func TestWidth(t *testing.T) {
	t.Parallel()
	const columns = 80
	dir := t.TempDir()
	s, err := builtin.Start(t.Context(), builtin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // the test is over
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("good.yaml", strings.ReplaceAll(widePlan, "URL", s.HTTPURL()))
	bad := write("bad.yaml", strings.ReplaceAll(widePlan, "URL",
		"nothing")+"    sertain: [latency.p99 < 10 and errors.ratio < 5 and a_metric_that_does_not_exist.p95 < "+
		"12parsecs]\n")
	long := write("long.yaml", "version: 1\n"+strings.Repeat("# x\n",
		3)+"stages: [{id: a, lod: {concurrency: 1}, for: 2 requests}, {id: b, load: {concurrency: 1}, "+strings.Repeat("labels: {a: b}, ", 9)+"for: 5}]\n")
	commands := [][]string{
		{},
		{"nonsense"},
		{"run"},
		{"explain"},
		{"version"},
		{"validate", good},
		{"validate", bad},
		{"validate", long},
		{"validate", filepath.Join(dir, "none.yaml")},
		{"validate", good, "--explain"},
		{"validate", "--nonsense"},
		{"graph", good},
		{"graph", bad},
		{"run", good, "--out", filepath.Join(dir, "out")},
		{"run", good, "--out", filepath.Join(dir, "out"), "--summary", "perf_analyzer"},
		{"run", good, "--format", "html"},
		{"run", good, "--out", filepath.Join(dir, "none"), "--var", "url=http://127.0.0.1:1"},
		{"convert", "perf-analyzer", "--", "--nonsense"},
		{"convert", "perf-analyzer", "--", "--help"},
		{"convert", "perf-analyzer"},
		{"init", "--nonsense"},
		{"schema", "nonsense"},
	}
	root := rootCommand(testApp(nil, nil, columns))
	for _, c := range allCommands(root) {
		commands = append(commands, append(strings.Fields(c.CommandPath())[1:], "--help"))
	}
	for _, name := range explainable() {
		commands = append(commands, []string{"explain", name})
	}
	for _, args := range commands {
		var out, errs bytes.Buffer
		Main(args, testApp(&out, &errs, columns))
		if out.Len()+errs.Len() == 0 {
			t.Errorf("sluice %s prints nothing", strings.Join(args, " "))
		}
		for line := range strings.Lines(out.String() + errs.String()) {
			line = strings.TrimRight(line, "\n")
			if utf8.RuneCountInString(line) > columns && !unbreakable(line) {
				t.Errorf("sluice %s: %d columns\n%s", strings.Join(args, " "),
					utf8.RuneCountInString(line), line)
			}
		}
	}
}

// unbreakable reports whether a line is JSON, or holds a path that leaves no room.
func unbreakable(line string) bool {
	return strings.Contains(line, `{"`) || slices.ContainsFunc(strings.Fields(line), func(word string) bool {
		return len(word) > 60 && strings.ContainsAny(word, "/.")
	})
}

// testApp is an app on two terminals of n columns, without colours.
func testApp(out, errs *bytes.Buffer, columns int) *app {
	return &app{
		in: strings.NewReader(""), out: &errorWriter{w: out}, err: errs, width: columns, errWidth: columns,
		env: func(name string) (string, bool) { return "1", name == "NO_COLOR" },
	}
}

func allCommands(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		list = append(list, allCommands(sub)...)
	}
	return list
}

// widePlan has names, expressions and tables that do not fit 80 columns by themselves.
const widePlan = `version: 1
name: a-plan-with-a-rather-long-name-that-says-what-it-is-for
description: it has more to say than a line of a terminal has room for, in several ways
vars: {url: "URL"}
target: {backend: triton, url: "${url}", model: simple}
stages:
  - id: a_sweep_over_a_few_levels_with_a_long_name
    load: {concurrency: [1, 2]}
    for: 60 requests
    goodput: {latency: 1ns}
    assert:
      - errors.ratio < 1% and latency.p50 < 10s and latency.p90 < 10s and latency.p99.9 < 12s
      - {that: goodput.ratio > 50%, id: a-name-of-an-assertion-that-is-long-too}
      - server.queue.mean + server.compute_infer.mean < 1000 * server.compute_output.mean + 5s
  - {id: together, load: {concurrency: {levels: {from: 1, to: 4, while: latency.p50 < 10s}}}, for: 30 requests, matrix: {batch_size: [1, 1000]}}
`
