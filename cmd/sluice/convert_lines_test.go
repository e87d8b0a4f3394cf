package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sluice-bench/sluice/backends/backendtest/cases"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/scenario/convert/shell"
)

// convertData is the folder of the command lines of tools.
var convertData = filepath.Join("..", "..", "scenario", "convert", "testdata")

// startServer starts an embedded server that ends with the test.
func startServer(t *testing.T, c builtin.Config) *builtin.Server {
	t.Helper()
	server, err := builtin.Start(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return server
}

// playLines runs play with the command lines of a file of convertData that fit the embedded server: those with the word
// run in the column before the line, each n-th of them. The words in front of it are the line's name and, of a file
// for several tools, its tool. It returns the number of such lines.
func playLines(t *testing.T, file string, every int, play func(t *testing.T, tool string, args []string)) (fitting int) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(convertData, file))
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(data)) {
		before, line, found := strings.Cut(l, " run ")
		words := strings.Fields(before)
		if !found || strings.HasPrefix(l, "#") || len(words) > 2 {
			continue
		}
		if fitting++; words[0] != "seed-quick-start" && !cases.Runs(fitting, every) {
			continue
		}
		t.Run(words[0], func(t *testing.T) {
			t.Parallel()
			args, err := shell.Split(strings.TrimSpace(line))
			if err != nil {
				t.Fatal(err)
			}
			play(t, append(words, "perf-analyzer")[1], args)
		})
	}
	return fitting
}

// writeLineFiles writes the files that command lines name to a folder.
func writeLineFiles(t *testing.T, dir string) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join(convertData, "llm_files.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
