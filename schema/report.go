package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// reporter turns the validator's complaints into diagnostics.
type reporter struct {
	root  *source.Node
	found source.Diagnostics
	seen  map[string]bool // by place of the text: what an alias repeats is complained about once
	meant map[string]bool // pointers of keys that are missing because they are misspelled
	later map[string]bool // pointers of values that cannot be run yet; nothing under them is listed
}

func newReporter(root *source.Node) *reporter {
	return &reporter{root: root, seen: map[string]bool{}, meant: map[string]bool{}, later: map[string]bool{}}
}

// complaint is a leaf with what it is about.
type complaint struct {
	leafError
	keyword string       // its last token
	schema  *source.Node // that holds the keyword
	def     string       // the definition it stands in
	node    *source.Node // the value; of a key: nil
}

// maxFound is how many mistakes are listed: enough for any person, and a bound for what a broken file
// can cost.
const maxFound = 1000

func (r *reporter) collect(leaves []leafError) {
	slices.SortFunc(leaves, func(a, b leafError) int {
		return cmp.Or(slices.Compare(a.at, b.at), slices.Compare(a.keyword, b.keyword))
	})
	for _, l := range leaves {
		if last(l.keyword) == notBuilt {
			r.later[source.JoinPointer(l.at...)] = true
		}
	}
	leaves = slices.DeleteFunc(leaves, r.hidden)
	r.misspelled(leaves)
	cut := len(leaves) > maxFound
	leaves = leaves[:min(len(leaves), maxFound)]
	for _, repeated := range []bool{false, true} { // originals before what aliases repeat of them
		for _, l := range leaves {
			c := r.about(l)
			if (c.node != nil && c.node.Anchor != (source.Pos{})) == repeated {
				r.complain(c)
			}
		}
	}
	if cut || len(r.found) > maxFound {
		r.found = append(r.found[:min(len(r.found), maxFound)], source.Errorf(
			"too-many-mistakes", "there are more mistakes than are listed",
		).
			At("", r.root.Pos, 0))
	}
}

// misspelled notes the keys that are meant by keys which do not exist, so that one typo is one mistake.
func (r *reporter) misspelled(leaves []leafError) {
	for _, l := range leaves[:min(len(leaves), maxFound)] {
		if last(l.keyword) != "additionalProperties" {
			continue
		}
		c := r.about(l)
		properties := c.schema.Get("properties")
		all := builtKeys(properties)
		for i, e := range entries(c.node) {
			if i > maxFound || properties.Get(e.Key) != nil {
				continue
			}
			near := source.Nearest(e.Key, all)
			if f, ok := foreign(e.Key); ok && slices.Contains(all, f.ours) {
				near = f.ours
			}
			if near != "" {
				r.meant[source.JoinPointer(append(slices.Clone(c.at), near)...)] = true
			}
		}
	}
}

// about finds what a leaf is about.
func (r *reporter) about(l leafError) complaint {
	c := complaint{leafError: l, keyword: last(l.keyword), node: r.at(l.at)}
	c.schema = tree().At(source.JoinPointer(l.keyword[:len(l.keyword)-1]...))
	if len(l.keyword) > 1 && l.keyword[0] == "$defs" {
		c.def = l.keyword[1]
	}
	return c
}

func last(tokens []string) string {
	if len(tokens) == 0 {
		return ""
	}
	return tokens[len(tokens)-1]
}

func (r *reporter) at(tokens []string) *source.Node { return r.root.At(source.JoinPointer(tokens...)) }

// hidden reports whether l is about something inside a value that is not built yet, or about that
// value itself.
func (r *reporter) hidden(l leafError) bool {
	for n := range len(l.at) + 1 {
		if r.later[source.JoinPointer(l.at[:n]...)] && (n < len(l.at) || last(l.keyword) != notBuilt) {
			return true
		}
	}
	return false
}

func (r *reporter) complain(c complaint) {
	switch c.keyword {
	case "additionalProperties":
		r.unknownKeys(c)
	case "required":
		r.missingKeys(c)
	case notBuilt:
		r.notBuilt(c)
	default:
		if slices.Contains(c.leafError.keyword, "propertyNames") {
			r.badName(c)
			return
		}
		r.add(r.value(c), c.node)
	}
}

// add keeps d unless the same text was complained about already.
func (r *reporter) add(d source.Diagnostic, about *source.Node) {
	d.Severity = source.Error
	origin := d.Pos
	if about != nil && about.Anchor != (source.Pos{}) {
		origin = about.Anchor
		d.Detail = strings.TrimSpace(fmt.Sprintf("%s\nIt comes from the anchor at %s.", d.Detail, about.Anchor))
	} else if about != nil {
		origin = about.Pos
	}
	identity := fmt.Sprintf("%s %s %s", origin, d.Code, d.Summary)
	if !r.seen[identity] {
		r.seen[identity] = true
		r.found = append(r.found, d)
	}
}

func (r *reporter) unknownKeys(c complaint) {
	properties := c.schema.Get("properties")
	all := builtKeys(properties)
	for _, e := range entries(c.node) {
		if len(r.found) > maxFound {
			return
		}
		if properties.Get(e.Key) != nil {
			continue
		}
		d := source.Diagnostic{
			Code:    "unknown-key",
			Summary: fmt.Sprintf("`%s` is not a key of %s", e.Key, r.name(c)),
			Path:    source.JoinPointer(append(slices.Clone(c.at), e.Key)...),
			Pos:     e.KeyPos,
			Width:   keyWidth(e),
			Allowed: all,
			Nearest: source.Nearest(e.Key, all),
		}
		r.meantKey(&d, c, e, all)
		r.add(d, e.Value)
	}
}

