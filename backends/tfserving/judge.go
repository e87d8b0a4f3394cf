package tfserving

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/grpcraw"
	"github.com/sluice-bench/sluice/backends/wire/protow"
	"google.golang.org/protobuf/encoding/protowire"
)

// expectation describes the expected reply of a call.
type expectation struct {
	want      kserve.Want
	share     backends.Share
	requested []backends.Output
}

func newExpectation(r *backends.Request) *expectation {
	e := &expectation{want: kserve.WantOf(r), requested: r.Outputs}
	if r.Expect != nil {
		e.share = r.Expect.Share
	}
	return e
}

func (e *expectation) compares(s *backends.Sample) bool { return e.want.Outputs() && e.share.Has(s.N) }

// judge classifies replies with status OK (wire/http2 classifies other codes):
//
//	OK is not one of the codes that the plan names                          status
//	no PredictResponse, or data of another size than the shape takes,       decode
//	or an output that contradicts the metadata, or a requested one missing
//	expected outputs missing or different                                   mismatch
type judge struct {
	keep  bool // keep replies in Sample.Text
	reply kserve.Reply
	shape []int64
	data  []byte // values that were not raw
	left  int64  // bytes that repeated values may take
	note  []byte
	seen  []bool
}

// output is an output of a PredictResponse.
type output struct {
	name    []byte
	typ     tensor.DataType
	content []byte // tensor_content
	message []byte // TensorProto
	shape   []int64
	values  int64 // in typed fields
	data    []byte
}

func (o *output) tensor() backends.Tensor {
	return backends.Tensor{
		Name: string(o.name), Type: o.typ, Shape: slices.Clone(o.shape), Data: slices.Clone(o.data),
	}
}

// mistake returns what is wrong with the output.
func (o *output) mistake(what string) string { return "output " + string(o.name) + " " + what }

// Accepts implements grpcraw.Judge.
func (*judge) Accepts(c *backends.Call, code int32) bool {
	if e, ok := grpcraw.Expected(c).(*exampleExpectation); ok {
		return e.accepts(code)
	}
	return expected(c).want.Accepts(code)
}

// Whole implements grpcraw.Judge: tensors lie in messages of the reply.
func (*judge) Whole(*backends.Call, *backends.Sample) bool { return true }

func expected(c *backends.Call) *expectation { return grpcraw.Expected(c).(*expectation) }

// Reply implements grpcraw.Judge.
func (j *judge) Reply(c *backends.Call, pieces [][]byte, s *backends.Sample) {
	var message []byte
	if len(pieces) > 0 {
		message = pieces[0]
	}
	if e, ok := grpcraw.Expected(c).(*exampleExpectation); ok {
		j.results(e, message, s)
		return
	}
	e := expected(c)
	if !e.want.Accepts(0) {
		j.fail(s, backends.Status, "the server answered OK, which is not expected")
		return
	}
	compare := e.compares(s)
	j.reply.Begin(e.want, compare)
	j.seen, j.left = j.seen[:0], cmp.Or(c.MaxReply, backends.ReplyLimit)
	for range e.requested {
		j.seen = append(j.seen, false)
	}
	w := protow.Walk(message)
	for w.Next() {
		if w.Is(1) && !j.take(e, w.Bytes, compare, s) {
			return
		}
	}
	if w.Err() != nil {
		j.fail(s, backends.Decode, "the reply is no protobuf message")
		return
	}
	if i := slices.Index(j.seen, false); i >= 0 {
		j.fail(s, backends.Decode, "the reply lacks a requested output: "+e.requested[i].Name)
		return
	}
	if j.reply.End(s); j.keep && s.Class == backends.OK {
		s.AddText(pieces...)
	}
}

// take judges one output. It returns false once the sample has its class and note.
func (j *judge) take(e *expectation, entry []byte, compare bool, s *backends.Sample) bool {
	o, what := j.output(entry)
	if what == "" && compare {
		what = j.decode(&o)
	}
	if what != "" {
		j.fail(s, backends.Decode, what)
		return false
	}
	for i := range e.requested {
		j.seen[i] = j.seen[i] || e.requested[i].Name == string(o.name)
	}
	return j.reply.Output(o.name, typeNames[o.typ], o.shape, o.data, s)
}

// typeNames are the datatypes as bytes.
var typeNames = func() map[tensor.DataType][]byte {
	all := map[tensor.DataType][]byte{}
	for _, t := range tensor.DataTypes() {
		all[t] = []byte(t)
	}
	return all
}()

