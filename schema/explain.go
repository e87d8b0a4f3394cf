package schema

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Property is one key of the plan that this version can run, for people.
type Property struct {
	Path        string // dotted, lists left out, NAME for a name that the plan chooses: "targets.NAME.url"
	Description string
	Type        string   // "duration", "list of text" …
	Default     string   // as JSON; "" for none
	Examples    []string // as JSON
	Allowed     []string // words
	Keys        []string // of a map: the keys below
	Required    bool
}

// Lookup finds a key by its dotted path ("stages.load.rate", "targets.main.url") or by its bare name,
// then the one with the shortest path.
func Lookup(path string) (Property, bool) {
	want := strings.Split(path, ".")
	var best Property
	rank := 0
	for _, p := range properties() {
		have := strings.Split(p.Path, ".")
		if matches(have, want) {
			return p.Property, true
		}
		if r := 1 + 2*len(have) + inDefaults(p.Path); last(have) == path && (rank == 0 || r < rank) {
			best, rank = p.Property, r
		}
	}
	return best, rank > 0
}

// inDefaults is 1 for a path whose key is explained better where stages have it.
func inDefaults(path string) int {
	if strings.HasPrefix(path, "defaults.") {
		return 1
	}
	return 0
}

// matches compares a path with what a person wrote. Any name, or none, matches NAME.
func matches(have, want []string) bool {
	if len(have) == 0 || len(want) == 0 {
		return len(have) == len(want)
	}
	if have[0] == anyName {
		return matches(have[1:], want[1:]) || matches(have[1:], want)
	}
	return have[0] == want[0] && matches(have[1:], want[1:])
}

// Keys is the dotted path of every key, in the order of the schema. What several maps can have
// (a target under `target` and `targets`, the keys of a stage under `defaults`) is listed at the
// first.
func Keys() []string {
	var keys []string
	for _, p := range listed() {
		keys = append(keys, p.Path)
	}
	return keys
}

// Takers are the keys that take a word as their value, or whose items do, in the order of Keys.
func Takers(word string) []Property {
	var all []Property
	for _, p := range listed() {
		if slices.Contains(p.Allowed, word) {
			all = append(all, p)
		}
	}
	return all
}

// listed are the properties, each at the first of its places.
var listed = sync.OnceValue(func() []Property {
	var all []Property
	seen := map[source.Pos]bool{}
	for _, p := range properties() {
		if !seen[p.at] && inDefaults(p.Path) == 0 {
			seen[p.at] = true
			all = append(all, p.Property)
		}
	}
	return all
})

// Type is a form of scalars that many keys have.
type Type struct {
	Name, Help string
	Examples   []string // as JSON
}

// Types are the types of scalars, by name.
func Types() []Type {
	var all []Type
	for _, e := range entries(tree().Get("$defs")) {
		name, help := text(e.Value.Get("title")), text(e.Value.Get("description"))
		if help == "" || strings.Contains(name, " ") ||
			slices.ContainsFunc(all, func(t Type) bool { return t.Name == name }) {
			continue
		}
		t := Type{Name: name, Help: help}
		if examples := e.Value.Get("examples"); examples != nil {
			for _, x := range examples.Items {
				t.Examples = append(t.Examples, asJSON(x))
			}
		}
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b Type) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// anyName replaces, in paths, a name that the plan chooses.
const anyName = "NAME"

// place is a property and where the schema describes it.
type place struct {
	Property
	at source.Pos
}

var properties = sync.OnceValue(func() []place {
	w := walker{}
	w.schema(tree(), nil, nil)
	return w.found
})

// walker lists the properties of a schema.
type walker struct{ found []place }

// schema visits all properties that a value at path can have. refs are the definitions on the way, so
// that one that holds itself ends.
func (w *walker) schema(s *source.Node, path, refs []string) {
	if s == nil || s.Kind != source.Map {
		return
	}
	for _, e := range entries(s.Get("properties")) {
		if s == tree() || s.Get("title") != nil { // not those in conditions
			w.property(s, e, path, refs)
		}
	}
	for _, part := range []string{"then", "else", "items"} {
		w.schema(s.Get(part), path, refs)
	}
	if n := s.Get("allOf"); n != nil {
		for _, item := range n.Items {
			w.schema(item, path, refs)
		}
	}
	w.schema(s.Get("additionalProperties"), append(slices.Clone(path), anyName), refs)
	if target := text(s.Get("$ref")); target != "" && !slices.Contains(refs, target) &&
		!strings.HasSuffix(target, "/profile") {
		w.schema(tree().At(strings.TrimPrefix(target, "#")), path, append(slices.Clone(refs), target))
	}
}

func (w *walker) property(owner *source.Node, e source.Entry, path, refs []string) {
	here := append(slices.Clone(path), e.Key)
	dotted := strings.Join(here, ".")
	if slices.ContainsFunc(w.found, func(p place) bool { return p.Path == dotted }) {
		return
	}
	p, ok := property(owner, e.Key)
	if !ok {
		return
	}
	p.Path = dotted
	at := len(w.found)
	w.found = append(w.found, place{p, e.KeyPos})
	w.schema(e.Value, here, refs)
	for _, below := range w.found[at+1:] {
		rest := strings.TrimPrefix(below.Path, dotted+".")
		if !strings.Contains(rest, ".") {
			w.found[at].Keys = append(w.found[at].Keys, rest)
		}
	}
}

// property reads one property of a map, without what is below it. Properties without a description are
// conditions.
func property(owner *source.Node, key string) (Property, bool) {
	n := owner.Get("properties").Get(key)
	if n == nil || n.Get("description") == nil {
		return Property{}, false
	}
	p := Property{Path: key, Description: text(n.Get("description")), Type: text(n.Get("title"))}
	if d := n.Get("default"); d != nil {
		p.Default = asJSON(d)
	}
	for _, e := range n.Get("examples").Items {
		p.Examples = append(p.Examples, asJSON(e))
	}
	words(n, &p)
	if required := owner.Get("required"); required != nil {
		p.Required = slices.ContainsFunc(required.Items, func(r *source.Node) bool { return r.Text == key })
	}
	return p, true
}

// words finds the closed set of words of a value, of the scalar form of it, or of its items.
func words(n *source.Node, p *Property) {
	if n == nil || n.Kind != source.Map {
		return
	}
	p.Allowed = append(p.Allowed, allowed(n)...)
	words(n.Get("items"), p)
	if forms := n.Get("allOf"); forms != nil {
		for _, f := range forms.Items {
			words(f.Get("then"), p)
		}
	}
}

func asJSON(n *source.Node) string {
	if n.Kind == source.Scalar {
		return n.Text
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(n.JSON()); err != nil {
		return n.Text
	}
	return strings.TrimSpace(b.String())
}
