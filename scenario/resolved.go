package scenario

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/layer"
	"github.com/sluice-bench/sluice/scenario/source"
)

// encoder turns raw structs back into JSON-like data. The result is a plan again: what is in
// result.json can be run. Secrets come out as ***.
type encoder struct {
	*reading
	canonical bool // values by meaning (60s and 1m are the same), for the fingerprint; else as written
	origins   []Origin
}

// spot is a place of the resolved plan: a JSON pointer, and the same as --set takes it.
type spot struct {
	pointer, key string
}

// child and item give no place for the fingerprint, which has no origins of values.
func (e *encoder) child(s spot, key string) spot {
	if e.canonical {
		return s
	}
	return spot{pointer: s.pointer + source.JoinPointer(key), key: strings.TrimPrefix(s.key+"."+key, ".")}
}

// item is a place in a list; one with an id has that in its key.
func (e *encoder) item(s spot, i int, id string) spot {
	if e.canonical {
		return s
	}
	n := strconv.Itoa(i)
	return spot{pointer: s.pointer + "/" + n, key: s.key + "." + cmp.Or(id, n)}
}

// note keeps where a value of the resolved plan comes from.
func (e *encoder) note(at spot, o Origin) {
	if e.canonical {
		return
	}
	o.Path, o.Key = at.pointer, at.key
	if tokens := source.SplitPointer(at.pointer); len(tokens) < 2 || tokens[len(tokens)-2] != "headers" {
		o.LeftOut = false
	}
	e.origins = append(e.origins, o)
}

// resolvedTree is the plan after variables and defaults, and where its values come from.
func (r *reading) resolvedTree(name string) (any, []Origin) {
	e := &encoder{reading: r}
	tree := e.plan(r.raw)
	tree["name"] = name
	vars := map[string]any{}
	for _, v := range r.Vars.Values {
		entry := map[string]any{"type": v.Type, "default": literal(v)}
		if v.Secret {
			entry["secret"], entry["default"], entry["type"] = true, layer.Masked, "text"
		}
		vars[v.Name] = entry
		e.note(
			e.child(e.child(e.child(spot{}, "vars"), v.Name), "default"),
			Origin{From: v.Source(), Variable: v.Name, Pos: v.At},
		)
	}
	tree["vars"] = vars
	return maskTree(tree, secretsOf(r.Vars)), e.origins
}

// literal is the variable's value as JSON-like data of its type.
func literal(v *layer.Variable) any {
	switch v.Type {
	case "int", "number", "bool":
		return source.Plain(v.Text, source.Pos{}).JSON()
	}
	return v.Text
}

// fingerprint is the hash of the meaning: of all that decides what is sent and how it is judged.
// Variables count where expressions mention them; elsewhere the tree has their values.
func (r *reading) fingerprint() string {
	e := &encoder{reading: r, canonical: true}
	tree := e.plan(r.raw)
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
		for _, name := range layer.References(s) {
			if v := r.Vars.Find(name); v != nil && !v.Secret {
				all[v.Name] = meaning(v)
			}
		}
	})
	return all
}