// output reads an entry of map<string, TensorProto>, and checks that its data are as many as its shape
// takes. what describes a mistake.
func (j *judge) output(entry []byte) (o output, what string) {
	for w := protow.Walk(entry); w.Next(); {
		switch {
		case w.Is(1):
			o.name = w.Bytes
		case w.Is(2):
			o.message = w.Bytes
		}
	}
	dtype := uint64(0)
	j.shape = j.shape[:0]
	w := protow.Walk(o.message)
	for w.Next() {
		switch {
		case w.Field == 1:
			dtype = w.Varint
		case w.Is(2):
			j.dims(w.Bytes)
		case w.Is(4):
			o.content = w.Bytes
		}
	}
	o.typ, o.shape = typeOf(dtype), j.shape
	n, err := tensor.Elements(o.shape)
	switch {
	case w.Err() != nil || o.message == nil:
		return o, "the reply is not a PredictResponse"
	case o.typ == "":
		return o, o.mistake("has a datatype that Sluice does not know")
	case err != nil:
		return o, o.mistake("has a shape that no tensor can have")
	}
	if len(o.content) > 0 {
		if size := o.typ.Size(); size > 0 && int64(len(o.content)) != n*int64(size) {
			return o, o.mistake("has tensor_content of another size than its shape takes")
		}
		return o, ""
	}
	var whole bool
	o.values, whole = countValues(o.message, o.typ)
	// one value stands for all of the rest (tensor.proto)
	switch {
	case !whole:
		return o, o.mistake("ends within a value")
	case o.values > n || o.values == 0 && n > 0:
		return o, o.mistake("has another number of values than its shape takes")
	}
	return o, ""
}

// dims appends the dimensions of a TensorShapeProto.
func (j *judge) dims(shape []byte) {
	for w := protow.Walk(shape); w.Next(); {
		if !w.Is(2) {
			continue
		}
		size := int64(0)
		for d := protow.Walk(w.Bytes); d.Next(); {
			if d.Field == 1 {
				size = int64(d.Varint)
			}
		}
		j.shape = append(j.shape, size)
	}
}

// fixedSize returns the bytes of a packed value of a field; 0: a varint.
func fixedSize(t tensor.DataType) int {
	switch t {
	case tensor.FP32:
		return 4
	case tensor.FP64:
		return 8
	}
	return 0
}

// countValues counts the values in the typed field of a datatype; whole is false if packed ones of fixed
// size end within a value.
func countValues(message []byte, t tensor.DataType) (n int64, whole bool) {
	field, size := valueFields[t], fixedSize(t)
	whole = true
	for w := protow.Walk(message); w.Next(); {
		switch {
		case w.Field != field:
		case w.Type != protow.BytesType || t == tensor.Bytes:
			n++
		case size > 0:
			n += int64(len(w.Bytes) / size)
			whole = whole && len(w.Bytes)%size == 0
		default:
			for _, b := range w.Bytes {
				n += int64(b>>7 ^ 1) // the last byte of each varint has this bit clear
			}
		}
	}
	return n, whole
}

// decode sets the raw data of an output; the last value is repeated for those that are missing.
func (j *judge) decode(o *output) (what string) {
	if len(o.content) > 0 {
		o.data = o.content
		return ""
	}
	field, fixed, size := valueFields[o.typ], fixedSize(o.typ), o.typ.Size()
	b, last := j.data[:0], 0
	for w := protow.Walk(o.message); w.Next(); {
		switch {
		case w.Field != field:
		case o.typ == tensor.Bytes:
			last = len(b)
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(w.Bytes))), w.Bytes...)
		case w.Type != protow.BytesType:
			b = tensor.AppendBits(b, w.Varint, size)
		case fixed > 0: // packed values are raw already
			b = append(b, w.Bytes...)
		default:
			for rest := w.Bytes; len(rest) > 0; {
				v, k := protowire.ConsumeVarint(rest)
				if k < 0 {
					return o.mistake("has values that cannot be read")
				}
				b, rest = tensor.AppendBits(b, v, size), rest[k:]
			}
		}
	}
	if size > 0 {
		last = len(b) - size
	}
	n, _ := tensor.Elements(o.shape)
	if one, missing := b[max(last, 0):], n-o.values; missing > 0 {
		if missing > j.left/int64(len(one)) { // a few bytes of a reply stand for up to 2^40 values
			return o.mistake("has a shape that takes more bytes than the limit of a reply, `max_message`")
		}
		j.left -= missing * int64(len(one))
		for range missing {
			b = append(b, one...)
		}
	}
	j.data, o.data = b, b
	return ""
}

func (j *judge) fail(s *backends.Sample, class backends.ErrorClass, what string) {
	j.note = append(j.note[:0], what...)
	s.Class = class
	s.SetNote(j.note)
}
