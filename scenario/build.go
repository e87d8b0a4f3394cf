package scenario

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/scenario/source"
	"github.com/sluice-bench/sluice/schema"
)

// plan makes the plain Plan of a raw plan without mistakes whose defaults are filled in.
func (r *reading) plan() *Plan {
	p := &Plan{
		File: r.file, Dir: r.dir, Name: r.name(), Description: r.raw.Description.or(""), Labels: sortedPairs(r.raw.Labels),
		Seed: uint64(r.raw.Seed.V), MaxDuration: r.raw.MaxDuration.or(0), Source: r.root, Secrets: secretsOf(r.vars), Warnings: r.diags, Assert: newAssertions("plan", r.raw.Assert),
	}
	for _, v := range r.vars.all {
		public := v.Var
		if public.Secret {
			public.Text = masked
		}
		p.Vars = append(p.Vars, public)
	}
	c := checker{decoder: newDecoder(nil, r.subs), raw: &r.raw, values: r.subs}
	for _, t := range c.targets() {
		p.Targets = append(p.Targets, r.target(t.Key, t.Value))
	}
	for _, ds := range c.datasets() {
		p.Datasets = append(p.Datasets, r.dataset(ds.Key, ds.Value))
	}
	needs := needsOf(&r.raw)
	groups := map[*rawGroup]*Group{nil: nil}
	for i, s := range r.raw.flat {
		if g := s.group; groups[g] == nil && g != nil {
			groups[g] = &Group{Pos: g.At.pos(), Index: s.index}
		}
		stage := r.stage(s, p)
		stage.Needs, stage.Group = needs[i], groups[s.group]
		p.Stages = append(p.Stages, stage)
	}
	if b := r.raw.Baseline; b != nil {
		p.Baseline = &Baseline{File: r.path(b.File), IfMissing: b.IfMissing.V}
	}
	p.Output = r.output(r.raw.Output)
	p.Later = r.later.Sorted()
	p.Resolved, p.Origins = r.resolvedTree(p.Name)
	p.Overlays = r.overlays()
	p.Fingerprint = r.fingerprint()
	return p
}

var notInName = regexp.MustCompile(`[^a-z0-9._-]+`)

// name is the plan's name; the default comes from the file's name.
func (r *reading) name() string {
	if r.raw.Name != nil {
		return r.raw.Name.V
	}
	base := filepath.Base(r.file)
	base = strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base)))
	return cmp.Or(strings.TrimLeft(notInName.ReplaceAllString(base, "-"), "._-"), "plan")
}

// texts are the entries of a map of text, in document order.
func texts(m *dict[val[string]]) []Pair {
	var all []Pair
	for _, e := range m.items() {
		all = append(all, Pair{e.Key, e.Value.V})
	}
	return all
}

func sortedPairs(m *dict[val[string]]) []Pair {
	all := texts(m)
	slices.SortFunc(all, func(a, b Pair) int { return cmp.Compare(a.Key, b.Key) })
	return all
}

// headers leaves out those that hold an empty secret.
func (r *reading) headers(m *dict[val[string]]) []Pair {
	var all []Pair
	for _, e := range m.items() {
		if !r.subs.isEmpty(e.Value.at.node) {
			all = append(all, Pair{e.Key, e.Value.V})
		}
	}
	return all
}

func wordsOf(list []*val[string]) []string {
	var all []string
	for _, w := range list {
		all = append(all, w.V)
	}
	return all
}

func parameters(m *dict[val[any]]) []Parameter {
	var all []Parameter
	for _, e := range m.items() {
		all = append(all, Parameter{e.Key, e.Value.V})
	}
	return all
}

