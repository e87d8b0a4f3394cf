package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/scenario/source"
)

// member is one choice of a union: its key ("" when it is no key: a scalar), and the type it becomes in the Plan.
type member struct {
	key string
	typ reflect.Type
}

// union is a set of keys of which a map may name one.
type union struct {
	name     string         // as a person calls it
	in       []reflect.Type // the raw structs that hold the keys
	sum      reflect.Type   // the sealed interface of the Plan; nil: none
	members  []member
	optional bool   // none may be named too
	none     string // what to do when none is named
}

// unions is the only list of the choices of a plan. The decoder, the merge of defaults and the drift test read it.
func unions() []union {
	return []union{
		{
			name: "load", in: []reflect.Type{reflect.TypeFor[rawLoad]()}, sum: reflect.TypeFor[Load](),
			members: []member{
				{"concurrency", reflect.TypeFor[Concurrency]()},
				{"rate", reflect.TypeFor[Rate]()},
				{"intervals", reflect.TypeFor[Intervals]()},
				{"schedule", reflect.TypeFor[Schedule]()},
			},
			none: "write one of these:\n  load: {concurrency: 4}\n  load: {rate: 100/s}",
		},
		{
			name: "quantity", in: []reflect.Type{reflect.TypeFor[rawSlots](), reflect.TypeFor[rawRate]()}, sum: reflect.TypeFor[Quantity](),
			members: []member{
				{"", reflect.TypeFor[Fixed]()},
				{"levels", reflect.TypeFor[Levels]()},
				{"ramp", reflect.TypeFor[Ramp]()},
				{"search", reflect.TypeFor[Search]()},
				{"periodic", reflect.TypeFor[Periodic]()},
			},
			none: "write a value, a list of values, or {levels: {from: 1, to: 8}}",
		},
		{
			name: "extent", in: []reflect.Type{reflect.TypeFor[rawStage](), reflect.TypeFor[rawDefaults]()},
			sum: reflect.TypeFor[Extent](),
			members: []member{
				{"for", reflect.TypeFor[For]()},
				{"until", reflect.TypeFor[UntilStable]()},
				{"until", reflect.TypeFor[UntilOthers]()},
				{"", reflect.TypeFor[ByLoad]()},
			},
			none: "write one of these:\n  for: 60s\n  for: 1000 requests\n  until: stable",
		},
		{
			name: "source", in: []reflect.Type{reflect.TypeFor[rawDataset]()},
			members: []member{
				{"generate", nil}, {"file", nil}, {"dir", nil}, {"bodies", nil}, {"rows", nil}, {"prompts", nil}, {"command", nil},
			},
			none: "write one of these:\n  generate: random\n  file: rows.json",
		},
		{
			name: "target", in: []reflect.Type{reflect.TypeFor[rawPlan]()}, members: []member{{"target", nil}, {"targets", nil}},
			none: "write where to send requests:\n  target: {backend: triton, url: \"grpc://localhost:8001\", model: NAME}",
		},
		{
			name: "data", in: []reflect.Type{reflect.TypeFor[rawPlan]()}, members: []member{{"data", nil}, {"datasets", nil}},
			optional: true,
		},
		{
			name: "assertion", in: []reflect.Type{reflect.TypeFor[rawAssertion]()}, members: []member{{"that", nil}, {"slo", nil}},
			none: "write `that: EXPRESSION`, or `slo: NAME` with a name from `slos`",
		},
		{
			name: "action", in: []reflect.Type{reflect.TypeFor[rawAction]()},
			members: []member{{"load_model", nil}, {"unload_model", nil}, {"call", nil}},
			none:    "write one of these:\n  - load_model: NAME\n  - unload_model: NAME\n  - call: POST /path",
		},
		{
			name: "protos", in: []reflect.Type{reflect.TypeFor[rawProtos]()}, members: []member{{"files", nil}, {"descriptor_set", nil}},
			none: "write one of these:\n  files: [service.proto]\n  descriptor_set: service.pb",
		},
		{
			name:     "step",
			in:       []reflect.Type{reflect.TypeFor[rawLevels[int64]](), reflect.TypeFor[rawLevels[rate]]()},
			members:  []member{{"step", nil}, {"factor", nil}},
			optional: true,
		},
		{
			name: "generator", in: []reflect.Type{reflect.TypeFor[rawGenerator]()},
			members:  []member{{"length", nil}, {"one_of", nil}, {"file", nil}},
			optional: true,
		},
	}
}

