// Command generate writes language.json, the schema of plans, and from it plan.schema.json, in the form for
// editors, plan.check.json and profiles.check.json.
// The keys come from package language: types and tags of its structs, and the comments of their
// fields. How scalars are written is in leaf.go, what no tag can say in special.go, choices.go and
// snippets.go; the schema of profiles is derived from that of plans.
//
// It is not: part of the program that users run, a place that knows what a key does.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: generate FOLDER LANGUAGE")
	}
	files, err := files(args[1])
	if err != nil {
		return err
	}
	for name, data := range files {
		//nolint:gosec // a source file, for everybody
		if err := os.WriteFile(filepath.Join(args[0], name), data, 0o644); err != nil {
			return fmt.Errorf("write the schema: %w", err)
		}
	}
	return nil
}

// files are those that are generated from the Go files in a folder, by name.
func files(folder string) (map[string][]byte, error) {
	docs, err := readDocs(folder)
	if err != nil {
		return nil, err
	}
	root := generator{docs}.planSchema()
	plan, profiles := pruned(root)
	all := map[string][]byte{}
	for name, schema := range map[string]object{
		"language.json": root, "plan.schema.json": forEditors(root),
		"plan.check.json": plan, "profiles.check.json": profiles,
	} {
		var b bytes.Buffer
		text, err := schema.MarshalJSON()
		if err == nil && name == "plan.schema.json" {
			err = json.Indent(&b, text, "", " ")
			text = b.Bytes()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[name] = append(text, '\n')
	}
	return all, nil
}
