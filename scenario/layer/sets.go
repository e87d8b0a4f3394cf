package layer

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// applySets changes root by --set arguments, in order:
//
//	set  = path "=" value
//	path = step *( "." step )      ; a key of a map, or the id of an item of a list; a key may hold dots
//
// A key may be new where the language knows it, because it may come from the defaults. A name that the
// plan chose may not: a path that leads nowhere is an error.
func applySets(root *source.Node, sets []string) source.Diagnostics {
	var diags source.Diagnostics
	for i, arg := range sets {
		s := setter{arg: arg, line: i + 1}
		if d := s.apply(root); d != nil {
			diags = append(diags, *d)
		}
	}
	return diags
}

// setter applies one --set.
type setter struct {
	arg   string
	line  int
	steps []string
	done  int // characters of the path that matched
}

func (s *setter) apply(root *source.Node) *source.Diagnostic {
	path, value, found := strings.Cut(s.arg, "=")
	if !found || path == "" {
		return s.failed("has no path and value",
			"write --set PATH=VALUE, such as --set stages.steady.for=10s", nil)
	}
	s.steps = strings.Split(path, ".")
	pos := source.Pos{File: "--set", Line: s.line, Column: utf8.RuneCountInString(path) + 2}
	n := source.Plain(value, pos)
	if n.Kind == source.Null {
		n = &source.Node{Kind: source.Scalar, Tag: "!!str", Quoted: true, Text: value, Pos: pos}
	}
	return s.into(root, language.TypeOf[language.Plan](), s.steps, n)
}

// into puts value at the end of the steps below n, whose type is t.
func (s *setter) into(
	n *source.Node, t language.Type, steps []string, value *source.Node,
) *source.Diagnostic {
	switch n.Kind {
	case source.Map:
		return s.intoMap(n, t, steps, value)
	case source.List:
		return s.intoList(n, t, steps, value)
	case source.Null, source.Scalar:
	}
	return s.failed("leads into a scalar", "leave out the last part of the path", nil)
}

func (s *setter) intoMap(
	n *source.Node, t language.Type, steps []string, value *source.Node,
) *source.Diagnostic {
	for k := len(steps); k > 0; k-- {
		key := strings.Join(steps[:k], ".")
		e := n.Entry(key)
		if e == nil {
			continue
		}
		s.done += utf8.RuneCountInString(key) + 1
		if k < len(steps) {
			return s.into(e.Value, t.Key(key), steps[k:], value)
		}
		s.replace(t, e, value)
		return nil
	}
	child := t.Key(steps[0]) // the plan may leave it to the defaults
	switch {
	case !child.IsKnown() || t.IsFree():
	case len(steps) == 1:
		s.add(n, t, steps[0], value)
		return nil
	default:
		inner := &source.Node{Kind: source.Map, Pos: value.Pos}
		s.add(n, t, steps[0], inner)
		s.done += utf8.RuneCountInString(steps[0]) + 1
		return s.into(inner, child, steps[1:], value)
	}
	return s.failed(fmt.Sprintf("matches nothing: there is no %q", steps[0]), "", keysOf(n))
}

// replace puts value in the place of an entry; a scalar for a variable is its default.
func (s *setter) replace(t language.Type, e *source.Entry, value *source.Node) {
	if variable := language.TypeOf[language.Var](); t.Key(e.Key) == variable && e.Value.Kind == source.Map {
		inner := e.Value.Entry("default")
		if inner == nil {
			s.add(e.Value, variable, "default", value)
			return
		}
		e = inner
	}
	e.Value = value
}

// add writes a new key; naming a member of a union removes the others.
func (s *setter) add(n *source.Node, t language.Type, key string, value *source.Node) {
	fresh := source.Entry{
		Key: key, KeyPos: source.Pos{File: "--set", Line: s.line, Column: s.done + 1}, Value: value,
	}
	gone := t.AsMap().Displaced(&source.Node{Kind: source.Map, Entries: []source.Entry{fresh}})
	n.Entries = append(slices.DeleteFunc(slices.Clone(n.Entries), func(e source.Entry) bool {
		return gone[e.Key]
	}), fresh)
}

func (s *setter) intoList(
	n *source.Node, t language.Type, steps []string, value *source.Node,
) *source.Diagnostic {
	var ids []string
	items, item := n.Items, t.Item()
	if t.IsStages() {
		items, item = Stages(n), language.TypeOf[language.Stage]()
	}
	for _, n := range items {
		id := n.Get("id")
		if id == nil {
			continue
		}
		ids = append(ids, id.Text)
		if id.Text != steps[0] {
			continue
		}
		s.done += utf8.RuneCountInString(id.Text) + 1
		if len(steps) == 1 {
			return s.failed(
				"names an item of a list, not a key in it",
				"add the key: --set "+strings.Join(s.steps, ".")+".KEY=VALUE", nil,
			)
		}
		return s.into(n, item, steps[1:], value)
	}
	if len(ids) == 0 {
		return s.failed(
			"leads into a list whose items have no id",
			"set the whole list in the plan, or use a variable", nil,
		)
	}
	return s.failed(fmt.Sprintf("matches nothing: no item has the id %q", steps[0]), "", ids)
}

func (s *setter) failed(what, detail string, allowed []string) *source.Diagnostic {
	path, _, _ := strings.Cut(s.arg, "=")
	rest := string([]rune(path)[min(s.done, utf8.RuneCountInString(path)):])
	step, _, _ := strings.Cut(rest, ".")
	d := source.Errorf(source.CodeSet, "--set %s %s", path, what).Help(detail).
		Among(source.Nearest(step, allowed), allowed).
		AtKey("", source.Pos{File: "--set", Line: s.line, Column: s.done + 1}, step)
	return &d
}
