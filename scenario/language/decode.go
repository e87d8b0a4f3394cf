package language

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Decoder walks nodes and the structs of the language side by side. It reports what it cannot take,
// unless a mistake is already known at the same place, and goes on.
type Decoder struct {
	Diags source.Diagnostics
	Paths []NamedPath                    // of files and folders that must be there
	Known map[string]bool                // paths at which a mistake was reported before
	above map[string]bool                // paths above those
	Lacks map[string]bool                // maps that are known to lack a key
	stray map[string][]source.Diagnostic // by map: its keys that do not exist
	// The same by place in the file, for what the defaults bring into a stage
	odd   map[source.Pos]source.Diagnostic
	Spots map[source.Pos]bool
	subs  Replaced
}

// Replaced tells what became of the nodes whose text holds variables.
type Replaced interface {
	// Of returns what replaced a node; where nothing did, Original is the node and all else zero.
	Of(n *source.Node) Replacement
	// ItemPath is the path in the plan of item i of the list at path.
	ItemPath(item *source.Node, path string, i int) string
}

// Replacement describes a text that holds variables and what replaced it.
type Replacement struct {
	Original *source.Node // as the plan writes it
	From     string       // what gave the whole value, for messages; "": nothing
	// Shown is how the resolved plan writes the text, where it differs: *** for a secret, ${matrix.x} by
	// point.
	Shown   string
	Differs bool
	Secret  bool // the text holds a secret
	Empty   bool // it holds an empty secret
	Unset   bool // it holds a variable without a value
}

// NamedPath is a path of the plan and what it must lead to: a file, or a folder.
type NamedPath struct {
	*Val[Path]
	Kind string
}

// NewDecoder returns a decoder that knows of no mistake yet.
func NewDecoder(subs Replaced) *Decoder {
	return &Decoder{
		Known: map[string]bool{}, above: map[string]bool{}, Lacks: map[string]bool{},
		Spots: map[source.Pos]bool{},
		stray: map[string][]source.Diagnostic{}, odd: map[source.Pos]source.Diagnostic{}, subs: subs,
	}
}

// DecodeVar reads the declaration of a variable; mistakes in it are reported when the plan is decoded.
func DecodeVar(n *source.Node, path string, subs Replaced) (raw Var, ok bool) {
	ok = NewDecoder(subs).decode(reflect.ValueOf(&raw).Elem(), n, path, field{})
	return raw, ok
}

// DecodePlan fills p from the tree of a plan.
func (d *Decoder) DecodePlan(p *Plan, root *source.Node) {
	d.structure(reflect.ValueOf(p).Elem(), root, "")
}

// Learn notes the places of mistakes, so that no consequence of them is reported.
func (d *Decoder) Learn(known source.Diagnostics) {
	for _, k := range known {
		switch {
		case k.Severity != source.Error:
			continue
		case k.Code == source.CodeMissing:
			d.Lacks[k.Path] = true // the rest of the map is as it should be
			continue
		}
		d.Spots[k.Pos] = true
		if k.Path == "" { // a mistake of the YAML or of the command line
			continue
		}
		d.Known[k.Path] = true
		if k.Code == source.CodeUnknownKey {
			parent := k.Path[:strings.LastIndexByte(k.Path, '/')]
			d.stray[parent] = append(d.stray[parent], k)
			d.odd[k.Pos] = k
		}
		for p := k.Path; p != ""; {
			p = p[:strings.LastIndexByte(p, '/')]
			d.above[p] = true
		}
	}
}

// settled reports whether nothing more is to be said about the value n: a mistake is known, at its
// path or, for what came from the defaults, at its place in the file; or it holds a variable whose own
// mistake is reported.
func (d *Decoder) settled(n *source.Node, path string) bool {
	return d.Known[path] || d.subs.Of(n).Unset || n.Kind == source.Scalar && d.Spots[n.Pos]
}

// Doubtful reports whether a mistake is known at path or below it: then what seems to be missing there
// may not be.
func (d *Decoder) Doubtful(path string) bool { return d.Known[path] || d.above[path] }

// decode fills v, a field of a struct or an item of a list, from n. It reports whether v holds a
// value now.
func (d *Decoder) decode(v reflect.Value, n *source.Node, path string, f field) bool {
	switch {
	case v.Kind() == reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		if !d.decode(fresh.Elem(), n, path, f) {
			return false
		}
		v.Set(fresh)
		return true
	case v.Kind() == reflect.Slice:
		return d.list(v, n, path, f)
	case isLeaf(v.Type()):
		return d.scalar(v.Addr().Interface().(Scalar), n, path, f)
	case isDict(v.Type()):
		return d.dict(v, n, path, f)
	case v.Type() == reflect.TypeFor[Opaque]():
		v.Set(reflect.ValueOf(Opaque{Place{Node: n, Path: path}}))
		return true
	}
	return d.structure(v, n, path)
}