// unionsOf lists the unions whose keys stand in t, each with the members that t has.
func unionsOf(t reflect.Type) []union { return layouts()[t].unions }

func readUnions(t reflect.Type, own []field) []union {
	var all []union
	for _, u := range unions() {
		if slices.Contains(u.in, t) {
			u.members = slices.DeleteFunc(u.members, func(m member) bool {
				return m.key != "" && !slices.ContainsFunc(own, func(f field) bool { return f.key == m.key })
			})
			all = append(all, u)
		}
	}
	return all
}

// keys are the keys of the union.
func (u union) keys() []string {
	var keys []string
	for _, m := range u.members {
		if m.key != "" && !slices.Contains(keys, m.key) {
			keys = append(keys, m.key)
		}
	}
	return keys
}

// named lists the entries of n that are members of the union.
func (u union) named(n *source.Node) []source.Entry {
	var found []source.Entry
	keys := u.keys()
	for _, e := range n.Entries {
		if slices.Contains(keys, e.Key) {
			found = append(found, e)
		}
	}
	return found
}

// exclusive checks the unions of a map, and the options that fit only one member.
func (d *decoder) exclusive(t reflect.Type, n *source.Node, path string) {
	for _, u := range unionsOf(t) {
		if t == reflect.TypeFor[rawDefaults]() {
			u.optional = true
		}
		found := u.named(n)
		switch {
		case len(found) == 0:
			d.noneNamed(u, n, path)
		case len(found) > 1:
			d.severalNamed(u, found, path)
		}
	}
	d.fits(t, n, path)
}

func (d *decoder) noneNamed(u union, n *source.Node, path string) {
	if u.optional || u.name == "extent" && endsByItself(n.Get("load")) || d.known[path] || strings.HasPrefix(path, "/defaults/") { // a stage may name the member
		return
	}
	if slices.ContainsFunc(d.stray[path], u.mayBe) {
		return
	}
	for _, e := range n.Entries {
		if stray, ok := d.odd[e.KeyPos]; ok && u.mayBe(stray) {
			return
		}
	}
	d.diags = append(d.diags, source.Diagnostic{
		Severity: source.Error, Code: codeExactlyOne, Path: path, Pos: n.Pos, Allowed: u.keys(),
		Summary: fmt.Sprintf("%s has none of %s", subject(n, path), quoteAll(u.keys(), "and")), Detail: u.none,
	})
}

// mayBe reports whether a key that does not exist was meant to be a member.
func (u union) mayBe(stray source.Diagnostic) bool {
	return stray.Nearest == "" || slices.Contains(u.keys(), stray.Nearest)
}

func (d *decoder) severalNamed(u union, found []source.Entry, path string) {
	var named []string
	for _, e := range found {
		named = append(named, fmt.Sprintf("%q at %s", e.Key, short(e.KeyPos)))
	}
	second := found[1]
	d.diags = append(d.diags, source.Diagnostic{
		Severity: source.Error, Code: codeExactlyOne, Path: path + source.JoinPointer(second.Key), Pos: second.KeyPos,
		Width: utf8.RuneCountInString(second.Key), Allowed: u.keys(),
		Summary: "only one of these is allowed here: " + strings.Join(named, ", "), Detail: "keep one of them",
	})
}

