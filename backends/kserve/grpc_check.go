package kserve

import (
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// grpcCheck checks every reply over gRPC without expected values, in place. It must be a
// ModelInferResponse (model_name 1, model_version 2, id 3, parameters 4, outputs 5,
// raw_output_contents 6) that names its model or has outputs; each output must have a name, a
// datatype and a shape; each has contents, raw or typed, of the size that datatype and shape take,
// or none if it may be in shared memory; and the outputs that the request names must be among them.
// Otherwise the reply has class decode.
type grpcCheck struct {
	scan     protow.Scanner
	sizes    []int64 // bytes that outputs take, by index; -1: any
	typed    []typed // typed contents of outputs, by index
	seen     []bool  // outputs that the request names, by their index there
	name     []byte  // of the current output
	typ      []byte  // its datatype
	text     []byte
	model    []byte // named in the reply
	version  []byte // its version
	id       []byte
	c        comparison
	dims     []int64
	hasTexts bool // the current output has bytes_contents
}

// typed counts the values of an output in typed fields of protobuf, found and expected.
type typed struct{ found, wanted int64 }

// message returns what is wrong with a reply in pieces, or "".
func (g *grpcCheck) message(e *expectation, pieces [][]byte, s *backends.Sample) string {
	g.scan.Begin(pieces)
	if what := g.response(e, s); what != "" {
		return what
	}
	if slices.Contains(g.seen, false) {
		return "the reply lacks a requested output"
	}
	return ""
}

// streamed does the same for a message of a stream, whose responses may each have some of the
// outputs: a ModelStreamInferResponse with a ModelInferResponse (2). Without pieces there was no
// message.
func (g *grpcCheck) streamed(e *expectation, pieces [][]byte, sample *backends.Sample) (what string) {
	if len(pieces) == 0 {
		return string(e.model.appendMissing(nil, nil))
	}
	s := &g.scan
	for s.Begin(pieces); s.Next() && what == ""; {
		if s.Is(2) {
			s.EnterMessage()
			what = g.response(e, sample)
			s.LeaveMessage()
		}
	}
	return what
}

const noResponse = "the reply is not a ModelInferResponse"

// response checks the ModelInferResponse at the scanner.
func (g *grpcCheck) response(e *expectation, sample *backends.Sample) string {
	g.sizes, g.typed, g.seen = g.sizes[:0], g.typed[:0], g.seen[:0]
	g.model, g.version, g.id = g.model[:0], g.version[:0], g.id[:0]
	g.c.other, g.c.detail, g.c.found = g.c.other[:0], g.c.detail[:0], false
	for range e.requested {
		g.seen = append(g.seen, false)
	}
	raw, unlike := 0, ""
	// outputs may be in shared memory; such an output has no contents, or empty ones
	elsewhere := e.shared != nil || e.wholeBody
	s := &g.scan
	for s.Next() {
		switch {
		case s.Field <= 6 && s.Type != protow.BytesType:
			return noResponse
		case s.Field == 1:
			g.model = s.Append(g.model[:0])
		case s.Field == 2:
			g.version = s.Append(g.version[:0])
		case s.Field == 3:
			g.id = s.Append(g.id[:0])
		case s.Field == 5:
			s.EnterMessage()
			size, what := g.output(e, sample)
			s.LeaveMessage()
			if what != "" {
				return what
			}
			g.sizes = append(g.sizes, size)
		case s.Field == 6:
			n := int64(s.Size())
			if raw < len(g.sizes) && g.sizes[raw] >= 0 && g.sizes[raw] != n && (n > 0 || !elsewhere) &&
				unlike == "" {
				unlike = mismatch(n, g.sizes[raw], "bytes")
			}
			raw++
		}
	}
	named := len(g.model) > 0
	switch {
	case s.Err() != nil:
		return "the reply is no protobuf message"
	case !named && len(g.sizes) == 0:
		return noResponse
	}
	e.flagIdentity(g.id, named, sample)
	if what := g.checkModel(e, sample); what != "" {
		return what
	}
	switch {
	case raw > len(g.sizes), raw > 0 && raw < len(g.sizes) && !elsewhere:
		return "the reply does not have the data of each output"
	case raw == 0:
		return g.valueMismatch(elsewhere)
	case raw == len(g.sizes): // otherwise they cannot be attributed
		return unlike
	}
	return ""
}

// checkModel returns how the response contradicts the model's metadata, or "".
func (g *grpcCheck) checkModel(e *expectation, s *backends.Sample) string {
	first := string(g.c.detail)
	switch {
	case !g.c.identity(e, g.model, g.version, s):
	case first != "":
		return first
	default:
		g.c.anyOutput(e, s)
	}
	return string(g.c.detail)
}

// mismatch describes the data of an output and what its shape takes.
func mismatch(found, wanted int64, units string) string {
	return fmt.Sprintf("an output has %d %s, its shape takes %d", found, units, wanted)
}

// valueMismatch names an output whose number of typed values differs from its shape, or returns "".
func (g *grpcCheck) valueMismatch(elsewhere bool) string {
	for _, t := range g.typed {
		if t.found != t.wanted && t.wanted >= 0 && (t.found > 0 || !elsewhere) {
			return mismatch(t.found, t.wanted, "values")
		}
	}
	return ""
}

// contents counts the values of an InferTensorContents, of any type.
func (g *grpcCheck) contents() (n int64) {
	s := &g.scan
	s.EnterMessage()
	for s.Next() {
		g.hasTexts = g.hasTexts || s.Field == contentsField[tensor.Bytes]
		switch {
		case s.Type != protow.BytesType || s.Field == contentsField[tensor.Bytes]:
			n++
		case s.Field == contentsField[tensor.FP32]:
			n += int64(s.Size() / 4)
		case s.Field == contentsField[tensor.FP64]:
			n += int64(s.Size() / 8)
		default:
			n += int64(s.Varints())
		}
	}
	s.LeaveMessage()
	return n
}

// output checks an InferOutputTensor: name 1, datatype 2, shape 3, contents 5. size is the number
// of bytes that its data take, -1 if unknown; what describes a mistake.
func (g *grpcCheck) output(e *expectation, sample *backends.Sample) (size int64, what string) {
	g.name, g.typ, g.dims, g.hasTexts = g.name[:0], g.typ[:0], g.dims[:0], false
	each := 0
	named, shaped, values := false, true, int64(0)
	s := &g.scan
	for s.Next() {
		switch {
		case s.Is(1):
			g.name = s.Append(g.name)
		case s.Is(2):
			g.typ, named = s.Append(g.typ[:0]), true
			each = tensor.DataType(g.typ).Size()
		case s.Field == 3:
			shaped = g.shape() && shaped
		case s.Is(5):
			values += g.contents()
		}
	}
	for i := range e.requested {
		g.seen[i] = g.seen[i] || e.requested[i].Name == string(g.name)
	}
	n, err := tensor.Elements(g.dims)
	switch {
	case s.Err() != nil: // reported for the whole message
	case !named || len(g.name) == 0:
		return 0, "the reply lacks name or datatype of an output"
	case !shaped || err != nil:
		return 0, "an output has a shape that no tensor can have: " + fmt.Sprint(g.dims)
	case g.hasTexts && contentsField[tensor.DataType(g.typ)] > 0 && string(g.typ) != string(tensor.Bytes):
		return 0, "output " + string(g.name) + " has texts as data, wanted numbers of " + string(g.typ)
	}
	g.typed = append(g.typed, typed{values, n})
	if len(g.c.detail) == 0 { // the first contradiction is kept
		g.c.modelOutput(e, g.name, g.typ, g.dims, sample)
	}
	if each <= 0 {
		return -1, ""
	}
	return n * int64(each), ""
}

// shape appends the dimensions at the scanner.
func (g *grpcCheck) shape() bool {
	w := protow.Walker{Type: g.scan.Type, Varint: g.scan.Varint}
	if w.Type == protow.BytesType {
		g.text = g.scan.Append(g.text[:0])
		w.Bytes = g.text
	}
	var err error
	g.dims, err = w.Ints(g.dims)
	return err == nil
}
