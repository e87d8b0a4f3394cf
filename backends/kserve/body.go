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

// The items of a whole body are read from the shape of its first input that has a batch dimension
// according to the model's metadata; 0: unknown.

// itemsOf returns the items of a shape; name is the input's name, "" if unknown.
func itemsOf(sig *backends.Signature, name string, shape []int64) (items uint32, ok bool) {
	shapeTensor := slices.ContainsFunc(sig.Inputs,
		func(p backends.Port) bool { return p.ShapeTensor && p.Name == name })
	if shapeTensor || len(shape) == 0 || shape[0] < 1 || shape[0] > math.MaxUint32 {
		return 0, false
	}
	return uint32(shape[0]), true
}

// takesBatches reports whether the model of a body takes batches. items is the number of items of a
// body if it does not, or if that is unknown.
func takesBatches(r *backends.Request) (is bool, items uint32) {
	switch sig := r.Signature; {
	case sig == nil || sig.Model == "":
		return false, 0
	case !sig.Batched:
		return false, 1
	}
	return true, 0
}

// jsonItems returns the items of a request's JSON.
func jsonItems(r *backends.Request) uint32 {
	is, items := takesBatches(r)
	sc := jsonscan.Lenient(r.Body)
	for sc.Enter('{'); is && sc.More('}'); {
		if string(sc.Key()) != "inputs" || sc.Peek() != '[' {
			sc.Skip()
			continue
		}
		for sc.Enter('['); sc.More(']'); {
			name, shape := "", []int64(nil)
			for sc.Enter('{'); sc.More('}'); {
				switch key := sc.Key(); {
				case string(key) == "name" && sc.Peek() == '"':
					name = string(sc.Text())
				case string(key) == "shape" && sc.Peek() == '[':
					for sc.Enter('['); sc.More(']'); {
						shape = append(shape, sc.Dimension())
					}
				default:
					sc.Skip()
				}
			}
			if n, ok := itemsOf(r.Signature, name, shape); ok && items == 0 && sc.OK() {
				items = n
			}
		}
	}
	return items
}

// messageItems returns the items of a ModelInferRequest: inputs 5, each with name 1 and shape 3.
func messageItems(r *backends.Request) uint32 {
	is, items := takesBatches(r)
	for w := protow.Walk(r.Body); is && items == 0 && w.Next(); {
		if !w.Is(5) {
			continue
		}
		name, shape := "", []int64(nil)
		for f := protow.Walk(w.Bytes); f.Next(); {
			switch {
			case f.Is(1):
				name = string(f.Bytes)
			case f.Field == 3:
				var err error
				if shape, err = f.Ints(shape); err != nil {
					shape = nil
				}
			}
		}
		if n, ok := itemsOf(r.Signature, name, shape); ok {
			items = n
		}
	}
	return items
}

// readModelName takes model and version from a ModelInferRequest (1 and 2). The signature of the
// plan's model does not apply to another model.
func readModelName(r *backends.Request) {
	model := ""
	r.ModelVersion = ""
	for w := protow.Walk(r.Body); w.Next(); {
		switch {
		case w.Is(1):
			model = string(w.Bytes)
		case w.Is(2):
			r.ModelVersion = string(w.Bytes)
		}
	}
	if model != r.Model {
		r.Signature = nil
	}
}

// bodyParts returns a ModelInferRequest followed by the parameters that a stream adds (see
// streamed), unless it sets them itself: in protobuf the entries of a map may have any position.
func bodyParts(r *backends.Request) [][]byte {
	parts := [][]byte{r.Body}
	for i := range r.Parameters {
		if !hasParameter(r.Body, r.Parameters[i].Name) {
			parts = append(parts, appendParameter(nil, 4, &r.Parameters[i]))
		}
	}
	return parts
}

// hasParameter reports whether a ModelInferRequest has a parameter (field 4, an entry of a map with
// the key 1).
func hasParameter(message []byte, name string) bool {
	for w := protow.Walk(message); w.Next(); {
		if !w.Is(4) {
			continue
		}
		for entry := protow.Walk(w.Bytes); entry.Next(); {
			if entry.Is(1) && string(entry.Bytes) == name {
				return true
			}
		}
	}
	return false
}

// prepareBody encodes a whole body.
func (c *HTTP) prepareBody(r *backends.Request, path string) (*backends.Call, error) {
	sc := jsonscan.Lenient(r.Body)
	sc.Skip()
	if !sc.OK() {
		return nil, errors.New("the body is not JSON")
	}
	size := sc.Offset()
	if c.usesGenerate() {
		r.Items = 1
	} else {
		r.Items = jsonItems(r)
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
