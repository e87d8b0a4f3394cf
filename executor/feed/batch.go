package feed

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/scenario"
)

// requestsOf joins rows into requests: request i takes rows i*B … i*B+B-1, wrapping, until they repeat.
func requestsOf(b *build, rows []row) []backends.Request {
	size := max(b.request.Batch, 1)
	if len(rows) == 0 || !checkItems(b, rows, size) {
		return nil
	}
	count := len(rows) / gcd(len(rows), size)
	if b.dataset.AtEnd == "stop" {
		count = len(rows) / size // each row once; what does not fill a batch is left out
		if rest := len(rows) % size; rest > 0 {
			b.warn(b.dataset.Pos, "rows-left-over",
				"%d of %d rows do not fill a batch of %d and are not sent",
				rest, len(rows), size)
		}
	}
	if size > 1 && // else the requests share the rows' bytes
		float64(held(rows))*float64(count)*float64(size)/float64(len(rows))+float64(b.bytes) > maxData {
		b.fail(b.request.BatchPos, "batch", "%d requests of %d rows: %s", count, size, errTooMuch)
		return nil
	}
	reqs := make([]backends.Request, 0, count)
	for i := range count {
		part := make([]row, size)
		for j := range part {
			part[j] = rows[(i*size+j)%len(rows)]
		}
		req, err := joinRows(b, part)
		if err != nil {
			b.fail(b.dataset.Pos, "batch", "%s: %s", part[0].rec.Name(), err)
			return nil
		}
		req.Row = uint32(i)
		reqs = append(reqs, req)
	}
	return reqs
}

