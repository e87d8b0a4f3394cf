package feed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// maxData caps the bytes of one stage's tensors: they are all held in memory while the clock runs.
const maxData = 2 << 30

var errTooMuch = fmt.Errorf("the data of this stage is more than %d GiB; lower `count`, `batch` or `shapes`", maxData>>30)

// row is one row of a dataset for one model: tensors without the batch dimension where the model has one.
type row struct {
	name    string // "data.json, step 3", for messages
	inputs  []backends.Tensor
	outputs []backends.Tensor // expected
	stream  bool              // part of a sequence
	first   bool              // the first of its sequence
}

// Built is what a stage sends: its requests, and how they belong together.
type Built struct {
	Requests []backends.Request
	// Streams are sequences of requests: each is the indexes of its steps in Requests, in their order. nil: the data has
	// no sequences. Every request is in exactly one stream, and streams come in the order of the data.
	Streams [][]int
}

// Build makes the requests of a stage, one for each distinct batch of rows, checked against what the model takes. Its
// diagnostics stand at the plan's lines; nothing has been sent for inference when they appear.
func Build(d *scenario.Dataset, r *scenario.Request, sig backends.Signature, seed uint64) (Built, source.Diagnostics) {
	b := &builder{dataset: d, request: r, sig: sig, seed: seed}
	b.checkBatch()
	b.checkNames()
	var rows []row
	if d.Generate != nil {
		rows = b.generate()
	} else {
		rows = b.read()
	}
	if b.diags.HasErrors() {
		return Built{}, b.diags
	}
	b.nothingExpected(rows)
	built := Built{Streams: b.streams(rows)}
	built.Requests = b.batches(rows)
	if b.diags.HasErrors() {
		return Built{}, b.diags
	}
	return built, b.diags
}

// streams are the sequences of the rows. The steps of a sequence go one by one: a server joins those of different ones.
func (b *builder) streams(rows []row) [][]int {
	var streams [][]int
	for i, r := range rows {
		if r.first {
			streams = append(streams, nil)
		}
		if r.stream {
			streams[len(streams)-1] = append(streams[len(streams)-1], i)
		}
	}
	if streams != nil && b.request.Batch > 1 {
		b.fail(b.request.BatchPos, "batch", "batch is %d, but this data holds sequences, whose steps are sent one by one", b.request.Batch)
	}
	return streams
}

type builder struct {
	dataset *scenario.Dataset
	request *scenario.Request
	sig     backends.Signature
	seed    uint64
	bytes   int64             // held so far
	files   map[string][]byte // of generators, by name
	diags   source.Diagnostics
}

func (b *builder) fail(pos source.Pos, code, format string, args ...any) *source.Diagnostic {
	b.diags = append(b.diags, source.Diagnostic{
		Severity: source.Error, Code: code, Pos: pos, Summary: fmt.Sprintf(format, args...),
	})
	return &b.diags[len(b.diags)-1]
}

// nothingExpected warns where outputs are to be compared within tolerances and no row of the files has any.
func (b *builder) nothingExpected(rows []row) {
	e := b.request.Expect
	if e == nil || b.dataset.Generate != nil || !e.Outputs || e.Relative == 0 && e.Absolute == 0 ||
		slices.ContainsFunc(rows, func(r row) bool { return len(r.outputs) > 0 }) {
		return
	}
	b.diags = append(b.diags, source.Diagnostic{
		Severity: source.Warning, Code: "no-effect", Pos: e.Pos, Summary: "no row has outputs to compare with",
		Detail: "give them under \"validation_data\" of the file",
	})
}

func (b *builder) checkBatch() {
	batch := b.request.Batch
	switch {
	case batch > 1 && !b.sig.Batched:
		b.fail(b.request.BatchPos, "batch", "model %q takes no batches, batch is %d", b.sig.Model, batch).
			Detail = "the model's max_batch_size is 0: remove `batch`, or put the dimension into `shapes`"
	case b.sig.Batched && b.sig.MaxBatch > 0 && batch > b.sig.MaxBatch:
		b.fail(b.request.BatchPos, "batch", "batch is %d, model %q takes at most %d", batch, b.sig.Model, b.sig.MaxBatch)
	}
}

