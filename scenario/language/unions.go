package language

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// union is a set of keys of which a map may name one.
type union struct {
	name     string         // as a person calls it
	in       []reflect.Type // the structs that hold the keys
	keys     []string       // of the members that are keys
	optional bool           // none may be named too
	none     string         // what to do when none is named
}

// unions lists the choices of a plan. The decoder and the merge of layers read it.
func unions() []union {
	of := func(types ...reflect.Type) []reflect.Type { return types }
	return []union{
		{
			name: "load", in: of(reflect.TypeFor[Load]()), keys: []string{
				"concurrency", "rate", "intervals", "schedule",
			},
			none: "write one of these:\n  load: {concurrency: 4}\n  load: {rate: 100/s}",
		},
		{
			name: "quantity", in: of(reflect.TypeFor[Slots](), reflect.TypeFor[PerSecond]()),
			keys: []string{"levels", "ramp", "search", "periodic"},
			none: "write a value, a list of values, or {levels: {from: 1, to: 8}}",
		},
		{
			name: "extent", in: of(
				reflect.TypeFor[Stage](), reflect.TypeFor[Defaults](),
			), keys: []string{"for", "until"},
			none: "write one of these:\n  for: 60s\n  for: 1000 requests\n  until: stable",
		},
		{
			name: "source", in: of(reflect.TypeFor[Dataset]()),
			keys: []string{"generate", "file", "dir", "bodies", "rows", "prompts", "command"},
			none: "write one of these:\n  generate: random\n  file: rows.json",
		},
		{
			name: "target", in: of(reflect.TypeFor[Plan]()), keys: []string{"target", "targets"},
			none: "write where to send requests:\n" +
				"  target: {backend: triton, url: \"grpc://localhost:8001\", model: NAME}",
		},
		{name: "data", in: of(reflect.TypeFor[Plan]()), keys: []string{"data", "datasets"}, optional: true},
		{
			name: "assertion", in: of(reflect.TypeFor[Assertion]()), keys: []string{"that", "slo"},
			none: "write `that: EXPRESSION`, or `slo: NAME` with a name from `slos`",
		},
		{
			name: "action", in: of(reflect.TypeFor[Action]()),
			keys: []string{"load_model", "unload_model", "call"},
			none: "write one of these:\n  - load_model: NAME\n  - unload_model: NAME\n  - call: POST /path",
		},
		{
			name: "protos", in: of(reflect.TypeFor[Protos]()), keys: []string{"files", "descriptor_set"},
			none: "write one of these:\n  files: [service.proto]\n  descriptor_set: service.pb",
		},
		{
			name: "step", in: of(reflect.TypeFor[Levels[int64]](), reflect.TypeFor[Levels[Rate]]()),
			keys: []string{"step", "factor"}, optional: true,
		},
		{
			name: "generator", in: of(reflect.TypeFor[Generator]()),
			keys: []string{"length", "one_of", "file"}, optional: true,
		},
	}
}

// unionsOf lists the unions whose keys t has, each with the members that t has.
func unionsOf(t reflect.Type) []union { return layouts()[t].unions }

func readUnions(t reflect.Type, own []field) []union {
	var all []union
	for _, u := range unions() {
		if slices.Contains(u.in, t) {
			u.keys = slices.DeleteFunc(u.keys, func(key string) bool {
				return !slices.ContainsFunc(own, func(f field) bool { return f.key == key })
			})
			all = append(all, u)
		}
	}
	return all
}

// named lists the entries of n that are members of the union.
func (u union) named(n *source.Node) []source.Entry {
	var found []source.Entry
	for _, e := range n.Entries {
		if slices.Contains(u.keys, e.Key) {
			found = append(found, e)
		}
	}
	return found
}

// exclusive checks the unions of a map, and the options that fit only one member.
func (d *Decoder) exclusive(t reflect.Type, n *source.Node, path string) {
	for _, u := range unionsOf(t) {
		if t == reflect.TypeFor[Defaults]() {
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

func (d *Decoder) noneNamed(u union, n *source.Node, path string) {
	if u.optional || u.name == "extent" && endsByItself(n.Get("load")) || d.Known[path] ||
		strings.HasPrefix(path, "/defaults/") { // a stage may name the member
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
	d.Diags = append(d.Diags, source.Errorf(
		source.CodeExactlyOne, "%s has none of %s", Subject(n, path),
		source.QuoteAll(u.keys, "and"),
	).Help(u.none).
		Among("", u.keys).
		At(path, n.Pos, 0))
}

// mayBe reports whether a key that does not exist was meant to be a member.
func (u union) mayBe(stray source.Diagnostic) bool {
	return stray.Nearest == "" || slices.Contains(u.keys, stray.Nearest)
}

func (d *Decoder) severalNamed(u union, found []source.Entry, path string) {
	var named []string
	for _, e := range found {
		named = append(named, fmt.Sprintf("%q at %s", e.Key, source.Short(e.KeyPos)))
	}
	second := found[1]
	d.Diags = append(d.Diags, source.Errorf(
		source.CodeExactlyOne, "%s",
		"only one of these is allowed here: "+strings.Join(named, ", "),
	).Help("keep one of them").
		Among("", u.keys).
		AtKey(path+source.JoinPointer(second.Key), second.KeyPos, second.Key))
}

// fits reports options without a key that reads them.
func (d *Decoder) fits(t reflect.Type, n *source.Node, path string) {
	for _, f := range fields(t) {
		with := f.with
		e := n.Entry(f.key)
		if e == nil || len(with) == 0 ||
			slices.ContainsFunc(with, func(key string) bool { return n.Get(key) != nil }) {
			continue
		}
		member, settled := "", false // the key of the union that is there instead
		for _, u := range unionsOf(t) {
			if found := u.named(n); len(found) > 0 && slices.Contains(u.keys, with[0]) {
				member = found[0].Key
			} else if slices.Contains(u.keys, with[0]) {
				settled = true // that none is named is reported, or comes from the defaults
			}
		}
		m := source.Errorf(source.CodeDoesNotFit, "%q needs %s beside it", f.key, source.QuoteAll(with, "or"))
		switch {
		case settled ||
			slices.ContainsFunc(d.stray[path],
				func(s source.Diagnostic) bool { return slices.Contains(with, s.Nearest) }):
			continue
		case member != "":
			m = source.Errorf(source.CodeDoesNotFit, "%q does not fit %q", f.key, member).
				Help(fmt.Sprintf("it goes with %s; remove it, or use %s", source.QuoteAll(with, "or"), oneOf(with)))
		}
		d.Diags = append(d.Diags, m.AtKey(path+source.JoinPointer(f.key), e.KeyPos, f.key))
	}
}

// oneOf is the only word, or says that one of several is meant.
func oneOf(words []string) string {
	if len(words) == 1 {
		return source.QuoteAll(words, "")
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

// Subject names a map for a person: a stage by its id, an item by its list, anything else by its key.
func Subject(n *source.Node, path string) string {
	above, last := path[:max(strings.LastIndexByte(path, '/'), 0)], path[strings.LastIndexByte(path, '/')+1:]
	if _, err := strconv.Atoi(last); err != nil {
		return LastKey(path)
	}
	id := n.Get("id")
	switch {
	case above != "/stages" && !strings.HasSuffix(above, "/parallel"):
		return "an item of " + LastKey(above)
	case id == nil:
		return "a stage"
	}
	return fmt.Sprintf("stage %q", id.Text)
}
