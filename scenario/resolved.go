package scenario

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// encoder turns raw structs back into JSON-like data. The result is a plan again: what is in result.json can be run.
// Secrets come out as ***.
type encoder struct {
	*reading
	canonical bool // values by meaning (60s and 1m are the same), for the fingerprint; else as written
	origins   *[]Origin
}

// spot is a place of the resolved plan: a JSON pointer, and the same as --set takes it.
type spot struct {
	pointer, key string
	idle         bool // nobody asks
}

func (s spot) child(key string) spot {
	if s.idle {
		return s
	}
	return spot{pointer: s.pointer + source.JoinPointer(key), key: strings.TrimPrefix(s.key+"."+key, ".")}
}

// item is a place in a list; one with an id has that in its key.
func (s spot) item(i int, id string) spot {
	if s.idle {
		return s
	}
	n := strconv.Itoa(i)
	return spot{pointer: s.pointer + "/" + n, key: s.key + "." + cmp.Or(id, n)}
}

// resolvedTree is the plan after variables and defaults, and where its values come from.
func (r *reading) resolvedTree(name string) (any, []Origin) {
	e := encoder{reading: r, origins: &[]Origin{}}
	tree := e.plan(&r.raw)
	tree["name"] = name
	vars := map[string]any{}
	for _, v := range r.vars.all {
		entry := map[string]any{"type": v.Type, "default": v.literal()}
		if v.Secret {
			entry["secret"], entry["default"], entry["type"] = true, masked, "text"
		}
		vars[v.Name] = entry
		e.note(spot{}.child("vars").child(v.Name).child("default"), Origin{From: v.source(), Variable: v.Name, Pos: v.at})
	}
	tree["vars"] = vars
	return maskTree(tree, r.vars.secrets()), *e.origins
}

// literal is the variable's value as JSON-like data of its type.
func (v *variable) literal() any {
	switch v.Type {
	case "int", "number", "bool":
		return source.Plain(v.Text, source.Pos{}).JSON()
	}
	return v.Text
}