func (d *Decoder) list(v reflect.Value, n *source.Node, path string, f field) bool {
	if n.Kind != source.List {
		d.unfit(n, path)
		return false
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, len(n.Items)))
	seen := map[any]bool{}
	for i, item := range n.Items {
		e, at := reflect.New(v.Type().Elem()).Elem(), d.subs.ItemPath(item, path, i)
		if !d.decode(e, item, at, f) {
			continue
		}
		v.Set(reflect.Append(v, e))
		if f.unique {
			value := e.Interface().(Scalar).Value().Interface()
			if seen[value] {
				d.Report(item, at, source.Errorf(source.CodeDuplicate,
					"duplicate %s in `%s`", Written(item), LastKey(path)))
			}
			seen[value] = true
		}
	}
	return true
}

func (d *Decoder) dict(v reflect.Value, n *source.Node, path string, f field) bool {
	if n.Kind != source.Map {
		d.unfit(n, path)
		return false
	}
	v.FieldByName("At").Set(reflect.ValueOf(Place{Node: n, Path: path}))
	m := v.Addr().Interface().(Mapping)
	for _, e := range n.Entries {
		d.decode(reflect.ValueOf(m.add(e.Key, e.KeyPos)).Elem(), e.Value, path+source.JoinPointer(e.Key), f)
	}
	return true
}

func (d *Decoder) structure(v reflect.Value, n *source.Node, path string) bool {
	t := v.Type()
	v.FieldByName("At").Set(reflect.ValueOf(Place{Node: n, Path: path}))
	if f, ok := fieldOfNode(t, n); ok {
		return d.decode(v.FieldByIndex(f.index), n, path, f)
	}
	if n.Kind != source.Map {
		d.unfit(n, path)
		return false
	}
	for _, e := range n.Entries {
		child := path + source.JoinPointer(e.Key)
		if f, ok := fieldOfKey(t, e.Key); ok {
			d.decode(v.FieldByIndex(f.index), e.Value, child, f)
		} else if !d.Known[path] && !d.Spots[e.KeyPos] {
			d.unfit(e.Value, child)
		}
	}
	d.required(t, n, path)
	d.exclusive(t, n, path)
	return true
}

// required reports the keys that must be there and are not.
func (d *Decoder) required(t reflect.Type, n *source.Node, path string) {
	if t == reflect.TypeFor[Defaults]() || d.Lacks[path] || d.Doubtful(path) {
		return
	}
	for _, f := range fields(t) {
		if !f.required || n.Entry(f.key) != nil {
			continue
		}
		d.Report(n, path, source.Errorf(source.CodeMissing, "%s needs the key %q", Subject(n, path), f.key))
	}
}

func (d *Decoder) scalar(s Scalar, n *source.Node, path string, f field) bool {
	t := s.Value().Type()
	if n.Kind != source.Scalar {
		d.unfit(n, path)
		return false
	}
	if d.settled(n, path) {
		return false
	}
	v, wrong := leafOf(t).parse(n, path)
	if wrong == nil {
		wrong = constraint(f, v, n, path)
	}
	if is := f.is; wrong == nil && (is == "id" || is == "name" || is == "label" || path == "/output/dir") &&
		d.subs.Of(n).Secret {
		wrong = source.Errorf(source.CodeDoesNotFit, "a secret cannot be part of a name").
			Help("results and files are called by it")
	}
	if wrong != nil {
		d.Report(n, path, wrong)
		return false
	}
	s.Value().Set(reflect.ValueOf(v))
	*s.Place() = Place{Node: n, Path: path}
	if p, ok := s.(*Val[Path]); ok && f.is != "" && !inDefaults(path) {
		d.Paths = append(d.Paths, NamedPath{p, f.is})
	}
	return true
}

// inDefaults reports whether a path is that of `defaults` or of a value there, which each stage has too.
func inDefaults(path string) bool { return strings.HasPrefix(path+"/", "/defaults/") }

// unfit reports a value or a key that the schema should have refused: nothing is ignored.
func (d *Decoder) unfit(n *source.Node, path string) {
	if n.Kind != source.Null && !d.settled(n, path) { // a null is reported by nulls
		d.Report(n, path, source.Errorf(source.CodeType, "%s is not valid here", LastKey(path)))
	}
}

// Report reports what is wrong with the value n.
func (d *Decoder) Report(n *source.Node, path string, m *source.Diagnostic) {
	now := d.subs.Of(n)
	placed := m.At(path, n.Pos, WidthOf(n, now.Original))
	if now.From != "" {
		placed.Detail = strings.TrimPrefix(m.Detail+"; the value comes from "+now.From, "; ")
	}
	d.Diags = append(d.Diags, placed)
}

// WidthOf counts the characters of its line that a value takes as it is written.
func WidthOf(n, written *source.Node) int {
	if n.Kind != source.Scalar || n.Block || strings.Contains(n.Text, "\n") {
		return 0
	}
	w := utf8.RuneCountInString(written.Text)
	if written.Quoted {
		w += 2
	}
	return w
}

// Absent reports whether a key is not in a map, nor a misspelling of it.
func (d *Decoder) Absent(at Place, key string) bool {
	return at.Node != nil && at.Node.Entry(key) == nil &&
		!slices.ContainsFunc(d.stray[at.Path], func(s source.Diagnostic) bool { return s.Nearest == key })
}

// LastKey names a place for a person: the last key of a path.
func LastKey(path string) string {
	tokens := source.SplitPointer(path)
	for _, t := range slices.Backward(tokens) {
		if _, err := strconv.Atoi(t); err != nil {
			return t
		}
	}
	return "the plan"
}
