package feed

import (
	"encoding/json"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/scenario"
)

// emptyBody returns the only row of a plan without data, for a kind that takes whole bodies: a request
// without a body, such as a GET.
func emptyBody() []row {
	rec := &format.Record{From: &format.Origin{Name: "the empty body"}, Stream: -1}
	return []row{{rec: rec, body: []byte{}}}
}

// bodyRows makes rows of whole bodies: what the row holds as one, or the object of its columns.
func bodyRows(b *build, r *format.Rows) []row {
	b.diags = append(b.diags, r.Diags...)
	if len(r.Tensors) > 0 {
		b.fail(b.dataset.Pos, "data-file", "files of tensors cannot be sent to target %q, which takes whole bodies",
			b.request.Target.Name).Help("send each file as it is: data: {bodies: FILES}")
	}
	rows := make([]row, 0, len(r.Records))
	for i := range r.Records {
		rec := &r.Records[i]
		made := row{rec: rec, body: rec.Body, values: valuesOf(b, rec)}
		if !made.whole() {
			made.body, rec.Type = objectOf(rec.Inputs), "application/json"
		}
		rows = append(rows, made)
	}
	return rows
}

// objectOf returns the JSON object of a row's columns. A cell is a number, true, false or a string; an
// empty one is left out.
func objectOf(fields []format.Field) []byte {
	object := map[string]any{}
	for i := range fields {
		v := &fields[i].Value
		if v.Form != format.Cell {
			object[fields[i].Name] = json.RawMessage(v.Text)
		} else if value, ok := format.Scalar(v); ok && value != nil {
			object[fields[i].Name] = value
		}
	}
	text, _ := json.Marshal(object) // of scalars and valid JSON
	return text
}

// valuesOf returns the values that a row expects in the reply.
func valuesOf(b *build, rec *format.Record) (list []backends.Field) {
	if e := b.request.Expect; e != nil && !e.Outputs {
		return nil
	}
	for i := range rec.Outputs {
		f := &rec.Outputs[i]
		value, ok := format.Scalar(&f.Value)
		if !ok {
			b.fail(rec.From.Pos, "data-file", "%s: the value expected at %q must be text, a number, a bool "+
				"or null", rec.Name(), f.Name)
			return nil
		}
		list = append(list, backends.Field{Path: f.Name, Want: value})
	}
	return list
}

// partsOf returns the parts of the forms of a batch, together; nil: they are none.
func partsOf(rows []row) (parts []backends.Part) {
	for i := range rows {
		parts = append(parts, rows[i].rec.Parts...)
	}
	return parts
}

// countersOf returns the numbers that differ from request to request.
func countersOf(d *scenario.Dataset) (list []backends.Counter) {
	for _, c := range d.Counters {
		list = append(list, backends.Counter{Path: c.Field, From: uint64(c.From), To: uint64(c.To)})
	}
	return list
}

// expectValues adds what the rows of a request expect to what the plan does.
func expectValues(req *backends.Request, rows []row) {
	for i := range rows {
		if len(rows[i].values) == 0 {
			continue
		}
		if req.Expect == nil {
			req.Expect = &backends.Expect{}
		}
		req.Expect.Fields = slices.Concat(req.Expect.Fields, rows[i].values)
	}
}
