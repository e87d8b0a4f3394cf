package kserve

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/http1"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// A reply is kept decoded but otherwise as received: over gRPC the ModelInferResponse; over HTTP
// the length of the JSON in it, as 4 bytes little-endian, and the body; of the generate extension
// each object.

var errReply = errors.New("the reply cannot be read")

// keepReply keeps a body that is present completely.
func (j *httpJudge) keepReply(h *http1.Header, body []byte, s *backends.Sample) {
	size, ok := j.decoder.jsonSize(h)
	if size < 0 {
		size = int64(len(body))
	}
	if !ok || size > int64(len(body)) {
		return
	}
	var length [4]byte
	binary.LittleEndian.PutUint32(length[:], uint32(size))
	s.AddText(length[:], body)
}

// Outputs implements backends.Replier.
func (c *HTTP) Outputs(reply []byte) ([]backends.Tensor, error) {
	if c.usesGenerate() {
		return objectOutputs(reply)
	}
	if len(reply) < 4 {
		return nil, errReply
	}
	size, body := binary.LittleEndian.Uint32(reply), reply[4:]
	var j httpJudge
	if int64(size) > int64(len(body)) || !j.parse(body[:size]) {
		return nil, errReply
	}
	raw := body[size:]
	var list []backends.Tensor
	for i := range j.outputs {
		o := &j.outputs[i]
		t := backends.Tensor{
			Name: string(o.name), Type: tensor.DataType(o.datatype),
			Shape: slices.Clone(j.c.shape[o.shape[0]:o.shape[1]]),
		}
		_, err := tensor.Elements(t.Shape)
		switch {
		case t.Type.Size() < 0 || err != nil || o.size < noRaw || o.size > int64(len(raw)):
			return nil, errReply
		case o.size >= 0:
			t.Data, raw = raw[:o.size], raw[o.size:]
		case o.data != nil:
			data, class := j.elements(&t, o)
			if class != backends.OK {
				return nil, errReply
			}
			t.Data = slices.Clone(data)
		}
		list = append(list, t)
	}
	return list, nil
}

// Outputs implements backends.Replier.
func (c *GRPC) Outputs(reply []byte) ([]backends.Tensor, error) {
	var j grpcJudge
	if !j.walk(reply) || !j.paired() {
		return nil, errReply
	}
	var list []backends.Tensor
	for i, message := range j.outputs {
		name, datatype, contents, ok := j.head(message)
		t := backends.Tensor{
			Name: string(name), Type: tensor.DataType(datatype),
			Shape: slices.Clone(j.c.shape),
		}
		if !ok || t.Type.Size() < 0 {
			return nil, errReply
		}
		if len(j.raw) > 0 {
			t.Data = j.raw[i]
		} else if t.Data, ok = j.typed(contents, t.Type); !ok {
			return nil, errReply
		} else {
			t.Data = slices.Clone(t.Data)
		}
		list = append(list, t)
	}
	return list, nil
}

// walk collects the parts of a ModelInferResponse: model_name 1, model_version 2, id 3, outputs 5,
// raw_output_contents 6; the i-th contents belong to the i-th output.
func (j *grpcJudge) walk(message []byte) bool {
	j.outputs, j.raw = j.outputs[:0], j.raw[:0]
	j.model, j.version, j.id = nil, nil, nil
	w := protow.Walk(message)
	for w.Next() {
		switch {
		case w.Is(1):
			j.model = w.Bytes
		case w.Is(2):
			j.version = w.Bytes
		case w.Is(3):
			j.id = w.Bytes
		case w.Is(5):
			j.outputs = append(j.outputs, w.Bytes)
		case w.Is(6):
			j.raw = append(j.raw, w.Bytes)
		}
	}
	return w.Err() == nil
}

// paired reports whether every output has its raw contents, or none has.
func (j *grpcJudge) paired() bool { return len(j.raw) == 0 || len(j.raw) == len(j.outputs) }
