package kserve

import (
	"slices"
	"strconv"
	"sync"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
)

// modelReply is what the metadata of a model say about the reply to a request:
//
//	model_name       the model's, as the request or as the metadata have it
//	model_version    the one that was asked for; any where none was
//	outputs          at least one of the model's, unless it is decoupled; those of other names are not looked at
//	datatype         the model's; BYTES for classes
//	shape            the model's, where -1 takes any size, with the batch dimension of the request in front
//
// A reply that says nothing else than its model is taken without the first two. Its methods allocate nothing but what the note
// needs.
type modelReply struct {
	name, alias string // as asked for, and as the metadata have it
	version     string // "": any
	outputs     []backends.Port
	batched     bool  // shapes have a batch dimension in front
	batch       int64 // of the request; 0: unknown
	configured  bool  // Signature.Configured
	decoupled   bool
	wholeBody   bool // what the request asks for is not known: any output may come as classes
}

// newModelReply is nil where nothing is known of the model.
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

func (m *modelReply) equal(o *modelReply) bool {
	return m.name == o.name && m.alias == o.alias && m.version == o.version && m.batched == o.batched && m.batch == o.batch &&
		m.configured == o.configured && m.decoupled == o.decoupled && m.wholeBody == o.wholeBody &&
		slices.EqualFunc(m.outputs, o.outputs, func(a, b backends.Port) bool {
			return a.Name == b.Name && a.Type == b.Type && a.ShapeTensor == b.ShapeTensor && slices.Equal(a.Shape, b.Shape)
		})
}

// modelReplies are those of a target: equal ones are one, so that a lane sees by the pointer that nothing has changed.
type modelReplies struct {
	mu   sync.Mutex
	list []*modelReply
}

// maxModelReplies bounds how many are looked through for an equal one.
const maxModelReplies = 64

// expect is the expectation of a request to a target. Where responses come one by one, an ensemble may pass on empty ones of the
// models that it calls.
func (k *modelReplies) expect(r *backends.Request, shared *Places, t *backends.Target) *expectation {
	e := expect(r, shared)
	if m := e.model; m != nil {
		m.decoupled = m.decoupled || t.Streaming && len(r.Signature.Calls) > 0
		e.model = k.canonical(m)
	}
	return e
}

// canonical gives what stands for all that are equal to m.
func (k *modelReplies) canonical(m *modelReply) *modelReply {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := slices.IndexFunc(k.list, m.equal); i >= 0 {
		return k.list[i]
	}
	if len(k.list) < maxModelReplies {
		k.list = append(k.list, m)
	}
	return m
}

// identity appends what is wrong with the model and version that a reply names; a nil one is not named.
func (m *modelReply) identity(dst, model, version []byte) []byte {
	switch {
	case m == nil:
	case len(model) > 0 && string(model) != m.name && string(model) != m.alias:
		dst = append(append(dst, "the reply is from model "...), printable(model, nameShown)...)
		dst = append(append(dst, ", wanted "...), m.name...)
	case m.version != "" && len(version) > 0 && string(version) != m.version:
		dst = append(append(dst, "the reply is from version "...), printable(version, nameShown)...)
		dst = append(append(append(dst, " of model "...), m.name...), ", wanted version "...)
		dst = append(dst, m.version...)
	}
	return dst
}

// nameShown is how much of a name that a reply has is shown.
const nameShown = 80

// port is the model's output with this name; nil: it has none.
func (m *modelReply) port(name []byte) *backends.Port {
	for i := range m.outputs {
		if m.outputs[i].Name == string(name) {
			return &m.outputs[i]
		}
	}
	return nil
}

// output appends what is wrong with an output of a reply. known: the model has one of this name. classes: the request asks for
// classes in its place.
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
		dst = append(append(append(dst, "output "...), name...), " is "...)
		dst = append(append(dst, printable(datatype, nameShown)...), ", wanted "...)
		return append(dst, want...), true
	case classes || p.ShapeTensor || !m.rankKnown(p):
		return dst, true
	case !m.fits(p, shape):
		dst = append(append(append(dst, "output "...), name...), " has the shape "...)
		dst = append(appendShape(dst, shape), ", the model's is "...)
		return m.appendShape(dst, p), true
	case m.batched && !m.sameBatch(shape[0]):
		dst = append(append(append(dst, "output "...), name...), " has the shape "...)
		dst = append(appendShape(dst, shape), ", the request has a batch of "...)
		return strconv.AppendInt(dst, m.batch, 10), true
	}
	return dst, true
}

// rankKnown reports whether the metadata say how many dimensions an output has. Without a configuration [-1] is what many servers
// say of any shape, and [] of one that they do not know.
func (m *modelReply) rankKnown(p *backends.Port) bool {
	switch {
	case m.batched:
		return true
	case len(p.Shape) == 0:
		return false
	}
	return m.configured || len(p.Shape) > 1 || p.Shape[0] >= 0
}

// fits reports whether a shape is one that an output may have, whatever the batch.
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

// sameBatch reports whether n items answer the request. The responses of a decoupled model may have any number; so may the reply
// to a single item where only the shapes look like those of batches, but for none: a detector finds several things in one image.
func (m *modelReply) sameBatch(n int64) bool {
	return m.batch == 0 || m.decoupled || n == m.batch || !m.configured && m.batch == 1 && n > 0
}

// appendMissing appends that a response has none of the model's outputs, but one of another name, if any; nothing where it may have none.
func (m *modelReply) appendMissing(dst, other []byte) []byte {
	if m == nil || len(m.outputs) == 0 || m.decoupled && len(other) == 0 {
		return dst
	}
	dst = append(dst, "the reply has none of the model's outputs ("...)
	for i := range m.outputs {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, m.outputs[i].Name...)
	}
	dst = append(dst, ')')
	if len(other) > 0 {
		dst = append(append(dst, ", but "...), printable(other, nameShown)...)
	}
	return dst
}

// appendShape appends the shape of an output with its batch dimension, as the server's metadata have it.
func (m *modelReply) appendShape(dst []byte, p *backends.Port) []byte {
	dst = append(dst, '[')
	if m.batched {
		dst = append(dst, "-1"...)
		if len(p.Shape) > 0 {
			dst = append(dst, ',')
		}
	}
	return append(appendDims(dst, p.Shape), ']')
}

func appendShape(dst []byte, shape []int64) []byte {
	return append(appendDims(append(dst, '['), shape), ']')
}

func appendDims(dst []byte, dims []int64) []byte {
	for i, d := range dims {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, d, 10)
	}
	return dst
}

// flagIdentity marks a sample whose reply has another id than its request, or does not name its model. No id is as good as the right
// one; that of a whole body over HTTP is not known.
func (e *expectation) flagIdentity(id []byte, named bool, s *backends.Sample) {
	if v, ok := number(id); len(id) > 0 && !e.foreignID && (!ok || v != s.ID) {
		s.Flags |= backends.OtherID
	}
	if !named {
		s.Flags |= backends.Unnamed
	}
}
