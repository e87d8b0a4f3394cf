package builtin

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// datatype is one KServe v2 element type. Raw data is little-endian and row-major; each BYTES
// element starts with its length in 4 bytes.
type datatype struct {
	name   string // in the inference protocol
	config string // in the model configuration
	size   int64  // of an element in bytes; 0: BYTES
	// decode converts a flat JSON array to raw data, encode does the opposite. nil: the type has no
	// JSON form.
	decode func(json.RawMessage) (raw []byte, n int64, err error)
	encode func(raw []byte) (json.RawMessage, error)
}

// datatypes lists every type in the configuration's numbering.
func datatypes() []*datatype {
	return []*datatype{
		{"BOOL", "TYPE_BOOL", 1, decodeAs[bool], encodeAs[bool]},
		// []uint8 would become base64, so these two convert through 16 bits.
		{"UINT8", "TYPE_UINT8", 1, decodeUint8, encodeUint8},
		{"UINT16", "TYPE_UINT16", 2, decodeAs[uint16], encodeAs[uint16]},
		{"UINT32", "TYPE_UINT32", 4, decodeAs[uint32], encodeAs[uint32]},
		{"UINT64", "TYPE_UINT64", 8, decodeAs[uint64], encodeAs[uint64]},
		{"INT8", "TYPE_INT8", 1, decodeAs[int8], encodeAs[int8]},
		{"INT16", "TYPE_INT16", 2, decodeAs[int16], encodeAs[int16]},
		{"INT32", "TYPE_INT32", 4, decodeAs[int32], encodeAs[int32]},
		{"INT64", "TYPE_INT64", 8, decodeAs[int64], encodeAs[int64]},
		{"FP16", "TYPE_FP16", 2, nil, nil},
		{"FP32", "TYPE_FP32", 4, decodeAs[float32], encodeAs[float32]},
		{"FP64", "TYPE_FP64", 8, decodeAs[float64], encodeAs[float64]},
		{"BYTES", "TYPE_STRING", 0, decodeBytes, encodeBytes},
		{"BF16", "TYPE_BF16", 2, nil, nil},
	}
}

func decodeAs[T any](data json.RawMessage) ([]byte, int64, error) {
	var v []T
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, 0, err
	}
	raw, err := binary.Append(make([]byte, 0, binary.Size(v)), binary.LittleEndian, v)
	return raw, int64(len(v)), err
}

func encodeAs[T any](raw []byte) (json.RawMessage, error) {
	var one T
	v := make([]T, len(raw)/binary.Size(one))
	if _, err := binary.Decode(raw, binary.LittleEndian, v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

func decodeUint8(data json.RawMessage) ([]byte, int64, error) {
	var v []uint16
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, 0, err
	}
	raw := make([]byte, len(v))
	for i, x := range v {
		if x > math.MaxUint8 {
			return nil, 0, fmt.Errorf("%d does not fit UINT8", x)
		}
		raw[i] = byte(x)
	}
	return raw, int64(len(v)), nil
}

func encodeUint8(raw []byte) (json.RawMessage, error) {
	v := make([]uint16, len(raw))
	for i, x := range raw {
		v[i] = uint16(x)
	}
	return json.Marshal(v)
}

func decodeBytes(data json.RawMessage) ([]byte, int64, error) {
	var v []string
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, 0, err
	}
	raw := make([]byte, 0, len(data))
	for _, s := range v {
		raw = binary.LittleEndian.AppendUint32(raw, uint32(len(s)))
		raw = append(raw, s...)
	}
	return raw, int64(len(v)), nil
}

func encodeBytes(raw []byte) (json.RawMessage, error) {
	v := []string{}
	for len(raw) > 0 {
		n := binary.LittleEndian.Uint32(raw)
		v = append(v, string(raw[4:4+n]))
		raw = raw[4+n:]
	}
	return json.Marshal(v)
}

// Reasons why raw BYTES data is malformed.
var (
	errCutLength = errors.New("incomplete string length indicator")
	errCutString = errors.New("incomplete string data")
)

// countBytes returns the number of elements of raw BYTES data.
func countBytes(raw []byte) (int64, error) {
	n := int64(0)
	for len(raw) > 0 {
		if len(raw) < 4 {
			return n, errCutLength
		}
		size := uint64(binary.LittleEndian.Uint32(raw))
		if size > uint64(len(raw)-4) {
			return n, errCutString
		}
		raw = raw[4+size:]
		n++
	}
	return n, nil
}

// flatten converts nested JSON arrays, which the protocol also allows, to a flat one. Flat ones are
// returned unchanged.
func flatten(data json.RawMessage) (json.RawMessage, error) {
	if !nested(data) {
		return data, nil
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(data))
	out = append(out, '[')
	for _, p := range parts {
		if len(p) == 0 || p[0] != '[' {
			return nil, errors.New("array and element side by side")
		}
		flat, err := flatten(p)
		if err != nil {
			return nil, err
		}
		// Each flat part starts with '[' and ends with ']', since a RawMessage has no space around it.
		if inner := flat[1 : len(flat)-1]; len(inner) > 0 {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, inner...)
		}
	}
	return append(out, ']'), nil
}

// nested reports whether the first element of a JSON array is an array.
func nested(data json.RawMessage) bool {
	seen := false
	for _, b := range data {
		switch b {
		case ' ', '\t', '\n', '\r':
		case '[':
			if seen {
				return true
			}
			seen = true
		default:
			return false
		}
	}
	return false
}
