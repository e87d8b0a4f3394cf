package builtin

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Classify and Regress take examples for a model whose only input is FP32: the numbers of an example, in
// the order of its features' names, are a row of the input. Its row of the output holds the scores of
// the classes "0", "1" …; its first value is the regression.

// exampleVerbs returns the signatures of a model that take examples.
func (m *model) exampleVerbs() []string {
	if len(m.inputs) != 1 || m.inputs[0].typ.name != "FP32" || m.maxBatch == 0 {
		return nil
	}
	return []string{"classify", "regress"}
}

// examples runs rows of numbers through a model.
func (s *Server) examples(ctx context.Context, m *model, rows [][]float32) ([][]float32, error) {
	if m.exampleVerbs() == nil {
		return nil, invalid("Expected classification or regression signature method_name. Was: tensorflow/serving/predict")
	}
	in := tensor{name: m.inputs[0].name, typ: m.inputs[0].typ, shape: []int64{int64(len(rows)), int64(len(rows[0]))}}
	for i, row := range rows {
		if len(row) != len(rows[0]) || len(row) == 0 {
			return nil, invalid("Name: <unknown>, Key: x, Index: %d.  Number of values != expected.  "+
				"values size: %d but output shape: [%d]", i, len(row), len(rows[0]))
		}
		for _, v := range row {
			in.data = binary.LittleEndian.AppendUint32(in.data, math.Float32bits(v))
		}
	}
	inf, err := s.infer(ctx, m.name, "", func(*model) (*inference, error) {
		return &inference{inputs: []tensor{in}}, nil
	})
	if err != nil {
		return nil, err
	}
	flat := fromRaw[float32](inf.results[0].data)
	return slices.Collect(slices.Chunk(flat, max(len(flat)/len(rows), 1))), nil
}

// resultsOf returns the results of a reply in JSON.
func resultsOf(rows [][]float32, verb string) (list []any) {
	for _, row := range rows {
		if verb == "regress" {
			list = append(list, row[0])
			continue
		}
		classes := []any{}
		for i, v := range row {
			classes = append(classes, []any{strconv.Itoa(i), v})
		}
		list = append(list, classes)
	}
	return list
}

// jsonExamples returns the numbers of examples in JSON.
func jsonExamples(v any) (rows [][]float32, err error) {
	list, ok := v.([]any)
	switch {
	case v == nil:
		return nil, invalid("When method is classify, key 'examples' is expected and was not found")
	case !ok || len(list) == 0:
		return nil, invalid("Expecting 'examples' value to be an list/array")
	}
	for _, one := range list {
		features, ok := one.(map[string]any)
		if !ok {
			return nil, invalid("Example must be JSON object but got JSON Array")
		}
		var names []string
		for name := range features {
			names = append(names, name)
		}
		slices.Sort(names)
		row := []float32{}
		for _, name := range names {
			values, ok := features[name].([]any)
			if !ok {
				values = []any{features[name]}
			}
			for _, v := range values {
				if n, ok := v.(json.Number); ok {
					f, _ := n.Float64()
					row = append(row, float32(f))
				}
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// protoExamples returns the numbers of the examples of an Input: example_list 1 or
// example_list_with_context 2, each with examples 1.
func protoExamples(input []byte) (rows [][]float32) {
	fields(input, func(_ protowire.Number, _ uint64, list []byte) {
		fields(list, func(number protowire.Number, _ uint64, example []byte) {
			if number == 1 {
				rows = append(rows, protoExample(example))
			}
		})
	})
	return rows
}

// protoExample returns the numbers of an Example: features 1 {feature 1, a map of Feature with float_list
// 2 and int64_list 3, each with packed values 1}.
func protoExample(example []byte) []float32 {
	byName := map[string][]float32{}
	fields(example, func(_ protowire.Number, _ uint64, features []byte) {
		fields(features, func(_ protowire.Number, _ uint64, entry []byte) {
			name := ""
			fields(entry, func(number protowire.Number, _ uint64, b []byte) {
				if number == 1 {
					name = string(b)
					return
				}
				fields(b, func(kind protowire.Number, _ uint64, list []byte) {
					fields(list, func(_ protowire.Number, v uint64, packed []byte) {
						byName[name] = append(byName[name], packedNumbers(kind, v, packed)...)
					})
				})
			})
		})
	})
	var names []string
	for name := range byName {
		names = append(names, name)
	}
	slices.Sort(names)
	row := []float32{}
	for _, name := range names {
		row = append(row, byName[name]...)
	}
	return row
}

// packedNumbers returns the values of a float_list (2) or an int64_list (3).
func packedNumbers(kind protowire.Number, v uint64, packed []byte) (list []float32) {
	switch {
	case kind == 2:
		for ; len(packed) >= 4; packed = packed[4:] {
			list = append(list, math.Float32frombits(binary.LittleEndian.Uint32(packed)))
		}
	case kind == 3 && packed == nil:
		list = append(list, float32(int64(v)))
	case kind == 3:
		for len(packed) > 0 {
			v, n := protowire.ConsumeVarint(packed)
			if n < 0 {
				return list
			}
			list, packed = append(list, float32(int64(v))), packed[n:]
		}
	}
	return list
}

// exampleMethod answers Classify or Regress: input 2; result 1, with an item 1 for each example.
func (s *Server) exampleMethod(verb string) func(context.Context, []byte) ([]byte, error) {
	return func(ctx context.Context, request []byte) ([]byte, error) {
		m, _, err := s.findServable(request)
		if err != nil {
			return nil, err
		}
		var rows [][]float32
		fields(request, func(number protowire.Number, _ uint64, b []byte) {
			if number == 2 {
				rows = protoExamples(b)
			}
		})
		if len(rows) == 0 {
			return nil, invalid("Input is empty.")
		}
		if rows, err = s.examples(ctx, m, rows); err != nil {
			return nil, err
		}
		var result []byte
		for _, row := range rows {
			var item []byte
			if verb == "regress" {
				item = appendFloat32(nil, 1, row[0])
			} else {
				for i, v := range row {
					item = appendField(item, 1, appendFloat32(appendField(nil, 1, []byte(strconv.Itoa(i))), 2, v))
				}
			}
			result = appendField(result, 1, item)
		}
		return appendField(nil, 1, result), nil
	}
}

func appendFloat32(dst []byte, number protowire.Number, v float32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(dst, number, protowire.Fixed32Type), math.Float32bits(v))
}
