package layer

import (
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/sluice-bench/sluice/scenario/source"
)

// A file that is no plan may hold anything, and who names it as one (`extends: /etc/passwd`) may not
// be allowed to read it. So a message about such a file shows nothing of what is in it.

// planText finds the beginning of a key that only plans have, for files that are no YAML: at the start
// of a line, or in one line of JSON.
var planText = regexp.MustCompile(`(?m)(?:^|[{,][ \t]*)["']?` +
	`(?:stages|targets?|extends|slos|datasets|version["']?[ \t]*:[ \t]*1[ \t\r]*(?:$|,))["']?[ \t]*(?::|$|,)`)

// isPlan reports whether a file is meant as a plan. root is what was read of it; nil: it is no YAML.
func isPlan(root *source.Node, data []byte) bool {
	if root == nil {
		return planText.Match(data)
	}
	for _, e := range entriesOf(root) {
		is, v := false, e.Value
		switch e.Key {
		case "version":
			is = v.Text == "1"
		case "stages": // that of other programs is a list of words
			is = v.Kind == source.Map ||
				v.Kind == source.List && len(v.Items) > 0 && v.Items[0].Kind == source.Map
		case "target", "targets":
			is = v.Kind == source.Map
		case "extends":
			is = v.Kind == source.Scalar
		}
		if is {
			return true
		}
	}
	return false
}

// notAPlan is a mistake about a file that shows nothing of it. found is what its reader says: of an
// empty file, that.
func notAPlan(file string, found source.Diagnostics) source.Diagnostic {
	if len(found) > 0 && found[0].Code == "empty-plan" {
		d := found[0]
		d.Hidden = true
		return d
	}
	return source.Diagnostic{
		Severity: source.Error, Code: source.CodeNoPlan, Hidden: true,
		Summary: fmt.Sprintf("%q is no plan", file),
		Detail:  "A plan is a YAML file with version: 1, target and stages; `sluice init` writes one.",
		Pos:     source.Pos{File: file, Line: 1, Column: 1},
	}
}

// PlansIn are the plans that a folder holds.
func PlansIn(dir string) (plans []string) {
	const most = 20
	for _, pattern := range [...]string{"*.yaml", "*.yml"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern)) // the pattern is right
		for _, file := range files {
			data, err := ReadSome(file)
			if err != nil || len(plans) == most {
				continue
			}
			if root, _ := source.Parse(file, data); isPlan(root, data) {
				plans = append(plans, file)
			}
		}
	}
	return plans
}