// short is a position in the plan without the file's name, or one on the command line with it.
func short(p source.Pos) string {
	if strings.HasPrefix(p.File, "--") {
		return p.String()
	}
	return fmt.Sprintf("%d:%d", p.Line, p.Column)
}

// fits reports options without a key that reads them.
func (d *decoder) fits(t reflect.Type, n *source.Node, path string) {
	for _, f := range fields(t) {
		with := f.with
		e := n.Entry(f.key)
		if e == nil || len(with) == 0 || slices.ContainsFunc(with, func(key string) bool { return n.Get(key) != nil }) {
			continue
		}
		m, member := &source.Diagnostic{}, "" // the key of the union that stands there instead
		for _, u := range unionsOf(t) {
			if found := u.named(n); len(found) > 0 && slices.Contains(u.keys(), with[0]) {
				member = found[0].Key
			} else if slices.Contains(u.keys(), with[0]) {
				m = nil // that none is named is reported, or comes from the defaults
			}
		}
		switch {
		case m == nil || slices.ContainsFunc(d.stray[path], func(s source.Diagnostic) bool { return slices.Contains(with, s.Nearest) }):
			continue
		case member != "":
			m.Summary = fmt.Sprintf("%q does not fit %q", f.key, member)
			m.Detail = fmt.Sprintf("it goes with %s; remove it, or use %s", quoteAll(with, "or"), oneOf(with))
		default:
			m.Summary = fmt.Sprintf("%q needs %s beside it", f.key, quoteAll(with, "or"))
		}
		d.diags = append(d.diags, source.Diagnostic{
			Severity: source.Error, Code: codeDoesNotFit, Path: path + source.JoinPointer(f.key), Pos: e.KeyPos,
			Width: utf8.RuneCountInString(f.key), Summary: m.Summary, Detail: m.Detail,
		})
	}
}

// oneOf is the only word, or says that one of several is meant.
func oneOf(words []string) string {
	if len(words) == 1 {
		return quoteAll(words, "")
	}
	return "one of them"
}

// endsByItself reports whether a load comes to an end of its own.
func endsByItself(load *source.Node) bool {
	for _, key := range [...]string{"concurrency", "rate"} {
		if q := load.Get(key); q.Get("ramp") != nil || q.Get("periodic") != nil {
			return true
		}
	}
	end := load.Get("intervals").Get("at_end")
	return load.Get("schedule") != nil || end != nil && end.Text == "stop"
}

// displaced lists the keys of an earlier map that a later map removes by naming another member of a union.
func displaced(t reflect.Type, later *source.Node) map[string]bool {
	gone := map[string]bool{}
	for _, u := range unionsOf(t) {
		found := u.named(later)
		if len(found) != 1 {
			continue
		}
		for _, key := range u.keys() {
			gone[key] = gone[key] || key != found[0].Key
		}
		for _, f := range fields(t) {
			with := f.with
			if len(with) > 0 && slices.Contains(u.keys(), with[0]) && !slices.Contains(with, found[0].Key) {
				gone[f.key] = true
			}
		}
	}
	return gone
}

// subject names a map for a person: a stage by its id, an item by its list, anything else by its key.
func subject(n *source.Node, path string) string {
	above, last := path[:max(strings.LastIndexByte(path, '/'), 0)], path[strings.LastIndexByte(path, '/')+1:]
	if _, err := strconv.Atoi(last); err != nil {
		return lastKey(path)
	}
	id := n.Get("id")
	switch {
	case above != "/stages" && !strings.HasSuffix(above, "/parallel"):
		return "an item of " + lastKey(above)
	case id == nil:
		return "a stage"
	}
	return fmt.Sprintf("stage %q", id.Text)
}

// quoteAll joins words: "a", "b" and "c".
func quoteAll(words []string, last string) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i > 0 && i == len(words)-1:
			b.WriteString(" " + last + " ")
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", w)
	}
	return b.String()
}
