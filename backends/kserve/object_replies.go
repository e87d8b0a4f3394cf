package kserve

import (
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
)

// aboutReply are the members of a response of the generate extension that are no outputs.
var aboutReply = []string{"id", "model_name", "model_version"}

// objectOutputs gives the outputs in a response of the generate extension. It says no datatypes and no shapes, so they are
// those of the JSON: BYTES, BOOL, INT64 where all numbers are whole, else FP64; one dimension.
func objectOutputs(reply []byte) ([]backends.Tensor, error) {
	var list []backends.Tensor
	sc := scanner{b: reply}
	for sc.begin('{'); sc.more('}'); {
		name := string(sc.key())
		sc.peek()
		start := sc.at
		sc.skip()
		if sc.bad || slices.Contains(aboutReply, name) {
			continue
		}
		if t, ok := objectTensor(name, sc.b[start:sc.at]); ok {
			list = append(list, t)
		}
	}
	if !sc.end() {
		return nil, errReply
	}
	return list, nil
}

// objectTensor makes a tensor of a JSON value or a list of them. False: it is none, as it holds an object or nothing.
func objectTensor(name string, text []byte) (backends.Tensor, bool) {
	for _, typ := range [...]tensor.DataType{tensor.Bytes, tensor.Bool, tensor.Int64, tensor.FP64} {
		var j httpJudge
		sc := scanner{b: text}
		depth := 1
		if sc.peek() == '[' {
			depth = 0
		}
		j.flatten(&sc, typ, depth)
		if !sc.end() {
			continue
		}
		n := int64(len(j.c.data) / max(typ.Size(), 1))
		if typ == tensor.Bytes {
			n, _ = countStrings(j.c.data)
		}
		return backends.Tensor{Name: name, Type: typ, Shape: []int64{n}, Data: j.c.data}, true
	}
	return backends.Tensor{}, false
}
