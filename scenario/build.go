package scenario

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/layer"
	"github.com/sluice-bench/sluice/scenario/source"
)

// plan makes the plain Plan of a raw plan without mistakes whose defaults are filled in.
func (r *reading) plan() *Plan {
	p := &Plan{
		File:        r.File,
		Dir:         r.Dir,
		Name:        r.name(),
		Description: r.raw.Description.Or(""),
		Labels:      sortedPairs(r.raw.Labels),
		Seed:        uint64(r.raw.Seed.V),
		MaxDuration: r.raw.MaxDuration.Or(0),
		Source:      r.Root,
		Secrets:     secretsOf(r.Vars),
		Warnings:    r.Diags,
		Assert:      newAssertions("plan", r.raw.Assert),
	}
	for _, v := range r.Vars.All {
		public := v.Var
		if public.Secret {
			public.Text = layer.Masked
		}
		p.Vars = append(p.Vars, public)
	}
	c := checker{Decoder: language.NewDecoder(nil, r.Subs), raw: &r.raw, values: r.Subs}
	for _, t := range c.targets() {
		p.Targets = append(p.Targets, r.target(t.Key, t.Value))
	}
	for _, ds := range c.datasets() {
		p.Datasets = append(p.Datasets, r.dataset(ds.Key, ds.Value))
	}
	needs := needsOf(&r.raw)
	groups := map[*language.Group]*Group{nil: nil}
	for i, s := range r.raw.Flat {
		if g := s.Group; groups[g] == nil && g != nil {
			groups[g] = &Group{Pos: g.At.Pos(), Index: s.Index}
		}
		stage := r.stage(s, p)
		stage.Needs, stage.Group = needs[i], groups[s.Group]
		p.Stages = append(p.Stages, stage)
	}
	if b := r.raw.Baseline; b != nil {
		p.Baseline = &Baseline{File: r.path(b.File), IfMissing: b.IfMissing.V}
	}
	p.Output = r.output(r.raw.Output)
	p.Later = r.later.Sorted()
	p.Resolved, p.Origins = r.resolvedTree(p.Name)
	p.Overlays = r.Overlays()
	p.Fingerprint = r.fingerprint()
	return p
}

var notInName = regexp.MustCompile(`[^a-z0-9._-]+`)

