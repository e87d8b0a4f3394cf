package layer

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// extend gives root merged over the plan that it extends, and that over its own base, and so on. chain
// holds the files above, as they were named. The result has no `extends`. Where a file on the way
// cannot be read, which is reported, it is what is there: the rest is checked as far as that goes
// (fromBase).
func (l *layers) extend(root *source.Node, chain []string) *source.Node {
	e := root.Entry("extends")
	if e == nil {
		return root
	}
	file := chain[len(chain)-1]
	name, wrong := extended(e)
	if wrong == nil {
		name = ResolvePath(filepath.Dir(file), name)
		wrong = circle(append(slices.Clone(chain), name))
	}
	base := &source.Node{Kind: source.Map, Pos: root.Pos}
	if wrong != nil {
		l.refuse(e, wrong)
		l.partial = true
	} else if read, ok := l.base(e, name); ok {
		base = l.extend(read, append(chain, name))
	} else {
		l.partial = true
	}
	l.covered = append(l.covered, base)
	label := "extends " + e.Value.Text
	l.names = append(l.names, label)
	l.learn(base, label, false)
	own := without(root, "extends")
	l.learn(own, "", true)
	merged := layer{layers: l, below: true}.over(base, own, language.TypeOf[language.Plan]())
	merged.Pos, merged.Anchor = root.Pos, root.Anchor
	l.uppers = append(l.uppers, upper{own, ""})
	return merged
}

// MayBeInBase reports whether a mistake may follow from a base that could not be read: what the plan
// lacks may be there.
func (r *Document) MayBeInBase(code string) bool {
	if !r.layers.partial {
		return false
	}
	switch code {
	case source.CodeMissing, source.CodeExactlyOne, source.CodeDoesNotFit, source.CodeUnknownName,
		source.CodeVarMissing, source.CodeVarUnknown, source.CodeVarUnused, source.CodeIdle,
		source.CodeNoEffect, source.CodeProfile, source.CodeOverlay, source.CodeSet:
		return true
	}
	return false
}

// upper is a tree that was laid over another, and its place in its file.
type upper struct {
	tree *source.Node
	path string
}

// extended is the file that an `extends` names.
func extended(e *source.Entry) (string, *source.Diagnostic) {
	const detail = "it names one plan, relative to this file: extends: base.yaml"
	switch text := e.Value.Text; {
	case e.Value.Kind != source.Scalar || text == "":
		return "", source.Errorf(source.CodeType, "extends names no file").Help(detail)
	case strings.Contains(text, "${"):
		return "", source.Errorf(source.CodeVarSyntax, "extends cannot hold a variable").
			Help("plans are merged before variables are known")
	}
	return e.Value.Text, nil
}

// circle reports a chain whose last file is one of those above it.
func circle(chain []string) *source.Diagnostic {
	last := len(chain) - 1
	for i, file := range chain[:last] {
		if identity(file) == identity(chain[last]) {
			return source.Errorf(
				source.CodeExtends, "%s",
				"plans extend each other in a circle: "+strings.Join(chain[i:], " → "),
			)
		}
	}
	return nil
}

// identity is the same for all names of one file.
func identity(file string) string {
	if full, err := filepath.Abs(file); err == nil {
		file = full
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	return file
}

// base reads the plan that is extended.
func (l *layers) base(e *source.Entry, name string) (*source.Node, bool) {
	data, err := ReadSome(name)
	if err != nil {
		l.refuse(e, source.Errorf(source.CodeFile, "plan %q cannot be read: %v", name, Cause(err)).
			Help("a path is relative to the file that holds it"))
		return nil, false
	}
	root, diags := source.Parse(name, data)
	if !isPlan(root, data) {
		d := notAPlan(name, nil)
		d.Hidden = false // the position is in the plan that extends
		l.refuse(e, &d)
		return nil, false
	}
	l.diags = append(l.diags, diags...)
	if root == nil || slices.ContainsFunc(diags, leavesHole) {
		return nil, false
	}
	if v := root.Get("version"); v != nil && v.Text != "1" {
		l.diags = append(l.diags, source.Errorf(
			source.CodeVersion, "version %s of the plan language is not known", v.Text,
		).
			Among("", []string{"1"}).
			At("/version", v.Pos, 0))
	}
	return root, true
}

// refuse reports a mistake about the value of an entry of the root.
func (l *layers) refuse(e *source.Entry, m *source.Diagnostic) {
	l.diags = append(l.diags, m.AtKey(source.JoinPointer(e.Key), e.KeyPos, e.Key))
}

// profile lays the chosen profiles over the plan, in order, and takes `profiles` out of it. Those that
// are not chosen are looked at too: their stages and variables must be there.
func (l *layers) profile(root *source.Node, chosen []string) *source.Node {
	l.covered = append(l.covered, root)
	profiles, plan := root.Get("profiles"), without(root, "profiles")
	if profiles != nil && profiles.Kind != source.Map {
		return plan // its kind is reported
	}
	names := keysOf(profiles)
	for _, e := range entriesOf(profiles) {
		if !slices.Contains(chosen, e.Key) {
			trial := newLayers()
			trial.learn(e.Value, "", true)
			trial.lay(plan, e)
			l.diags = append(l.diags, trial.diags...)
		}
	}
	for i, name := range chosen {
		e := profiles.Entry(name)
		if e == nil {
			l.diags = append(l.diags, noProfile(name, i, names))
			continue
		}
		label := "profile " + name
		l.names = append(l.names, label)
		l.learn(e.Value, label, true)
		plan = l.lay(plan, *e)
		l.uppers = append(l.uppers, upper{e.Value, "/profiles" + source.JoinPointer(name)})
	}
	return plan
}

func noProfile(name string, i int, names []string) source.Diagnostic {
	d := source.Errorf(source.CodeProfile, "--profile %s: the plan has no such profile", name).
		Among(source.Nearest(name, names), names).
		AtKey("", source.Pos{File: "--profile", Line: i + 1, Column: 1}, name)
	if len(names) == 0 {
		d.Detail = "it has no `profiles`"
	}
	return d
}

// lay puts one profile over a plan.
func (l *layers) lay(plan *source.Node, profile source.Entry) *source.Node {
	if profile.Value.Kind != source.Map {
		return plan // its kind is reported
	}
	on := layer{layers: l, path: "/profiles" + source.JoinPointer(profile.Key), below: true}
	over := without(profile.Value, "version", "name", "extends", "profiles")
	names := keysOf(plan.Get("vars"))
	for _, e := range entriesOf(over.Get("vars")) {
		if !slices.Contains(names, e.Key) {
			on.report("/vars"+source.JoinPointer(e.Key), e,
				source.Errorf(source.CodeOverlay, "the plan has no variable %q", e.Key).
					Help("a profile sets variables that the plan declares").
					Among(source.Nearest(e.Key, names), names))
		}
	}
	return on.over(plan, over, language.TypeOf[language.Plan]())
}

// Outline has the names in a plan that a command line can mention.
type Outline struct {
	Profiles, Vars []string
	Stages         []string // those of groups too
}

// OutlineOf reads the outline of the plan in file, what it extends included. Mistakes in the plan are
// passed over; a file that cannot be read has no names.
func OutlineOf(file string) (o Outline) {
	data, err := ReadSome(file)
	if err != nil {
		return o
	}
	root, _ := source.Parse(file, data)
	if root == nil || root.Kind != source.Map {
		return o
	}
	root = newLayers().extend(root, []string{file})
	o.Profiles, o.Vars = keysOf(root.Get("profiles")), keysOf(root.Get("vars"))
	o.Stages = stageIDs(root.Get("stages"))
	return o
}