// meaning is the variable's value in one spelling.
func meaning(v *layer.Variable) string {
	value, wrong := language.ReadAs(v.Type, source.Plain(v.Text, source.Pos{}))
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

// plan encodes a plan with the short forms of the language made long: one map of targets, one of
// datasets, defaults, slos and validity in their places.
func (e *encoder) plan(p *language.Plan) map[string]any {
	long := *p
	long.Vars, long.Defaults, long.SLOs, long.Validity = nil, nil, nil, nil
	long.Targets, long.Datasets = asMap(p.Targets, p.Target), asMap(p.Datasets, p.Data)
	long.Target, long.Data = nil, nil
	long.Extends, long.Profiles = nil, nil
	tree := e.encode(language.PartOf(&long), spot{}).(map[string]any)
	for i, o := range e.origins {
		e.origins[i].Key = asWritten(p, o.Key)
	}
	return tree
}

// asMap returns the map of several; of one, a map in which it is named main.
func asMap[T any](several *language.Dict[T], one *T) *language.Dict[T] {
	if one == nil {
		return several
	}
	return &language.Dict[T]{Entries: []language.Item[T]{{Key: "main", Value: one}}}
}

// asWritten is the key of a place in the long form as the plan has it.
func asWritten(p *language.Plan, key string) string {
	for long, short := range map[string]string{"targets.main.": "target.", "datasets.main.": "data."} {
		rest, ok := strings.CutPrefix(key, long)
		if ok && (p.Target != nil && short == "target." || p.Data != nil && short == "data.") {
			return short + rest
		}
	}
	return key
}

// encode gives a part of a plan as data; nil: it is not there.
func (e *encoder) encode(p language.Part, at spot) any {
	switch p.Kind() {
	case language.PartAbsent:
		return nil
	case language.PartScalar:
		return e.leaf(p, at)
	case language.PartList:
		return e.list(p, at)
	case language.PartOpaque:
		return e.asWritten(p.Node(), at)
	case language.PartDict:
		m := map[string]any{}
		p.Entries(func(key string, value language.Part) bool {
			m[key] = e.encode(value, e.child(at, key))
			return true
		})
		return m
	case language.PartMap:
	}
	return e.structure(p, at)
}

// list leaves out the points of a matrix but the first, which represents all: its texts keep their
// references.
func (e *encoder) list(p language.Part, at spot) []any {
	list := []any{}
	p.Items(func(_ int, item language.Part) {
		n := item.Node()
		if p := e.Subs.PointOf(n); p != nil && !p.First {
			return
		}
		id := ""
		if own := n.Get("id"); own != nil {
			id = own.Text
		}
		to := e.item(at, len(list), id)
		if id != "" && strings.HasPrefix(at.pointer, "/stages/") &&
			strings.HasSuffix(at.pointer, "/parallel") {
			to.key = "stages." + id // members of groups are named like other stages
		}
		list = append(list, e.encode(item, to))
	})
	return list
}

// inOneForm gives what can be written as a scalar or a list in the same form; nil: it has one meaning
// for each.
func (e *encoder) inOneForm(p language.Part) any {
	switch raw := p.Pointer().(type) {
	case *language.Files:
		var all []any
		for _, f := range raw.All() {
			all = append(all, e.value(f.V, f.At))
		}
		return all
	case *language.Addresses:
		var all []any
		for _, a := range raw.All() {
			all = append(all, e.value(a.V, a.At))
		}
		return all
	case *language.Shape:
		if dims, wrong := raw.Sizes(); wrong == nil && len(e.Subs.UsedIn(raw.At.Node)) == 0 {
			return dims
		}
	}
	return nil
}

func (e *encoder) structure(p language.Part, at spot) any {
	if e.canonical {
		if data := e.inOneForm(p); data != nil {
			return data
		}
	}
	m := map[string]any{}
	var form any // the one that was written, where it is no map
	p.Entries(func(key string, value language.Part) bool {
		below := at
		if key != "" {
			below = e.child(at, key)
		}
		data := e.encode(value, below)
		switch {
		case data == nil:
		case key == "":
			form = data
			return false
		default:
			m[key] = data
		}
		return true
	})
	if form != nil {
		return form
	}
	return m
}

// asWritten encodes a part that is kept as it is.
func (e *encoder) asWritten(n *source.Node, at spot) any {
	switch n.Kind {
	case source.Map:
		m := map[string]any{}
		for _, entry := range n.Entries {
			m[entry.Key] = e.asWritten(entry.Value, e.child(at, entry.Key))
		}
		return m
	case source.List:
		list := []any{}
		for i, item := range n.Items {
			list = append(list, e.asWritten(item, e.item(at, i, "")))
		}
		return list
	case source.Scalar, source.Null:
	}
	e.note(at, e.Origin(language.Place{Node: n}))
	if now := e.Subs.Of(n); now.Differs {
		return now.Shown
	}
	if s, ok := n.JSON().(string); ok {
		return layer.Escape(s)
	}
	return n.JSON()
}

func (e *encoder) leaf(p language.Part, to spot) any {
	v, at := p.Scalar()
	e.note(to, e.Origin(at))
	return e.value(v, at)
}

// value is a scalar as the resolved plan writes it.
func (e *encoder) value(v any, at language.Place) any {
	if now := e.Subs.Of(at.Node); now.Differs {
		return now.Shown
	}
	if p, ok := v.(language.Path); ok {
		v = language.Path(e.FromPlan(at.Node, string(p)))
	}
	if e.canonical {
		return canonical(v)
	}
	switch v := v.(type) {
	case string:
		return layer.Escape(v)
	case source.Text:
		return v.Text
	case language.Path:
		return layer.Escape(string(v))
	}
	if at.Node.Tag == "!!str" {
		return at.Node.Text
	}
	return at.Node.JSON()
}

// canonical is a value in one spelling: durations in nanoseconds, sizes in bytes, everything else as
// its Go value.
func canonical(v any) any {
	switch v := v.(type) {
	case string, bool, int64, uint64, float64, language.Rate, language.Ratio, language.Number, language.Size,
		language.Path:
		return v
	case source.Text:
		return strings.Join(strings.Fields(v.Text), " ")
	case interface{ Plain() any }:
		return v.Plain()
	}
	return fmt.Sprintf("%+v", v)
}