// name is the plan's name; the default comes from the file's name.
func (r *reading) name() string {
	if r.raw.Name != nil {
		return r.raw.Name.V
	}
	base := filepath.Base(r.File)
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

func sortedPairs(m *language.Dict[language.Val[string]]) []Pair {
	all := texts(m)
	slices.SortFunc(all, func(a, b Pair) int { return cmp.Compare(a.Key, b.Key) })
	return all
}

// headers leaves out those that hold an empty secret.
func (r *reading) headers(m *language.Dict[language.Val[string]]) []Pair {
	var all []Pair
	for _, e := range m.Items() {
		if !r.Subs.IsEmpty(e.Value.At.Node) {
			all = append(all, Pair{Key: e.Key, Value: e.Value.V})
		}
	}
	return all
}

func wordsOf(list []*language.Val[string]) []string {
	var all []string
	for _, w := range list {
		all = append(all, w.V)
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

func (r *reading) output(o *language.Output) Output {
	out := Output{Dir: r.path(o.Dir).Name, Formats: []string{"json"}, Samples: o.Samples.V}
	for _, f := range o.Formats {
		if f.V != "json" {
			out.Formats = append(out.Formats, f.V)
		}
	}
	for _, p := range o.Percentiles {
		out.Percentiles = append(out.Percentiles, float64(p.V))
	}
	return out
}

func newAssertions(owner string, list []*language.Assertion) []Assertion {
	var all []Assertion
	for i, a := range list {
		out := Assertion{
			ID: a.StableID(owner, i), Description: a.Description.Or(""), That: a.That.V, SLO: a.FromSLO,
			Use: a.That.V.Pos, Severity: a.Severity.V,
			MinSamples: int(a.MinSamples.Or(0)), OnNoData: a.OnNoData.V, Confidence: float64(a.Confidence.Or(0)),
			Every: a.Every.Or(0),
			Allow: float64(a.Allow.Or(0)), Within: a.Within.Or(0), Abort: a.Abort.V,
		}
		if a.FromSLO != "" {
			out.Use = a.UsedAt
		}
		all = append(all, out)
	}
	return all
}

func (r *reading) stage(s *language.Stage, p *Plan) *Stage {
	play := s.Play
	stage := &Stage{
		ID:          s.ID.V,
		Description: play.Description.Or(""),
		Labels:      sortedPairs(play.Labels),
		Pos:         s.At.Pos(),
		IDPos:       s.ID.At.Pos(),
		When:        s.When.V,
		OnFail:      play.OnFail.V,
		Delay:       delayOf(s),
		MaxDuration: play.MaxDuration.Or(0),
		Repeat:      int(play.Repeat.V),
		Warmup:      play.Warmup.V,
		WarmupPos:   play.Warmup.At.Pos(),
		Drain:       play.Drain.V,
		DrainPos:    play.Drain.At.Pos(),
		Before:      newActions(play.Before),
		After:       newActions(play.After),
		Assert:      newAssertions(s.ID.V, play.Assert),
		Request:     r.request(play.Request, p),
	}
	if m := play.Memory; m != nil {
		stage.Memory = &Memory{
			Pos: m.Kind.At.Pos(), Kind: m.Kind.V, OutputSize: int64(m.OutputSize.V),
			Device: int(m.Device.V),
		}
	}
	if at := r.Subs.PointOf(s.At.Node); at != nil {
		stage.Point = at.At
		for _, v := range at.Values {
			stage.Axes = append(stage.Axes, v.Var)
		}
	}
	stage.Load, stage.LoadPos = r.newLoad(play.Load)
	stage.Extent, stage.ExtentPos = newExtent(s, stage.LoadPos)
	for _, e := range s.Mix.Items() {
		entry := Entry{
			Name: e.Key, Pos: e.Value.At.Pos(), Weight: float64(e.Value.Weight.Or(0)),
			Request: r.request(e.Value.Request, p),
		}
		stage.Mix = append(stage.Mix, entry)
	}
	if stage.Mix != nil {
		stage.Request = stage.Mix[0].Request
	}
	stage.Sequences = newSequences(s)
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

func (r *reading) request(q language.Request, p *Plan) Request {
	request := Request{
		Target:     byName(p.Targets, func(t *Target) string { return t.Name }, q.Target, ""),
		Data:       byName(p.Datasets, func(d *Dataset) string { return d.Name }, q.Data, "main"),
		Model:      q.Model.Or(""),
		Batch:      int(q.Batch.V),
		BatchPos:   q.Batch.At.Pos(),
		Parameters: parameters(q.Parameters),
		Headers:    r.headers(q.Headers),
	}
	for _, e := range q.Shapes.Items() {
		dims, _ := e.Value.Sizes()
		request.Shapes = append(request.Shapes, Shape{e.Key, dims, e.Value.At.Pos()})
	}
	for _, o := range q.Outputs {
		request.Outputs = append(
			request.Outputs,
			Wanted{
				Name: o.Name.Or(""), Classification: o.Classification.Or(0), Parameters: parameters(o.Parameters),
				Pos: o.At.Pos(),
			},
		)
	}
	if x := q.Expect; x != nil {
		request.Expect = &Expect{
			Pos: x.At.Pos(), Outputs: x.Outputs.V, Relative: float64(x.Relative.V),
			Absolute: float64(x.Absolute.V),
		}
		request.Expect.Sample, request.Expect.Fields = float64(x.Sample.V), parameters(x.Fields)
		for _, code := range x.Status {
			request.Expect.Status = append(request.Expect.Status, int(code.V))
		}
	}
	return request
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
