package kserve

import (
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// grpcCheck looks at every reply over gRPC of which nothing is expected, where it lies. It must be a ModelInferResponse
// (model_name 1, model_version 2, id 3, parameters 4, outputs 5, raw_output_contents 6) that names its model or has outputs; each
// output must have a name and a datatype; with raw contents each has some, as much as datatype and shape take; and those that
// the request names must be among them. Else the reply is class decode.
type grpcCheck struct {
	scan  protow.Scanner
	sizes []int64 // that outputs take, by index; -1: any
	seen  []bool  // outputs that the request names, by index there
	name  []byte  // of the output that was looked at last
	text  []byte
	dims  []int64
}

// message says what is wrong with a reply that lies in pieces; "": nothing.
func (g *grpcCheck) message(e *expectation, pieces [][]byte) string {
	g.scan.Begin(pieces)
	if what := g.response(e); what != "" {
		return what
	}
	for _, seen := range g.seen {
		if !seen {
			return "the reply lacks an output that was asked for"
		}
	}
	return ""
}

// streamed does so for a message of a stream, of whose responses each may have some of the outputs: a ModelStreamInferResponse
// with a ModelInferResponse (2).
func (g *grpcCheck) streamed(e *expectation, pieces [][]byte) (what string) {
	s := &g.scan
	for s.Begin(pieces); s.Next() && what == ""; {
		if s.Is(2) {
			s.Enter()
			what = g.response(e)
			s.Leave()
		}
	}
	return what
}

const noResponse = "the reply is no ModelInferResponse"

// response looks at the ModelInferResponse that the scanner has come to.
func (g *grpcCheck) response(e *expectation) string {
	g.sizes, g.seen = g.sizes[:0], g.seen[:0]
	for range e.asked {
		g.seen = append(g.seen, false)
	}
	named, raw := false, 0
	s := &g.scan
	for s.Next() {
		switch {
		case s.Field <= 6 && s.Type != protow.BytesType:
			return noResponse
		case s.Field == 1:
			named = true
		case s.Field == 5:
			s.Enter()
			size, ok := g.output(e)
			s.Leave()
			if !ok {
				return "the reply lacks name or datatype of an output"
			}
			g.sizes = append(g.sizes, size)
		case s.Field == 6:
			if e.shared == nil && raw < len(g.sizes) && g.sizes[raw] >= 0 && g.sizes[raw] != int64(s.Size()) {
				return "the reply does not have as much data as the shape takes of an output"
			}
			raw++
		}
	}
	switch {
	case s.Err() != nil:
		return "the reply is no protobuf message"
	case !named && len(g.sizes) == 0:
		return noResponse
	case raw > 0 && raw != len(g.sizes) && e.shared == nil && !e.body:
		return "the reply does not have the data of each output"
	}
	return ""
}

// output looks at an InferOutputTensor: name 1, datatype 2, shape 3. size is what its data take, -1 where that is not said.
func (g *grpcCheck) output(e *expectation) (size int64, ok bool) {
	g.name, g.text, g.dims = g.name[:0], g.text[:0], g.dims[:0]
	each := 0
	typed := false
	s := &g.scan
	for s.Next() {
		switch {
		case s.Is(1):
			g.name = s.Append(g.name)
		case s.Is(2):
			g.text, typed = s.Append(g.text[:0]), true
			each = backends.DataType(g.text).Size()
		case s.Field == 3:
			if !g.shape() {
				return 0, false
			}
		}
	}
	for i := range e.asked {
		g.seen[i] = g.seen[i] || e.asked[i].Name == string(g.name)
	}
	n, err := backends.Elements(g.dims)
	if each <= 0 || err != nil {
		return -1, typed && len(g.name) > 0 && err == nil
	}
	return n * int64(each), typed && len(g.name) > 0
}

// shape adds the dimensions that the scanner has found.
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
