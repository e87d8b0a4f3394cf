package kserve

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/coding"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

const (
	jsonLength    = "Inference-Header-Content-Length" // bytes of JSON before the raw tensors
	contentType   = "Content-Type"
	contentCoding = "Content-Encoding"
	binaryOutput  = "binary_data_output"
)

// Prepare implements backends.Conn.
func (c *HTTP) Prepare(r backends.Request) (*backends.Call, error) { return c.PrepareShared(r, nil) }

// PrepareShared implements Conn. The JSON of shared tensors is sent from the lane's own copy, since
// the region of the outputs is a hole in it.
func (c *HTTP) PrepareShared(r backends.Request, p *Places) (*backends.Call, error) {
	r, err := Complete(r, &c.target)
	if err == nil {
		err = p.check(&r)
	}
	if err != nil {
		return nil, err
	}
	if c.usesGenerate() {
		return c.prepareObject(&r)
	}
	path := ModelPath(r.Model, r.ModelVersion) + "/infer"
	if r.Body != nil {
		return c.prepareBody(&r, path)
	}
	text, raw, err := c.encode(&r, p)
	if err != nil {
		return nil, err
	}
	prefix := jsonPrefix(r.Sequence)
	if r.Vary != nil {
		text.vary(r.Vary)
	}
	size := len(prefix.bytes) + len(text.bytes)
	body := append([][]byte{text.bytes}, raw...)
	if p != nil || r.Vary != nil {
		prefix.join(text)
		body = raw
	}
	if r.Vary != nil {
		for i := 0; i < len(r.Inputs) && len(raw) > 0; i++ {
			prefix.raw(&r.Inputs[i], r.Vary)
		}
		body = [][]byte{prefix.cut()}
	}
	call, err := c.call(&r, path, prefix, body, size, len(raw) > 0)
	if err != nil {
		return nil, err
	}
	call.Stateful, call.Impl = r.Sequence != nil, c.expect(&r, p)
	return call, nil
}

// call makes a Call from a request's content: prefix and body, of which the first size bytes are
// JSON, followed by raw tensors if binary is set. The content is compressed if the target asks for
// that.
func (c *HTTP) call(
	r *backends.Request, path string, prefix holes, body [][]byte, size int, binary bool,
) (*backends.Call, error) {
	headers, err := c.headers(r.Headers, size, binary)
	if err != nil {
		return nil, err
	}
	call := &backends.Call{
		Row: r.Row, Items: r.Items, Body: body, Vary: r.Vary,
		MaxReply: replyLimit(r, &c.target, c.target.OutputJSON || c.usesGenerate()),
	}
	q := http1.Request{
		Method: "POST", Host: c.Authority, Path: c.Prefix + path, Headers: headers,
		Prefix: prefix.bytes, Holes: prefix.list, Body: body,
	}
	if name := c.target.Compression; name != "" {
		if q.Coding, err = coding.WithPrefix(name, len(q.Prefix), q.Body); err != nil {
			return nil, err
		}
		q.Body = [][]byte{q.Coding.After}
		call.Body, call.Seal, call.Size = q.Body, q.Coding, q.Coding.TrailerSize()
	}
	if call.Head, call.Holes, err = http1.Encode(q); err != nil {
		return nil, err
	}
	call.Size += len(call.Head)
	for _, b := range call.Body {
		call.Size += len(b)
	}
	return call, nil
}

// expect returns the expectation for a request's reply, which may be compressed if the request asks
// for that.
func (c *HTTP) expect(r *backends.Request, p *Places) *expectation {
	e := c.models.expect(r, p, &c.target)
	e.mayBeCoded = c.target.Compression != "" ||
		slices.ContainsFunc(endpoint.MergeHeaders(c.target.Headers, r.Headers), endpoint.AsksForCoding)
	return e
}

// ModelPath returns the HTTP path of a model, or of one version of it.
func ModelPath(model, version string) string {
	path := "/v2/models/" + url.PathEscape(model)
	if version != "" {
		path += "/versions/" + url.PathEscape(version)
	}
	return path
}

// ownHeaders are set by the protocol itself.
var ownHeaders = []string{contentType, jsonLength, contentCoding}

// headers merges the request's headers over the target's and adds those of the protocol.
func (c *HTTP) headers(own []backends.Header, jsonSize int, binary bool) ([]backends.Header, error) {
	out, asks := endpoint.MergeHeaders(c.target.Headers, own), false
	for _, h := range out {
		if err := endpoint.CheckHeader(h, ownHeaders...); err != nil {
			return nil, err
		}
		asks = asks || strings.EqualFold(h.Name, endpoint.AcceptCoding)
	}
	if name := c.target.Compression; name != "" {
		out = append(out, backends.Header{Name: contentCoding, Value: name})
		if !asks {
			out = append(out, backends.Header{Name: endpoint.AcceptCoding, Value: name})
		}
	}
	if !binary {
		return append(out, backends.Header{Name: contentType, Value: "application/json"}), nil
	}
	return append(out, backends.Header{Name: contentType, Value: "application/octet-stream"},
		backends.Header{Name: jsonLength, Value: strconv.Itoa(jsonSize)}), nil
}

