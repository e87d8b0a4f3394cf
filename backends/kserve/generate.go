package kserve

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

// Generate is the endpoint that takes inputs, and gives outputs, as members of a JSON object.
const Generate = "generate"

// generates reports whether requests go to that endpoint.
func (c *HTTP) generates() bool { return c.target.Endpoint == Generate }

// prepareObject encodes a request of the generate extension: {"id":…, input: value or list, …, "parameters":{…}}. A tensor of
// one element is a value, any other a flat list: the server knows the shapes.
func (c *HTTP) prepareObject(r *backends.Request) (*backends.Call, error) {
	path := modelPath(r.Model, r.ModelVersion) + "/generate"
	if c.target.Streaming {
		path += "_stream"
	}
	if r.Body != nil {
		return c.prepareBody(r, path)
	}
	var text holes
	text.text(`{"id":"`)
	text.place(backends.FieldID, idHole)
	text.text(`"`)
	for i := range r.Inputs {
		in := &r.Inputs[i]
		text.bytes = append(appendJSON(append(text.bytes, ','), in.Name), ':')
		var err error
		if text.bytes, err = appendObject(text.bytes, in); err != nil {
			return nil, fmt.Errorf("input %s: %w", in.Name, err)
		}
	}
	for i, p := range r.Parameters {
		text.text(map[bool]string{true: `,"parameters":{`, false: ","}[i == 0])
		text.bytes = appendJSON(append(appendJSON(text.bytes, p.Name), ':'), p.Value)
	}
	if len(r.Parameters) > 0 {
		text.text("}")
	}
	text.text("}")
	headers, err := c.headers(r.Headers, len(text.bytes), false)
	if err != nil {
		return nil, err
	}
	head, places, err := http1.Encode(http1.Request{
		Method: "POST", Host: c.end.authority, Path: c.end.prefix + path, Headers: headers, Prefix: text.bytes, Holes: text.list,
	})
	if err != nil {
		return nil, err
	}
	return &backends.Call{Size: len(head), Row: r.Row, Items: r.Items, Head: head, Holes: places, Impl: expect(r, nil)}, nil
}

// appendObject appends a tensor's elements as JSON.
func appendObject(dst []byte, t *backends.Tensor) ([]byte, error) {
	n, err := backends.Elements(t.Shape)
	if err != nil {
		return dst, err
	}
	if n != 1 {
		dst = append(dst, '[')
	}
	data := t.Data
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		size := t.Type.Size()
		if t.Type == backends.Bytes {
			size = 4 + int(binary.LittleEndian.Uint32(data)) // checkTensor has counted them
			if !utf8.Valid(data[4:size]) {
				return dst, fmt.Errorf("[%d] is no UTF-8, which JSON cannot hold", i)
			}
			dst = appendJSON(dst, string(data[4:size]))
		} else if dst = backends.AppendValue(dst, t.Type, data); !finite(dst) {
			return dst, fmt.Errorf("[%d] is not finite, which JSON cannot hold", i)
		}
		data = data[size:]
	}
	if n != 1 {
		dst = append(dst, ']')
	}
	return dst, nil
}

// finite reports whether the number that text ends with is one in JSON.
func finite(text []byte) bool {
	last := text[len(text)-1]
	return last != 'N' && last != 'f' // of NaN, of Inf
}
