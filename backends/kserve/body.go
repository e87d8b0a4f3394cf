package kserve

import (
	"errors"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// Whole bodies go as they stand: over HTTP the JSON of a request, or JSON and the raw tensors behind it; over gRPC an
// encoded ModelInferRequest, after which our id is the one that counts (in protobuf the last one does).

// bodyAlone refuses what a whole body leaves no room for.
func bodyAlone(r *backends.Request, t *backends.Target) error {
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
	sc := scanner{b: r.Body}
	sc.skip()
	if sc.bad {
		return nil, errors.New("the body is no JSON")
	}
	size := sc.at
	call, err := c.call(r, path, holes{}, [][]byte{r.Body}, size, !sc.end())
	if err != nil {
		return nil, err
	}
	e := c.expect(r, nil)
	e.ownID = true
	call.Impl = e
	return call, nil
}
