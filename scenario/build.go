package scenario

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/layer"
	"github.com/sluice-bench/sluice/scenario/source"
	"github.com/sluice-bench/sluice/schema"
)

// plan makes the plain Plan of a raw plan without mistakes whose defaults are filled in.
func (r *reading) plan() *Plan {
	b := &builder{reading: r, steps: map[[2]reflect.Type][]step{}}
	p := &Plan{
		File:     r.File,
		Dir:      r.Dir,
		Source:   r.Root,
		Secrets:  secretsOf(r.Vars),
		Warnings: r.Diags,
	}
	b.copy(p, &r.raw)
	p.Name = cmp.Or(p.Name, nameOf(r.File))
	sortByKey(p.Labels)
	nameAssertions(p.Assert, "plan", r.raw.Assert)
	p.Output.Formats = append([]string{"json"}, slices.DeleteFunc(p.Output.Formats,
		func(f string) bool { return f == "json" })...)
	for _, v := range r.Vars.All {
		public := v.Var
		if public.Secret {
			public.Text = layer.Masked
		}
		p.Vars = append(p.Vars, public)
	}
	for _, t := range targetsOf(&r.raw) {
		p.Targets = append(p.Targets, b.target(t.Key, t.Value))
	}
	for _, ds := range datasetsOf(&r.raw) {
		p.Datasets = append(p.Datasets, b.dataset(ds.Key, ds.Value))
	}
	needs := needsOf(&r.raw)
	groups := map[*language.Group]*Group{nil: nil}
	for i, s := range r.raw.Flat {
		if g := s.Group; groups[g] == nil && g != nil {
			groups[g] = &Group{Pos: g.At.Pos(), Index: s.Index}
		}
		stage := b.stage(s, p)
		stage.Needs, stage.Group = needs[i], groups[s.Group]
		p.Stages = append(p.Stages, stage)
	}
	p.Later = r.later.Sorted()
	p.Resolved, p.Origins = r.resolvedTree(p.Name)
	p.Overlays = r.Overlays()
	p.Fingerprint = r.fingerprint()
	return p
}

var notInName = regexp.MustCompile(`[^a-z0-9._-]+`)

// nameOf returns the name of a plan that has none, after its file's.
func nameOf(file string) string {
	base := filepath.Base(file)
	base = strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base)))
	return cmp.Or(strings.TrimLeft(notInName.ReplaceAllString(base, "-"), "._-"), "plan")
}

// texts are the entries of a map of text, in document order.
func texts(m *language.Dict[language.Val[string]]) []Pair {
	var all []Pair
	for _, e := range m.Items() {
		all = append(all, Pair{Key: e.Key, Value: e.Value.V})
	}
	return all
}

func sortByKey(all []Pair) {
	slices.SortFunc(all, func(a, b Pair) int { return cmp.Compare(a.Key, b.Key) })
}

// headers leaves out those that hold an empty secret.
func (b *builder) headers(m *language.Dict[language.Val[string]]) []Pair {
	var all []Pair
	for _, e := range m.Items() {
		if !b.Subs.IsEmpty(e.Value.At.Node) {
			all = append(all, Pair{Key: e.Key, Value: e.Value.V})
		}
	}
	return all
}

func parameters(m *language.Dict[language.Val[any]]) []Parameter {
	var all []Parameter
	for _, e := range m.Items() {
		all = append(all, Parameter{e.Key, e.Value.V})
	}
	return all
}

// nameAssertions gives copied assertions their stable ids, and the slo that each came from.
func nameAssertions(all []Assertion, owner string, list []*language.Assertion) {
	for i, a := range list {
		out := &all[i]
		out.ID, out.SLO, out.Use = a.StableID(owner, i), a.FromSLO, out.That.Pos
		if a.FromSLO != "" {
			out.Use = a.UsedAt
		}
	}
}

func (b *builder) target(name string, t *language.Target) *Target {
	target := &Target{Name: name, Headers: b.headers(t.Headers)}
	b.copy(target, t)
	target.Input, target.Output = t.Tensors.Input.V, t.Tensors.Output.V
	target.Compression = cmp.Or(target.Compression, language.Default[language.Target, string]("compression"))
	if !target.Streaming {
		target.InactivityTimeout = 0
	} else if t.InactivityTimeout == nil {
		target.InactivityTimeout = language.Default[language.Target, time.Duration]("inactivity_timeout")
	}
	if in := t.InProcess; in != nil && in.Repository == nil {
		target.InProcess = nil
	} else if in != nil {
		for _, e := range in.Options.Items() {
			target.InProcess.Keys = append(target.InProcess.Keys, Key{e.Key, e.KeyPos})
		}
	}
	for _, e := range t.At.Node.Entries {
		target.Keys = append(target.Keys, Key{e.Key, e.KeyPos})
	}
	return target
}

