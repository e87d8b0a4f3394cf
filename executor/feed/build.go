package feed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// maxData caps the bytes of one stage's tensors: they are all held in memory while the clock runs.
const maxData = 2 << 30

// Codes of diagnostics about data.
const (
	codeUnbuilt = "not-built-yet"
	codeClasses = "no-classes"
	codeUnasked = "not-asked-for"
)

var errTooMuch = fmt.Errorf("the data of this stage is more than %d GiB; lower `count`, `batch` or `shapes`",
	maxData>>30)

// row is one row of a dataset for one model: tensors without the batch dimension where the model
// has one.
type row struct {
	rec     *format.Record // nil: the row was drawn
	number  int            // of a drawn row
	inputs  []backends.Tensor
	outputs []backends.Tensor // expected
	items   int64             // of a body that has the batch dimension; 0: one
	body    []byte            // a whole request; nil: it is made of inputs
}

func (r *row) name() string {
	if r.rec == nil {
		return fmt.Sprintf("generated row %d", r.number)
	}
	return r.rec.Name()
}

// wanted are the outputs that the row itself asks for.
func (r *row) wanted() []backends.Output {
	if r.rec == nil {
		return nil
	}
	return r.rec.Wanted
}

// Built is what a stage sends: its requests, and how they belong together.
type Built struct {
	Requests []backends.Request
	Rows     int // of the data
	// Streams are sequences of requests: each is the indexes of its steps in Requests, in their
	// order. nil: the data has no sequences. Every request is in exactly one stream, and streams
	// come in the order of the data.
	Streams [][]int
	// Delays are the pauses after the replies that rows ask for, ns, by request; nil: no row does.
	// -1: this one does not.
	Delays []int64
}

// Build makes the requests of a stage, one for each distinct batch of rows, checked against what
// the model takes. Its diagnostics stand at the plan's lines; nothing has been sent for inference
// when they appear.
func Build(
	d *scenario.Dataset, r *scenario.Request, sig backends.Signature, seed uint64,
) (Built, source.Diagnostics) {
	b := &builder{dataset: d, request: r, sig: sig, seed: seed}
	b.checkBatch()
	if d.Source != "bodies" {
		b.checkNames()
	}
	var rows []row
	switch {
	case d.Generate != nil:
		rows = b.generate()
	case format.Readable(d):
		rows = b.rows(format.Read(d))
	default:
		b.fail(d.Pos, codeUnbuilt, "this version cannot read this data yet")
	}
	if b.diags.HasErrors() {
		return Built{}, b.diags
	}
	b.nothingExpected(rows)
	b.checkEmpty(rows)
	built := Built{Rows: len(rows), Streams: b.streams(rows)}
	built.Requests = b.batches(rows)
	built.Delays = b.delays(rows, len(built.Requests))
	if b.diags.HasErrors() {
		return Built{}, b.diags
	}
	return built, b.diags
}

// streams are the sequences of the rows: lists of steps, or rows of one session_id. The steps of a
// sequence go one by one: a server joins those of different ones.
func (b *builder) streams(rows []row) [][]int {
	if len(rows) == 0 || rows[0].rec == nil {
		return nil
	}
	streams := grouped(len(rows), func(i int) *format.Record { return rows[i].rec })
	if streams != nil && b.request.Batch > 1 {
		b.fail(b.request.BatchPos, "batch",
			"batch is %d, but this data holds sequences, whose steps are sent one by one", b.request.Batch)
	}
	return streams
}

// grouped are the sequences that n records make, each the numbers of its own; nil: they stand alone.
func grouped(n int, at func(int) *format.Record) (streams [][]int) {
	if n == 0 || at(0).Stream < 0 && at(0).Session == "" {
		return nil
	}
	type key struct {
		from    *format.Origin
		stream  int
		session string
	}
	known := map[key]int{}
	for i := range n {
		rec := at(i)
		k := key{from: rec.From, stream: rec.Stream}
		if rec.Stream < 0 {
			k = key{session: rec.Session}
		}
		at, ok := known[k]
		if !ok {
			at = len(streams)
			known[k], streams = at, append(streams, nil)
		}
		streams[at] = append(streams[at], i)
	}
	return streams
}

type builder struct {
	dataset *scenario.Dataset
	request *scenario.Request
	sig     backends.Signature
	seed    uint64
	bytes   int64                      // held so far
	files   map[string]backends.Tensor // made of the files of generators, by input
	unasked []string                   // expected outputs that are not asked for
	diags   source.Diagnostics
}

func (b *builder) fail(pos source.Pos, code, format string, args ...any) *source.Diagnostic {
	b.diags = append(b.diags, source.Diagnostic{
		Severity: source.Error, Code: code, Pos: pos, Summary: fmt.Sprintf(format, args...),
	})
	return &b.diags[len(b.diags)-1]
}

