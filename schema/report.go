package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// reporter turns the violations that the validator finds into diagnostics.
type reporter struct {
	root  *source.Node
	found source.Diagnostics
	seen  map[string]bool // by place of the text: what an alias repeats is reported once
	meant map[string]bool // pointers of keys that are missing because they are misspelled
}

func newReporter(root *source.Node) *reporter {
	return &reporter{root: root, seen: map[string]bool{}, meant: map[string]bool{}}
}

// maxFound limits the mistakes that are listed: enough for any person, and a bound for what a broken file
// can cost.
const maxFound = 1000

func (r *reporter) collect(all []violation) {
	slices.SortFunc(all, func(a, b violation) int {
		return cmp.Or(slices.Compare(a.at, b.at), slices.Compare(a.rule, b.rule))
	})
	cut := len(all) > maxFound
	all = all[:min(len(all), maxFound)]
	for i := range all {
		r.find(&all[i])
	}
	r.misspelled(all)
	for _, repeated := range []bool{false, true} { // originals before what aliases repeat of them
		for _, v := range all {
			if (v.node != nil && v.node.Anchor != (source.Pos{})) == repeated {
				r.report(v)
			}
		}
	}
	if cut || len(r.found) > maxFound {
		r.found = append(r.found[:min(len(r.found), maxFound)],
			source.Errorf("too-many-mistakes", "there are more mistakes than are listed").
				At("", r.root.Pos, 0))
	}
}

// misspelled notes the keys that are meant by keys which do not exist, so that one typo is one mistake.
func (r *reporter) misspelled(all []violation) {
	for _, v := range all {
		if v.keyword() != "additionalProperties" {
			continue
		}
		properties := v.schema.Get("properties")
		keys := keysOf(properties)
		for i, e := range entries(v.node) {
			if i > maxFound || properties.Get(e.Key) != nil {
				continue
			}
			near := source.Nearest(e.Key, keys)
			if f, ok := foreign(e.Key); ok && slices.Contains(keys, f.ours) {
				near = f.ours
			}
			if near != "" {
				r.meant[v.path(near)] = true
			}
		}
	}
}

// find looks up the value and the schema of a violation.
func (r *reporter) find(v *violation) {
	v.node, v.schema = r.at(v.at), tree().At(source.JoinPointer(v.rule[:len(v.rule)-1]...))
	if len(v.rule) > 1 && v.rule[0] == "$defs" {
		v.def = v.rule[1]
	}
}

func last(tokens []string) string {
	if len(tokens) == 0 {
		return ""
	}
	return tokens[len(tokens)-1]
}

func (r *reporter) at(tokens []string) *source.Node { return r.root.At(source.JoinPointer(tokens...)) }

func (r *reporter) report(v violation) {
	switch {
	case v.keyword() == "additionalProperties":
		r.unknownKeys(v)
	case v.keyword() == "required":
		r.missingKeys(v)
	case slices.Contains(v.rule, "propertyNames"):
		pos, width := r.keyPlace(v.at)
		r.add(source.Errorf("bad-name", "`%s` cannot be a name here", last(v.at)).Help(
			"A name has letters, digits and _ (and . and - where it is not a variable's), and begins with "+
				"a letter, a digit or _.",
		).At(v.path(), pos, width), v.node)
	default:
		pos, width := r.valuePlace(v)
		r.add(r.value(v).At(v.path(), pos, width), v.node)
	}
}

// add keeps d unless the same text was reported already.
func (r *reporter) add(d source.Diagnostic, about *source.Node) {
	origin := d.Pos
	if about != nil && about.Anchor != (source.Pos{}) {
		origin = about.Anchor
		d.Detail = strings.TrimSpace(d.Detail +
			"\nIt comes from the anchor at " + about.Anchor.String() + ".")
	} else if about != nil {
		origin = about.Pos
	}
	identity := fmt.Sprintf("%s %s %s", origin, d.Code, d.Summary)
	if !r.seen[identity] {
		r.seen[identity] = true
		r.found = append(r.found, d)
	}
}

