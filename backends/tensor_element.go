package backends

import "errors"

// AppendElement appends one element of type t, in the protocol's raw form, to dst. v is a bool, int64, uint64, float64,
// json.Number or string; BYTES take a string (or []byte) and get their 4-byte little-endian length in front. A value that
// t cannot hold exactly (out of range, a fraction for an integer, another kind of value) is an error; floats are rounded
// to nearest, ties to even, and refused when they would become infinite.
func AppendElement(dst []byte, t DataType, v any) ([]byte, error) {
	return dst, errors.ErrUnsupported
}
