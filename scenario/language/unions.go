package language

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// union is a set of keys of which a map may name one: those whose fields have its name in the tag one.
type union struct {
	name string
	keys []string
}

// noneHelp says, by union, what to write where none of its keys is named. Of the other unions none may
// be named.
var noneHelp = map[string]string{
	"load":     "write one of these:\n  load: {concurrency: 4}\n  load: {rate: 100/s}",
	"quantity": "write a value, a list of values, or {levels: {from: 1, to: 8}}",
	"extent":   "write one of these:\n  for: 60s\n  for: 1000 requests\n  until: stable",
	"until":    "write one of these:\n  until: stable\n  until: {precise: {latency.p99: 5%}}",
	"source":   "write one of these:\n  generate: random\n  file: rows.json",
	"target": "write where to send requests:\n" +
		"  target: {backend: triton, url: \"grpc://localhost:8001\", model: NAME}",
	"assertion": "write `that: EXPRESSION`, or `slo: NAME` with a name from `slos`",
	"best":      "write one of these:\n  max: throughput\n  min: latency.p99",
	"action":    "write one of these:\n  - load_model: NAME\n  - unload_model: NAME\n  - call: POST /path",
	"protos":    "write one of these:\n  files: [service.proto]\n  descriptor_set: service.pb",
}

// unionsOf lists the unions of which t has keys.
func unionsOf(t reflect.Type) []union { return layoutOf(t).unions }

func readUnions(own []field) (all []union) {
	for _, f := range own {
		i := slices.IndexFunc(all, func(u union) bool { return u.name == f.one })
		switch {
		case f.one == "":
		case i < 0:
			all = append(all, union{f.one, []string{f.key}})
		default:
			all[i].keys = append(all[i].keys, f.key)
		}
	}
	return all
}

// chosen returns the first key of the union of T that a map names; "": it names none.
func chosen[T any](n *source.Node) string {
	for _, key := range unionsOf(reflect.TypeFor[T]())[0].keys {
		if n.Entry(key) != nil {
			return key
		}
	}
	return ""
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
		switch found := u.named(n); {
		case len(found) == 0:
			d.noneNamed(u, n, path)
		case len(found) > 1:
			d.severalNamed(u, found, path)
		}
	}
	d.fits(t, n, path)
}

func (d *Decoder) noneNamed(u union, n *source.Node, path string) {
	help := noneHelp[u.name]
	if help == "" || u.name == "extent" && endsByItself(n.Get("load")) || d.Known[path] ||
		inDefaults(path) || // a stage may name the member
		slices.ContainsFunc(d.stray[path], u.mayBe) {
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
	).Help(help).
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
		if needed, _ := fieldOfKey(t, with[0]); len(needed.words) > 0 {
			m = m.Help(fmt.Sprintf("`%s` is one of %s", needed.key, strings.Join(needed.words, ", ")))
		}
		switch {
		case settled ||
			slices.ContainsFunc(d.stray[path],
				func(s source.Diagnostic) bool { return slices.Contains(with, s.Nearest) }):
			continue
		case member != "":
			m = source.Errorf(source.CodeDoesNotFit, "%q does not fit %q", f.key, member).
				Help(fmt.Sprintf("it goes with %s; remove it, or use %s",
					source.QuoteAll(with, "or"), oneOf(with)))
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
