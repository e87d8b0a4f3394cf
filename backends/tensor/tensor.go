// Package tensor knows the datatypes of the KServe v2 protocol: how elements are written in raw
// form, printed and compared.
package tensor

import "fmt"

// DataType names the element type of a tensor as the KServe v2 protocol does.
type DataType string

// The datatypes of the KServe v2 protocol.
const (
	Bool   DataType = "BOOL"
	Uint8  DataType = "UINT8"
	Uint16 DataType = "UINT16"
	Uint32 DataType = "UINT32"
	Uint64 DataType = "UINT64"
	Int8   DataType = "INT8"
	Int16  DataType = "INT16"
	Int32  DataType = "INT32"
	Int64  DataType = "INT64"
	FP16   DataType = "FP16"
	BF16   DataType = "BF16"
	FP32   DataType = "FP32"
	FP64   DataType = "FP64"
	Bytes  DataType = "BYTES"
)

// Size returns the bytes of one element: 0 for BYTES, whose elements carry a 4-byte little-endian
// length each, and -1 for an unknown datatype.
func (t DataType) Size() int {
	switch t {
	case Bool, Uint8, Int8:
		return 1
	case Uint16, Int16, FP16, BF16:
		return 2
	case Uint32, Int32, FP32:
		return 4
	case Uint64, Int64, FP64:
		return 8
	case Bytes:
		return 0
	}
	return -1
}

// DataTypes returns every datatype.
func DataTypes() []DataType {
	return []DataType{
		Bool, Uint8, Uint16, Uint32, Uint64, Int8, Int16, Int32, Int64, FP16, BF16, FP32, FP64, Bytes,
	}
}

// Array holds the elements of a tensor in row-major order, little-endian, as the raw form of the
// protocol: each BYTES element carries a 4-byte little-endian length.
type Array struct {
	Type  DataType
	Shape []int64
	Data  []byte
}

// Elements returns the product of shape. A negative dimension and more than 2^40 elements are errors.
func Elements(shape []int64) (int64, error) {
	n := int64(1)
	for i, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("dimension %d is %d", i, d)
		}
		if d > 0 && n > (1<<40)/d {
			return 0, fmt.Errorf("shape %v has more than 2^40 elements", shape)
		}
		n *= d
	}
	return n, nil
}