func (r *reading) target(name string, t *rawTarget) *Target {
	target := &Target{
		Name: name, Pos: t.At.pos(), Backend: t.Backend.V, URL: t.URL.or(""), Model: t.Model.or(""), ModelVersion: t.ModelVersion.or(""),
		Headers: r.headers(t.Headers), Parameters: parameters(t.Parameters), TLS: r.tls(t.TLS), Timeout: t.Timeout.V,
		ConnectTimeout: t.ConnectTimeout.V, Connections: t.Connections.V, MaxMessage: int64(t.MaxMessage.or(0)),
		Input: t.Tensors.Input.V, Output: t.Tensors.Output.V, Ready: t.Ready.V, Probe: t.Probe.V, Statistics: t.Statistics.V, Builtin: newBuiltin(t.Builtin),
	}
	target.Compression = t.Compression.or("none")
	target.Endpoint, target.Method, target.Streaming = t.Endpoint.or(""), t.Method.or(""), t.Streaming.or(false)
	if t.Tokenizer != nil {
		file := r.path(t.Tokenizer)
		target.Tokenizer = &file
	}
	if p := t.InProcess; p != nil && p.Repository != nil {
		target.InProcess = &InProcess{ServerDir: r.path(p.ServerDir), Repository: r.path(p.Repository), Options: parameters(p.Options)}
		for _, e := range p.Options.items() {
			target.InProcess.Keys = append(target.InProcess.Keys, Key{e.Key, e.KeyPos})
		}
	}
	if target.Streaming {
		target.InactivityTimeout = t.InactivityTimeout.or(30 * time.Second)
	}
	target.Composing = wordsOf(t.ComposingModels)
	if m := t.Metrics; m != nil {
		target.Metrics = &Metrics{URL: m.URL.V, Every: m.Every.V, Match: wordsOf(m.Match)}
	}
	if x := t.Trace; x != nil {
		target.Trace = &Trace{Levels: wordsOf(x.Level), Rate: x.Rate.V, Count: x.Count.V, LogFrequency: x.LogFrequency.V}
	}
	if l := t.Log; l != nil {
		target.Log = &Log{Info: l.Info.ptr(), Warning: l.Warning.ptr(), Error: l.Error.ptr(), Verbose: l.Verbose.ptr(), Format: l.Format.or("")}
	}
	for _, e := range t.At.node.Entries {
		target.Keys = append(target.Keys, Key{e.Key, e.KeyPos})
	}
	return target
}

func (r *reading) tls(t *rawTLS) *TLS {
	if t == nil {
		return nil
	}
	return &TLS{
		CA: r.path(t.CA).Name, Cert: r.path(t.Cert).Name, Key: r.path(t.Key).Name, ServerName: t.ServerName.or(""),
		Verify: t.Verify.V, MinVersion: t.MinVersion.V,
	}
}

// path resolves a path of the plan; none stays empty.
func (r *reading) path(p *val[path]) Path {
	if p == nil {
		return Path{}
	}
	return Path{resolvePath(folderOf(r.file, p.at.node), string(p.V)), p.at.pos()}
}

func newBuiltin(b *rawBuiltin) *Builtin {
	if b == nil {
		return nil
	}
	builtin := &Builtin{
		ServiceTime: newDist(b.ServiceTime), Instances: int(b.Instances.or(0)), MaxBatch: int(b.MaxBatch.V), QueueDelay: b.QueueDelay.V,
		Errors: float64(b.Errors.V), Reset: float64(b.Reset.V), SlowBody: b.SlowBody.V,
	}
	if s := b.Stall; s != nil {
		builtin.Stall = &Stall{s.Start.V, s.For.V, s.Every.V}
	}
	return builtin
}

func (r *reading) dataset(name string, d *rawDataset) *Dataset {
	ds := &Dataset{
		Name: name, Pos: d.At.pos(), Format: r.format(d), Order: d.Order.V, AtEnd: d.AtEnd.V, TimeUnit: unitOf(d.TimeUnit),
		Source: d.source(),
	}
	if d.TimeUnit != nil {
		ds.TimeUnitPos = d.TimeUnit.at.pos()
	}
	if d.StringLength != nil {
		ds.StringLength = *newDist(d.StringLength)
	}
	r.sourceOf(ds, d)
	if d.Generate == nil {
		return ds
	}
	ds.Count = int(d.Count.V)
	ds.Generate = &Generate{Default: "random"}
	if d.Generate.Word != nil {
		ds.Generate.Default = d.Generate.Word.V
	}
	for _, e := range d.Generate.Inputs.items() {
		ds.Generate.Inputs = append(ds.Generate.Inputs, r.generator(e.Key, e.Value))
	}
	return ds
}

