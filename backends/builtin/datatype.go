package builtin

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// datatype is one KServe v2 element type. Raw data is little-endian and row-major; each BYTES
// element starts with its length in 4 bytes.
type datatype struct {
	name string // in the inference protocol
	size int64  // of an element in bytes; 0: BYTES
	// decode converts a flat JSON array to raw data, encode does the opposite. nil: the type has no
	// JSON form.
	decode func(json.RawMessage) (raw []byte, n int64, err error)
	encode func(raw []byte) (json.RawMessage, error)
	// order gives the elements as text, and compares two of them by index, the greater first; nil: the
	// type has no order.
	order func(raw []byte) (text func(i int) string, compare func(i, j int) int)
}

// datatypes lists every type in the configuration's numbering.
var datatypes = []*datatype{
	{name: "BOOL", size: 1, decode: decodeAs[bool], encode: encodeAs[bool]},
	number[uint8Number]("UINT8", "%d"), number[uint16]("UINT16", "%d"), number[uint32]("UINT32", "%d"),
	number[uint64]("UINT64", "%d"),
	number[int8]("INT8", "%d"), number[int16]("INT16", "%d"), number[int32]("INT32", "%d"),
	number[int64]("INT64", "%d"),
	{name: "FP16", size: 2},
	number[float32]("FP32", "%f"), number[float64]("FP64", "%f"),
	{name: "BYTES", decode: decodeBytes, encode: encodeBytes},
	{name: "BF16", size: 2},
}

// typeOf returns the type of a name in the inference protocol; nil: there is none.
func typeOf(name string) *datatype {
	for _, t := range datatypes {
		if t.name == name {
			return t
		}
	}
	return nil
}

// uint8Number is a uint8 whose lists are lists of numbers in JSON, not base64.
type uint8Number uint8

// MarshalJSON implements json.Marshaler.
func (b uint8Number) MarshalJSON() ([]byte, error) {
	return strconv.AppendUint(nil, uint64(b), 10), nil
}

// number returns the datatype of T, whose values classes show in a format: floats with six
// decimals, as Triton does.
func number[T cmp.Ordered](name, format string) *datatype {
	order := func(raw []byte) (text func(i int) string, compare func(i, j int) int) {
		v := fromRaw[T](raw)
		return func(i int) string { return fmt.Sprintf(format, v[i]) },
			func(i, j int) int { return cmp.Compare(v[j], v[i]) }
	}
	var one T
	return &datatype{name, int64(binary.Size(one)), decodeAs[T], encodeAs[T], order}
}

// config returns the type's name in the model configuration.
func (t *datatype) config() string {
	if t.name == "BYTES" {
		return "TYPE_STRING"
	}
	return "TYPE_" + t.name
}

// fromRaw returns the elements of raw data.
func fromRaw[T any](raw []byte) []T {
	var one T
	v := make([]T, len(raw)/binary.Size(one))
	_, _ = binary.Decode(raw, binary.LittleEndian, v) // v has a fixed size, which is there
	return v
}

func decodeAs[T any](data json.RawMessage) ([]byte, int64, error) {
	var v []T
	if data[0] != '[' { // of bytes base64 would do
		return nil, 0, errors.New("it is not a list")
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, 0, err
	}
	raw, err := binary.Append(make([]byte, 0, binary.Size(v)), binary.LittleEndian, v)
	return raw, int64(len(v)), err
}

func encodeAs[T any](raw []byte) (json.RawMessage, error) { return json.Marshal(fromRaw[T](raw)) }

func decodeBytes(data json.RawMessage) ([]byte, int64, error) {
	var v []string
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, 0, err
	}
	raw := make([]byte, 0, len(data))
	for _, s := range v {
		raw = appendBytes(raw, s)
	}
	return raw, int64(len(v)), nil
}

// appendBytes appends an element of BYTES.
func appendBytes[T string | []byte](raw []byte, v T) []byte {
	return append(binary.LittleEndian.AppendUint32(raw, uint32(len(v))), v...)
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
