package kserve

import (
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// aboutReply are the members of a response of the generate extension that are not outputs.
var aboutReply = []string{"id", "model_name", "model_version"}

// objectOutputs returns the outputs in a response of the generate extension. Datatypes and shapes
// are derived from the JSON: BYTES, BOOL, INT64 if all numbers are integers, else FP64; one
// dimension.
func objectOutputs(reply []byte) ([]backends.Tensor, error) {
	var list []backends.Tensor
	sc := jsonscan.Lenient(reply)
	for sc.Enter('{'); sc.More('}'); {
		name := string(sc.Key())
		sc.Peek()
		start := sc.Offset()
		sc.Skip()
		if !sc.OK() || slices.Contains(aboutReply, name) {
			continue
		}
		if t, ok := objectTensor(name, sc.Since(start)); ok {
			list = append(list, t)
		}
	}
	if !sc.AtEnd() {
		return nil, errReply
	}
	return list, nil
}

// objectTensor converts a JSON value or a list of them to a tensor. It returns false for an object,
// null or an empty list.
func objectTensor(name string, text []byte) (backends.Tensor, bool) {
	for _, typ := range [...]tensor.DataType{tensor.Bytes, tensor.Bool, tensor.Int64, tensor.FP64} {
		data, ok := new(objectJudge).values(typ, text)
		if !ok {
			continue
		}
		n := int64(len(data) / max(typ.Size(), 1))
		if typ == tensor.Bytes {
			n, _ = tensor.CountStrings(data)
		}
		return backends.Tensor{Name: name, Type: typ, Shape: []int64{n}, Data: data}, true
	}
	return backends.Tensor{}, false
}
