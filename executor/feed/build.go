package feed

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// maxData limits the bytes of one stage's tensors, which are all in memory while the clock runs.
const maxData = 2 << 30

// Codes of diagnostics about data.
const (
	codeClasses = "no-classes"
	codeUnasked = "not-asked-for"
)

var errTooMuch = fmt.Errorf("the data of this stage is more than %d GiB; lower `count`, `batch` or `shapes`",
	maxData>>30)

// row is one row of a dataset for one model: tensors without the batch dimension where the model
// has one.
type row struct {
	rec     *format.Record
	inputs  []backends.Tensor
	outputs []backends.Tensor // expected
	items   int64             // of a body that has the batch dimension; 0: one
	members []backends.Member // of a row of text
	body    []byte            // a whole request; nil: it is made of inputs or members
	vary    *backends.Vary    // marks in members; nil: there are none
	tokens  int               // of a written prompt, by the target's tokenizer; 0: unknown
	values  []backends.Field  // expected in the reply to a whole request
}

// whole reports whether the row is a whole request.
func (r *row) whole() bool { return r.body != nil || r.rec.Parts != nil }

// Built holds the requests of a stage, and how they belong together.
type Built struct {
	Requests []backends.Request
	Rows     int // of the data
	// Streams are sequences of requests, in the order of the data: each is the indexes of its steps in
	// Requests, in their order. nil: the data has no sequences. Every request is in exactly one stream.
	Streams [][]int
	// Delays are the pauses after the replies that rows ask for, ns, by request; nil: no row does.
	// -1: this one does not.
	Delays []int64
	// Place names the rows of a request, by file and line.
	Place func(request int) string
	// Times are the recorded times of the turns of sessions, ns, by request, with idle times cut; -1: it has
	// none. nil: no row has one, or the data has no sessions.
	Times []int64
}

// Build makes the requests of a stage, one for each distinct batch of rows, checked against what
// the model takes. Its diagnostics are placed in the plan; nothing has been sent for inference when
// they are made.
func Build(
	d *scenario.Dataset, r *scenario.Request, sig backends.Signature, seed uint64,
) (Built, source.Diagnostics) {
	b := &build{dataset: d, request: r, sig: sig, seed: seed}
	if len(sig.Inputs) == 0 && !sig.Bodies && !sig.Text && format.Readable(d) {
		b.sig.Inputs, b.sig.Outputs = typedPorts(format.Read(d))
	}
	checkBatch(b)
	if sig.Text {
		checkText(b)
	} else if d.Source != "bodies" && !sig.Bodies {
		checkNames(b)
	}
	var rows []row
	switch {
	case d.Prompts != nil:
		rows = promptRows(b)
	case sig.Text && format.Readable(d):
		rows = textRows(b, format.Read(d))
	case d.Generate != nil && sig.Bodies:
		rows = emptyBody()
	case d.Generate != nil:
		rows = generate(b)
	case sig.Bodies && format.Readable(d):
		rows = bodyRows(b, format.ReadBodies(d, sig.Several))
	default:
		rows = fileRows(b, format.Read(d))
	}
	if b.diags.HasErrors() {
		return Built{}, b.diags
	}
	checkExpected(b, rows)
	checkEmpty(b, rows)
	rows, streams := sampled(b.dataset, rows, streamsOf(b, rows))
	built := Built{Rows: len(rows), Streams: streams}
	built.Requests = requestsOf(b, rows)
	built.Delays = delaysOf(b, rows, len(built.Requests))
	built.Place = func(request int) string {
		return rows[request*max(b.request.Batch, 1)%len(rows)].rec.Name()
	}
	if b.sig.Text && streams != nil && !b.diags.HasErrors() {
		timeTurns(b, &built, rows)
	}
	if b.diags.HasErrors() {
		return Built{}, b.diags
	}
	return built, b.diags
}