// nothingExpected refuses to compare outputs within tolerances, or a share of them, where no row
// has any: nothing could fail.
func (b *builder) nothingExpected(rows []row) {
	e := b.request.Expect
	if e == nil || b.dataset.Generate != nil || !e.Outputs ||
		e.Relative == 0 && e.Absolute == 0 && (e.Sample == 1 || len(e.Fields) > 0) ||
		slices.ContainsFunc(rows, func(r row) bool { return len(r.outputs) > 0 }) {
		return
	}
	b.fail(e.Pos, "nothing-expected", "no row has outputs to compare with").
		Detail = "give them under \"validation_data\" of the file, or as the `outputs` of its rows"
}

func (b *builder) checkBatch() {
	batch := b.request.Batch
	switch {
	case batch > 1 && !b.sig.Batched:
		b.fail(b.request.BatchPos, "batch", "model %q takes no batches, batch is %d", b.sig.Model, batch).
			Detail = "the model's max_batch_size is 0: remove `batch`, or put the dimension into `shapes`"
	case b.sig.Batched && b.sig.MaxBatch > 0 && batch > b.sig.MaxBatch:
		b.fail(b.request.BatchPos, "batch", "batch is %d, model %q takes at most %d",
			batch, b.sig.Model, b.sig.MaxBatch)
	}
}

// checkNames refuses names of inputs and outputs that the model does not have.
func (b *builder) checkNames() {
	inputs, outputs := portNames(b.sig.Inputs), portNames(b.sig.Outputs)
	if len(inputs) == 0 {
		b.fail(b.dataset.Pos, "no-inputs", "the server does not say which inputs model %q takes", b.sig.Model).
			Detail = "its metadata lists none; without names, datatypes and shapes no request can be made"
		return
	}
	for _, s := range b.request.Shapes {
		b.known(s.Pos, "input", s.Input, inputs)
	}
	for _, o := range b.request.Outputs {
		b.known(o.Pos, "output", o.Name, outputs)
		b.checkClasses(o.Pos, "", backends.Output{Name: o.Name, Classification: o.Classification})
	}
	if b.dataset.Generate != nil {
		for _, g := range b.dataset.Generate.Inputs {
			b.known(g.Pos, "input", g.Input, inputs)
		}
	}
	for _, p := range b.sig.Inputs {
		if p.Type.Size() < 0 {
			b.fail(b.dataset.Pos, "datatype", "input %q of model %q has the datatype %s, which Sluice does not know",
				p.Name, b.sig.Model, p.Type)
		}
	}
}

func (b *builder) known(pos source.Pos, what, name string, allowed []string) {
	if slices.Contains(allowed, name) {
		return
	}
	d := b.fail(pos, "unknown-tensor", "model %q has no %s %q", b.sig.Model, what, name)
	d.Allowed, d.Nearest = allowed, source.Nearest(name, allowed)
}

// shape is the shape of one row's tensor for a port: what the row says, else what the plan's
// `shapes` say, else the model's, where one free dimension follows from the number of elements.
func (b *builder) shape(p *backends.Port, given []int64, elements int64) ([]int64, error) {
	want := given
	if want == nil {
		for _, s := range b.request.Shapes {
			if s.Input == p.Name {
				want = s.Dims
			}
		}
	}
	if want != nil {
		return want, fits(want, p.Shape)
	}
	return infer(p.Shape, elements)
}

// fits checks a shape against a model's, where -1 takes any size.
func fits(got, model []int64) error {
	if len(got) != len(model) {
		return fmt.Errorf("shape %v has %d dimensions, the model's %v has %d", got, len(got), model, len(model))
	}
	for i := range got {
		if got[i] < 0 || model[i] >= 0 && got[i] != model[i] {
			return fmt.Errorf("shape %v does not fit the model's %v", got, model)
		}
	}
	return nil
}

// infer gives the one free dimension of model the size that holds elements (-1: unknown, then no
// dimension may be free).
func infer(model []int64, elements int64) ([]int64, error) {
	free, fixed := -1, int64(1)
	for i, d := range model {
		if d >= 0 {
			fixed *= d
			continue
		}
		if free >= 0 || elements < 0 {
			return nil, fmt.Errorf("the model's shape %v has dimensions of any size: say which under `shapes`", model)
		}
		free = i
	}
	out := slices.Clone(model)
	if free < 0 {
		return out, nil
	}
	if fixed == 0 || elements%fixed != 0 {
		return nil, fmt.Errorf("%d elements do not fill the shape %v", elements, model)
	}
	out[free] = elements / fixed
	return out, nil
}

func parameters(list []scenario.Parameter) []backends.Parameter {
	var out []backends.Parameter
	for _, p := range list {
		out = append(out, backends.Parameter{Name: p.Name, Value: p.Value})
	}
	return out
}

func headers(list []scenario.Pair) []backends.Header {
	var out []backends.Header
	for _, h := range list {
		out = append(out, backends.Header{Name: h.Key, Value: h.Value})
	}
	return out
}

// missing lists the inputs that a row lacks and the model needs.
func (b *builder) missing(inputs []backends.Tensor) string {
	var out []string
	for _, p := range b.sig.Inputs {
		if !p.Optional && !slices.ContainsFunc(inputs, func(t backends.Tensor) bool { return t.Name == p.Name }) {
			out = append(out, fmt.Sprintf("%q", p.Name))
		}
	}
	return strings.Join(out, ", ")
}
