package kserve

import (
	"math"
	"strconv"

	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// appendHead appends a ModelInferResponse without its data, as the JSON of the same reply over
// HTTP: model_name 1, model_version 2, id 3, parameters 4, outputs 5. A path thus leads to the same
// value over both.
func appendHead(dst, message []byte) []byte {
	dst = append(dst, '{')
	for field, name := range [...]string{1: "model_name", 2: "model_version", 3: "id"} {
		w := protow.Walk(message)
		for field > 0 && w.Next() {
			if w.Is(protow.Number(field)) {
				dst = appendText(appendMember(dst, name), w.Bytes)
			}
		}
	}
	dst = appendParameters(dst, message, 4)
	dst = append(appendMember(dst, "outputs"), '[')
	w := protow.Walk(message)
	for first := true; w.Next(); {
		if !w.Is(5) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		dst, first = appendOutput(dst, w.Bytes), false
	}
	return append(dst, "]}"...)
}

// appendMember appends a member's name, after a comma unless it is the first.
func appendMember[T string | []byte](dst []byte, name T) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(appendText(dst, name), ':')
}

// appendOutput appends an InferOutputTensor: name 1, datatype 2, shape 3, parameters 4.
func appendOutput(dst, message []byte) []byte {
	dst = append(dst, '{')
	w := protow.Walk(message)
	shaped := false
	for w.Next() {
		switch {
		case w.Is(1):
			dst = appendText(appendMember(dst, "name"), w.Bytes)
		case w.Is(2):
			dst = appendText(appendMember(dst, "datatype"), w.Bytes)
		case w.Field == 3 && !shaped:
			shaped = true
			dst = appendInts(appendMember(dst, "shape"), message)
		}
	}
	return append(appendParameters(dst, message, 4), '}')
}

// appendInts appends the dimensions of an InferOutputTensor.
func appendInts(dst, message []byte) []byte {
	var room [16]int64
	dims := room[:0]
	w := protow.Walk(message)
	for w.Next() {
		if w.Field == 3 {
			dims, _ = w.Ints(dims)
		}
	}
	return tensor.AppendShape(dst, dims)
}

// appendParameters appends a map<string, InferParameter> under its name, if the message has one:
// bool 1, int64 2, string 3, double 4, uint64 5.
func appendParameters(dst, message []byte, field protow.Number) []byte {
	w := protow.Walk(message)
	some := false
	for w.Next() {
		if !w.Is(field) {
			continue
		}
		if !some {
			dst = append(appendMember(dst, "parameters"), '{')
			some = true
		}
		var key, value []byte
		entry := protow.Walk(w.Bytes)
		for entry.Next() {
			switch {
			case entry.Is(1):
				key = entry.Bytes
			case entry.Is(2):
				value = entry.Bytes
			}
		}
		dst = appendParameterValue(appendMember(dst, key), value)
	}
	if some {
		dst = append(dst, '}')
	}
	return dst
}

func appendParameterValue(dst, message []byte) []byte {
	w := protow.Walk(message)
	for w.Next() {
		switch {
		case w.Is(3):
			return appendText(dst, w.Bytes)
		case w.Field == 1:
			return strconv.AppendBool(dst, w.Varint != 0)
		case w.Field == 2:
			return strconv.AppendInt(dst, int64(w.Varint), 10)
		case w.Field == 4:
			return strconv.AppendFloat(dst, math.Float64frombits(w.Varint), 'g', -1, 64)
		case w.Field == 5:
			return strconv.AppendUint(dst, w.Varint, 10)
		}
	}
	return append(dst, "null"...)
}

// appendText appends a JSON string.
func appendText[T string | []byte](dst []byte, text T) []byte {
	dst = append(dst, '"')
	for i := range len(text) {
		switch b := text[i]; {
		case b == '"' || b == '\\':
			dst = append(dst, '\\', b)
		case b < ' ':
			const hex = "0123456789abcdef"
			dst = append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
		default:
			dst = append(dst, b)
		}
	}
	return append(dst, '"')
}
