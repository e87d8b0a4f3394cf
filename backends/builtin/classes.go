package builtin

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
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
		return 0,
			invalid("Unable to set 'classification': attempt to access JSON non-unsigned-integer as unsigned-integer")
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

// ordered gives the elements of a tensor as text, and compares two of them by index.
type ordered struct {
	text    func(i int) string
	greater func(i, j int) int // as cmp.Compare(j, i)
}

// classify replaces an output by classes: for each item of a batch its largest values, the largest
// first, as "value:index". Equal values keep their order.
func (s *Server) classify(m *model, t tensor, classes uint32) (tensor, error) {
	order, ok := t.ordered()
	if !ok {
		return t, invalid("class result not available for output due to unsupported type '%s'", t.typ.name)
	}
	batch, each := int64(1), t.shape
	out := tensor{name: t.name, typ: s.types["BYTES"]}
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
		slices.SortStableFunc(index, order.greater)
		for _, i := range index[:n] {
			text := fmt.Sprintf("%s:%d", order.text(i), i-from)
			out.data = append(binary.LittleEndian.AppendUint32(out.data, uint32(len(text))), text...)
		}
	}
	return out, nil
}

// ordered returns the order of a tensor's elements; false if its datatype has none.
func (t tensor) ordered() (ordered, bool) {
	le := binary.LittleEndian
	switch t.typ.name {
	case "INT8":
		return integers(func(i int) int64 { return int64(int8(t.data[i])) }), true
	case "INT16":
		return integers(func(i int) int64 { return int64(int16(le.Uint16(t.data[2*i:]))) }), true
	case "INT32":
		return integers(func(i int) int64 { return int64(int32(le.Uint32(t.data[4*i:]))) }), true
	case "INT64":
		return integers(func(i int) int64 { return int64(le.Uint64(t.data[8*i:])) }), true
	case "UINT8":
		return integers(func(i int) uint64 { return uint64(t.data[i]) }), true
	case "UINT16":
		return integers(func(i int) uint64 { return uint64(le.Uint16(t.data[2*i:])) }), true
	case "UINT32":
		return integers(func(i int) uint64 { return uint64(le.Uint32(t.data[4*i:])) }), true
	case "UINT64":
		return integers(func(i int) uint64 { return le.Uint64(t.data[8*i:]) }), true
	case "FP32":
		return floats(func(i int) float64 { return float64(math.Float32frombits(le.Uint32(t.data[4*i:]))) }), true
	case "FP64":
		return floats(func(i int) float64 { return math.Float64frombits(le.Uint64(t.data[8*i:])) }), true
	}
	return ordered{}, false
}

func integers[T int64 | uint64](at func(i int) T) ordered {
	return ordered{func(i int) string { return fmt.Sprint(at(i)) }, descending(at)}
}

// floats formats with six decimals, as Triton does.
func floats(at func(i int) float64) ordered {
	return ordered{func(i int) string { return fmt.Sprintf("%f", at(i)) }, descending(at)}
}

func descending[T int64 | uint64 | float64](at func(i int) T) func(i, j int) int {
	return func(i, j int) int { return cmp.Compare(at(j), at(i)) }
}
