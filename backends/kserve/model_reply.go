package kserve

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
)

// modelReply holds what the metadata of a model say about the reply to a request:
//
//	model_name       the model's, as in the request or in the metadata
//	model_version    the requested one; any if none was requested
//	outputs          at least one of the model's, unless it is decoupled; outputs of other names are ignored
//	datatype         the model's; BYTES for classes
//	shape            the model's, where -1 matches any size, with the batch dimension of the request first
//
// A reply without model name and version is valid. The methods allocate only for the note.
type modelReply struct {
	name, alias string // as requested, and as in the metadata
	version     string // "": any
	outputs     []backends.Port
	batched     bool  // shapes have a leading batch dimension
	batch       int64 // of the request; 0: unknown
	configured  bool  // Signature.Configured
	decoupled   bool
	wholeBody   bool // the requested outputs are unknown: any output may be classes
}

// newModelReply returns nil if nothing is known about the model.
func newModelReply(r *backends.Request) *modelReply {
	sig := r.Signature
	if sig == nil || sig.Model == "" {
		return nil
	}
	m := &modelReply{
		name: r.Model, alias: sig.Model, version: r.ModelVersion, outputs: sig.Outputs, batched: sig.Batched,
		configured: sig.Configured, decoupled: sig.Decoupled, wholeBody: r.Body != nil,
	}
	if sig.Batched {
		m.batch = int64(r.Items)
	}
	return m
}

// modelReplies holds the modelReply values of a target: equal ones are shared, so that a lane
// detects a change by comparing pointers.
type modelReplies struct {
	mu   sync.Mutex
	list []*modelReply
}

// maxModelReplies bounds the number of values that are searched for an equal one.
const maxModelReplies = 64

// expect returns the expectation for a request to a target. In a stream of responses an ensemble
// may pass on empty ones of the models that it calls.
func (k *modelReplies) expect(r *backends.Request, shared *Places, t *backends.Target) *expectation {
	e := expect(r, shared)
	if m := e.model; m != nil {
		m.decoupled = m.decoupled || t.Streaming && len(r.Signature.Calls) > 0
		e.model = k.canonical(m)
	}
	return e
}

// canonical returns the stored value equal to m.
func (k *modelReplies) canonical(m *modelReply) *modelReply {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := slices.IndexFunc(k.list, func(o *modelReply) bool { return reflect.DeepEqual(m, o) }); i >= 0 {
		return k.list[i]
	}
	if len(k.list) < maxModelReplies {
		k.list = append(k.list, m)
	}
	return m
}

// identity appends what is wrong with the model and version of a reply; nil means that the reply
// does not name it.
func (m *modelReply) identity(dst, model, version []byte) []byte {
	switch {
	case m == nil:
	case len(model) > 0 && string(model) != m.name && string(model) != m.alias:
		return fmt.Appendf(dst, "the reply is from model %s, wanted %s", shownName(model), m.name)
	case m.version != "" && len(version) > 0 && string(version) != m.version:
		return fmt.Appendf(dst, "the reply is from version %s of model %s, wanted version %s",
			shownName(version), m.name, m.version)
	}
	return dst
}

// shownName returns a reply's name as a note shows it, cut to 80 bytes.
func shownName(name []byte) string { return string(printable(name, 80)) }

// port returns the model's output with this name, or nil.
func (m *modelReply) port(name []byte) *backends.Port {
	for i := range m.outputs {
		if m.outputs[i].Name == string(name) {
			return &m.outputs[i]
		}
	}
	return nil
}

// output appends what is wrong with an output of a reply. known reports whether the model has an
// output of this name. classes: the request asks for classes in its place.
func (m *modelReply) output(dst, name, datatype []byte, shape []int64, classes bool) (_ []byte, known bool) {
	if m == nil {
		return dst, false
	}
	p := m.port(name)
	if p == nil {
		return dst, false
	}
	want := p.Type
	if classes || m.wholeBody && string(datatype) == string(tensor.Bytes) {
		want, classes = tensor.Bytes, true
	}
	switch {
	case want.Size() >= 0 && string(datatype) != string(want):
		return fmt.Appendf(dst, "output %s is %s, wanted %s", string(name), shownName(datatype), want), true
	case classes || p.ShapeTensor || !m.rankKnown(p):
		return dst, true
	case !m.fits(p, shape):
		return fmt.Appendf(dst, "output %s has the shape %s, the model's is %s", string(name),
			tensor.AppendShape(nil, shape), tensor.AppendShape(nil, m.shape(p))), true
	case m.batched && !m.sameBatch(shape[0]):
		return fmt.Appendf(dst, "output %s has the shape %s, the request has a batch of %d", string(name),
			tensor.AppendShape(nil, shape), m.batch), true
	}
	return dst, true
}

// rankKnown reports whether the metadata define the number of dimensions of an output. Without a
// configuration many servers report [-1] for any shape, and [] for an unknown one.
func (m *modelReply) rankKnown(p *backends.Port) bool {
	switch {
	case m.batched:
		return true
	case len(p.Shape) == 0:
		return false
	}
	return m.configured || len(p.Shape) > 1 || p.Shape[0] >= 0
}

// fits reports whether an output may have the shape, whatever the batch.
func (m *modelReply) fits(p *backends.Port, shape []int64) bool {
	if m.batched {
		if len(shape) == 0 {
			return false
		}
		shape = shape[1:]
	}
	if len(shape) != len(p.Shape) {
		return false
	}
	for i, d := range p.Shape {
		if d >= 0 && shape[i] != d {
			return false
		}
	}
	return true
}

// sameBatch reports whether n items answer the request. The responses of a decoupled model may have
// any number; so may the reply to a single item, except none, if only the shapes suggest batches: a
// detector finds several things in one image.
func (m *modelReply) sameBatch(n int64) bool {
	return m.batch == 0 || m.decoupled || n == m.batch || !m.configured && m.batch == 1 && n > 0
}

// appendMissing appends that a response has none of the model's outputs, and the name of another
// one, if any; nothing if the response may have none.
func (m *modelReply) appendMissing(dst, other []byte) []byte {
	if m == nil || len(m.outputs) == 0 || m.decoupled && len(other) == 0 {
		return dst
	}
	names := make([]string, len(m.outputs))
	for i, p := range m.outputs {
		names[i] = p.Name
	}
	dst = fmt.Appendf(dst, "the reply has none of the model's outputs (%s)", strings.Join(names, ", "))
	if len(other) > 0 {
		dst = append(append(dst, ", but "...), shownName(other)...)
	}
	return dst
}

// shape returns the shape of an output with its batch dimension, as in the server's metadata.
func (m *modelReply) shape(p *backends.Port) []int64 {
	if m.batched {
		return append([]int64{-1}, p.Shape...)
	}
	return p.Shape
}

// flagIdentity flags a sample whose reply has another id than its request, or does not name its
// model. A reply without an id is fine; the id of a whole body over HTTP is unknown.
func (e *expectation) flagIdentity(id []byte, named bool, s *backends.Sample) {
	if v, ok := number(id); len(id) > 0 && !e.foreignID && (!ok || v != s.ID) {
		s.Flags |= backends.OtherID
	}
	if !named {
		s.Flags |= backends.Unnamed
	}
}
