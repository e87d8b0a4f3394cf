package kserve

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
)

// comparison compares a reply with the model's metadata, and its outputs with the expected ones, for
// one lane: its buffers grow once and are kept.
type comparison struct {
	found  bool   // an output is one of the model's
	other  []byte // name of an output that the model does not have
	detail []byte // of a note
	note   []byte
	source string // where the expected values are defined
	seen   []bool // by expected output
	shape  []int64
	data   []byte // elements that were not raw in the reply
}

func (c *comparison) begin(e *expectation) {
	if c.note == nil {
		c.note = make([]byte, 0, backends.NoteSize)
	}
	c.note, c.seen, c.source, c.found, c.other = c.note[:0], c.seen[:0], e.source, false, c.other[:0]
	for range e.outputs {
		c.seen = append(c.seen, false)
	}
}

// failDetail fails a reply if there is a detail. It reports whether there is none.
func (c *comparison) failDetail(s *backends.Sample) (good bool) {
	if len(c.detail) > 0 {
		c.failDecode(s, "", c.detail)
	}
	return len(c.detail) == 0
}

// identity fails a reply from another model.
func (c *comparison) identity(e *expectation, model, version []byte, s *backends.Sample) bool {
	c.detail = e.model.identity(c.detail[:0], model, version)
	return c.failDetail(s)
}

// modelOutput fails a reply with an output that contradicts the model's metadata.
func (c *comparison) modelOutput(
	e *expectation, name, datatype []byte, shape []int64, s *backends.Sample,
) bool {
	known := false
	c.detail, known = e.model.output(c.detail[:0], name, datatype, shape, e.classes(name))
	if c.found = c.found || known; !known {
		c.other = append(c.other[:0], name...)
	}
	return c.failDetail(s)
}

// anyOutput fails a reply with none of the model's outputs.
func (c *comparison) anyOutput(e *expectation, s *backends.Sample) bool {
	if c.detail = c.detail[:0]; !c.found {
		c.detail = e.model.appendMissing(c.detail, c.other)
	}
	return c.failDetail(s)
}

// find returns the expected output with this name and marks it as seen; nil if it is not compared.
func (c *comparison) find(e *expectation, name []byte) *backends.Tensor {
	for i := range e.outputs {
		if e.outputs[i].Name == string(name) {
			c.seen[i] = true
			return &e.outputs[i]
		}
	}
	return nil
}

// output compares one output. If the datatype has the name of want's it is taken from there, so
// that no string is allocated.
func (c *comparison) output(
	e *expectation, want *backends.Tensor, datatype []byte, shape []int64, data []byte, s *backends.Sample,
) (equal bool) {
	expected := want.Array()
	got := tensor.Array{Type: want.Type, Shape: shape, Data: data}
	if string(datatype) != string(want.Type) {
		got.Type = tensor.DataType(datatype)
	}
	c.note = tensor.AppendMismatch(c.note, want.Name, &got, &expected, e.relative, e.absolute)
	if len(c.note) > 0 {
		c.mismatch(s)
	}
	return len(c.note) == 0
}

// shared returns the data of output want that the server left in shared memory. On ok false the
// sample has its class and note.
func (c *comparison) shared(
	e *expectation, want *backends.Tensor, datatype []byte, shape []int64, s *backends.Sample,
) (data []byte, ok bool) {
	if string(datatype) != string(want.Type) {
		return nil, true // the comparison reports both
	}
	data, err := e.sharedOutput(want.Name, want.Type, shape, s.Region)
	switch {
	case err == nil:
		return data, true
	case errors.Is(err, errNoOutput):
		c.failDecode(s, "the data cannot be read of output ", []byte(want.Name))
	default: // it exists, but this machine cannot access it
		c.fail(s, backends.Client, "shared memory: ", []byte(err.Error()))
	}
	return nil, false
}

// end reports whether all expected outputs arrived; the note names a missing one.
func (c *comparison) end(e *expectation, s *backends.Sample) (complete bool) {
	i := slices.Index(c.seen, false)
	if i >= 0 {
		c.note = fmt.Appendf(c.note, "output %s is missing", e.outputs[i].Name)
		c.mismatch(s)
	}
	return i < 0
}

// fail sets the class of the sample and its note: what, then detail.
func (c *comparison) fail(s *backends.Sample, class backends.ErrorClass, what string, detail []byte) {
	c.note = append(c.note[:0], what...)
	c.note = append(c.note, printable(detail, max(backends.NoteSize-len(what), 0))...)
	s.Class = class
	s.SetNote(c.note)
}

// failDecode fails a reply that cannot be read, or contradicts itself or the model.
func (c *comparison) failDecode(s *backends.Sample, what string, detail []byte) {
	c.fail(s, backends.Decode, what, detail)
}

// mismatch sets the class of the sample and the note of the comparison.
func (c *comparison) mismatch(s *backends.Sample) {
	s.Class = backends.Mismatch
	if c.source != "" { // long texts are cut for it
		const by = ", expected by "
		c.note = c.note[:min(len(c.note), max(backends.NoteSize-len(by)-len(c.source), 0))]
		c.note = append(append(c.note, by...), c.source...)
	}
	s.SetNote(c.note)
}

// printable cuts b for a note, on the boundary of a character.
func printable(b []byte, most int) []byte {
	if len(b) <= most {
		return b
	}
	for most > 0 && !utf8.RuneStart(b[most]) {
		most--
	}
	return b[:most]
}
