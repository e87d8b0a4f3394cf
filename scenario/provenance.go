package scenario

import (
	"path/filepath"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// note keeps where a value of the resolved plan comes from.
func (e encoder) note(at spot, o Origin) {
	if e.origins == nil {
		return
	}
	o.Path, o.Key = at.pointer, at.key
	if tokens := source.SplitPointer(at.pointer); len(tokens) < 2 || tokens[len(tokens)-2] != "headers" {
		o.LeftOut = false
	}
	*e.origins = append(*e.origins, o)
}

// origin says where a decoded value comes from.
func (r *reading) origin(at place) Origin {
	if at.implied || at.node == nil {
		return Origin{From: "default"}
	}
	written := at.node
	if original := r.subs.original[written]; original != nil {
		written = original
	}
	o := Origin{From: r.layer(written), Pos: written.Pos, LeftOut: r.subs.empty[at.node]}
	var from, names []string
	for _, v := range r.subs.used[at.node] {
		if !v.ofMatrix() {
			from, names = append(from, v.source()), append(names, v.Name)
			o.Pos = v.at
		}
	}
	if len(names) == 0 {
		return o
	}
	if len(names) > 1 {
		o.Pos = written.Pos
	}
	o.From, o.Variable = strings.Join(from, ", "), strings.Join(names, ", ")
	return o
}

// layer names what a value as it is written belongs to.
func (r *reading) layer(written *source.Node) string {
	switch from := r.layers.from[written]; {
	case written.Pos.File == "--set", written.Pos.File == FlagBaseline:
		return written.Pos.File
	case from != "":
		return from
	}
	return "plan"
}

// source is what gave the variable its value.
func (v *variable) source() string {
	switch v.From {
	case "--var":
		return "--var " + v.Name
	case "default":
		return "vars"
	}
	return v.From
}

// folderOf is what the paths in n are relative to: the folder of the file that holds them. What comes from the command line
// counts as part of the plan.
func folderOf(plan string, n *source.Node) string {
	if n == nil || n.Pos.File == "" || strings.HasPrefix(n.Pos.File, "--") {
		return filepath.Dir(plan)
	}
	return filepath.Dir(n.Pos.File)
}

// fromPlan is a path as the plan itself would write it, so that the resolved plan stands alone.
func (r *reading) fromPlan(n *source.Node, name string) string {
	here := folderOf(r.file, n)
	if here == r.dir || filepath.IsAbs(name) {
		return name
	}
	full := resolvePath(here, name)
	if short, err := filepath.Rel(r.dir, full); err == nil {
		return short
	}
	return full
}