// encode returns the JSON after the id, and the raw tensors.
func (c *HTTP) encode(r *backends.Request, p *Places) (text holes, raw [][]byte, err error) {
	if text.bytes, err = c.appendParameters(text.bytes, r); err != nil {
		return text, nil, err
	}
	text.text(`,"inputs":[`)
	for i := range r.Inputs {
		if i > 0 {
			text.text(",")
		}
		if text.bytes, err = c.appendInput(text.bytes, &r.Inputs[i], p.input(i)); err != nil {
			return text, nil, err
		}
		if !c.target.InputJSON && len(r.Inputs[i].Data) > 0 && p.input(i) == nil {
			raw = append(raw, r.Inputs[i].Data)
		}
	}
	text.text("]")
	for i, o := range r.Outputs {
		text.text([2]string{`,"outputs":[`, ","}[min(i, 1)])
		text.bytes = append(appendJSON(append(text.bytes, `{"name":`...), o.Name), `,"parameters":{`...)
		own := []backends.Parameter{{Name: "binary_data", Value: !c.target.OutputJSON}}
		if p != nil {
			text.regionName(p.Output)
			own = p.Outputs[i].parameters()
		} else if o.Classification > 0 {
			own = append(own, backends.Parameter{Name: classification, Value: o.Classification})
		}
		if text.bytes, err = appendOwn(text.bytes, append(own, o.Parameters...)); err != nil {
			return text, nil, err
		}
		text.text("}}")
	}
	if len(r.Outputs) > 0 {
		text.text("]")
	}
	text.text("}")
	return text, raw, nil
}

// regionName appends the parameter with the region of a slot's outputs.
func (h *holes) regionName(front string) {
	name := appendJSON(nil, front)
	h.bytes = append(append(h.bytes, `"`+sharedRegion+`":`...), name[:len(name)-1]...)
	h.addHole(backends.FieldRegion, regionHole)
	h.text(`"`)
}

func (c *HTTP) appendParameters(text []byte, r *backends.Request) (_ []byte, err error) {
	all := r.Parameters
	if slices.ContainsFunc(all, func(p backends.Parameter) bool { return p.Name == binaryOutput }) {
		return nil, fmt.Errorf("parameter %s cannot be set: use tensors: {output: binary|json}", binaryOutput)
	}
	if len(r.Outputs) == 0 && !c.target.OutputJSON {
		all = append([]backends.Parameter{{Name: binaryOutput, Value: true}}, all...)
	}
	switch {
	case r.Sequence != nil && len(all) > 0: // the object is open, and not empty
		text = append(text, ',')
	case r.Sequence == nil && len(all) == 0:
		return text, nil
	case r.Sequence == nil:
		text = append(text, `,"parameters":{`...)
	}
	text, err = appendOwn(text, all)
	return append(text, '}'), err
}

// appendJSON appends a string, bool or finite number.
func appendJSON(text []byte, v any) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // cannot fail for these
	return append(text, strings.TrimSuffix(b.String(), "\n")...)
}

func (c *HTTP) appendInput(text []byte, t *backends.Tensor, shared *Place) ([]byte, error) {
	text = tensor.AppendShape(append(appendJSON(append(text, `{"name":`...), t.Name), `,"shape":`...),
		t.Shape)
	text = append(append(append(text, `,"datatype":"`...), t.Type...), '"')
	own := t.Parameters
	switch {
	case shared != nil:
		own = append(shared.parameters(), own...)
	case !c.target.InputJSON:
		own = append([]backends.Parameter{{Name: "binary_data_size", Value: int64(len(t.Data))}}, own...)
	}
	var err error
	if len(own) > 0 {
		if text, err = appendOwn(append(text, `,"parameters":{`...), own); err != nil {
			return nil, err
		}
		text = append(text, '}')
	}
	if shared == nil && c.target.InputJSON {
		if text, err = appendData(append(text, `,"data":[`...), t); err != nil {
			return nil, fmt.Errorf("input %s: %w: use tensors: {input: binary}", t.Name, err)
		}
		text = append(text, ']')
	}
	return append(text, '}'), nil
}

// appendOwn appends the parameters of an input or output to an open JSON object of parameters.
func appendOwn(text []byte, list []backends.Parameter) ([]byte, error) {
	for i := range list {
		p := &list[i]
		if f, ok := p.Value.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			return nil, fmt.Errorf("parameter %s is %v, which JSON does not have", p.Name, f)
		}
		if end := text[len(text)-1]; end != '{' && end != ',' {
			text = append(text, ',')
		}
		text = appendJSON(append(appendJSON(text, p.Name), ':'), p.Value)
	}
	return text, nil
}

// appendData appends a tensor's elements in row-major order, flat.
func appendData(text []byte, t *backends.Tensor) ([]byte, error) {
	if t.Type == tensor.FP16 || t.Type == tensor.BF16 {
		return nil, fmt.Errorf("%s has no JSON form", t.Type)
	}
	for i, b := 0, t.Data; len(b) > 0; i++ {
		if i > 0 {
			text = append(text, ',')
		}
		if t.Type != tensor.Bytes {
			text = tensor.AppendValue(text, t.Type, b)
			if c := text[len(text)-1]; c == 'N' || c == 'f' {
				return nil, fmt.Errorf("element %d is %s, which JSON does not have", i, text[len(text)-3:])
			}
			b = b[t.Type.Size():]
			continue
		}
		one, rest, ok := tensor.CutElement(b)
		if !ok {
			return nil, errors.New("a string is truncated")
		}
		if !utf8.Valid(one) {
			return nil, fmt.Errorf("element %d is not UTF-8, which JSON needs", i)
		}
		text, b = appendJSON(text, string(one)), rest
	}
	return text, nil
}
