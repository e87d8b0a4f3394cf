package builtin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// classification is the parameter of an output that asks for classes in its place.
const classification = "classification"

// jsonClasses reads the parameter; Triton takes 0 for none, and keeps 32 bits of a number.
func jsonClasses(raw json.RawMessage) (uint32, error) {
	if len(raw) == 0 {
		return 0, nil
	}
	n, err := strconv.ParseUint(string(raw), 10, 64)
	if err != nil {
		return 0, invalid("Unable to set 'classification': attempt to access JSON non-unsigned-integer as " +
			"unsigned-integer")
	}
	return uint32(n), nil
}

// messageClasses reads the parameter of a gRPC request.
func messageClasses(p map[string]*pb.InferParameter) (uint32, error) {
	switch v := p[classification].GetParameterChoice().(type) {
	case nil:
		return 0, nil
	case *pb.InferParameter_Int64Param:
		return uint32(v.Int64Param), nil
	}
	return 0, invalid("invalid value type for 'classification' parameter, expected int64_param")
}

// classify replaces an output by classes: for each item of a batch its largest values, the largest
// first, as "value:index". Equal values keep their order.
func classify(m *model, t tensor, classes uint32) (tensor, error) {
	if t.typ.order == nil {
		return t, invalid("class result not available for output due to unsupported type '%s'", t.typ.name)
	}
	text, compare := t.typ.order(t.data)
	batch, each := int64(1), t.shape
	out := tensor{name: t.name, typ: typeOf("BYTES")}
	if m.maxBatch > 0 {
		batch, each = t.shape[0], t.shape[1:]
		out.shape = append(out.shape, batch)
	}
	size, err := elements(each)
	if err != nil {
		return t, err
	}
	n := min(int64(classes), size)
	out.shape = append(out.shape, n)
	index := make([]int, size)
	for item := range batch {
		from := int(item * size)
		for i := range index {
			index[i] = from + i
		}
		slices.SortStableFunc(index, compare)
		for _, i := range index[:n] {
			out.data = appendBytes(out.data, fmt.Sprintf("%s:%d", text(i), i-from))
		}
	}
	return out, nil
}
