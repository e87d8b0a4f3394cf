package language

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/schema"
)

// TestSchemaAndTagsAgree walks the schema and the structs side by side: keys both ways, types, words, defaults,
// ranges and required keys must be the same. What the schema marks notBuilt is decoded like anything else.
func TestSchemaAndTagsAgree(t *testing.T) {
	w := newSchemaWalk(t)
	w.walk(reflect.TypeFor[Plan](), w.root, "", field{})
	if len(w.seen) < 80 {
		t.Errorf("only %d structs and maps were compared", len(w.seen))
	}
}

type schemaWalk struct {
	t    *testing.T
	root map[string]any
	seen map[string]bool
}

func newSchemaWalk(t *testing.T) *schemaWalk {
	t.Helper()
	w := &schemaWalk{t: t, seen: map[string]bool{}}
	if err := json.Unmarshal(schema.Language(), &w.root); err != nil {
		t.Fatal(err)
	}
	return w
}

// follow resolves $ref; keywords beside it win. ref is the last name followed.
func (w *schemaWalk) follow(s map[string]any) (resolved map[string]any, ref string) {
	resolved = maps.Clone(s)
	for {
		name, ok := resolved["$ref"].(string)
		if !ok {
			return resolved, ref
		}
		ref = strings.TrimPrefix(name, "#/$defs/")
		target := maps.Clone(w.root["$defs"].(map[string]any)[ref].(map[string]any))
		delete(resolved, "$ref")
		maps.Copy(target, resolved)
		resolved = target
	}
}

// form picks the branch of a union by YAML type.
func (w *schemaWalk) form(s map[string]any, kind string) (map[string]any, string) {
	s, ref := w.follow(s)
	for _, branch := range []string{"then", "else"} {
		if b, ok := s[branch].(map[string]any); ok && b["$ref"] == "#/$defs/stage_map" {
			s, ref = w.follow(b) // a stage that is no group
		}
	}
	branches, _ := s["allOf"].([]any)
	for _, b := range branches {
		branch := b.(map[string]any)
		condition := branch["if"].(map[string]any)
		if condition["type"] == kind || kind == "scalar" && condition["not"] != nil {
			return w.follow(branch["then"].(map[string]any))
		}
	}
	if len(branches) > 0 {
		return nil, ""
	}
	return s, ref
}

func (w *schemaWalk) walk(t reflect.Type, s map[string]any, path string, f field) {
	t = deref(t)
	switch {
	case isLeaf(t):
		w.leaf(t, s, path, f)
	case t == reflect.TypeFor[Opaque](): // kept as it stands
	case t.Kind() == reflect.Slice:
		list, _ := w.follow(s)
		items, ok := list["items"].(map[string]any)
		if !ok {
			w.t.Errorf("%s: the schema has no list here", path)
			return
		}
		w.walk(t.Elem(), items, path+"[]", f)
	case isDict(t):
		m, _ := w.follow(s)
		entries, ok := m["additionalProperties"].(map[string]any)
		if !ok {
			w.t.Errorf("%s: the schema has no map with free keys here", path)
			return
		}
		w.seen[path] = true
		w.walk(reflect.New(t).Interface().(mapping).elem(), entries, path+".NAME", field{})
	default:
		w.structure(t, s, path)
	}
}

func (w *schemaWalk) structure(t reflect.Type, s map[string]any, path string) {
	if w.seen[path] || strings.Contains(path, "[][]") {
		return
	}
	w.seen[path] = true
	for form, kind := range map[string]string{"scalar": "scalar", "list": "array", "map": "object"} {
		f, ok := fieldOfForm(t, form)
		branch, ref := w.form(s, kind)
		if !ok || f.key != "" {
			continue
		}
		if branch == nil {
			w.t.Errorf("%s: the schema has no %s here", path, form)
			continue
		}
		if ref != "" {
			branch = map[string]any{"$ref": "#/$defs/" + ref}
		}
		w.walk(f.typ, branch, path, f)
	}
	for _, f := range fields(t) {
		if f.tag.Get("has") != "" {
			item, _ := w.follow(s)
			w.walk(f.typ, item["else"].(map[string]any), path+"{"+f.tag.Get("has")+"}", f)
		}
	}
	if _, free := fieldOfForm(t, "map"); free {
		return
	}
	m, _ := w.form(s, "object")
	properties, _ := m["properties"].(map[string]any)
	w.keys(t, m, properties, path)
	for _, f := range fields(t) {
		if f.key == "profiles" {
			continue // its schema is made of the plan's, see schema/generate
		}
		if p, ok := properties[f.key].(map[string]any); ok && f.key != "" {
			w.byDefault(f, p, path+"."+f.key)
			w.walk(f.typ, p, path+"."+f.key, f)
		}
	}
}

// keys compares the keys of a map and which of them are required.
func (w *schemaWalk) keys(t reflect.Type, m, properties map[string]any, path string) {
	var tags, required, known []string
	for _, f := range fields(t) {
		if f.key == "" {
			continue
		}
		tags = append(tags, f.key)
		if f.tag.Get("required") != "" && t != reflect.TypeFor[Defaults]() && f.key != "load" {
			required = append(required, f.key)
		}
	}
	for key := range properties {
		known = append(known, key)
	}
	slices.Sort(tags)
	slices.Sort(known)
	if diff := cmp.Diff(known, tags); diff != "" {
		w.t.Errorf("%s: keys (-schema +tags):\n%s", path, diff)
	}
	if t != reflect.TypeFor[Levels[int64]]() && t != reflect.TypeFor[Levels[Rate]]() { // reported by checkLevels
		w.required(m, required, path)
	}
	for _, u := range unionsOf(t) {
		for _, key := range u.keys {
			if !slices.Contains(known, key) {
				w.t.Errorf("%s: %s is a member of %q but not in the schema", path, key, u.name)
			}
		}
	}
}

