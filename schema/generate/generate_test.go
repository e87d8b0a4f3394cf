package main

import (
	"os"
	"path/filepath"
	"testing"
)

// keys is the folder of the package that the schema follows from.
var keys = filepath.Join("..", "..", "scenario", "language")

func TestFilesAreCurrent(t *testing.T) {
	want, err := files(keys)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range want {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(data) {
			t.Errorf("%s is not what the language gives: run `go generate ./schema`", name)
		}
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	if err := run([]string{dir, keys}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"language.json", "plan.schema.json", "plan.check.json", "profiles.check.json",
	} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if run(nil) == nil || run([]string{filepath.Join(dir, "nowhere"), keys}) == nil {
		t.Error("wrong arguments are accepted")
	}
}
