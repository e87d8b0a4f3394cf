package feed

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/scenario/source"
)

// mostMistakes is how many are told: those of one kind repeat in every row.
const mostMistakes = 20

// rows makes the tensors of the rows that were read.
func (b *builder) rows(r *format.Rows) []row {
	b.diags = append(b.diags, r.Diags...)
	b.unread()
	if r.Tensors != nil {
		b.fileRecords(r)
	}
	if b.diags.HasErrors() {
		return nil
	}
	rows := make([]row, 0, len(r.Records))
	for i := range r.Records {
		rec := &r.Records[i]
		made := row{rec: rec, body: rec.Body}
		if rec.Body == nil {
			b.tensors(&made)
		}
		if len(b.diags) >= mostMistakes {
			break
		}
		if b.bytes += held([]row{made}); b.bytes > maxData {
			b.fail(rec.From.Pos, "data-size", "%s: %s", rec.Name(), errTooMuch)
			break
		}
		rows = append(rows, made)
	}
	return rows
}

// unread refuses columns that make no part of a request of tensors.
func (b *builder) unread() {
	for _, c := range b.dataset.Columns {
		if field := format.ColumnField(c.Field); strings.HasPrefix(field, "inputs.") && field != c.Field {
			b.fail(c.Pos, "column", "nothing reads %q: model %q takes tensors", c.Field, b.sig.Model).
				Detail = "name the column after an input: inputs.NAME"
		}
	}
}

// tensors makes the inputs and expected outputs of a row, in the order of the model's ports.
func (b *builder) tensors(r *row) {
	before := len(b.diags)
	r.inputs = b.side(r, r.rec.Inputs, b.sig.Inputs, "input")
	if missing := b.missing(r.inputs); missing != "" && before == len(b.diags) {
		b.fail(r.rec.From.Pos, "missing-tensor", "%s has no data for %s", r.rec.Name(), missing)
	}
	wanted := b.wantedOutputs()
	if len(wanted) == 0 {
		wanted = r.rec.Wanted
	}
	r.outputs = b.asked(r, b.side(r, r.rec.Outputs, b.outputsOf(wanted), "output"), wanted)
	for _, o := range r.rec.Wanted {
		b.knownIn(r.rec, "output", o.Name, b.sig.Outputs)
		b.checkClasses(r.rec.From.Pos, r.rec.Name(), o)
	}
}

// asked are the expected outputs that come back: those that the request asks for, or all. Those
// left out are told once.
func (b *builder) asked(r *row, expected []backends.Tensor, wanted []backends.Output) []backends.Tensor {
	if e := b.request.Expect; len(wanted) == 0 || e != nil && !e.Outputs {
		return expected
	}
	return slices.DeleteFunc(expected, func(t backends.Tensor) bool {
		if slices.ContainsFunc(wanted, func(o backends.Output) bool { return o.Name == t.Name }) {
			return false
		}
		if !slices.Contains(b.unasked, t.Name) {
			b.unasked = append(b.unasked, t.Name)
			pos := r.rec.From.Pos
			if len(b.request.Outputs) > 0 {
				pos = b.request.Outputs[0].Pos
			}
			b.diags = append(b.diags, source.Diagnostic{
				Severity: source.Warning, Code: codeUnasked, Pos: pos,
				Summary: fmt.Sprintf("output %q is expected by %s and not among those asked for: it is not compared",
					t.Name, r.rec.Name()),
			})
		}
		return true
	})
}

func (b *builder) side(r *row, list []format.Field, ports []backends.Port, what string) []backends.Tensor {
	if len(list) == 0 {
		return nil
	}
	out := make([]backends.Tensor, 0, len(list))
	found := 0
	for i := range ports {
		p := &ports[i]
		v, times := format.Find(list, p.Name)
		if v == nil {
			continue
		}
		found += times
		if times > 1 {
			b.fail(r.rec.From.Pos, "tensor", "%s: %s %q stands there %d times", r.rec.Name(), what, p.Name, times)
			continue
		}
		if absent(p, v, what) {
			continue
		}
		t, items, err := b.decode(p, v, what)
		switch {
		case err != nil:
			b.fail(r.rec.From.Pos, "tensor", "%s, %s %q%s", r.rec.Name(), what, p.Name, err)
			continue
		case v.Type != "" && items != r.items && !p.ShapeTensor && len(out) > 0:
			b.fail(r.rec.From.Pos, "tensor", "%s: %s %q has a batch of %d, others have %d",
				r.rec.Name(), what, p.Name, items, r.items)
			continue
		}
		r.items = max(r.items, items)
		out = append(out, t)
	}
	if found < len(list) {
		for _, f := range list {
			if !f.Meta {
				b.knownIn(r.rec, what, f.Name, ports)
			}
		}
	}
	return out
}

// absent reports whether a value means that the row has none. Of strings that a model needs, an
// empty cell is the empty string.
func absent(p *backends.Port, v *format.Value, what string) bool {
	switch v.Form {
	case format.Cell:
		return len(strings.TrimSpace(string(v.Text))) == 0 &&
			(p.Type != tensor.Bytes || p.Optional || what == "output")
	case format.JSONAny:
		return string(v.Text) == "null"
	case format.JSONTensor, format.Content, format.V2JSON, format.V2Raw, format.ArrayRow:
	}
	return false
}