// sourceOf takes over where the rows of a dataset come from, generated ones aside.
func (r *reading) sourceOf(ds *Dataset, d *rawDataset) {
	for _, f := range d.File.all() {
		ds.Files = append(ds.Files, r.path(f))
	}
	if d.Dir != nil {
		dir := r.path(d.Dir)
		ds.Dir = &dir
	}
	if d.Bodies != nil {
		found, _ := filepath.Glob(resolvePath(folderOf(r.file, d.Bodies.at.node), d.Bodies.V)) // checked before
		slices.Sort(found)
		for _, name := range found {
			ds.Files = append(ds.Files, Path{name, d.Bodies.at.pos()})
		}
	}
	for _, row := range d.Rows {
		text, _ := json.Marshal(row.At.node.JSON()) // numbers, texts, bools, lists and maps: it cannot fail
		ds.Rows = append(ds.Rows, Row{row.At.pos(), string(text)})
	}
	for _, e := range d.Columns.items() {
		ds.Columns = append(ds.Columns, Column{e.Key, e.Value.V, e.Value.at.pos()})
	}
}

// format is the form of a dataset's files, as written. A file whose extension stands for a form that cannot be read yet is
// noted.
func (r *reading) format(d *rawDataset) string {
	if d.Format != nil {
		return d.Format.V
	}
	for _, f := range d.File.all() {
		format := map[string]string{".textproto": "textproto", ".pbtxt": "textproto"}[strings.ToLower(filepath.Ext(string(f.V)))]
		if format == "" {
			continue
		}
		if key, ok := schema.Lookup("data.format"); ok && !slices.Contains(key.Allowed, format) {
			r.later = append(r.later, source.Diagnostic{
				Severity: source.Error, Code: codeNotBuilt, Path: f.at.path, Pos: f.at.pos(), Width: utf8.RuneCountInString(f.at.node.Text),
				Summary: fmt.Sprintf("this version cannot read `%s` files yet", format), Allowed: key.Allowed,
			})
		}
		return format
	}
	return ""
}

func (r *reading) generator(input string, g *rawGenerator) Generator {
	out := Generator{Input: input, Pos: g.At.pos(), Alphabet: g.Alphabet.or("")}
	switch {
	case g.Constant != nil && (g.Constant.V == "random" || g.Constant.V == "zero"):
		out.Word = g.Constant.V.(string)
	case g.Constant != nil:
		out.Constant = []any{g.Constant.V}
	case g.List != nil:
		out.Constant = flatten(g.List)
	case g.Length != nil:
		out.Length = newDist(g.Length)
	case g.OneOf != nil:
		for _, v := range g.OneOf {
			out.OneOf = append(out.OneOf, v.V)
		}
	case g.File != nil:
		file := r.path(g.File)
		out.File = &file
	default:
		out.Dist = newSpread(g.Spread)
	}
	return out
}

