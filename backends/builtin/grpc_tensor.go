package builtin

import (
	"encoding/binary"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// parseMessage parses a gRPC request, whose tensors are either all raw or all typed, except those
// in shared memory, into inf.
func parseMessage(r *pb.ModelInferRequest, inf *inference, use *resources) (*inference, error) {
	raw, sent := r.RawInputContents, 0
	inf.inputs = make([]tensor, len(r.Inputs))
	for i, in := range r.Inputs {
		t := tensor{name: in.Name, typ: typeOf(in.Datatype), shape: in.Shape}
		if t.typ == nil {
			return nil, invalid("unknown datatype '%s' of input '%s'", in.Datatype, in.Name)
		}
		at := placeOf(in.Parameters)
		var err error
		switch {
		case at.region != "":
			t.data, err = use.input(at)
		case len(raw) > 0 && in.Contents != nil:
			err = invalid("contents field must not be specified when using raw_input_contents "+
				"for '%s' for model '%s'", in.Name, r.ModelName)
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
		return nil, invalid("expected %d raw input contents for the request's inputs, got %d for model '%s'",
			sent, len(raw), r.ModelName)
	}
	var err error
	if inf.sequence, err = messageStep(r.Parameters); err != nil {
		return nil, err
	}
	for _, o := range r.Outputs {
		classes, err := messageClasses(o.Parameters)
		if err == nil {
			err = inf.want(o.Name, classes, placeOf(o.Parameters), use)
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
	var list any // in the form of the raw data
	switch t.typ.name {
	case "BOOL":
		list = c.GetBoolContents()
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
		list = c.GetInt64Contents()
	case "UINT64":
		list = c.GetUint64Contents()
	case "FP32":
		list = c.GetFp32Contents()
	case "FP64":
		list = c.GetFp64Contents()
	case "BYTES":
		for _, v := range c.GetBytesContents() {
			t.data = appendBytes(t.data, v)
		}
	default:
		return invalid("%s has no typed contents; use raw_input_contents for input '%s'", t.typ.name, t.name)
	}
	if !ok {
		return invalid("a value of input '%s' does not fit %s", t.name, t.typ.name)
	}
	if list != nil {
		var err error
		t.data, err = binary.Append(nil, binary.LittleEndian, list)
		return err
	}
	return nil
}

// appendLow appends the low size bytes of v, little-endian.
func appendLow(b []byte, v uint64, size int64) []byte {
	for range size {
		b = append(b, byte(v))
		v >>= 8
	}
	return b
}