func (r *reporter) unknownKeys(v violation) {
	properties := v.schema.Get("properties")
	all := keysOf(properties)
	for _, e := range entries(v.node) {
		if len(r.found) > maxFound {
			return
		}
		if properties.Get(e.Key) != nil {
			continue
		}
		d := source.Errorf(source.CodeUnknownKey, "`%s` is not a key of %s", e.Key, r.name(v)).
			Among(source.Nearest(e.Key, all), all)
		r.meantKey(d, v, e, all)
		placed := d.AtKey(v.path(e.Key), e.KeyPos, e.Key)
		if e.KeyPos == e.Value.Pos { // the key is written elsewhere, and an alias here
			placed.Width = 0
		}
		r.add(placed, e.Value)
	}
}

// meantKey says in d what was meant by a key that there is not: another tool's word, a key of another
// map, a condition.
func (r *reporter) meantKey(d *source.Diagnostic, v violation, e source.Entry, all []string) {
	nowhere := e.Value == nil || e.Value.Kind == source.Null
	if strings.ContainsAny(e.Key, "<>()=") && nowhere {
		d.Nearest, d.Detail = "", "A comma ends a value inside { } and [ ]: write the whole text in quotes."
		return
	}
	if strings.Contains(v.def, "assertion") && strings.Contains(e.Key, ".") &&
		e.Value != nil && e.Value.Kind == source.Scalar {
		d.Nearest, d.Allowed = "", nil
		limit := strings.TrimLeft(e.Value.Text, "<>= ")
		d.Detail = fmt.Sprintf("An assertion is one text: %s < %s.", e.Key, limit)
		return
	}
	if f, ok := foreign(e.Key); ok &&
		(slices.Contains(all, f.ours) || !f.local() && r.elsewhere(v.at, e.Key) == "") {
		f.translate(d, e, all)
		return
	}
	if d.Nearest == "" {
		d.Detail = r.elsewhere(v.at, e.Key)
	}
}

// keysOf are the keys of a map.
func keysOf(properties *source.Node) []string {
	var keys []string
	for _, p := range entries(properties) {
		keys = append(keys, p.Key)
	}
	return keys
}

func entries(n *source.Node) []source.Entry {
	if n == nil {
		return nil
	}
	return n.Entries
}

// name returns the title of a map, or else its key.
func (r *reporter) name(v violation) string {
	switch title := text(v.schema.Get("title")); {
	case len(v.at) == 0:
		return "a plan"
	case title != "" && title != "map":
		return title
	}
	return r.label(v.at)
}

func text(n *source.Node) string {
	if n == nil {
		return ""
	}
	return n.Text
}

func (r *reporter) missingKeys(v violation) {
	pos, width := r.keyPlace(v.at)
	for _, key := range v.schema.Get("required").Items {
		if v.node.Get(key.Text) != nil || r.meant[v.path(key.Text)] {
			continue
		}
		d := source.Errorf(source.CodeMissing, "`%s` is missing in %s", key.Text, r.name(v))
		if p, ok := Lookup(strings.Join(append(r.keys(v.at), key.Text), ".")); ok {
			d.Detail = fmt.Sprintf("%s For example: %s: %s", p.Description, key.Text, p.Examples[0])
		}
		r.add(d.At(v.path(), pos, width), v.node)
	}
}

// keys are those on the way to a value.
func (r *reporter) keys(at []string) []string {
	var keys []string
	for i := range at {
		if parent := r.at(at[:i]); parent != nil && parent.Kind == source.Map {
			keys = append(keys, at[i])
		}
	}
	return keys
}

// label is the key that a value has, or that the list has whose item it is.
func (r *reporter) label(at []string) string {
	if key := last(r.keys(at)); key != "" {
		return "`" + key + "`"
	}
	return "the plan"
}

// keyPlace is the key of a value, or the value itself where it has none.
func (r *reporter) keyPlace(at []string) (source.Pos, int) {
	n := r.at(at)
	if n != nil && n.Anchor != (source.Pos{}) {
		return n.Pos, 0
	}
	return r.root.KeyPos(source.JoinPointer(at...))
}

// valuePlace returns the place of a scalar, or of the key of a map, a list or nothing.
func (r *reporter) valuePlace(v violation) (source.Pos, int) {
	switch n := v.node; {
	case n.Kind != source.Scalar:
		return r.keyPlace(v.at)
	case n.Anchor != (source.Pos{}), len(n.Runs) > 0:
		return n.Pos, 0
	default:
		return n.Pos, language.WidthOf(n, n)
	}
}
