package kserve

import (
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// Widths of values that are filled in for each request, in bytes.
const (
	idDigits    = 20 // of a request id, and of a sequence id in JSON: any uint64 fits
	boolText    = len("false")
	varintWidth = 10 // any uint64, as a varint
)

// idHole is the placeholder of an id.
var idHole = strings.Repeat("0", idDigits)

// holes builds bytes that contain holes.
type holes struct {
	bytes []byte
	list  []backends.Hole
}

// addHole appends the placeholder of a field.
func (h *holes) addHole(field uint8, empty string) {
	h.list = append(h.list, backends.Hole{At: uint32(len(h.bytes)), Width: uint8(len(empty)), Field: field})
	h.bytes = append(h.bytes, empty...)
}

func (h *holes) text(s string) { h.bytes = append(h.bytes, s...) }

// join appends o.
func (h *holes) join(o holes) {
	for _, hole := range o.list {
		hole.At += uint32(len(h.bytes))
		h.list = append(h.list, hole)
	}
	h.bytes = append(h.bytes, o.bytes...)
}

// jsonPrefix returns the start of a request's JSON: its id, and for a sequence the object of
// parameters, left open.
func jsonPrefix(q *backends.Sequence) (h holes) {
	h.text(`{"id":"`)
	h.addHole(backends.FieldID, idHole)
	h.text(`"`)
	if q == nil {
		return h
	}
	h.text(`,"parameters":{"` + sequenceID + `":`)
	if q.Text {
		h.text(`"`)
		h.addHole(backends.FieldSequenceText, idHole)
		h.text(`"`)
	} else {
		h.addHole(backends.FieldSequence, idHole)
	}
	h.text(`,"` + sequenceStart + `":`)
	h.addHole(backends.FieldStart, strings.Repeat(" ", boolText))
	h.text(`,"` + sequenceEnd + `":`)
	h.addHole(backends.FieldEnd, strings.Repeat(" ", boolText))
	return h
}

// contents appends the raw contents (field 7) of a request whose words vary.
func (h *holes) contents(r *backends.Request) {
	for i := range r.Inputs {
		h.bytes = protow.AppendHead(h.bytes, 7, len(r.Inputs[i].Data))
		h.raw(&r.Inputs[i], r.Vary)
	}
}

// raw appends the raw form of a tensor, with holes for the words of its texts.
func (h *holes) raw(t *backends.Tensor, v *backends.Vary) {
	at := len(h.bytes)
	h.bytes = append(h.bytes, t.Data...)
	if t.Type != tensor.Bytes {
		return
	}
	for element, rest, ok := tensor.CutElement(h.bytes[at:]); ok; element, rest, ok = tensor.CutElement(rest) {
		h.list = v.AppendHoles(h.list, element, len(h.bytes)-len(rest)-len(element))
	}
}

// vary replaces the marks of a JSON text by holes.
func (h *holes) vary(v *backends.Vary) {
	front, holes, rest := v.Split(h.bytes)
	h.bytes, h.list = append(front, rest...), append(h.list, holes...)
}

// cut removes what is behind the last hole and returns it.
func (h *holes) cut() (rest []byte) {
	end := 0
	for _, hole := range h.list {
		end = max(end, int(hole.At)+int(hole.Width))
	}
	h.bytes, rest = h.bytes[:end:end], h.bytes[end:]
	return rest
}

// Fields of InferParameter.
const (
	boolParam = 1
	intParam  = 2
	textParam = 3
)

// grpcHead returns the end of a ModelInferRequest: its id (field 3), and for a sequence three
// entries of its parameters (field 4).
func grpcHead(q *backends.Sequence) (h holes) {
	h.bytes = protow.AppendHead(h.bytes, 3, idDigits)
	h.addHole(backends.FieldID, idHole)
	if q == nil {
		return h
	}
	if q.Text {
		h.entry(4, sequenceID, textParam, "", backends.FieldSequenceText, idHole)
	} else {
		h.entry(4, sequenceID, intParam, "", backends.FieldSequence, strings.Repeat("\x00", varintWidth))
	}
	h.entry(4, sequenceStart, boolParam, "", backends.FieldStart, "\x00")
	h.entry(4, sequenceEnd, boolParam, "", backends.FieldEnd, "\x00")
	return h
}

// entry appends an entry of map<string, InferParameter>, field number of its message, whose value
// is a hole; a text value begins with front.
func (h *holes) entry(
	number protow.Number, name string, kind uint8, front string, field uint8, empty string,
) {
	var value []byte
	if kind == textParam {
		value = append(protow.AppendHead(value, textParam, len(front)+len(empty)), front...)
	} else {
		value = protow.AppendUint(value, protow.Number(kind), 0)[:1] // the tag
	}
	inside := protow.AppendHead(protow.AppendString(nil, 1, name), 2, len(value)+len(empty))
	inside = append(inside, value...)
	h.bytes = append(protow.AppendHead(h.bytes, number, len(inside)+len(empty)), inside...)
	h.addHole(field, empty)
}
