// Package pyyaml reads the YAML of tools that are written in Python.
//
// It is not: a YAML of its own. Whatever else a plan refuses is refused here too.
package pyyaml

import (
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Parse reads a file. True and FALSE are truths, which a plan refuses as they are not read the same
// everywhere. A nil node comes with a mistake.
func Parse(file string, data []byte) (*source.Node, source.Diagnostics) {
	root, all := source.Parse(file, data)
	if root == nil {
		return nil, all
	}
	truths := map[source.Pos]bool{}
	var diags source.Diagnostics
	for _, d := range all {
		if d.Code == "ambiguous" {
			truths[d.Pos] = true
		} else {
			diags = append(diags, d)
		}
	}
	var walk func(n *source.Node)
	walk = func(n *source.Node) {
		lower := strings.ToLower(n.Text)
		if truths[n.Pos] && n.Kind == source.Scalar && (lower == "true" || lower == "false") {
			delete(truths, n.Pos)
			n.Text, n.Tag = lower, "!!bool"
		}
		for _, item := range n.Items {
			walk(item)
		}
		for _, e := range n.Entries {
			walk(e.Value)
		}
	}
	walk(root)
	for _, d := range all {
		if d.Code == "ambiguous" && truths[d.Pos] {
			diags = append(diags, d)
		}
	}
	return root, diags
}