// held returns the bytes of all tensors and texts.
func held(rows []row) (n int64) {
	for _, r := range rows {
		for _, list := range [][]backends.Tensor{r.inputs, r.outputs} {
			for _, t := range list {
				n += int64(len(t.Data))
			}
		}
		for _, m := range r.members {
			n += int64(len(m.Value))
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
func checkItems(b *build, rows []row, size int) bool {
	for i := range rows {
		r := &rows[i]
		switch {
		case size > 1 && r.body != nil:
			b.fail(b.request.BatchPos, "batch",
				"batch is %d, but this data holds whole bodies, which cannot be joined", size)
		case size > 1 && r.items > 1:
			b.fail(b.request.BatchPos, "batch", "batch is %d, but %s is a batch of %d already",
				size, r.rec.Name(), r.items)
		case b.sig.MaxBatch > 0 && r.items > int64(b.sig.MaxBatch):
			b.fail(r.rec.From.Pos, "batch", "%s is a batch of %d, model %q takes at most %d",
				r.rec.Name(), r.items, b.sig.Model, b.sig.MaxBatch)
		default:
			continue
		}
		return false
	}
	return true
}

// tokensOf returns the tokens of a batch of prompts; 0: those of one are unknown.
func tokensOf(rows []row) (n int) {
	for i := range rows {
		if rows[i].tokens == 0 {
			return 0
		}
		n += rows[i].tokens
	}
	return n
}

// joinRows makes one request of the rows of a batch.
func joinRows(b *build, rows []row) (req backends.Request, err error) {
	first := &rows[0]
	items := max(int64(len(rows)), first.items)
	if first.body != nil {
		items = 0 // the backend reads them from the body
	}
	req = backends.Request{
		Model: b.request.Model, Outputs: wantedOutputs(b), Items: uint32(items),
		Body: first.body, BodyType: first.rec.Type, Parts: partsOf(rows), Counters: countersOf(b.dataset),
		Parameters: parameters(b.request.Parameters), Headers: headers(b.request.Headers), Signature: &b.sig,
	}
	if err = applyRow(b, &req, rows); err != nil {
		return req, err
	}
	if b.sig.Text || b.dataset.Prompts != nil {
		for _, r := range rows {
			req.Rows, req.Vary = append(req.Rows, r.members), r.vary
		}
		req.Tokens = tokensOf(rows)
		req.Expect = expectation(b.request.Expect, nil)
		return req, nil
	}
	inputs := func(r *row) []backends.Tensor { return r.inputs }
	if req.Inputs, err = joinTensors(b, rows, items, b.sig.Inputs, inputs); err != nil {
		return req, err
	}
	outputs, err := joinTensors(b, rows, items, nil, func(r *row) []backends.Tensor { return r.outputs })
	if err != nil {
		return req, err
	}
	if req.Expect = expectation(b.request.Expect, outputs); req.Expect != nil && req.Expect.Outputs != nil {
		req.Expect.Source = placeOf(rows)
	}
	expectValues(&req, rows)
	return req, nil
}

// placeOf names the place of a request's rows if that is more than the number of a row: a step of a
// stream, a row of one of several files, or the first row of a batch.
func placeOf(rows []row) string {
	rec := rows[0].rec
	switch {
	case len(rows) > 1:
		return rec.Name() + " and those after it"
	case rec.Stream >= 0 || rec.From.Several:
		return rec.Name()
	}
	return ""
}

// applyRow gives a request what its row says about it besides tensors. Rows of one batch must say the
// same.
func applyRow(b *build, req *backends.Request, rows []row) error {
	rec := rows[0].rec
	params := parametersOf(b, rec)
	for i := range rows[1:] {
		other := rows[i+1].rec
		if !slices.Equal(params, parametersOf(b, other)) ||
			!slices.EqualFunc(rec.Wanted, other.Wanted, sameOutput) {
			return fmt.Errorf("the rows of a batch of %d do not have the same parameters and outputs",
				len(rows))
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
	return a.Name == b.Name && a.Classification == b.Classification &&
		slices.Equal(a.Parameters, b.Parameters)
}

// expectation returns what a reply must be; nil: nothing is compared.
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

// joinTensors joins the tensors of one name over the rows of a batch. Optional ones are in all rows or
// in none. A tensor that holds a shape goes once, without the batch dimension, and must be the same
// in all rows.
func joinTensors(
	b *build, rows []row, items int64, ports []backends.Port, of func(*row) []backends.Tensor,
) ([]backends.Tensor, error) {
	firsts := of(&rows[0])
	for j := range rows[1:] {
		if missing := onlyInOne(firsts, of(&rows[j+1])); missing != "" {
			return nil, fmt.Errorf(
				"the rows of a batch of %d do not have the same tensors (%q is missing in one)",
				len(rows), missing)
		}
	}
	out := append([]backends.Tensor(nil), firsts...) // nil if there are none
	for i := range out {
		t := &out[i]
		p := findPort(ports, t.Name)
		whole := p != nil && p.ShapeTensor
		for j := range rows[1:] {
			other := of(&rows[j+1])[i]
			switch {
			case !slices.Equal(other.Shape, t.Shape):
				return nil, fmt.Errorf("the rows of a batch of %d have %q in the shapes %v and %v",
					len(rows), t.Name, t.Shape, other.Shape)
			case !slices.Equal(other.Parameters, t.Parameters):
				return nil, fmt.Errorf("the rows of a batch of %d do not have the same parameters of %q",
					len(rows), t.Name)
			case whole && !bytes.Equal(other.Data, t.Data):
				return nil, fmt.Errorf(
					"%q holds a shape, which is sent once for the whole batch of %d, and the rows have "+
						"different ones",
					t.Name, len(rows))
			case !whole:
				t.Data = append(t.Data[:len(t.Data):len(t.Data)], other.Data...)
			}
		}
		if b.sig.Batched && !whole {
			t.Shape = append([]int64{items}, t.Shape...)
		}
	}
	return out, nil
}

// onlyInOne returns the name of a tensor that only one of two rows has, "" if there is none.
func onlyInOne(a, b []backends.Tensor) string {
	for _, lists := range [...][2][]backends.Tensor{{a, b}, {b, a}} {
		for _, t := range lists[0] {
			if !hasTensor(lists[1], t.Name) {
				return t.Name
			}
		}
	}
	return ""
}

// delaysOf returns the pauses that rows ask for in ns, by request: that of its first row, -1 if it asks
// for none; nil if no row does.
func delaysOf(b *build, rows []row, requests int) []int64 {
	if !slices.ContainsFunc(rows, func(r row) bool { return r.rec.Delay != nil }) {
		return nil
	}
	delays := make([]int64, requests)
	for i := range delays {
		delays[i] = -1
		rec := rows[i*max(b.request.Batch, 1)%len(rows)].rec
		if rec.Delay == nil {
			continue
		}
		ns, err := format.Timestamp("delay", rec.Delay, format.TimeUnit(b.dataset, rec))
		if err != nil {
			b.fail(rec.From.Pos, "timestamps", "%s: %s", rec.Name(), err)
			return nil
		}
		delays[i] = ns
	}
	return delays
}
