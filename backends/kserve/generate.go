package kserve

import (
	"errors"
	"fmt"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
)

// Generate is the endpoint whose inputs and outputs are members of a JSON object.
const Generate = "generate"

// usesGenerate reports whether requests go to that endpoint.
func (c *HTTP) usesGenerate() bool { return c.target.Endpoint == Generate }

// streamsEvents reports whether the responses of a target are events, which are read one by one.
func streamsEvents(t *backends.Target) bool { return t.Endpoint == Generate && t.Streaming }

// prepareObject encodes a request of the generate extension: {"id":…, input: value or list, …,
// "parameters":{…}}. A tensor of one element is a value, any other a flat list: the server knows
// the shapes.
func (c *HTTP) prepareObject(r *backends.Request) (*backends.Call, error) {
	if streamsEvents(&c.target) {
		if err := endpoint.CheckStreamHeaders(r.Headers); err != nil {
			return nil, err
		}
	}
	path := ModelPath(r.Model, r.ModelVersion) + "/generate"
	if c.target.Streaming {
		path += "_stream"
	}
	if r.Body != nil {
		return c.prepareBody(r, path)
	}
	if len(r.Outputs) > 0 {
		return nil,
			errors.New("outputs cannot be requested at endpoint generate: its replies contain all of them")
	}
	var text holes
	text.text(`{"id":"`)
	text.addHole(backends.FieldID, idHole)
	text.text(`"`)
	for i := range r.Inputs {
		in := &r.Inputs[i]
		text.bytes = append(appendJSON(append(text.bytes, ','), in.Name), ':')
		n, err := tensor.Elements(in.Shape)
		list := err != nil || n != 1
		if list {
			text.text("[")
		}
		if text.bytes, err = appendData(text.bytes, in); err != nil {
			return nil, fmt.Errorf("input %s: %w", in.Name, err)
		}
		if list {
			text.text("]")
		}
	}
	if len(r.Parameters) > 0 {
		var err error
		if text.bytes, err = appendOwn(append(text.bytes, `,"parameters":{`...), r.Parameters); err != nil {
			return nil, err
		}
		text.text("}")
	}
	text.text("}")
	var body [][]byte
	size := len(text.bytes)
	if r.Vary != nil {
		text.vary(r.Vary)
		size = len(text.bytes)
		body = [][]byte{text.cut()}
	}
	call, err := c.call(r, path, text, body, size, false)
	if err != nil {
		return nil, err
	}
	call.Impl = c.expect(r, nil)
	return call, nil
}
