package feed

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/executor/feed/format"
)

// checkText refuses parts of a request that only tensors have, and data without text.
func checkText(b *build) {
	const takes = "endpoint takes text, not tensors"
	for _, o := range b.request.Outputs {
		b.fail(o.Pos, "no-tensors", "output %q: the "+takes, o.Name).Help("remove `outputs`")
	}
	for _, s := range b.request.Shapes {
		b.fail(s.Pos, "no-tensors", "shape of %q: the "+takes, s.Input).Help("remove `shapes`")
	}
	if b.dataset.Generate != nil {
		b.fail(b.dataset.Pos, "no-tensors", "generated data are tensors, and the "+takes).
			Help(`give rows of text: data: {rows: [{prompt: "…"}]}, or data: {file: rows.jsonl}`)
	}
}

// textRows makes rows of text: the members of each record as JSON, in their order.
func textRows(b *build, r *format.Rows) []row {
	b.diags = append(b.diags, r.Diags...)
	if len(r.Tensors) > 0 {
		b.fail(b.dataset.Pos, "no-tensors", "files of tensors cannot be sent: the endpoint takes text")
	}
	if b.diags.HasErrors() {
		return nil
	}
	return eachRow(b, r, fillText)
}

// payload is the member that holds a whole body, as in perf_analyzer's files for its service kind
// openai.
const payload = "payload"

// fillText makes the members of a row.
func fillText(b *build, r *row) {
	if len(r.rec.Outputs)+len(r.rec.Wanted) > 0 {
		b.fail(r.rec.From.Pos, "no-tensors", "%s has outputs, which are tensors", r.rec.Name())
		return
	}
	checkEndpoint(b, r.rec)
	if r.rec.Blocks != nil {
		text, err := b.blocks.prompt(b, r.rec)
		if err != nil {
			b.fail(r.rec.From.Pos, "text", "%s: %s", r.rec.Name(), err)
		}
		r.members = append(r.members, backends.Member{Name: "prompt", Value: text})
	}
	for i := range r.rec.Inputs {
		f := &r.rec.Inputs[i]
		value, ok := memberValue(f)
		switch {
		case f.Meta || value == nil:
		case !ok:
			b.fail(r.rec.From.Pos, "text", "%s: %q is no JSON", r.rec.Name(), f.Name)
		case f.Name == payload:
			r.body = value
		case media[f.Name] != nil && slices.Contains(partsAt, b.sig.Endpoint):
			value, err := media[f.Name](b, r.rec, value)
			if err != nil {
				b.fail(r.rec.From.Pos, "data-file", "%s: %s", r.rec.Name(), err)
			}
			r.members = append(r.members, backends.Member{Name: f.Name, Value: value})
		default:
			r.members = append(r.members, backends.Member{Name: f.Name, Value: value})
		}
	}
	if r.body != nil && len(r.members) > 0 {
		b.fail(r.rec.From.Pos, "text", "%s has %q beside a whole body", r.rec.Name(), r.members[0].Name)
	}
}

// texts are the members that are strings, also if a cell looks like a number.
var texts = []string{"prompt", "text", "text_input", "input", "query"}

// memberValue returns the value of a field as JSON; nil: it is not given. A cell is a string unless it
// is a number, or a conversation by its column's name. The lists of perf_analyzer's files hold one value each.
func memberValue(f *format.Field) (value []byte, ok bool) {
	text := bytes.TrimSpace(f.Value.Text)
	isCell, isList := f.Value.Form == format.Cell, f.Value.Form == format.JSONTensor
	switch {
	case isCell && len(text) == 0:
		return nil, true
	case isCell && f.Name != "messages" && (slices.Contains(texts, f.Name) || !jsonscan.IsNumber(text)):
		value, err := json.Marshal(string(f.Value.Text))
		return value, err == nil
	case isList && len(text) > 0 && text[0] == '[':
		text = bytes.TrimSpace(bytes.TrimSuffix(text[1:], []byte{']'}))
	}
	return text, json.Valid(text)
}

// checkEndpoint refuses a row for another endpoint than the target's.
func checkEndpoint(b *build, rec *format.Record) {
	want := format.Endpoint(rec.Path)
	if rec.Path == "" || want == b.sig.Endpoint {
		return
	}
	d := b.fail(rec.From.Pos, "endpoint", "%s is for %s, and the endpoint of target %q is %s", rec.Name(), rec.Path,
		b.request.Target.Name, b.sig.Endpoint)
	if want != "" {
		d.Detail = "write `endpoint: " + want + "` at the target, or split the file by its urls"
	}
}
