package kserve

import (
	"encoding/json"
	"fmt"

	"github.com/sluice-bench/sluice/backends"
)

// SignatureOf parses the protocol's JSON about a server and a model, and Triton's about the model's
// configuration.
func SignatureOf(server, model, config []byte, version string) (backends.Signature, error) {
	m := metadata{configured: true}
	for _, part := range []struct {
		text []byte
		into any
	}{{server, &m}, {model, &m.model}, {config, &m.config}} {
		if err := json.Unmarshal(part.text, part.into); err != nil {
			return backends.Signature{}, fmt.Errorf("%.*q: %w", backends.NoteSize, part.text, err)
		}
	}
	return m.signature(version), nil
}

// Want is the expected reply to a request.
type Want struct{ e *expectation }

// WantOf returns the expected reply to r.
func WantOf(r *backends.Request) Want { return Want{expect(r, nil)} }

// Accepts reports whether a gRPC status is a good one.
func (w Want) Accepts(status int32) bool { return w.e.accepts(int(status), 0) }

// Outputs reports whether outputs are to be compared.
func (w Want) Outputs() bool { return len(w.e.outputs) > 0 }

// Reply judges the outputs of replies that are not messages: each output is passed in its raw form.
// It belongs to one lane.
type Reply struct {
	c       comparison
	want    Want
	compare bool
}

// Begin starts a reply; with compare set its outputs are also compared with the expected ones.
func (r *Reply) Begin(w Want, compare bool) {
	r.want, r.compare = w, compare
	r.c.begin(w.e)
}

// Output takes one output. It returns false once the sample has its class and note; further outputs
// are ignored.
func (r *Reply) Output(name, datatype []byte, shape []int64, data []byte, s *backends.Sample) bool {
	if !r.c.modelOutput(r.want.e, name, datatype, shape, s) {
		return false
	}
	if !r.compare {
		return true
	}
	want := r.c.find(r.want.e, name)
	return want == nil || r.c.output(r.want.e, want, datatype, shape, data, s)
}

// End checks for missing outputs.
func (r *Reply) End(s *backends.Sample) {
	if r.c.anyOutput(r.want.e, s) && r.compare {
		r.c.end(r.want.e, s)
	}
}
