package feed

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/scenario/source"
)

// mostMistakes is how many are told: those of one kind repeat in every row.
const mostMistakes = 20

// rows makes the tensors of the rows that were read.
func (b *builder) rows(r *reader) []row {
	b.diags = append(b.diags, r.diags...)
	b.unread()
	if r.tensors != nil {
		b.fileRecords(r)
	}
	if b.diags.HasErrors() {
		return nil
	}
	rows := make([]row, 0, len(r.records))
	for i := range r.records {
		rec := &r.records[i]
		made := row{rec: rec, body: rec.body}
		if rec.body == nil {
			b.tensors(&made)
		}
		if len(b.diags) >= mostMistakes {
			break
		}
		if b.bytes += held([]row{made}); b.bytes > maxData {
			b.fail(rec.from.pos, "data-size", "%s: %s", rec.name(), errTooMuch)
			break
		}
		rows = append(rows, made)
	}
	return rows
}

// unread refuses columns that make no part of a request of tensors.
func (b *builder) unread() {
	for _, c := range b.dataset.Columns {
		if field := fieldOf(c.Field); strings.HasPrefix(field, "inputs.") && field != c.Field {
			b.fail(c.Pos, "column", "nothing reads %q: model %q takes tensors", c.Field, b.sig.Model).
				Detail = "name the column after an input: inputs.NAME"
		}
	}
}

// tensors makes the inputs and expected outputs of a row, in the order of the model's ports.
func (b *builder) tensors(r *row) {
	before := len(b.diags)
	r.inputs = b.side(r, r.rec.inputs, b.sig.Inputs, "input")
	if missing := b.missing(r.inputs); missing != "" && before == len(b.diags) {
		b.fail(r.rec.from.pos, "missing-tensor", "%s has no data for %s", r.rec.name(), missing)
	}
	wanted := b.wantedOutputs()
	if len(wanted) == 0 {
		wanted = r.rec.wanted
	}
	r.outputs = b.asked(r, b.side(r, r.rec.outputs, b.outputsOf(wanted), "output"), wanted)
	for _, o := range r.rec.wanted {
		b.knownIn(r.rec, "output", o.Name, b.sig.Outputs)
		b.checkClasses(r.rec.from.pos, r.rec.name(), o)
	}
}

// asked are the expected outputs that come back: those that the request asks for, or all. Those left out are told once.
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
			pos := r.rec.from.pos
			if len(b.request.Outputs) > 0 {
				pos = b.request.Outputs[0].Pos
			}
			b.diags = append(b.diags, source.Diagnostic{
				Severity: source.Warning, Code: codeUnasked, Pos: pos,
				Summary: fmt.Sprintf("output %q is expected by %s and not among those asked for: it is not compared", t.Name, r.rec.name()),
			})
		}
		return true
	})
}

func (b *builder) side(r *row, list []field, ports []backends.Port, what string) []backends.Tensor {
	if len(list) == 0 {
		return nil
	}
	out := make([]backends.Tensor, 0, len(list))
	found := 0
	for i := range ports {
		p := &ports[i]
		v, times := find(list, p.Name)
		if v == nil {
			continue
		}
		found += times
		if times > 1 {
			b.fail(r.rec.from.pos, "tensor", "%s: %s %q stands there %d times", r.rec.name(), what, p.Name, times)
			continue
		}
		if absent(p, v, what) {
			continue
		}
		t, items, err := b.decode(p, v, what)
		switch {
		case err != nil:
			b.fail(r.rec.from.pos, "tensor", "%s, %s %q%s", r.rec.name(), what, p.Name, err)
			continue
		case v.typ != "" && items != r.items && !p.ShapeTensor && len(out) > 0:
			b.fail(r.rec.from.pos, "tensor", "%s: %s %q has a batch of %d, others have %d", r.rec.name(), what, p.Name, items, r.items)
			continue
		}
		r.items = max(r.items, items)
		out = append(out, t)
	}
	if found < len(list) {
		for _, f := range list {
			if !f.meta {
				b.knownIn(r.rec, what, f.name, ports)
			}
		}
	}
	return out
}

// absent reports whether a value means that the row has none. Of strings that a model needs, an empty cell is the empty
// string.
func absent(p *backends.Port, v *value, what string) bool {
	switch v.form {
	case cell:
		return len(strings.TrimSpace(string(v.text))) == 0 && (p.Type != tensor.Bytes || p.Optional || what == "output")
	case jsonAny:
		return string(v.text) == "null"
	case jsonTensor, content, v2JSON, v2Raw, arrayRow:
	}
	return false
}