// fingerprint is the hash of the meaning: of all that decides what is sent and how it is judged. Variables count where
// expressions mention them; elsewhere their values stand in the tree.
func (r *reading) fingerprint() string {
	e := encoder{reading: r, canonical: true}
	tree := e.plan(&r.raw)
	for _, key := range [...]string{"name", "description", "labels", "output", "baseline"} {
		delete(tree, key)
	}
	tree["vars"] = r.mentioned(tree)
	data, err := json.Marshal(tree) // maps come out sorted by key
	if err != nil {
		panic("scenario: resolved plan: " + err.Error())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// mentioned are the values of the variables that expressions of the tree mention, secrets left out.
func (r *reading) mentioned(tree any) map[string]string {
	all := map[string]string{}
	eachText(tree, func(s string) {
		for _, at := range referenceForm.FindAllString(s, -1) {
			if m := nameInside.FindStringSubmatch(at); m != nil {
				if v := r.vars.find(m[1]); v != nil && !v.Secret {
					all[v.Name] = v.meaning()
				}
			}
		}
	})
	return all
}

// meaning is the variable's value in one spelling.
func (v *variable) meaning() string {
	value, wrong := leafOf(variableType(v.Type)).parse(source.Plain(v.Text, source.Pos{}), "")
	if wrong != nil {
		value = v.Text
	}
	return fmt.Sprint(v.Type, " ", value)
}

func eachText(tree any, visit func(string)) {
	switch t := tree.(type) {
	case string:
		visit(t)
	case []any:
		for _, e := range t {
			eachText(e, visit)
		}
	case map[string]any:
		for _, e := range t {
			eachText(e, visit)
		}
	}
}

func maskTree(tree any, secrets []Secret) any {
	switch t := tree.(type) {
	case string:
		return maskAll(t, secrets)
	case []any:
		for i := range t {
			t[i] = maskTree(t[i], secrets)
		}
	case map[string]any:
		for k := range t {
			t[k] = maskTree(t[k], secrets)
		}
	}
	return tree
}

// plan encodes a plan with the short forms of the language made long: one map of targets, one of datasets, defaults and
// slos in their places.
func (e encoder) plan(p *rawPlan) map[string]any {
	long := *p
	long.Vars, long.Defaults, long.SLOs = nil, nil, nil
	if long.Target != nil {
		long.Targets = &dict[rawTarget]{Entries: []item[rawTarget]{{Key: "main", Value: long.Target}}}
	}
	if long.Data != nil {
		long.Datasets = &dict[rawDataset]{Entries: []item[rawDataset]{{Key: "main", Value: long.Data}}}
	}
	long.Target, long.Data = nil, nil
	long.Extends, long.Profiles = nil, nil
	tree := e.encode(reflect.ValueOf(&long).Elem(), spot{idle: e.origins == nil}).(map[string]any)
	if e.origins != nil {
		for i, o := range *e.origins {
			(*e.origins)[i].Key = p.asWritten(o.Key)
		}
	}
	return tree
}

// asWritten is the key of a place in the long form as the plan has it.
func (p *rawPlan) asWritten(key string) string {
	for long, short := range map[string]string{"targets.main.": "target.", "datasets.main.": "data."} {
		rest, ok := strings.CutPrefix(key, long)
		if ok && (p.Target != nil && short == "target." || p.Data != nil && short == "data.") {
			return short + rest
		}
	}
	return key
}

// encode gives a raw value as data; nil: it is not there.
func (e encoder) encode(v reflect.Value, at spot) any {
	switch {
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return e.encode(v.Elem(), at)
	case v.Kind() == reflect.Slice:
		if v.IsNil() {
			return nil
		}
		return e.list(v, at)
	case isLeaf(v.Type()):
		return e.leaf(v.Addr().Interface().(scalar), at)
	case v.Type() == reflect.TypeFor[opaque]():
		return e.asWritten(v.Interface().(opaque).At.node, at)
	case isDict(v.Type()):
		m := map[string]any{}
		v.Addr().Interface().(mapping).each(func(key string, value reflect.Value) { m[key] = e.encode(value, at.child(key)) })
		return m
	}
	return e.structure(v, at)
}

// list leaves out the points of a matrix but the first, which stands for all: its texts keep their references.
func (e encoder) list(v reflect.Value, at spot) []any {
	list := make([]any, 0, v.Len())
	for i := range v.Len() {
		n := standsAt(v.Index(i))
		if p := e.subs.points[n]; p != nil && !p.first {
			continue
		}
		id := ""
		if own := n.Get("id"); own != nil {
			id = own.Text
		}
		to := at.item(len(list), id)
		if id != "" && strings.HasPrefix(at.pointer, "/stages/") && strings.HasSuffix(at.pointer, "/parallel") {
			to.key = "stages." + id // members of groups are named like other stages
		}
		list = append(list, e.encode(v.Index(i), to))
	}
	return list
}

// standsAt is the node of a raw struct; nil: a scalar or a list, or a default.
func standsAt(v reflect.Value) *source.Node {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || isLeaf(v.Type()) {
		return nil
	}
	at, _ := v.FieldByName("At").Interface().(place)
	return at.node
}

// inOneForm gives what can be written as a scalar or a list in the same form; nil: it has one meaning for each.
func (e encoder) inOneForm(v reflect.Value, at spot) any {
	switch raw := v.Addr().Interface().(type) {
	case *rawFiles:
		var all []any
		for _, f := range raw.all() {
			all = append(all, e.leaf(f, at))
		}
		return all
	case *rawShape:
		if dims, wrong := raw.dims(); wrong == nil && len(e.subs.used[raw.At.node]) == 0 {
			return dims
		}
	}
	return nil
}

func (e encoder) structure(v reflect.Value, at spot) any {
	if e.canonical {
		if data := e.inOneForm(v, at); data != nil {
			return data
		}
	}
	m := map[string]any{}
	for _, f := range fields(v.Type()) {
		below := at
		if f.key != "" {
			below = at.child(f.key)
		}
		data := e.encode(v.FieldByIndex(f.index), below)
		switch {
		case data == nil:
		case f.key == "":
			return data // the form that was written
		default:
			m[f.key] = data
		}
	}
	return m
}

// asWritten is a part that is kept as it stands.
func (e encoder) asWritten(n *source.Node, at spot) any {
	switch n.Kind {
	case source.Map:
		m := map[string]any{}
		for _, entry := range n.Entries {
			m[entry.Key] = e.asWritten(entry.Value, at.child(entry.Key))
		}
		return m
	case source.List:
		list := []any{}
		for i, item := range n.Items {
			list = append(list, e.asWritten(item, at.item(i, "")))
		}
		return list
	case source.Scalar, source.Null:
	}
	e.note(at, e.origin(place{node: n}))
	if shown, ok := e.subs.shown[n]; ok {
		return shown
	}
	if s, ok := n.JSON().(string); ok {
		return escape(s)
	}
	return n.JSON()
}

func (e encoder) leaf(s scalar, to spot) any {
	at := s.place()
	e.note(to, e.origin(*at))
	if shown, ok := e.subs.shown[at.node]; ok {
		return shown
	}
	v := s.value().Interface()
	if p, ok := v.(path); ok {
		v = path(e.fromPlan(at.node, string(p)))
	}
	if e.canonical {
		return canonical(v)
	}
	switch v := v.(type) {
	case string:
		return escape(v)
	case source.Text:
		return v.Text
	case path:
		return escape(string(v))
	}
	if at.node.Tag == "!!str" {
		return at.node.Text
	}
	return at.node.JSON()
}

// escape keeps a literal ${ from becoming a reference when the plan is read again.
func escape(s string) string { return strings.ReplaceAll(s, "${", "$${") }

// canonical is a value in one spelling: durations in nanoseconds, sizes in bytes, everything else as its Go value.
func canonical(v any) any {
	switch v := v.(type) {
	case string, bool, int64, uint64, float64, rate, ratio, number, size, path:
		return v
	case source.Text:
		return strings.Join(strings.Fields(v.Text), " ")
	case interface{ plain() any }:
		return v.plain()
	}
	return fmt.Sprintf("%+v", v)
}