func (b *builder) stage(s *language.Stage, p *Plan) *Stage {
	play := &s.Play
	stage := &Stage{Before: newActions(play.Before), After: newActions(play.After)}
	b.copy(stage, s)
	b.copy(stage, play)
	sortByKey(stage.Labels)
	nameAssertions(stage.Assert, s.ID.V, play.Assert)
	stage.Delay = delayOf(s)
	b.request(&stage.Request, &play.Request, p)
	if stage.Memory != nil {
		stage.Memory.Pos = play.Memory.Kind.At.Pos()
	}
	if at := b.Subs.PointOf(s.At.Node); at != nil {
		stage.Point = at.At
		for _, v := range at.Values {
			stage.Axes = append(stage.Axes, v.Var)
		}
	}
	stage.Load, stage.LoadPos = b.load(play.Load)
	stage.Extent, stage.ExtentPos = b.extent(s, stage.LoadPos)
	for _, e := range s.Mix.Items() {
		entry := Entry{Name: e.Key}
		b.copy(&entry, e.Value)
		b.request(&entry.Request, &e.Value.Request, p)
		stage.Mix = append(stage.Mix, entry)
	}
	if stage.Mix != nil {
		stage.Request = stage.Mix[0].Request
	}
	stage.Sequences = b.sequences(s)
	for _, e := range play.Goodput.Items() {
		path := play.Goodput.At.Path + source.JoinPointer(e.Key)
		metric := source.Text{Text: e.Key, Pos: e.KeyPos, Path: path}
		stage.Goodput = append(stage.Goodput, Bound{Metric: metric, Limit: e.Value.At.Node.AsText(path)})
	}
	return stage
}

func newActions(list []*language.Action) []Action {
	var all []Action
	for _, a := range list {
		action := Action{Pos: a.At.Pos(), LoadModel: a.Load.Or(""), UnloadModel: a.Unload.Or("")}
		if a.Call != nil {
			method, path, _ := strings.Cut(a.Call.V, " ")
			action.Call = &Call{method, path}
		}
		all = append(all, action)
	}
	return all
}

// sequences returns how a stage says that its requests form sequences, nil where it does not.
func (b *builder) sequences(s *language.Stage) *Sequences {
	q := s.Play.Sequences
	if q == nil {
		return nil
	}
	pos := s.At.Node.Entry("sequences").KeyPos
	out := &Sequences{IDsPos: pos}
	out.From, out.To = identities()
	b.copy(out, q)
	out.Pos = pos
	if q.At.Node.Entry("length") == nil {
		out.Length = nil
	}
	if q.IDs != nil {
		b.copy(out, q.IDs)
		out.Pos, out.IDsPos = pos, q.IDs.At.Pos()
	}
	return out
}

func (b *builder) request(to *Request, q *language.Request, p *Plan) {
	b.copy(to, q)
	to.Target = byName(p.Targets, func(t *Target) string { return t.Name }, q.Target, "")
	to.Data = byName(p.Datasets, func(d *Dataset) string { return d.Name }, q.Data, "main")
	to.Headers = b.headers(q.Headers)
	for _, e := range q.Shapes.Items() {
		dims, _ := e.Value.Sizes()
		to.Shapes = append(to.Shapes, Shape{e.Key, dims, e.Value.At.Pos()})
	}
}

// byName finds what pick found before.
func byName[T any](all []*T, name func(*T) string, want *language.Val[string], usual string) *T {
	for _, e := range all {
		if want != nil && name(e) == want.V || want == nil && (len(all) == 1 || name(e) == usual) {
			return e
		}
	}
	return nil
}

func (b *builder) dataset(name string, d *language.Dataset) *Dataset {
	ds := &Dataset{Name: name, Source: d.Source()}
	b.copy(ds, d)
	ds.Format = b.format(d)
	for _, f := range d.File.All() {
		ds.Files = append(ds.Files, b.path(f))
	}
	if d.Bodies != nil {
		found, _ := filepath.Glob(layer.Locate(b.File, d.Bodies.At.Node, d.Bodies.V)) // checked before
		slices.Sort(found)
		for _, name := range found {
			ds.Files = append(ds.Files, Path{name, d.Bodies.At.Pos()})
		}
	}
	for _, row := range d.Rows {
		text, _ := json.Marshal(row.At.Node.JSON()) // numbers, texts, bools, lists and maps: it cannot fail
		ds.Rows = append(ds.Rows, Row{row.At.Pos(), string(text)})
	}
	for _, e := range d.Columns.Items() {
		ds.Columns = append(ds.Columns, Column{e.Key, e.Value.V, e.Value.At.Pos()})
	}
	if d.Generate != nil {
		ds.Generate = &Generate{Default: d.Generate.Word.Or("random")}
		for _, e := range d.Generate.Inputs.Items() {
			ds.Generate.Inputs = append(ds.Generate.Inputs, b.generator(e.Key, e.Value))
		}
	}
	return ds
}

// format is the form of a dataset's files, as written. A file whose extension stands for a form that
// cannot be read yet is noted.
func (b *builder) format(d *language.Dataset) string {
	if d.Format != nil {
		return d.Format.V
	}
	for _, f := range d.File.All() {
		format := map[string]string{
			".textproto": "textproto", ".pbtxt": "textproto",
		}[strings.ToLower(filepath.Ext(string(f.V)))]
		if format == "" {
			continue
		}
		if key, ok := schema.Lookup("data.format"); ok && !slices.Contains(key.Allowed, format) {
			b.later = append(b.later, source.Errorf(source.CodeNotBuilt,
				"this version cannot read `%s` files yet", format).
				Among("", key.Allowed).
				AtKey(f.At.Path, f.At.Pos(), f.At.Node.Text))
		}
		return format
	}
	return ""
}

func (b *builder) generator(input string, g *language.Generator) Generator {
	out := Generator{Input: input}
	b.copy(&out, g)
	switch {
	case g.Constant != nil && (g.Constant.V == "random" || g.Constant.V == "zero"):
		out.Word = g.Constant.V.(string)
	case g.Constant != nil:
		out.Constant = []any{g.Constant.V}
	case g.List != nil:
		out.Constant = language.Flatten(g.List)
	case g.Own() == "":
		out.Dist = newSpread(g.Spread)
	}
	return out
}
