package feed

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// batches joins rows into requests: request i takes rows i*B … i*B+B-1, wrapping, until they repeat.
func (b *builder) batches(rows []row) []backends.Request {
	size := max(b.request.Batch, 1)
	if len(rows) == 0 || !b.checkItems(rows, size) {
		return nil
	}
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
			b.fail(b.dataset.Pos, "batch", "%s: %s", part[0].name(), err)
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

// checkItems refuses rows that are whole batches where the plan asks for batches of its own, or
// more than the model takes.
func (b *builder) checkItems(rows []row, size int) bool {
	for i := range rows {
		r := &rows[i]
		switch {
		case size > 1 && r.body != nil:
			b.fail(b.request.BatchPos, "batch",
				"batch is %d, but this data holds whole bodies, which cannot be joined", size)
		case size > 1 && r.items > 1:
			b.fail(b.request.BatchPos, "batch", "batch is %d, but %s is a batch of %d already",
				size, r.name(), r.items)
		case b.sig.MaxBatch > 0 && r.items > int64(b.sig.MaxBatch):
			b.fail(r.rec.From.Pos, "batch", "%s is a batch of %d, model %q takes at most %d",
				r.name(), r.items, b.sig.Model, b.sig.MaxBatch)
		default:
			continue
		}
		return false
	}
	return true
}

// join makes one request of the rows of a batch.
func (b *builder) join(rows []row) (backends.Request, error) {
	first := &rows[0]
	items := max(int64(len(rows)), first.items)
	if first.body != nil {
		items = 0 // the backend reads them from the body
	}
	req := backends.Request{
		Model: b.request.Model, Outputs: b.wantedOutputs(), Items: uint32(items), Body: first.body,
		Parameters: parameters(b.request.Parameters), Headers: headers(b.request.Headers), Signature: &b.sig,
	}
	if err := b.own(&req, rows); err != nil {
		return req, err
	}
	var err error
	if req.Inputs, err = b.concat(rows, items, b.sig.Inputs,
		func(r *row) []backends.Tensor { return r.inputs }); err != nil {
		return req, err
	}
	outputs, err := b.concat(rows, items, nil, func(r *row) []backends.Tensor { return r.outputs })
	if err != nil {
		return req, err
	}
	req.Expect = expectation(b.request.Expect, outputs)
	if req.Expect != nil && req.Expect.Outputs != nil {
		req.Expect.Source = standing(rows)
	}
	return req, nil
}

// standing is where the rows of a request stand, where that is more than the number of a row: a
// step of a stream, a row of one of several files, or the first row of a batch.
func standing(rows []row) string {
	rec := rows[0].rec
	switch {
	case rec == nil:
		return ""
	case len(rows) > 1:
		return rec.Name() + " and those after it"
	case rec.Stream >= 0 || rec.From.Several:
		return rec.Name()
	}
	return ""
}

// own gives a request what its row says about it besides tensors. Rows of one batch must say the same.
func (b *builder) own(req *backends.Request, rows []row) error {
	rec := rows[0].rec
	if rec == nil {
		return nil
	}
	params := b.parametersOf(rec)
	for i := range rows[1:] {
		other := rows[i+1].rec
		if !slices.Equal(params, b.parametersOf(other)) || !slices.EqualFunc(rec.Wanted, other.Wanted, sameOutput) {
			return fmt.Errorf("the rows of a batch of %d do not have the same parameters and outputs", len(rows))
		}
	}
	for _, p := range params {
		at := slices.IndexFunc(req.Parameters, func(o backends.Parameter) bool { return o.Name == p.Name })
		if at < 0 {
			req.Parameters = append(req.Parameters, p)
		} else {
			req.Parameters[at] = p
		}
	}
	if len(req.Outputs) == 0 {
		req.Outputs = rec.Wanted
	}
	return nil
}

// sameOutput reports whether two rows ask for an output in the same way.
func sameOutput(a, b backends.Output) bool {
	return a.Name == b.Name && a.Classification == b.Classification && slices.Equal(a.Parameters, b.Parameters)
}

// expectation is what a reply must be; nil: nothing is compared.
func expectation(e *scenario.Expect, outputs []backends.Tensor) *backends.Expect {
	switch {
	case e == nil && outputs == nil:
		return nil
	case e == nil:
		return &backends.Expect{Outputs: outputs}
	}
	out := &backends.Expect{
		Status: e.Status, Share: backends.ShareOf(e.Sample), Relative: e.Relative, Absolute: e.Absolute,
	}
	for _, f := range e.Fields {
		out.Fields = append(out.Fields, backends.Field{Path: f.Name, Want: f.Value})
	}
	if e.Outputs {
		out.Outputs = outputs
	}
	return out
}

// concat joins the tensors of one name over the rows of a batch. Optional ones are in all rows or
// in none. A tensor that holds a shape goes once, without the batch dimension, and must be the same
// in all rows.
func (b *builder) concat(
	rows []row, items int64, ports []backends.Port, of func(*row) []backends.Tensor,
) ([]backends.Tensor, error) {
	firsts := of(&rows[0])
	var out []backends.Tensor
	if len(firsts) > 0 {
		out = make([]backends.Tensor, 0, len(firsts))
	}
	for i, t := range firsts {
		whole := slices.ContainsFunc(ports, func(p backends.Port) bool { return p.ShapeTensor && p.Name == t.Name })
		for j := range rows[1:] {
			tensors := of(&rows[j+1])
			switch {
			case len(tensors) != len(firsts) || tensors[i].Name != t.Name:
				return nil, fmt.Errorf("the rows of a batch of %d do not have the same tensors (%q is missing in one)",
					len(rows), missing(firsts, tensors))
			case !slices.Equal(tensors[i].Shape, firsts[i].Shape):
				return nil, fmt.Errorf("the rows of a batch of %d have %q in the shapes %v and %v",
					len(rows), t.Name, firsts[i].Shape, tensors[i].Shape)
			case !slices.Equal(tensors[i].Parameters, t.Parameters):
				return nil, fmt.Errorf("the rows of a batch of %d do not have the same parameters of %q",
					len(rows), t.Name)
			case whole && !bytes.Equal(tensors[i].Data, t.Data):
				return nil, fmt.Errorf(
					"%q holds a shape, which is sent once for the whole batch of %d, and the rows have different ones",
					t.Name, len(rows))
			case !whole:
				t.Data = append(t.Data[:len(t.Data):len(t.Data)], tensors[i].Data...)
			}
		}
		if b.sig.Batched && !whole {
			t.Shape = append([]int64{items}, t.Shape...)
		}
		out = append(out, t)
	}
	for j := range rows[1:] {
		if tensors := of(&rows[j+1]); len(tensors) > len(firsts) {
			return nil, fmt.Errorf("the rows of a batch of %d do not have the same tensors (%q is missing in one)",
				len(rows), missing(firsts, tensors))
		}
	}
	return out, nil
}

// missing is the name of a tensor that only one of two rows has.
func missing(a, b []backends.Tensor) string {
	for _, lists := range [][2][]backends.Tensor{{a, b}, {b, a}} {
		for _, t := range lists[0] {
			if !slices.ContainsFunc(lists[1], func(o backends.Tensor) bool { return o.Name == t.Name }) {
				return t.Name
			}
		}
	}
	return ""
}

// delays are the pauses that rows ask for, by request: that of its first row.
func (b *builder) delays(rows []row, requests int) []int64 {
	if !slices.ContainsFunc(rows, func(r row) bool { return r.rec != nil && r.rec.Delay != nil }) {
		return nil
	}
	unit := format.TimeUnit(b.dataset)
	delays := make([]int64, requests)
	for i := range delays {
		delays[i] = -1
		rec := rows[i*max(b.request.Batch, 1)%len(rows)].rec
		if rec.Delay == nil {
			continue
		}
		ns, err := format.Timestamp("delay", rec.Delay, unit)
		if err != nil {
			b.fail(rec.From.Pos, "timestamps", "%s: %s", rec.Name(), err)
			return nil
		}
		delays[i] = ns
	}
	return delays
}
