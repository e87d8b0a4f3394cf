package kserve

import (
	"errors"
	"math"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// Whole bodies are sent unchanged: over HTTP the JSON of a request, or JSON followed by raw
// tensors; over gRPC an encoded ModelInferRequest, after which Sluice's id is appended and applies
// (in protobuf the last one does).

// checkBodyAlone refuses request parts that cannot be combined with a whole body.
func checkBodyAlone(r *backends.Request, t *backends.Target) error {
	switch {
	case len(t.Parameters)+len(r.Parameters) > 0:
		return errors.New("parameters cannot be added to a whole body: write them into it")
	case len(r.Outputs) > 0:
		return errors.New("outputs cannot be requested with a whole body: write them into it")
	case r.Sequence != nil:
		return errors.New("a whole body cannot be made part of a sequence")
	}
	return nil
}

// isInferRequest reports whether a body has only fields of a ModelInferRequest: 1 to 7, all
// strings, bytes or messages; other numbers belong to later versions.
func isInferRequest(body []byte) bool {
	w := protow.Walk(body)
	for w.Next() {
		if w.Field <= 7 && w.Type != protow.BytesType {
			return false
		}
	}
	return w.Err() == nil && len(body) > 0
}

// itemsOf returns the items of a whole body with these inputs, from the shape of the first one that
// has a batch dimension according to the model's metadata; 0: unknown.
func itemsOf(sig *backends.Signature, inputs []named) uint32 {
	switch {
	case sig == nil || sig.Model == "":
		return 0
	case !sig.Batched:
		return 1
	}
	for _, in := range inputs {
		shapeTensor := slices.ContainsFunc(sig.Inputs,
			func(p backends.Port) bool { return p.ShapeTensor && p.Name == in.Name })
		if !shapeTensor && len(in.Shape) > 0 && in.Shape[0] >= 1 && in.Shape[0] <= math.MaxUint32 {
			return uint32(in.Shape[0])
		}
	}
	return 0
}

// jsonInputs reads the inputs of a request's JSON, whose numbers may be NaN and infinite: Triton takes
// them, and encoding/json does not.
func jsonInputs(body []byte) (list []named) {
	sc := jsonscan.Lenient(body)
	for sc.Enter('{'); sc.More('}'); {
		if string(sc.Key()) != "inputs" || sc.Peek() != '[' {
			sc.Skip()
			continue
		}
		for sc.Enter('['); sc.More(']'); {
			var in named
			for sc.Enter('{'); sc.More('}'); {
				switch key := sc.Key(); {
				case string(key) == "name" && sc.Peek() == '"':
					in.Name = string(sc.Text())
				case string(key) == "shape" && sc.Peek() == '[':
					for sc.Enter('['); sc.More(']'); {
						in.Shape = append(in.Shape, sc.Dimension())
					}
				default:
					sc.Skip()
				}
			}
			list = append(list, in)
		}
	}
	return list
}

// inferRequest is the part of a ModelInferRequest that is read.
type inferRequest struct {
	Model      string  `proto:"1"`
	Version    string  `proto:"2"`
	Parameters []named `proto:"4"`
	Inputs     []named `proto:"5"`
}

// named is an input, or an entry of a map, which has no shape.
type named struct {
	Name  string  `proto:"1"`
	Shape []int64 `proto:"3"`
}

// readBody fills in model, version and items of a request whose body is a ModelInferRequest. The
// signature of the plan's model does not apply to another model. It returns the body, followed by
// the parameters that a stream adds (see streamed), unless it sets them itself: in protobuf the
// entries of a map may have any position.
func readBody(r *backends.Request) (parts [][]byte) {
	var m inferRequest
	_ = protow.Decode(r.Body, &m) // what cannot be read is left to the server
	if r.ModelVersion = m.Version; m.Model != r.Model {
		r.Signature = nil
	}
	r.Items = itemsOf(r.Signature, m.Inputs)
	parts = [][]byte{r.Body}
	for i := range r.Parameters {
		if !slices.ContainsFunc(m.Parameters, func(p named) bool { return p.Name == r.Parameters[i].Name }) {
			parts = append(parts, appendParameter(nil, 4, &r.Parameters[i]))
		}
	}
	return parts
}

// prepareBody encodes a whole body.
func (c *HTTP) prepareBody(r *backends.Request, path string) (*backends.Call, error) {
	sc := jsonscan.Lenient(r.Body)
	sc.Skip()
	if !sc.OK() {
		return nil, errors.New("the body is not JSON")
	}
	size := sc.Offset()
	if r.Items = 1; !c.usesGenerate() {
		r.Items = itemsOf(r.Signature, jsonInputs(r.Body))
	}
	call, err := c.call(r, path, holes{}, [][]byte{r.Body}, size, !sc.AtEnd())
	if err != nil {
		return nil, err
	}
	e := c.expect(r, nil)
	e.foreignID = true
	call.Impl = e
	return call, nil
}
