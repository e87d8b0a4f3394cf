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

// mostMistakes limits the diagnostics of rows: those of one kind repeat in every row.
const mostMistakes = 20

// fileRows makes the tensors of the rows that were read.
func fileRows(b *build, r *format.Rows) []row {
	b.diags = append(b.diags, r.Diags...)
	checkColumns(b)
	if r.Tensors != nil {
		joinFiles(b, r)
	}
	if b.diags.HasErrors() {
		return nil
	}
	return eachRow(b, r, fillRow)
}

// eachRow makes a row of each record; fill makes what a record without a whole body says.
func eachRow(b *build, r *format.Rows, fill func(*build, *row)) []row {
	rows := make([]row, 0, len(r.Records))
	for i := range r.Records {
		rec := &r.Records[i]
		made := row{rec: rec, body: rec.Body}
		if rec.Body == nil {
			fill(b, &made)
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

// checkColumns refuses columns that make no part of a request of tensors.
func checkColumns(b *build) {
	for _, c := range b.dataset.Columns {
		if field := format.ColumnField(c.Field); strings.HasPrefix(field, "inputs.") && field != c.Field {
			b.fail(c.Pos, "column", "nothing reads %q: model %q takes tensors", c.Field, b.sig.Model).
				Help("name the column after an input: inputs.NAME")
		}
	}
}

// fillRow makes the inputs and expected outputs of a row, in the order of the model's ports.
func fillRow(b *build, r *row) {
	before := len(b.diags)
	r.inputs = tensorsOf(b, r, r.rec.Inputs, b.sig.Inputs, "input")
	if missing := missingInputs(b, r.inputs); missing != "" && before == len(b.diags) {
		b.fail(r.rec.From.Pos, "missing-tensor", "%s has no data for %s", r.rec.Name(), missing)
	}
	wanted := wantedOutputs(b)
	if len(wanted) == 0 {
		wanted = r.rec.Wanted
	}
	r.outputs = returned(b, r, tensorsOf(b, r, r.rec.Outputs, outputsOf(b, wanted), "output"), wanted)
	for _, o := range r.rec.Wanted {
		checkName(b, r.rec, "output", o.Name, b.sig.Outputs)
		checkClasses(b, r.rec.From.Pos, r.rec.Name(), o)
	}
}

// returned keeps the expected outputs that come back: those that the request asks for, or all. It
// warns once of each that it leaves out.
func returned(b *build, r *row, expected []backends.Tensor, wanted []backends.Output) []backends.Tensor {
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
			b.warn(pos, codeUnasked,
				"output %q is expected by %s and not among those asked for: it is not compared", t.Name,
				r.rec.Name())
		}
		return true
	})
}

// tensorsOf makes the tensors of a row for the model's inputs or outputs; what says which.
func tensorsOf(b *build, r *row, list []format.Field, ports []backends.Port, what string) []backends.Tensor {
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
			b.fail(r.rec.From.Pos, "tensor", "%s: %s %q is there %d times", r.rec.Name(), what, p.Name,
				times)
			continue
		}
		if absent(p, v, what) {
			continue
		}
		t, items, err := decode(b, p, v, what)
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
				checkName(b, r.rec, what, f.Name, ports)
			}
		}
	}
	return out
}

// absent reports whether a value means that the row has none. Of strings that a model needs, an
// empty cell is the empty string.
func absent(p *backends.Port, v *format.Value, what string) bool {
	if v.Form == format.Cell {
		return len(bytes.TrimSpace(v.Text)) == 0 && (p.Type != tensor.Bytes || p.Optional || what == "output")
	}
	return v.Form == format.JSONAny && string(v.Text) == "null"
}

// checkName refuses a name in a row that the model does not have.
func checkName(b *build, rec *format.Record, what, name string, ports []backends.Port) {
	if findPort(ports, name) != nil {
		return
	}
	d := b.checkPort(rec.From.Pos, rec.Name(), what, name, ports)
	switch {
	case (name == "shape" || name == "content" || name == "b64") && len(ports) > 0:
		d.Detail = fmt.Sprintf(`put it inside the tensor: {"%s": {"content": […], "shape": […]}}`,
			ports[0].Name)
	case rec.From.Unit == "line" && b.dataset.Columns == nil:
		d.Detail = "say under `columns` which ones are read: columns: {inputs.NAME: column}"
	}
}

// parametersOf returns the parameters of a row.
func parametersOf(b *build, rec *format.Record) []backends.Parameter {
	var out []backends.Parameter
	body := slices.ContainsFunc(rec.Inputs, func(f format.Field) bool { return f.Value.Type != "" })
	for _, f := range rec.Parameters {
		if body && f.Name == wholeRaw {
			continue
		}
		v, ok := format.Scalar(&f.Value)
		switch n, float := v.(float64); {
		case float && !bytes.ContainsAny(f.Value.Text, ".eE") && math.Abs(n) >= 1<<63:
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

// joinFiles makes rows of files that are one tensor each, now that the model says which.
func joinFiles(b *build, r *format.Rows) {
	rows := map[string][]format.Value{}
	var firsts []*format.TensorFile // of each tensor
	var order []*backends.Port
	for i := range r.Tensors {
		f := &r.Tensors[i]
		p := portOf(b, f)
		if p == nil {
			continue
		}
		if n := f.Rows(*p); n > format.MaxRows {
			b.fail(f.From.Pos, "data-size", "%s has %d rows, no more than %d can be held",
				f.From.Name, n, format.MaxRows)
			return
		}
		if rows[p.Name] == nil {
			order, firsts = append(order, p), append(firsts, f)
		}
		rows[p.Name] = append(rows[p.Name], f.Values(*p)...)
	}
	for i, p := range order {
		if n, first := len(rows[p.Name]), len(rows[order[0].Name]); n != first {
			b.fail(firsts[i].From.Pos, "tensor", "%s has %d rows, %s has %d",
				firsts[i].From.Name, n, firsts[0].From.Name, first)
			return
		}
	}
	for i, p := range order {
		isInput := findPort(b.sig.Inputs, p.Name) != nil
		for n, v := range rows[p.Name] {
			if i == 0 {
				r.Records = append(r.Records, format.Record{From: firsts[0].From, Stream: -1, Number: n})
			}
			list := &r.Records[n].Outputs
			if isInput {
				list = &r.Records[n].Inputs
			}
			*list = append(*list, format.Field{Name: p.Name, Value: v})
		}
	}
}

// portOf returns the input or output that a file is named after, else the only input of the model; nil,
// with a diagnostic, if there is none. In a folder every file is named after one.
func portOf(b *build, f *format.TensorFile) *backends.Port {
	all := slices.Concat(b.sig.Inputs, b.sig.Outputs)
	for _, name := range [...]string{f.Name, format.Stem(f.Name)} {
		if p := findPort(all, name); p != nil {
			return p
		}
	}
	if b.dataset.Dir == nil && len(b.sig.Inputs) == 1 {
		return &b.sig.Inputs[0]
	}
	allowed := portNames(all)
	b.fail(f.From.Pos, "unknown-tensor", "%s is named after no input or output of model %q",
		f.From.Name, b.sig.Model).Among(source.Nearest(format.Stem(f.Name), allowed), allowed)
	return nil
}