// streamsOf returns the sequences of the rows: lists of steps, or rows of one session_id. The steps of
// a sequence are sent one by one: a server joins those of different ones.
func streamsOf(b *build, rows []row) [][]int {
	streams := grouped(len(rows), func(i int) *format.Record { return rows[i].rec })
	if streams != nil && b.request.Batch > 1 {
		b.fail(b.request.BatchPos, "batch",
			"batch is %d, but this data holds sequences, whose steps are sent one by one", b.request.Batch)
	}
	return streams
}

// grouped returns the sequences of n records, each as the numbers of its records; nil: there are none.
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

// build holds what the steps that make the requests of a stage share. Its methods add diagnostics,
// nothing else.
type build struct {
	dataset *scenario.Dataset
	request *scenario.Request
	sig     backends.Signature
	seed    uint64
	bytes   int64 // of the tensors that were made
	blocks  blockTexts
	unasked []string // expected outputs that are not asked for
	diags   source.Diagnostics
}

func (b *build) fail(pos source.Pos, code, format string, args ...any) *source.Diagnostic {
	b.diags = append(b.diags, source.Errorf(code, format, args...).At("", pos, 0))
	return &b.diags[len(b.diags)-1]
}

func (b *build) warn(pos source.Pos, code, format string, args ...any) *source.Diagnostic {
	b.diags = append(b.diags, source.Warnf(code, format, args...).At("", pos, 0))
	return &b.diags[len(b.diags)-1]
}

// checkPort refuses a name that is not among the model's inputs or outputs, which what says, and
// returns the diagnostic. of names the row that has it, "" for the plan.
func (b *build) checkPort(pos source.Pos, of, what, name string, ports []backends.Port) *source.Diagnostic {
	if findPort(ports, name) != nil {
		return nil
	}
	allowed := portNames(ports)
	return b.fail(pos, "unknown-tensor", "%smodel %q has no %s %q", prefixed(of), b.sig.Model, what, name).
		Among(source.Nearest(name, allowed), allowed)
}

// prefixed returns the beginning of a message about a row, "" for the plan.
func prefixed(row string) string {
	if row == "" {
		return ""
	}
	return row + ": "
}

func portNames(ports []backends.Port) []string {
	var out []string
	for _, p := range ports {
		out = append(out, p.Name)
	}
	return out
}

// findPort returns the port of a name, nil if there is none.
func findPort(ports []backends.Port, name string) *backends.Port {
	for i := range ports {
		if ports[i].Name == name {
			return &ports[i]
		}
	}
	return nil
}

func hasTensor(list []backends.Tensor, name string) bool {
	return slices.ContainsFunc(list, func(t backends.Tensor) bool { return t.Name == name })
}

// checkExpected refuses to compare outputs within tolerances, or a share of them, where no row
// has any: nothing could fail. Replies that are whole bodies have no tensors to compare within tolerances.
func checkExpected(b *build, rows []row) {
	e := b.request.Expect
	if e != nil && b.sig.Bodies && (e.Relative != 0 || e.Absolute != 0) {
		key := "relative"
		if e.Relative == 0 {
			key = "absolute"
		}
		b.fail(e.Pos, "nothing-expected", "`%s` compares tensors; values by path are compared exactly", key).
			Help("leave it out")
		return
	}
	if e == nil || b.dataset.Generate != nil || !e.Outputs ||
		e.Relative == 0 && e.Absolute == 0 && (e.Sample == 1 || len(e.Fields) > 0) ||
		slices.ContainsFunc(rows, func(r row) bool { return len(r.outputs)+len(r.values) > 0 }) {
		return
	}
	b.fail(e.Pos, "nothing-expected", "no row has outputs to compare with").
		Help("give them under \"validation_data\" of the file, or as the `outputs` of its rows")
}

