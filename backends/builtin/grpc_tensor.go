package builtin

import (
	"encoding/binary"
	"math"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// parseMessage parses a gRPC request, whose tensors are either all raw or all typed, except those
// in shared memory.
func (s *Server) parseMessage(r *pb.ModelInferRequest, held *regionUse) (*inference, error) {
	raw, sent := r.RawInputContents, 0
	inf := &inference{id: r.Id, inputs: make([]tensor, len(r.Inputs))}
	for i, in := range r.Inputs {
		t := tensor{name: in.Name, typ: s.types[in.Datatype], shape: in.Shape}
		if t.typ == nil {
			return nil, invalid("unknown datatype '%s' of input '%s'", in.Datatype, in.Name)
		}
		at, there := placeOf(in.Parameters)
		var err error
		switch {
		case there:
			t.data, err = held.input(at)
		case len(raw) > 0 && in.Contents != nil:
			err = invalid("contents field must not be specified when using raw_input_contents for '%s' for model '%s'",
				in.Name, r.ModelName)
		case len(raw) > 0:
			if sent < len(raw) {
				t.data = raw[sent]
			}
			sent++
		default:
			err = t.fromContents(in.Contents)
		}
		if err != nil {
			return nil, err
		}
		inf.inputs[i] = t
	}
	if len(raw) != sent && len(raw) > 0 {
		return nil,
			invalid("expected %d raw input contents for the request's inputs, got %d for model '%s'",
				sent, len(raw), r.ModelName)
	}
	var err error
	if inf.sequence, err = messageStep(r.Parameters); err != nil {
		return nil, err
	}
	for _, o := range r.Outputs {
		classes, err := messageClasses(o.Parameters)
		at, shared := placeOf(o.Parameters)
		if err == nil {
			err = inf.want(o.Name, classes, shared)
		}
		if err == nil && shared {
			err = held.output(o.Name, at)
		}
		if err != nil {
			return nil, err
		}
	}
	return inf, nil
}

// fromContents sets t's data from the typed list of its datatype.
func (t *tensor) fromContents(c *pb.InferTensorContents) error {
	ok := true
	le := binary.LittleEndian
	switch t.typ.name {
	case "BOOL":
		for _, v := range c.GetBoolContents() {
			t.data = append(t.data, bit(v))
		}
	case "INT8", "INT16", "INT32":
		for _, v := range c.GetIntContents() {
			half := int64(1) << (8*t.typ.size - 1)
			ok = ok && int64(v) >= -half && int64(v) < half
			t.data = appendLow(t.data, uint64(v), t.typ.size)
		}
	case "UINT8", "UINT16", "UINT32":
		for _, v := range c.GetUintContents() {
			ok = ok && uint64(v)>>(8*t.typ.size) == 0
			t.data = appendLow(t.data, uint64(v), t.typ.size)
		}
	case "INT64":
		for _, v := range c.GetInt64Contents() {
			t.data = le.AppendUint64(t.data, uint64(v))
		}
	case "UINT64":
		for _, v := range c.GetUint64Contents() {
			t.data = le.AppendUint64(t.data, v)
		}
	case "FP32":
		for _, v := range c.GetFp32Contents() {
			t.data = le.AppendUint32(t.data, math.Float32bits(v))
		}
	case "FP64":
		for _, v := range c.GetFp64Contents() {
			t.data = le.AppendUint64(t.data, math.Float64bits(v))
		}
	case "BYTES":
		for _, v := range c.GetBytesContents() {
			t.data = append(le.AppendUint32(t.data, uint32(len(v))), v...)
		}
	default:
		return invalid("%s has no typed contents; use raw_input_contents for input '%s'", t.typ.name, t.name)
	}
	if !ok {
		return invalid("a value of input '%s' does not fit %s", t.name, t.typ.name)
	}
	return nil
}

func bit(v bool) byte {
	if v {
		return 1
	}
	return 0
}

// appendLow appends the low size bytes of v, little-endian.
func appendLow(b []byte, v uint64, size int64) []byte {
	for range size {
		b = append(b, byte(v))
		v >>= 8
	}
	return b
}