func (w *schemaWalk) required(m map[string]any, tags []string, path string) {
	var wanted []string
	list, _ := m["required"].([]any)
	for _, key := range list {
		wanted = append(wanted, key.(string))
	}
	slices.Sort(wanted)
	slices.Sort(tags)
	if diff := cmp.Diff(wanted, tags); diff != "" && !strings.HasSuffix(path, ".until") && !strings.HasSuffix(path, ".while[]") {
		w.t.Errorf("%s: required keys (-schema +tags):\n%s", path, diff)
	}
}

// byDefault compares the default of a key.
func (w *schemaWalk) byDefault(f field, p map[string]any, path string) {
	tag := f.tag.Get("default") + f.tag.Get("usual")
	if tag == "{}" {
		tag = ""
		for _, inner := range fields(deref(f.typ)) {
			if p["default"] != nil && len(p["default"].(map[string]any)) > 0 {
				tag = strings.TrimSpace(tag + " " + inner.key + "=" + inner.tag.Get("default"))
			}
		}
	}
	if got := written(p["default"]); got != tag && path != ".data" { // the default of data is made by expand
		w.t.Errorf("%s: default %q in the schema, %q in the tag", path, got, tag)
	}
}

// written is a default of the schema as the tags write it.
func written(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		var words []string
		for _, e := range v {
			words = append(words, written(e))
		}
		return strings.Join(words, " ")
	case map[string]any:
		var words []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			words = append(words, key+"="+written(v[key]))
		}
		return strings.Join(words, " ")
	}
	return fmt.Sprint(v)
}

func (w *schemaWalk) leaf(t reflect.Type, s map[string]any, path string, f field) {
	resolved, ref := w.follow(s)
	if words := f.words; len(words) > 0 {
		if branch, _ := w.form(s, "scalar"); branch != nil {
			resolved = branch
		}
		w.words(words, resolved, path)
		return
	}
	if resolved["enum"] == nil && f.tag.Get("is") == "" || ref != "" {
		w.def(t, ref, resolved, path)
	}
	if t := leafType(t); t != reflect.TypeFor[int64]() && t != reflect.TypeFor[Number]() {
		return
	}
	for tag, keyword := range map[string]string{"min": "minimum", "max": "maximum"} {
		if limit, ok := resolved[keyword]; ok && f.tag.Get(tag) != "" && written(limit) != f.tag.Get(tag) {
			w.t.Errorf("%s: %s %v in the schema, %q in the tag", path, keyword, limit, f.tag.Get(tag))
		}
	}
}

func (w *schemaWalk) words(tags []string, s map[string]any, path string) {
	list, ok := s["enum"].([]any)
	if other, is := s["else"].(map[string]any); is && !ok {
		list, _ = other["enum"].([]any)
	}
	var known []string
	for _, word := range list {
		known = append(known, written(word))
	}
	if diff := cmp.Diff(known, tags); diff != "" {
		w.t.Errorf("%s: words (-schema +tags):\n%s", path, diff)
	}
}

// def checks that the schema's type is the one of the leaf.
func (w *schemaWalk) def(t reflect.Type, ref string, s map[string]any, path string) {
	want := leafOf(leafType(t)).def
	title, _ := s["title"].(string)
	if ref != want && title != want && (want != "text" || title != "int or text") {
		w.t.Errorf("%s: the schema says %q (%s), the struct %s", path, ref, title, want)
	}
}

// TestDefaultsAreValues fills every struct that has defaults: a default that cannot be read panics.
func TestDefaultsAreValues(t *testing.T) {
	p := Plan{
		Target: &Target{
			TLS: &TLS{}, Builtin: &Builtin{Stall: &Stall{}}, Metrics: &Metrics{}, Trace: &Trace{}, InProcess: &InProcess{},
		},
		Data: &Dataset{
			Generate: &Generate{}, File: &Files{}, Prompts: &Prompts{Prefixes: &Prefixes{}, Images: &Images{}, Audio: &Audio{}},
		},
		Baseline: &Baseline{},
		Stages: []*StageEntry{
			{Stage: &Stage{Play: Play{
				Load: &Load{Rate: &PerSecond{}}, Until: &Until{Stable: &Stable{}}, Assert: []*Assertion{{Every: &Val[time.Duration]{}}},
				Request: Request{Expect: &Expect{}},
			}}},
			{Group: &Group{Parallel: []*Stage{{Play: Play{
				Load: &Load{Concurrency: &Slots{More: PeriodicForm{&Periodic{}}, Ramp: []*RampStep[int64]{{}}}}, Memory: &Memory{},
				Sequences: &Sequences{IDs: &IDs{}},
			}}}}},
			{Stage: &Stage{Play: Play{Load: &Load{Intervals: &Intervals{}}}}},
			{Stage: &Stage{Play: Play{Load: &Load{Schedule: &Schedule{}, Arrivals: &Arrivals{}}}}},
		},
	}
	fill(reflect.ValueOf(&p))
	if got := p.Target.MaxMessage; got != nil { // what it is follows from the model
		t.Errorf("max_message is %d by default", got.V)
	}
	if got := p.Stages[0].Stage.Play.Load.MaxInFlight.V; got != 1024 {
		t.Errorf("max_in_flight is %d by default", got)
	}
}