func (r *reading) output(o *rawOutput) Output {
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

func newAssertions(owner string, list []*rawAssertion) []Assertion {
	var all []Assertion
	for i, a := range list {
		out := Assertion{
			ID: a.id(owner, i), Description: a.Description.or(""), That: a.That.V, SLO: a.fromSLO, Use: a.That.V.Pos, Severity: a.Severity.V,
			MinSamples: int(a.MinSamples.or(0)), OnNoData: a.OnNoData.V, Confidence: float64(a.Confidence.or(0)), Every: a.Every.or(0),
			Allow: float64(a.Allow.or(0)), Within: a.Within.or(0), Abort: a.Abort.V,
		}
		if a.fromSLO != "" {
			out.Use = a.usedAt
		}
		all = append(all, out)
	}
	return all
}

func (r *reading) stage(s *rawStage, p *Plan) *Stage {
	play := s.Play
	stage := &Stage{
		ID: s.ID.V, Description: play.Description.or(""), Labels: sortedPairs(play.Labels), Pos: s.At.pos(), IDPos: s.ID.at.pos(),
		When: s.When.V, OnFail: play.OnFail.V, Delay: delayOf(s), MaxDuration: play.MaxDuration.or(0), Repeat: int(play.Repeat.V),
		Warmup: play.Warmup.V, WarmupPos: play.Warmup.at.pos(), Drain: play.Drain.V, DrainPos: play.Drain.at.pos(), Before: newActions(play.Before), After: newActions(play.After),
		Assert: newAssertions(s.ID.V, play.Assert), Request: r.request(play.Request, p),
	}
	if m := play.Memory; m != nil {
		stage.Memory = &Memory{Pos: m.Kind.at.pos(), Kind: m.Kind.V, OutputSize: int64(m.OutputSize.V), Device: int(m.Device.V)}
	}
	if at := r.subs.pointOf(s.At.node); at != nil {
		stage.Point = at.at
		for _, v := range at.values {
			stage.Axes = append(stage.Axes, v.Var)
		}
	}
	stage.Load, stage.LoadPos = r.newLoad(play.Load)
	stage.Extent, stage.ExtentPos = newExtent(s, stage.LoadPos)
	for _, e := range s.Mix.items() {
		entry := Entry{Name: e.Key, Pos: e.Value.At.pos(), Weight: float64(e.Value.Weight.or(0)), Request: r.request(e.Value.Request, p)}
		stage.Mix = append(stage.Mix, entry)
	}
	if stage.Mix != nil {
		stage.Request = stage.Mix[0].Request
	}
	stage.Sequences = newSequences(s)
	for _, e := range play.Goodput.items() {
		path := play.Goodput.At.path + source.JoinPointer(e.Key)
		metric := source.Text{Text: e.Key, Pos: e.KeyPos, Path: path}
		stage.Goodput = append(stage.Goodput, Bound{Metric: metric, Limit: e.Value.at.node.AsText(path)})
	}
	return stage
}

func newActions(list []*rawAction) []Action {
	var all []Action
	for _, a := range list {
		action := Action{Pos: a.At.pos(), LoadModel: a.Load.or(""), UnloadModel: a.Unload.or("")}
		if a.Call != nil {
			method, path, _ := strings.Cut(a.Call.V, " ")
			action.Call = &Call{method, path}
		}
		all = append(all, action)
	}
	return all
}

func (r *reading) request(q rawRequest, p *Plan) Request {
	request := Request{
		Target: byName(p.Targets, func(t *Target) string { return t.Name }, q.Target, ""),
		Data:   byName(p.Datasets, func(d *Dataset) string { return d.Name }, q.Data, "main"),
		Model:  q.Model.or(""), Batch: int(q.Batch.V), BatchPos: q.Batch.at.pos(), Parameters: parameters(q.Parameters),
		Headers: r.headers(q.Headers),
	}
	for _, e := range q.Shapes.items() {
		dims, _ := e.Value.sizes()
		request.Shapes = append(request.Shapes, Shape{e.Key, dims, e.Value.At.pos()})
	}
	for _, o := range q.Outputs {
		request.Outputs = append(request.Outputs, Wanted{Name: o.Name.or(""), Classification: o.Classification.or(0), Parameters: parameters(o.Parameters), Pos: o.At.pos()})
	}
	if x := q.Expect; x != nil {
		request.Expect = &Expect{Pos: x.At.pos(), Outputs: x.Outputs.V, Relative: float64(x.Relative.V), Absolute: float64(x.Absolute.V)}
		request.Expect.Sample, request.Expect.Fields = float64(x.Sample.V), parameters(x.Fields)
		for _, code := range x.Status {
			request.Expect.Status = append(request.Expect.Status, int(code.V))
		}
	}
	return request
}

// byName finds what pick found before.
func byName[T any](all []*T, name func(*T) string, want *val[string], usual string) *T {
	for _, e := range all {
		if want != nil && name(e) == want.V || want == nil && (len(all) == 1 || name(e) == usual) {
			return e
		}
	}
	return nil
}
