package tfserving

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
)

// rowsOf returns the size of the first dimension of all inputs, which rows must share.
func rowsOf(r *backends.Request) (int64, error) {
	rows := int64(-1)
	for i := range r.Inputs {
		in := &r.Inputs[i]
		switch {
		case len(in.Shape) == 0:
			return 0, fmt.Errorf("input %s is a scalar, which rows cannot hold: write tensors: {layout: columns}",
				in.Name)
		case rows >= 0 && in.Shape[0] != rows:
			return 0, fmt.Errorf("input %s has %d rows, and those before it %d: write tensors: {layout: columns}",
				in.Name, in.Shape[0], rows)
		}
		rows = in.Shape[0]
	}
	if rows <= 0 {
		return 0, errors.New("the request has no row")
	}
	return rows, nil
}

// encode returns the JSON of a predict request: the instances, each an object of all inputs, or the
// inputs, each with all rows. A single input is written without its name.
func (c *rest) encode(r *backends.Request, rows bool, items int64) (text []byte, err error) {
	text = append(text, '{')
	if name := c.target.Signature; name != "" {
		text = append(appendText(append(text, `"signature_name":`...), name), ',')
	}
	if !rows {
		text, err = appendInputs(append(text, `"inputs":`...), r.Inputs, func(t *backends.Tensor) (int64, []int64) {
			return 0, t.Shape
		})
		return append(text, '}'), err
	}
	text = append(text, `"instances":[`...)
	for row := range items {
		if row > 0 {
			text = append(text, ',')
		}
		text, err = appendInputs(text, r.Inputs, func(t *backends.Tensor) (int64, []int64) {
			return row, t.Shape[1:]
		})
		if err != nil {
			return nil, err
		}
	}
	return append(text, "]}"...), nil
}

// appendInputs appends a part of each input: that of an index, of a shape.
func appendInputs(
	text []byte, inputs []backends.Tensor, part func(*backends.Tensor) (index int64, shape []int64),
) (_ []byte, err error) {
	alone := len(inputs) == 1
	for i := range inputs {
		t := &inputs[i]
		if !alone {
			text = append(appendText(append(text, "{,"[min(i, 1)]), t.Name), ':')
		}
		index, shape := part(t)
		e := elements{t: t, rest: t.Data}
		n, _ := tensor.Elements(shape) // checked with the request
		e.skip(index * n)
		if text, err = e.append(text, shape); err != nil {
			return nil, fmt.Errorf("input %s: %w", t.Name, err)
		}
	}
	if !alone {
		text = append(text, '}')
	}
	return text, nil
}

// elements are the elements of a tensor, from the first that is not written yet.
type elements struct {
	t    *backends.Tensor
	rest []byte
}

func (e *elements) skip(n int64) {
	if size := int64(e.t.Type.Size()); size > 0 {
		e.rest = e.rest[n*size:]
		return
	}
	for range n {
		_, e.rest, _ = tensor.CutElement(e.rest)
	}
}

// append appends the elements of a shape as nested lists.
func (e *elements) append(text []byte, shape []int64) (_ []byte, err error) {
	if len(shape) == 0 {
		return e.appendOne(text)
	}
	text = append(text, '[')
	for i := range shape[0] {
		if i > 0 {
			text = append(text, ',')
		}
		if text, err = e.append(text, shape[1:]); err != nil {
			return nil, err
		}
	}
	return append(text, ']'), nil
}

// appendOne appends the next element. Names that end in _bytes, and texts that JSON cannot hold, are
// base64.
func (e *elements) appendOne(text []byte) ([]byte, error) {
	t := e.t.Type
	switch t {
	case tensor.Bytes:
		one, rest, _ := tensor.CutElement(e.rest)
		if e.rest = rest; utf8.Valid(one) && !strings.HasSuffix(e.t.Name, "_bytes") {
			return appendText(text, string(one)), nil
		}
		text = base64.StdEncoding.AppendEncode(append(text, `{"b64":"`...), one)
		return append(text, `"}`...), nil
	case tensor.FP16, tensor.BF16, tensor.Uint16:
		return nil, fmt.Errorf("TensorFlow Serving takes no %s over REST: use grpc://", t)
	}
	start := len(text)
	text = tensor.AppendValue(text, t, e.rest)
	e.rest = e.rest[t.Size():]
	switch string(text[start:]) { // as the server's parser has them
	case "+Inf":
		return append(text[:start], "Infinity"...), nil
	case "-Inf":
		return append(text[:start], "-Infinity"...), nil
	}
	return text, nil
}

// appendText appends a JSON string.
func appendText(text []byte, s string) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // cannot fail for a string
	return append(text, strings.TrimSuffix(b.String(), "\n")...)
}

// json returns the body of a request with a signature's name; "": the server's default.
func (e *examples) json(signature string) ([]byte, error) {
	return json.Marshal(struct {
		Signature string            `json:"signature_name,omitempty"`
		Context   json.RawMessage   `json:"context,omitempty"`
		Examples  []json.RawMessage `json:"examples"`
	}{signature, e.context, e.list})
}
