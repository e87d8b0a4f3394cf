package kserve

import (
	"encoding/binary"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/grpcraw"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// grpcJudge classifies replies with status OK over gRPC (grpcraw classifies other codes):
//
//	OK is not one of the codes that the plan names     status
//	the message is not a ModelInferResponse            decode; see grpcCheck
//	expected outputs or fields missing or different    mismatch; the note names output and element, or field
type grpcJudge struct {
	keep    bool // keep replies in Sample.Text
	c       comparison
	outputs [][]byte // InferOutputTensor messages
	model   []byte   // named in the reply
	version []byte
	id      []byte
	raw     [][]byte // raw_output_contents
	ints    []int64
	json    []byte // the message without its data
	check   grpcCheck
}

// Accepts implements grpcraw.Judge.
func (j *grpcJudge) Accepts(c *backends.Call, code int32) bool {
	return grpcraw.Expected(c).(*expectation).accepts(int(code), 0)
}

// Whole implements grpcraw.Judge.
func (j *grpcJudge) Whole(c *backends.Call, s *backends.Sample) bool {
	return j.keep || grpcraw.Expected(c).(*expectation).compares(s)
}

// Reply implements grpcraw.Judge.
func (j *grpcJudge) Reply(c *backends.Call, pieces [][]byte, s *backends.Sample) {
	var response []byte
	if len(pieces) > 0 {
		response = pieces[0] // all of it if it is compared
	}
	j.judge(c, pieces, response, (*grpcCheck).message, s)
	if j.keep && s.Class == backends.OK {
		s.AddText(pieces...)
	}
}

// judge classifies a message, or none. It is either compared, by the ModelInferResponse in it, or
// checked, whose result is what is wrong with it, or "".
func (j *grpcJudge) judge(
	c *backends.Call, pieces [][]byte, response []byte,
	check func(*grpcCheck, *expectation, [][]byte, *backends.Sample) string, s *backends.Sample,
) {
	e := grpcraw.Expected(c).(*expectation)
	switch {
	case !e.accepts(0, 0):
		j.c.fail(s, backends.Status, "the server answered OK, which is not expected", nil)
	case e.compares(s):
		j.compare(e, response, s)
	default:
		if what := check(&j.check, e, pieces, s); what != "" {
			j.c.failDecode(s, what, nil)
		}
	}
}

// compare compares a ModelInferResponse with e.
func (j *grpcJudge) compare(e *expectation, message []byte, s *backends.Sample) {
	j.c.begin(e)
	if !j.walk(message) || !j.paired() && e.shared == nil {
		j.c.failDecode(s, "the reply is not a ModelInferResponse", nil)
	} else if j.c.identity(e, j.model, j.version, s) {
		e.flagIdentity(j.id, len(j.model) > 0, s)
		if j.fields(e, message, s) {
			j.each(e, s)
		}
	}
	clear(j.outputs)
	clear(j.raw)
}

// fields compares the message without its data with the expected fields.
func (j *grpcJudge) fields(e *expectation, message []byte, s *backends.Sample) bool {
	if len(e.fields) == 0 {
		return true
	}
	j.json = appendHead(j.json[:0], message)
	return j.c.fields(e, j.json, s)
}

func (j *grpcJudge) each(e *expectation, s *backends.Sample) {
	for i, message := range j.outputs {
		name, datatype, contents, ok := j.head(message)
		if !ok {
			j.c.failDecode(s, "a tensor cannot be read of output ", name)
			return
		}
		if !j.c.modelOutput(e, name, datatype, j.c.shape, s) {
			return
		}
		want := j.c.find(e, name)
		if want == nil {
			continue
		}
		var data []byte
		switch {
		case e.shared != nil:
			if data, ok = j.c.shared(e, want, datatype, j.c.shape, s); !ok {
				return
			}
		case len(j.raw) > 0:
			data = j.raw[i]
		default:
			data, ok = j.typed(contents, want.Type)
		}
		if !ok {
			j.c.failDecode(s, "the contents cannot be read of output ", name)
			return
		}
		if !j.c.output(e, want, datatype, j.c.shape, data, s) {
			return
		}
	}
	if j.c.anyOutput(e, s) {
		j.c.end(e, s)
	}
}

// head reads an InferOutputTensor: name 1, datatype 2, shape 3, contents 5.
func (j *grpcJudge) head(message []byte) (name, datatype, contents []byte, ok bool) {
	j.c.shape = j.c.shape[:0]
	w := protow.Walk(message)
	for w.Next() {
		switch {
		case w.Is(1):
			name = w.Bytes
		case w.Is(2):
			datatype = w.Bytes
		case w.Field == 3:
			var err error
			if j.c.shape, err = w.Ints(j.c.shape); err != nil {
				return name, nil, nil, false
			}
		case w.Is(5):
			contents = w.Bytes
		}
	}
	return name, datatype, contents, w.Err() == nil
}

// typed converts InferTensorContents to raw form: bool 1, int32 2, int64 3, uint32 4, uint64 5,
// float 6, double 7, bytes 8. Only the field of the datatype is read; numbers may be packed or not.
func (j *grpcJudge) typed(contents []byte, t tensor.DataType) ([]byte, bool) {
	field := contentsField[t]
	j.c.data = j.c.data[:0]
	w := protow.Walk(contents)
	for w.Next() {
		if w.Field != field {
			continue
		}
		switch {
		case t == tensor.Bytes:
			j.c.data = binary.LittleEndian.AppendUint32(j.c.data, uint32(len(w.Bytes)))
			j.c.data = append(j.c.data, w.Bytes...)
		case t != tensor.FP32 && t != tensor.FP64:
			var err error
			if j.ints, err = w.Ints(j.ints[:0]); err != nil {
				return nil, false
			}
			for _, v := range j.ints {
				j.c.data = tensor.AppendBits(j.c.data, uint64(v), t.Size())
			}
		case w.Type == protow.BytesType: // fixed width, little-endian: packed values are raw already
			j.c.data = append(j.c.data, w.Bytes...)
		default:
			j.c.data = tensor.AppendBits(j.c.data, w.Varint, t.Size())
		}
	}
	return j.c.data, w.Err() == nil
}

// contentsField maps a datatype to its field of InferTensorContents. FP16 and BF16 have none.
var contentsField = map[tensor.DataType]protow.Number{
	tensor.Bool: 1, tensor.Int8: 2, tensor.Int16: 2, tensor.Int32: 2, tensor.Int64: 3, tensor.Uint8: 4,
	tensor.Uint16: 4, tensor.Uint32: 4, tensor.Uint64: 5, tensor.FP32: 6, tensor.FP64: 7, tensor.Bytes: 8,
}
