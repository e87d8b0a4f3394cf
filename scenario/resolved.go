package scenario

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// encoder turns raw structs back into JSON-like data. The result is a plan again: what is in result.json can be run.
// Secrets come out as ***.
type encoder struct {
	subs      *substitution
	canonical bool // values by meaning (60s and 1m are the same), for the fingerprint; else as written
}

// resolvedTree is the plan after variables and defaults.
func (r *reading) resolvedTree(name string) any {
	e := encoder{subs: r.subs}
	tree := e.plan(&r.raw)
	tree["name"] = name
	vars := map[string]any{}
	for _, v := range r.vars.all {
		entry := map[string]any{"type": v.Type, "default": v.literal()}
		if v.Secret {
			entry["secret"], entry["default"], entry["type"] = true, masked, "text"
		}
		vars[v.Name] = entry
	}
	tree["vars"] = vars
	return maskTree(tree, r.vars.secrets())
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
	e := encoder{subs: r.subs, canonical: true}
	tree := e.plan(&r.raw)
	for _, key := range [...]string{"name", "description", "labels", "output"} {
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
	return e.encode(reflect.ValueOf(&long).Elem()).(map[string]any)
}

// encode gives a raw value as data; nil: it is not there.
func (e encoder) encode(v reflect.Value) any {
	switch {
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return e.encode(v.Elem())
	case v.Kind() == reflect.Slice:
		if v.IsNil() {
			return nil
		}
		list := make([]any, 0, v.Len())
		for i := range v.Len() {
			list = append(list, e.encode(v.Index(i)))
		}
		return list
	case isLeaf(v.Type()):
		return e.leaf(v.Addr().Interface().(scalar))
	case v.Type() == reflect.TypeFor[opaque]():
		return e.asWritten(v.Interface().(opaque).At.node)
	case isDict(v.Type()):
		m := map[string]any{}
		v.Addr().Interface().(mapping).each(func(key string, value reflect.Value) { m[key] = e.encode(value) })
		return m
	}
	return e.structure(v)
}

func (e encoder) structure(v reflect.Value) any {
	m := map[string]any{}
	for _, f := range fields(v.Type()) {
		data := e.encode(v.FieldByIndex(f.index))
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
func (e encoder) asWritten(n *source.Node) any {
	switch n.Kind {
	case source.Map:
		m := map[string]any{}
		for _, entry := range n.Entries {
			m[entry.Key] = e.asWritten(entry.Value)
		}
		return m
	case source.List:
		list := []any{}
		for _, item := range n.Items {
			list = append(list, e.asWritten(item))
		}
		return list
	case source.Scalar, source.Null:
	}
	if shown, ok := e.subs.masked[n]; ok {
		return shown
	}
	if s, ok := n.JSON().(string); ok {
		return escape(s)
	}
	return n.JSON()
}

func (e encoder) leaf(s scalar) any {
	at := s.place()
	if shown, ok := e.subs.masked[at.node]; ok {
		return shown
	}
	v := s.value().Interface()
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
	case string, bool, int64, float64, rate, ratio, number, size, path:
		return v
	case source.Text:
		return strings.Join(strings.Fields(v.Text), " ")
	case interface{ plain() any }:
		return v.plain()
	}
	return fmt.Sprintf("%+v", v)
}