// checkNames refuses names of inputs and outputs that the model does not have.
func (b *builder) checkNames() {
	inputs, outputs := names(b.sig.Inputs), names(b.sig.Outputs)
	if len(inputs) == 0 {
		b.fail(b.dataset.Pos, "no-inputs", "the server does not say which inputs model %q takes", b.sig.Model).
			Detail = "its metadata lists none; without names, datatypes and shapes no request can be made"
		return
	}
	for _, s := range b.request.Shapes {
		b.known(s.Pos, "input", s.Input, inputs)
	}
	for _, o := range b.request.Outputs {
		b.known(b.dataset.Pos, "output", o, outputs)
	}
	if b.dataset.Generate != nil {
		for _, g := range b.dataset.Generate.Inputs {
			b.known(g.Pos, "input", g.Input, inputs)
		}
	}
	for _, p := range b.sig.Inputs {
		if p.Type.Size() < 0 {
			b.fail(b.dataset.Pos, "datatype", "input %q of model %q has the datatype %s, which Sluice does not know", p.Name, b.sig.Model, p.Type)
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

func names(ports []backends.Port) []string {
	var out []string
	for _, p := range ports {
		out = append(out, p.Name)
	}
	return out
}

// shape is the shape of one row's tensor for a port: what the row says, else what the plan's `shapes` say, else the
// model's, where one free dimension follows from the number of elements.
func (b *builder) shape(p backends.Port, given []int64, elements int64) ([]int64, error) {
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

// infer gives the one free dimension of model the size that holds elements (-1: unknown, then no dimension may be free).
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

// batches joins rows into requests: request i takes rows i*B … i*B+B-1, wrapping, until they repeat.
func (b *builder) batches(rows []row) []backends.Request {
	size := max(b.request.Batch, 1)
	count := len(rows) / gcd(len(rows), size)
	if b.dataset.AtEnd == "stop" {
		count = len(rows) / size // each row once; what does not fill a batch is left out
		if rest := len(rows) % size; rest > 0 {
			b.diags = append(b.diags, source.Diagnostic{
				Severity: source.Warning, Code: "rows-left-over", Pos: b.dataset.Pos,
				Summary: fmt.Sprintf("%d of %d rows do not fill a batch of %d and are not sent", rest, len(rows), size),
			})
		}
	}
	if size > 1 { // else the requests share the rows' bytes
		if float64(held(rows))*float64(count)*float64(size)/float64(len(rows))+float64(b.bytes) > maxData {
			b.fail(b.request.BatchPos, "batch", "%d requests of %d rows: %s", count, size, errTooMuch)
			return nil
		}
	}
	reqs := make([]backends.Request, 0, count)
	for i := range count {
		part := make([]row, size)
		for j := range part {
			part[j] = rows[(i*size+j)%len(rows)]
		}
		req, err := b.join(part)
		if err != nil {
			b.fail(b.dataset.Pos, "batch", "%s: %s", part[0].name, err)
			return nil
		}
		req.Row = uint32(i)
		reqs = append(reqs, req)
	}
	return reqs
}

// held is the bytes of all tensors.
func held(rows []row) (n int64) {
	for _, r := range rows {
		for _, list := range [][]backends.Tensor{r.inputs, r.outputs} {
			for _, t := range list {
				n += int64(len(t.Data))
			}
		}
	}
	return n
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, 1)
}

// join makes one request of the rows of a batch.
func (b *builder) join(rows []row) (backends.Request, error) {
	req := backends.Request{
		Model: b.request.Model, Outputs: b.request.Outputs, Items: uint32(len(rows)),
		Parameters: parameters(b.request.Parameters), Headers: headers(b.request.Headers),
	}
	var err error
	if req.Inputs, err = b.concat(rows, func(r row) []backends.Tensor { return r.inputs }); err != nil {
		return req, err
	}
	outputs, err := b.concat(rows, func(r row) []backends.Tensor { return r.outputs })
	if err != nil {
		return req, err
	}
	e := b.request.Expect
	if e == nil && outputs == nil {
		return req, nil
	}
	req.Expect = new(backends.Expect)
	if e != nil {
		req.Expect.Status, req.Expect.Relative, req.Expect.Absolute = e.Status, e.Relative, e.Absolute
		if !e.Outputs {
			outputs = nil
		}
	}
	req.Expect.Outputs = outputs
	return req, nil
}

// concat joins the tensors of one name over the rows of a batch. Optional ones are in all rows or in none.
func (b *builder) concat(rows []row, of func(row) []backends.Tensor) ([]backends.Tensor, error) {
	var out []backends.Tensor
	for i, first := range of(rows[0]) {
		t := first
		if b.sig.Batched {
			t.Shape = append([]int64{int64(len(rows))}, first.Shape...)
		}
		for _, r := range rows[1:] {
			tensors := of(r)
			if len(tensors) != len(of(rows[0])) || tensors[i].Name != first.Name {
				return nil, fmt.Errorf("the rows of a batch of %d do not have the same tensors (%q is missing in one)", len(rows), first.Name)
			}
			if !slices.Equal(tensors[i].Shape, first.Shape) {
				return nil, fmt.Errorf("the rows of a batch of %d have %q in the shapes %v and %v", len(rows), first.Name, first.Shape, tensors[i].Shape)
			}
			t.Data = append(t.Data[:len(t.Data):len(t.Data)], tensors[i].Data...)
		}
		out = append(out, t)
	}
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
