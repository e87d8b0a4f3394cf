package scenario

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/layer"
	"github.com/sluice-bench/sluice/scenario/source"
)

// plan makes the plain Plan of a raw plan without mistakes whose defaults are filled in.
func (r *reading) plan() *Plan {
	b := newBuilder(r)
	p := &Plan{
		File:     r.File,
		Dir:      r.Dir,
		Source:   r.Root,
		Secrets:  secretsOf(r.Vars),
		Warnings: r.Diags,
	}
	b.copy(p, r.raw)
	p.Name = cmp.Or(p.Name, nameOf(r.File))
	sortByKey(p.Labels)
	nameAssertions(p.Assert, "plan", r.raw.Assert)
	p.Output.Formats = append([]string{"json"}, slices.DeleteFunc(p.Output.Formats,
		func(f string) bool { return f == "json" })...)
	for _, v := range r.Vars.Values {
		public := v.Var
		if public.Secret {
			public.Text = layer.Masked
		}
		p.Vars = append(p.Vars, public)
	}
	for _, t := range targetsOf(r.raw) {
		b.targets[t.Value] = b.target(t.Key, t.Value)
		p.Targets = append(p.Targets, b.targets[t.Value])
	}
	for _, ds := range datasetsOf(r.raw) {
		b.datasets[ds.Value] = b.dataset(ds.Key, ds.Value)
		p.Datasets = append(p.Datasets, b.datasets[ds.Value])
	}
	needs := needsOf(r.raw)
	groups := map[*language.Group]*Group{nil: nil}
	for i, s := range r.raw.Flat {
		if g := s.Group; groups[g] == nil && g != nil {
			groups[g] = &Group{Pos: g.At.Pos(), Index: s.Index}
		}
		stage := b.stage(s)
		stage.Needs, stage.Group = needs[i], groups[s.Group]
		p.Stages = append(p.Stages, stage)
	}
	// Both walk the whole plan, a third of the time that reading it takes, and many commands need neither.
	p.resolved = sync.OnceValues(func() (any, []Origin) { return r.resolvedTree(p.Name) })
	p.fingerprint = sync.OnceValue(r.fingerprint)
	p.Overlays = r.Overlays()
	return p
}

var notInName = regexp.MustCompile(`[^a-z0-9._-]+`)

// nameOf returns the name of a plan that has none, after its file's.
func nameOf(file string) string {
	base := filepath.Base(file)
	base = strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base)))
	return cmp.Or(strings.TrimLeft(notInName.ReplaceAllString(base, "-"), "._-"), "plan")
}

func sortByKey(all []Pair) {
	slices.SortFunc(all, func(a, b Pair) int { return cmp.Compare(a.Key, b.Key) })
}

// headers leaves out those that hold an empty secret.
func (b *builder) headers(m *language.Dict[language.Val[string]]) []Pair {
	var all []Pair
	for _, e := range m.Items() {
		if !b.Subs.Of(e.Value.At.Node).Empty {
			all = append(all, Pair{Key: e.Key, Value: e.Value.V})
		}
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
	if m := t.Metrics; m != nil {
		for _, address := range m.URL.All() {
			target.Metrics.URLs = append(target.Metrics.URLs, address.V)
		}
		sortByKey(target.Metrics.Labels)
	}
	target.Input, target.Output = t.Tensors.Input.V, t.Tensors.Output.V
	target.Layout = t.Tensors.Layout.Or("")
	if t.Management != nil {
		target.Management.Headers = b.headers(t.Management.Headers)
	}
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

func (b *builder) stage(s *language.Stage) *Stage {
	play := &s.Play
	stage := &Stage{}
	b.copy(stage, s)
	b.copy(stage, play)
	sortByKey(stage.Labels)
	nameAssertions(stage.Assert, s.ID.V, play.Assert)
	if s.Group != nil {
		stage.Delay += s.Group.Delay.V
	}
	b.request(&stage.Request, &play.Request)
	if stage.Memory != nil {
		stage.Memory.Pos = play.Memory.Kind.At.Pos()
	}
	if at := b.Subs.PointOf(s.At.Node); at != nil {
		stage.Point = at.At
		for _, v := range at.Values {
			stage.Axes = append(stage.Axes, v.Var)
		}
	}
	loads(stage.Before, play.Before)
	loads(stage.After, play.After)
	stage.Best = newBest(play.Best)
	stage.Load, stage.LoadPos = b.load(play.Load)
	stage.Extent, stage.ExtentPos = b.extent(s, stage.LoadPos)
	for i, e := range s.Mix.Items() {
		b.request(&stage.Mix[i].Request, &e.Value.Request)
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

// sequences returns how a stage says that its requests form sequences, nil where it does not.
func (b *builder) sequences(s *language.Stage) *Sequences {
	q := s.Play.Sequences
	if q == nil {
		return nil
	}
	pos := s.At.Node.Entry("sequences").KeyPos
	out := usualSequences(pos)
	b.copy(&out, q)
	if q.At.Node.Entry("length") == nil {
		out.Length = nil
	}
	if q.IDs != nil {
		b.copy(&out, q.IDs)
		out.IDsPos = q.IDs.At.Pos()
	}
	out.Pos = pos
	return &out
}

func (b *builder) request(to *Request, q *language.Request) {
	b.copy(to, q)
	target, _ := pick(targetsOf(b.raw), q.Target, "") // both were found before
	data, _ := pick(datasetsOf(b.raw), q.Data, "main")
	to.Target, to.Data = b.targets[target], b.datasets[data]
	to.Headers = b.headers(q.Headers)
	for _, e := range q.Shapes.Items() {
		dims, _ := e.Value.Sizes()
		to.Shapes = append(to.Shapes, Shape{e.Key, dims, e.Value.At.Pos()})
	}
}

// usualTokens is the length of prompts for which the plan names none.
const usualTokens = 550

func (b *builder) dataset(name string, d *language.Dataset) *Dataset {
	ds := &Dataset{Name: name, Source: d.Source()}
	b.copy(ds, d)
	ds.Format = b.format(d)
	if seed := b.raw.Seed; seed != nil {
		ds.Seed = uint64(seed.V)
	}
	if p := ds.Prompts; p != nil && d.Prompts.InputTokens == nil && p.Lengths == nil {
		p.InputTokens = Dist{Shape: "constant", Mean: usualTokens}
	}
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
	if len(d.Command) > 0 {
		ds.CommandPos = d.Command[0].At.Pos()
	}
	for _, row := range d.Rows {
		text, _ := json.Marshal(row.At.Node.JSON()) // numbers, texts, bools, lists and maps: it cannot fail
		ds.Rows = append(ds.Rows, Row{row.At.Pos(), string(text)})
	}
	if d.Generate != nil {
		ds.Generate = &Generate{Default: d.Generate.Word.Or("random")}
		for _, e := range d.Generate.Inputs.Items() {
			ds.Generate.Inputs = append(ds.Generate.Inputs, b.generator(e.Key, e.Value))
		}
	}
	return ds
}

// format is the form of a dataset's files, as written, or that of the first whose extension alone names one.
func (b *builder) format(d *language.Dataset) string {
	if d.Format != nil {
		return d.Format.V
	}
	for _, f := range d.File.All() {
		switch strings.ToLower(filepath.Ext(string(f.V))) {
		case ".textproto", ".pbtxt":
			return "textproto"
		}
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