func checkBatch(b *build) {
	batch := b.request.Batch
	switch {
	case b.sig.Bodies: // whether its rows can be joined shows when they are read
	case batch > 1 && !b.sig.Batched && b.sig.Text:
		b.fail(b.request.BatchPos, "batch", "batch is %d, but a request of this endpoint has one row", batch).
			Help("remove `batch`")
	case batch > 1 && !b.sig.Batched:
		b.fail(b.request.BatchPos, "batch", "model %q takes no batches, batch is %d", b.sig.Model, batch).
			Help("the model's max_batch_size is 0: remove `batch`, or put the dimension into `shapes`")
	case b.sig.Batched && b.sig.MaxBatch > 0 && batch > b.sig.MaxBatch:
		b.fail(b.request.BatchPos, "batch", "batch is %d, model %q takes at most %d",
			batch, b.sig.Model, b.sig.MaxBatch)
	}
}

// checkNames refuses names of inputs and outputs that the model does not have.
func checkNames(b *build) {
	if len(b.sig.Inputs) == 0 {
		b.fail(b.dataset.Pos, "no-inputs", "the server does not say which inputs model %q takes",
			b.sig.Model).
			Help("its metadata lists none; without names, datatypes and shapes no request can be made")
		return
	}
	for _, s := range b.request.Shapes {
		b.checkPort(s.Pos, "", "input", s.Input, b.sig.Inputs)
	}
	for i, o := range wantedOutputs(b) {
		pos := b.request.Outputs[i].Pos
		b.checkPort(pos, "", "output", o.Name, b.sig.Outputs)
		checkClasses(b, pos, "", o)
	}
	if b.dataset.Generate != nil {
		for _, g := range b.dataset.Generate.Inputs {
			b.checkPort(g.Pos, "", "input", g.Input, b.sig.Inputs)
		}
	}
	for _, p := range b.sig.Inputs {
		if p.Type.Size() < 0 {
			b.fail(b.dataset.Pos, "datatype",
				"input %q of model %q has the datatype %s, which Sluice does not know", p.Name, b.sig.Model,
				p.Type)
		}
	}
}

// shapeOf returns the shape of one row's tensor for a port: that of the row, else that of the plan's
// `shapes`, else the model's, where one free dimension follows from the number of elements.
func shapeOf(b *build, p *backends.Port, given []int64, elements int64) ([]int64, error) {
	if given == nil {
		given = plannedShape(b, p)
	}
	switch {
	case p.AnyRank && given == nil:
		return nil, errors.New("the model takes any shape: say which under `shapes`")
	case p.AnyRank:
		return given, nil
	}
	if given != nil {
		return given, fits(given, p.Shape)
	}
	return infer(p.Shape, elements)
}

// plannedShape returns the shape that the plan gives an input, nil if it gives none.
func plannedShape(b *build, p *backends.Port) []int64 {
	for _, s := range slices.Backward(b.request.Shapes) {
		if s.Input == p.Name {
			return s.Dims
		}
	}
	return nil
}

// fits checks a shape against a model's, where -1 takes any size.
func fits(got, model []int64) error {
	if len(got) != len(model) {
		return fmt.Errorf("shape %v has %d dimensions, the model's %v has %d", got, len(got), model,
			len(model))
	}
	for i := range got {
		if got[i] < 0 || model[i] >= 0 && got[i] != model[i] {
			return fmt.Errorf("shape %v does not fit the model's %v", got, model)
		}
	}
	return nil
}

// infer returns the model's shape with its one free dimension of the size that holds elements (-1:
// unknown, then no dimension may be free).
func infer(model []int64, elements int64) ([]int64, error) {
	free, fixed := -1, int64(1)
	for i, d := range model {
		if d >= 0 {
			fixed *= d
			continue
		}
		if free >= 0 || elements < 0 {
			return nil, fmt.Errorf(
				"the model's shape %v has dimensions of any size: say which under `shapes`", model)
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

// missingInputs lists the inputs that a row lacks and the model needs.
func missingInputs(b *build, inputs []backends.Tensor) string {
	var out []string
	for _, p := range b.sig.Inputs {
		if !p.Optional && !hasTensor(inputs, p.Name) {
			out = append(out, fmt.Sprintf("%q", p.Name))
		}
	}
	return strings.Join(out, ", ")
}