// meantKey says in d what was meant by a key that there is not: another tool's word, a key of another
// map, a condition.
func (r *reporter) meantKey(d *source.Diagnostic, c complaint, e source.Entry, all []string) {
	nowhere := e.Value == nil || e.Value.Kind == source.Null
	if strings.ContainsAny(e.Key, "<>()=") && nowhere {
		d.Nearest, d.Detail = "", "A comma ends a value inside { } and [ ]: write the whole text in quotes."
		return
	}
	if isAssertion(c) && e.Value != nil && e.Value.Kind == source.Scalar && strings.Contains(e.Key, ".") {
		d.Nearest, d.Allowed = "", nil
		d.Detail = fmt.Sprintf("An assertion is one text: %s < %s.", e.Key, strings.TrimLeft(e.Value.Text, "<>= "))
		return
	}
	if f, ok := foreign(e.Key); ok &&
		(slices.Contains(all, f.ours) || !f.local() && r.elsewhere(c.at, e.Key) == "") {
		f.translate(d, e, all)
		return
	}
	if d.Nearest == "" {
		d.Detail = r.elsewhere(c.at, e.Key)
	}
}

// isAssertion reports whether a complaint is about an assertion that is a map.
func isAssertion(c complaint) bool { return strings.Contains(c.def, "assertion") }

// builtKeys are the keys of a map that this version can run.
func builtKeys(properties *source.Node) []string {
	var keys []string
	for _, p := range entries(properties) {
		if later := p.Value.Get(notBuilt); later == nil || later.Kind != source.Scalar {
			keys = append(keys, p.Key)
		}
	}
	return keys
}

func entries(n *source.Node) []source.Entry {
	if n == nil {
		return nil
	}
	return n.Entries
}

// keyWidth is 0 where the key stands elsewhere and an alias here.
func keyWidth(e source.Entry) int {
	if e.KeyPos == e.Value.Pos {
		return 0
	}
	return len([]rune(e.Key))
}

// name says which map is meant: its key, or what it is.
func (r *reporter) name(c complaint) string {
	if len(c.at) == 0 {
		return "a plan"
	}
	title := text(c.schema.Get("title"))
	if title != "" && title != "map" {
		return title
	}
	for i := len(c.at) - 1; i >= 0; i-- {
		if parent := r.at(c.at[:i]); parent != nil && parent.Kind == source.Map {
			return "`" + c.at[i] + "`"
		}
	}
	return "this map"
}

func text(n *source.Node) string {
	if n == nil {
		return ""
	}
	return n.Text
}

func (r *reporter) missingKeys(c complaint) {
	pos, width := r.keyPlace(c.at)
	for _, key := range c.schema.Get("required").Items {
		if c.node.Get(key.Text) != nil || r.meant[source.JoinPointer(append(slices.Clone(c.at), key.Text)...)] {
			continue
		}
		d := source.Diagnostic{
			Code: "missing-key", Summary: fmt.Sprintf("`%s` is missing in %s", key.Text, r.name(c)),
			Path: source.JoinPointer(c.at...), Pos: pos, Width: width,
		}
		if p, ok := Lookup(r.dotted(c.at, key.Text)); ok {
			d.Detail = fmt.Sprintf("%s For example: %s: %s", p.Description, key.Text, p.Examples[0])
		}
		r.add(d, c.node)
	}
}

// dotted is the path of a key below at, as Lookup takes it.
func (r *reporter) dotted(at []string, key string) string {
	return strings.Join(append(r.keys(at), key), ".")
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

// keyPlace is the key of a value, or the value itself where it has none.
func (r *reporter) keyPlace(at []string) (source.Pos, int) {
	n := r.at(at)
	if n != nil && n.Anchor != (source.Pos{}) {
		return n.Pos, 0
	}
	return r.root.KeyPos(source.JoinPointer(at...))
}

// valuePlace is where a scalar stands, or the key of a map, a list or nothing.
func (r *reporter) valuePlace(c complaint) (source.Pos, int) {
	n := c.node
	if n.Kind != source.Scalar {
		return r.keyPlace(c.at)
	}
	switch {
	case n.Anchor != (source.Pos{}), n.Block, len(n.Runs) > 0:
		return n.Pos, 0
	case n.Quoted:
		return n.Pos, len([]rune(n.Text)) + 2
	}
	return n.Pos, len([]rune(n.Text))
}

func (r *reporter) notBuilt(c complaint) {
	d := source.Diagnostic{Code: "not-built-yet", Path: source.JoinPointer(c.at...)}
	what := last(c.at)
	words := c.schema.Get(notBuilt)
	switch {
	case words.Kind == source.List:
		d.Pos, d.Width = r.valuePlace(c)
		what = c.node.Text
		d.Allowed = built(c.schema)
	case len(c.leafError.keyword) > 2 && c.leafError.keyword[len(c.leafError.keyword)-3] == "properties":
		d.Pos, d.Width = r.keyPlace(c.at)
	default:
		d.Pos, d.Width = r.keyPlace(c.at)
		d.Summary = fmt.Sprintf("this version cannot run this form of `%s` yet", what)
	}
	if d.Summary == "" {
		d.Summary = fmt.Sprintf("this version cannot run `%s` yet", what)
	}
	r.add(d, c.node)
}

func (r *reporter) badName(c complaint) {
	pos, width := r.keyPlace(c.at)
	r.add(source.Diagnostic{
		Code: "bad-name", Summary: fmt.Sprintf("`%s` cannot be a name here", last(c.at)),
		Detail: "A name has letters, digits and _ (and . and - where it is not a variable's), and begins with " +
			"a letter, a digit or _.",
		Path: source.JoinPointer(c.at...), Pos: pos, Width: width,
	}, c.node)
}
