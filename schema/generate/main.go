// Command generate writes language.json, the schema of the whole plan language, and from it
// plan.schema.json, which has only what this version can run, plan.check.json and profiles.check.json.
// The keys come from package language: types and tags of its structs, and the comments of their
// fields. How scalars are written is in leaf.go, what no tag can say in special.go, choices.go,
// later.go and snippets.go; the schema of profiles is derived from that of plans.
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
		if err := os.WriteFile(filepath.Join(args[0], name), data, 0o644); err != nil { //nolint:gosec // a source file, for everybody
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
	language, err := root.MarshalJSON()
	if err != nil {
		return nil, err
	}
	compact, err := forEditors(root).MarshalJSON()
	if err != nil {
		return nil, err
	}
	plan, profiles := pruned(root)
	checkPlan, err := plan.MarshalJSON()
	if err != nil {
		return nil, err
	}
	checkProfiles, err := profiles.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, compact, "", " "); err != nil {
		return nil, fmt.Errorf("indent the schema: %w", err)
	}
	b.WriteByte('\n')
	return map[string][]byte{
		"language.json": append(language, '\n'), "plan.schema.json": b.Bytes(),
		"plan.check.json": append(checkPlan, '\n'), "profiles.check.json": append(checkProfiles, '\n'),
	}, nil
}
