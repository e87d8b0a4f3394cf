package scenario

import (
	"path/filepath"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Origin is where one value of the plan comes from.
type Origin struct {
	Path string // JSON pointer into Plan.Resolved
	Key  string // the same as --set takes it: stages.steady.for
	// From is what gave it: "plan", "default" (of the language), "extends FILE", "profile NAME", "--set", "vars" (a variable's
	// own default), "env NAME", "--var NAME", "--var-file FILE"; after "defaults, " when it came to a stage through these.
	From     string
	Variable string     // the variables in it; "" none
	Pos      source.Pos // of the value as it was written; the zero Pos for a default of the language
	LeftOut  bool       // a header that is not sent: it holds an empty secret
}

// Plain reports whether the value stands in the plan's own file, or nowhere.
func (o Origin) Plain() bool { return o.Variable == "" && (o.From == "plan" || o.From == "default") }

// origin says where a decoded value comes from.
func (r *document) origin(at place) Origin {
	if at.implied || at.node == nil {
		return Origin{From: "default"}
	}
	written := r.subs.writtenAs(at.node)
	o := Origin{From: r.layer(written), Pos: written.Pos, LeftOut: r.subs.isEmpty(at.node)}
	var from, names []string
	for _, v := range r.subs.usedIn(at.node) {
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
func (r *document) layer(written *source.Node) string {
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
func (r *document) fromPlan(n *source.Node, name string) string {
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