// knownIn refuses a name that the model does not have.
func (b *builder) knownIn(rec *format.Record, what, name string, ports []backends.Port) {
	allowed := portNames(ports)
	if slices.Contains(allowed, name) {
		return
	}
	d := b.fail(rec.From.Pos, "unknown-tensor", "%s: model %q has no %s %q", rec.Name(), b.sig.Model, what, name)
	d.Allowed, d.Nearest = allowed, source.Nearest(name, allowed)
	switch {
	case (name == "shape" || name == "content" || name == "b64") && len(allowed) > 0:
		d.Detail = fmt.Sprintf(`put it inside the tensor: {"%s": {"content": […], "shape": […]}}`, allowed[0])
	case rec.From.Unit == "line" && b.dataset.Columns == nil:
		d.Detail = "say under `columns` which ones are read: columns: {inputs.NAME: column}"
	}
}

func portNames(ports []backends.Port) []string {
	var out []string
	for _, p := range ports {
		out = append(out, p.Name)
	}
	return out
}

// parametersOf are the parameters of a row.
func (b *builder) parametersOf(rec *format.Record) []backends.Parameter {
	var out []backends.Parameter
	body := slices.ContainsFunc(rec.Inputs, func(f format.Field) bool { return f.Value.Type != "" })
	for _, f := range rec.Parameters {
		if body && f.Name == wholeRaw {
			continue
		}
		v, ok := format.Scalar(&f.Value)
		switch n, float := v.(float64); {
		case float && isWhole(f.Value.Text) && math.Abs(n) >= 1<<63:
			b.fail(rec.From.Pos, "parameter", "%s: parameter %q is %s, which 64 bits with a sign do not hold",
				rec.Name(), f.Name, f.Value.Text)
		case !ok:
			b.fail(rec.From.Pos, "parameter", "%s: parameter %q is %s; it must be text, a number or a bool",
				rec.Name(), f.Name, jsonscan.Kind(f.Value.Text))
		}
		if v != nil {
			out = append(out, backends.Parameter{Name: f.Name, Value: v})
		}
	}
	return out
}

// wholeRaw is the parameter of a v2 body that asks for outputs as raw bytes: how they come is
// decided by the target's `tensors`.
const wholeRaw = "binary_data_output"

// isWhole reports whether a number is written without a fraction and an exponent.
func isWhole(text []byte) bool { return !bytes.ContainsAny(text, ".eE") }

// fileRecords makes rows of files that are one tensor each, now that the model says which.
func (b *builder) fileRecords(r *format.Rows) {
	rows := map[string][]format.Value{}
	var firsts []*format.TensorFile // of each tensor
	var order []string
	for i := range r.Tensors {
		f := &r.Tensors[i]
		p, ok := b.portOf(f)
		if !ok {
			continue
		}
		if n := f.Rows(p); n > format.MaxRows {
			b.fail(f.From.Pos, "data-size", "%s has %d rows, no more than %d can be held",
				f.From.Name, n, format.MaxRows)
			return
		}
		if rows[p.Name] == nil {
			order, firsts = append(order, p.Name), append(firsts, f)
		}
		rows[p.Name] = append(rows[p.Name], f.Values(p)...)
	}
	for i, name := range order {
		if n, first := len(rows[name]), len(rows[order[0]]); n != first {
			b.fail(firsts[i].From.Pos, "tensor", "%s has %d rows, %s has %d",
				firsts[i].From.Name, n, firsts[0].From.Name, first)
			return
		}
	}
	outputs := portNames(b.sig.Outputs)
	for i := range order {
		for n, v := range rows[order[i]] {
			if i == 0 {
				r.Records = append(r.Records, format.Record{From: firsts[0].From, Stream: -1, Number: n})
			}
			rec, f := &r.Records[n], format.Field{Name: order[i], Value: v}
			if slices.Contains(outputs, f.Name) && !slices.Contains(portNames(b.sig.Inputs), f.Name) {
				rec.Outputs = append(rec.Outputs, f)
			} else {
				rec.Inputs = append(rec.Inputs, f)
			}
		}
	}
}

// portOf is the input or output that a file is named after, else the only input of the model. In a
// folder every file is named after one.
func (b *builder) portOf(f *format.TensorFile) (backends.Port, bool) {
	all := slices.Concat(b.sig.Inputs, b.sig.Outputs)
	for _, name := range [...]string{f.Name, format.Stem(f.Name)} {
		for _, p := range all {
			if p.Name == name {
				return p, true
			}
		}
	}
	if b.dataset.Dir == nil && len(b.sig.Inputs) == 1 {
		return b.sig.Inputs[0], true
	}
	allowed := portNames(all)
	d := b.fail(f.From.Pos, "unknown-tensor", "%s is named after no input or output of model %q",
		f.From.Name, b.sig.Model)
	d.Allowed, d.Nearest = allowed, source.Nearest(format.Stem(f.Name), allowed)
	return backends.Port{}, false
}