// knownIn refuses a name that the model does not have.
func (b *builder) knownIn(rec *record, what, name string, ports []backends.Port) {
	allowed := portNames(ports)
	if slices.Contains(allowed, name) {
		return
	}
	d := b.fail(rec.from.pos, "unknown-tensor", "%s: model %q has no %s %q", rec.name(), b.sig.Model, what, name)
	d.Allowed, d.Nearest = allowed, source.Nearest(name, allowed)
	switch {
	case (name == "shape" || name == "content" || name == "b64") && len(allowed) > 0:
		d.Detail = fmt.Sprintf(`put it inside the tensor: {"%s": {"content": […], "shape": […]}}`, allowed[0])
	case rec.from.unit == "line" && b.dataset.Columns == nil:
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
func (b *builder) parametersOf(rec *record) []backends.Parameter {
	var out []backends.Parameter
	body := slices.ContainsFunc(rec.inputs, func(f field) bool { return f.value.typ != "" })
	for _, f := range rec.parameters {
		if body && f.name == wholeRaw {
			continue
		}
		v, ok := scalar(&f.value)
		switch n, float := v.(float64); {
		case float && isWhole(f.value.text) && math.Abs(n) >= 1<<63:
			b.fail(rec.from.pos, "parameter", "%s: parameter %q is %s, which 64 bits with a sign do not hold", rec.name(), f.name, f.value.text)
		case !ok:
			b.fail(rec.from.pos, "parameter", "%s: parameter %q is %s; it must be text, a number or a bool", rec.name(), f.name, jsonscan.Kind(f.value.text))
		}
		if v != nil {
			out = append(out, backends.Parameter{Name: f.name, Value: v})
		}
	}
	return out
}

// wholeRaw is the parameter of a v2 body that asks for outputs as raw bytes: how they come is decided by the target's `tensors`.
const wholeRaw = "binary_data_output"

// isWhole reports whether a number is written without a fraction and an exponent.
func isWhole(text []byte) bool { return !bytes.ContainsAny(text, ".eE") }

// scalar is the bool, int64, float64 or string that a value is; nil: none.
func scalar(v *value) (any, bool) {
	text := string(v.text)
	switch {
	case text == "true" || text == "false":
		return text == "true", true
	case jsonscan.IsNumber(v.text):
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, true
		}
		f, err := strconv.ParseFloat(text, 64)
		return f, err == nil
	case v.form == cell:
		if text == "" {
			return nil, true
		}
		return text, true
	case text == "null":
		return nil, true
	case jsonscan.Kind(v.text) == "a string":
		return plainText(v.text), true
	}
	return nil, false
}

// fileRecords makes rows of files that are one tensor each, now that the model says which.
func (b *builder) fileRecords(r *reader) {
	rows := map[string][]value{}
	var firsts []*tensorFile // of each tensor
	var order []string
	for i := range r.tensors {
		f := &r.tensors[i]
		p, ok := b.portOf(f)
		if !ok {
			continue
		}
		if n := f.rows(p); n > maxRows {
			b.fail(f.from.pos, "data-size", "%s has %d rows, no more than %d can be held", f.from.name, n, maxRows)
			return
		}
		if rows[p.Name] == nil {
			order, firsts = append(order, p.Name), append(firsts, f)
		}
		rows[p.Name] = append(rows[p.Name], f.values(p)...)
	}
	for i, name := range order {
		if n, first := len(rows[name]), len(rows[order[0]]); n != first {
			b.fail(firsts[i].from.pos, "tensor", "%s has %d rows, %s has %d", firsts[i].from.name, n, firsts[0].from.name, first)
			return
		}
	}
	outputs := portNames(b.sig.Outputs)
	for i := range order {
		for n, v := range rows[order[i]] {
			if i == 0 {
				r.records = append(r.records, record{from: firsts[0].from, stream: -1, number: n})
			}
			rec, f := &r.records[n], field{name: order[i], value: v}
			if slices.Contains(outputs, f.name) && !slices.Contains(portNames(b.sig.Inputs), f.name) {
				rec.outputs = append(rec.outputs, f)
			} else {
				rec.inputs = append(rec.inputs, f)
			}
		}
	}
}

// portOf is the input or output that a file is named after, else the only input of the model. In a folder every file is
// named after one.
func (b *builder) portOf(f *tensorFile) (backends.Port, bool) {
	all := slices.Concat(b.sig.Inputs, b.sig.Outputs)
	for _, name := range [...]string{f.name, stem(f.name)} {
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
	d := b.fail(f.from.pos, "unknown-tensor", "%s is named after no input or output of model %q", f.from.name, b.sig.Model)
	d.Allowed, d.Nearest = allowed, source.Nearest(stem(f.name), allowed)
	return backends.Port{}, false
}

// rows is how many a file has: an array with a dimension more than the model's tensor holds one in each entry of the first;
// -1: the whole is one tensor.
func (f *tensorFile) rows(p backends.Port) int {
	if f.array == nil || len(f.array.shape) != len(p.Shape)+1 {
		return -1
	}
	return f.array.rows()
}

// values are a file's rows.
func (f *tensorFile) values(p backends.Port) []value {
	rows := f.rows(p)
	switch {
	case f.array == nil:
		return []value{{form: content, text: f.text}}
	case rows < 0:
		return []value{{form: arrayRow, array: f.array, arrayRow: -1}}
	}
	list := make([]value, rows)
	for i := range list {
		list[i] = value{form: arrayRow, array: f.array, arrayRow: i}
	}
	return list
}
