package kserve

import (
	"errors"
	"math"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// Whole bodies go as they stand: over HTTP the JSON of a request, or JSON and the raw tensors behind it; over gRPC an
// encoded ModelInferRequest, after which our id is the one that counts (in protobuf the last one does).

// checkBodyAlone refuses what a whole body leaves no room for.
func checkBodyAlone(r *backends.Request, t *backends.Target) error {
	switch {
	case len(t.Parameters)+len(r.Parameters) > 0:
		return errors.New("parameters cannot be added to a whole body: write them into it")
	case len(r.Outputs) > 0:
		return errors.New("outputs cannot be asked for beside a whole body: write them into it")
	case r.Sequence != nil:
		return errors.New("a whole body cannot be made part of a sequence")
	}
	return nil
}

// isInferRequest reports whether a body has the fields of a ModelInferRequest: 1 to 7, all texts, bytes or messages; others are
// those of later versions.
func isInferRequest(body []byte) bool {
	w := protow.Walk(body)
	for w.Next() {
		if w.Field <= 7 && w.Type != protow.BytesType {
			return false
		}
	}
	return w.Err() == nil && len(body) > 0
}

// The items of a whole body are read from the shape of its first input with a batch dimension, as the model's metadata say that it
// has one; 0: that cannot be known.

// itemsOf gives the items of a shape; named is the input's name, "" where it is not known.
func itemsOf(sig *backends.Signature, name string, shape []int64) (items uint32, ok bool) {
	shapeTensor := slices.ContainsFunc(sig.Inputs, func(p backends.Port) bool { return p.ShapeTensor && p.Name == name })
	if shapeTensor || len(shape) == 0 || shape[0] < 1 || shape[0] > math.MaxUint32 {
		return 0, false
	}
	return uint32(shape[0]), true
}

// takesBatches reports whether the model of a body takes batches. items: those of a body, if it does not, or if that is not known.
func takesBatches(r *backends.Request) (is bool, items uint32) {
	switch sig := r.Signature; {
	case sig == nil || sig.Model == "":
		return false, 0
	case !sig.Batched:
		return false, 1
	}
	return true, 0
}

// jsonItems reads the JSON of a request.
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

// messageItems reads a ModelInferRequest: inputs 5, of each name 1 and shape 3.
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

// readModelName takes model and version from a ModelInferRequest (1 and 2). What is known of the plan's model says nothing of another one.
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

// bodyParts are a ModelInferRequest and behind it what a stream asks for besides (see streamed), where it does not say that
// itself: in protobuf the entries of a map may stand anywhere.
func bodyParts(r *backends.Request) [][]byte {
	parts := [][]byte{r.Body}
	for i := range r.Parameters {
		if !hasParameter(r.Body, r.Parameters[i].Name) {
			parts = append(parts, appendParameter(nil, 4, &r.Parameters[i]))
		}
	}
	return parts
}

// hasParameter reports whether a ModelInferRequest has a parameter (field 4, an entry of a map with the key 1).
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
		return nil, errors.New("the body is no JSON")
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
