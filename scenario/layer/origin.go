package layer

import (
	"path/filepath"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Origin is where one value of the plan comes from.
type Origin struct {
	Path string // JSON pointer into Plan.Resolved
	Key  string // the same as --set takes it: stages.steady.for
	// From names its source: "plan", "default" (of the language), "extends FILE", "profile NAME",
	// "--set", "vars" (a variable's own default), "env NAME", "--var NAME", "--var-file FILE"; after
	// "defaults, " when it came to a stage through these.
	From     string
	Variable string     // the variables in it; "" none
	Pos      source.Pos // of the value as it was written; the zero Pos for a default of the language
	LeftOut  bool       // a header that is not sent: it holds an empty secret
}

// Plain reports whether the value is in the plan's own file, or nowhere.
func (o Origin) Plain() bool { return o.Variable == "" && (o.From == "plan" || o.From == "default") }

// Origin says where a decoded value comes from.
func (r *Document) Origin(at language.Place) Origin {
	if at.Implied || at.Node == nil {
		return Origin{From: "default"}
	}
	now := r.Subs.Of(at.Node)
	written := now.Original
	o := Origin{From: r.layer(written), Pos: written.Pos, LeftOut: now.Empty}
	var from, names []string
	for _, v := range r.Subs.UsedIn(at.Node) {
		if !ofMatrix(v.Name) {
			from, names = append(from, v.Source()), append(names, v.Name)
			o.Pos = v.At
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
func (r *Document) layer(written *source.Node) string {
	switch from := r.layers.from[written]; {
	case written.Pos.File == "--set", written.Pos.File == FlagBaseline:
		return written.Pos.File
	case from != "":
		return from
	}
	return "plan"
}

// Source names where the variable's value comes from.
func (v *Variable) Source() string {
	switch v.From {
	case "--var":
		return "--var " + v.Name
	case "default":
		return "vars"
	}
	return v.From
}

// FolderOf returns the folder that the paths in n are relative to: that of the file that holds them. What
// comes from the command line counts as part of the plan.
func FolderOf(plan string, n *source.Node) string {
	if n == nil || n.Pos.File == "" || strings.HasPrefix(n.Pos.File, "--") {
		return filepath.Dir(plan)
	}
	return filepath.Dir(n.Pos.File)
}

// Locate resolves a path of the plan that is written in n.
func Locate(plan string, n *source.Node, name string) string {
	return ResolvePath(FolderOf(plan, n), name)
}

// FromPlan is a path as the plan itself would write it, so that the resolved plan needs no other file.
func (r *Document) FromPlan(n *source.Node, name string) string {
	here := FolderOf(r.File, n)
	if here == r.Dir || filepath.IsAbs(name) {
		return name
	}
	full := ResolvePath(here, name)
	if short, err := filepath.Rel(r.Dir, full); err == nil {
		return short
	}
	return full
}
