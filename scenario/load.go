package scenario

import (
	"errors"
	"fmt"
	"os"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Overrides are what the command line and the environment change in a plan. The zero value changes nothing.
type Overrides struct {
	Vars []string                    // "name=value", of --var
	Sets []string                    // "path=value", of --set
	Env  func(string) (string, bool) // os.LookupEnv; nil: no environment
}

// LoadFile reads the plan in file. It returns every mistake it finds, not only the first; with any error among them the
// plan is nil. Warnings are in both results.
func LoadFile(file string, o Overrides) (*Plan, source.Diagnostics) {
	data, err := os.ReadFile(file)
	if err != nil {
		var cause *os.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return nil, source.Diagnostics{{
			Severity: source.Error, Code: "file-missing", Summary: fmt.Sprintf("plan %q cannot be read: %v", file, err),
			Pos: source.Pos{File: file, Line: 1, Column: 1},
		}}
	}
	return Parse(file, data, o)
}

// Parse is LoadFile for a plan that is in memory. file is its name in messages and the place that its paths are relative to.
func Parse(file string, data []byte, o Overrides) (*Plan, source.Diagnostics) {
	return nil, nil
}
