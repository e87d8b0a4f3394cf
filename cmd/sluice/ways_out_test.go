package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sluice-bench/sluice/schema"
)

// whole DIR …: demands that each folder holds every artifact that there is, readable, and nothing else.
func whole(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: whole DIR …")
	}
	want := []string{
		"junit.xml", "perf_analyzer.csv", "perf_analyzer_verbose.csv",
		"profile_export.json", "result.json", "samples.csv", "stages.csv", "summary.md",
	}
	for _, dir := range args {
		entries, err := os.ReadDir(ts.MkAbs(dir))
		ts.Check(err)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if !slices.Equal(names, want) {
			ts.Fatalf("%s holds %q, want %q", dir, names, want)
		}
		for _, name := range names {
			if why := unreadable(name, []byte(ts.ReadFile(filepath.Join(dir, name)))); why != "" {
				ts.Fatalf("%s/%s: %s", dir, name, why)
			}
		}
	}
}

// unreadable says why an artifact cannot be read; "": it can.
func unreadable(name string, data []byte) string {
	switch {
	case name == "result.json":
		if err := schema.ValidateResult(data); err != nil {
			return err.Error()
		}
	case strings.HasSuffix(name, ".json"):
		if !json.Valid(data) {
			return "no JSON"
		}
	case strings.HasSuffix(name, ".csv"):
		rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
		if err != nil {
			return err.Error()
		}
		if len(rows) == 0 {
			return "no header"
		}
	case len(data) == 0:
		return "empty"
	}
	return ""
}
