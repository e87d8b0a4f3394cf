package tfserving

import (
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/protow"
	"google.golang.org/protobuf/encoding/protowire"
)

// dtypes are the numbers of DataType (types.proto) for the datatypes of this program.
var dtypes = [...]tensor.DataType{
	1: tensor.FP32, 2: tensor.FP64, 3: tensor.Int32, 4: tensor.Uint8, 5: tensor.Int16, 6: tensor.Int8,
	7: tensor.Bytes, 9: tensor.Int64, 10: tensor.Bool, 14: tensor.BF16, 17: tensor.Uint16, 19: tensor.FP16,
	22: tensor.Uint32, 23: tensor.Uint64,
}

// dtypeNames are the names of DataType by their numbers.
var dtypeNames = [...]string{
	1: "DT_FLOAT", 2: "DT_DOUBLE", 3: "DT_INT32", 4: "DT_UINT8", 5: "DT_INT16", 6: "DT_INT8", 7: "DT_STRING",
	8: "DT_COMPLEX64", 9: "DT_INT64", 10: "DT_BOOL", 14: "DT_BFLOAT16", 17: "DT_UINT16", 18: "DT_COMPLEX128",
	19: "DT_HALF", 22: "DT_UINT32", 23: "DT_UINT64",
}

// typeOf returns the datatype of a number of DataType; "" for another one: complex numbers, resources,
// quantized types.
func typeOf(dtype uint64) tensor.DataType {
	if dtype < uint64(len(dtypes)) {
		return dtypes[dtype]
	}
	return ""
}

// joinBelow is the size in bytes below which contents are copied to their neighbours rather than sent
// as a piece of their own.
const joinBelow = 4 << 10

// requestOf encodes a PredictRequest in pieces: model_spec 1, inputs 2 (map<string, TensorProto>),
// output_filter 3.
func requestOf(r *backends.Request, version, signature string) (body [][]byte) {
	text := appendSpec(nil, r.Model, version, signature)
	for i := range r.Outputs {
		text = protow.AppendString(text, 3, r.Outputs[i].Name)
	}
	for i := range r.Inputs {
		t := &r.Inputs[i]
		head, data := tensorProto(t)
		key := protow.AppendString(nil, 1, t.Name)
		size := len(head) + len(data)
		value := protow.AppendHead(nil, 2, size)
		text = protow.AppendHead(text, 2, len(key)+len(value)+size)
		text = append(append(append(text, key...), value...), head...)
		if len(data) < joinBelow {
			text = append(text, data...)
			continue
		}
		body = append(body, text, data)
		text = nil
	}
	return append(body, text)
}

// tensorProto encodes a TensorProto: dtype 1, tensor_shape 2 {dim 2 {size 1}}, then string_val 8, or
// tensor_content 4, whose bytes are data.
func tensorProto(t *backends.Tensor) (head, data []byte) {
	var shape []byte
	for _, d := range t.Shape {
		shape = protow.AppendString(shape, 2, protow.AppendUint(nil, 1, uint64(d)))
	}
	head = protow.AppendString(protow.AppendUint(nil, 1, uint64(slices.Index(dtypes[:], t.Type))), 2, shape)
	if t.Type != tensor.Bytes {
		return protow.AppendHead(head, 4, len(t.Data)), t.Data
	}
	for rest := t.Data; len(rest) > 0; {
		var one []byte
		var ok bool
		if one, rest, ok = tensor.CutElement(rest); !ok {
			break
		}
		head = protow.AppendString(head, 8, one)
	}
	return head, nil
}

// valueFields are the fields of TensorProto that hold values, by datatype: float_val 5, double_val 6,
// int_val 7, string_val 8, int64_val 10, bool_val 11, half_val 13, uint32_val 16, uint64_val 17.
var valueFields = map[tensor.DataType]protowire.Number{
	tensor.FP32: 5, tensor.FP64: 6, tensor.Int32: 7, tensor.Int16: 7, tensor.Int8: 7, tensor.Uint8: 7,
	tensor.Uint16: 7, tensor.Bytes: 8, tensor.Int64: 10, tensor.Bool: 11, tensor.FP16: 13, tensor.BF16: 13,
	tensor.Uint32: 16, tensor.Uint64: 17,
}
