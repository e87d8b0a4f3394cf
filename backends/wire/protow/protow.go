// Package protow walks and writes protobuf messages without descriptors: enough for requests that
// are encoded once and replies that are looked at in place.
//
// It is not: an encoder of structs, a validator of schemas, a reader of groups' content (they are
// skipped).
//
//	for w := protow.Walk(message); w.Next(); {
//		switch w.Field {
//		case 1:
//			name = w.Bytes
//		}
//	}
//
// Bounds and varints are those of protowire, the protobuf module's own low-level package.
package protow

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// Number is the number of a field.
type Number = protowire.Number

// BytesType is the wire type of length-delimited fields: strings, bytes, messages, packed numbers.
const BytesType = protowire.BytesType

// errMalformed reports a message that is not valid protobuf.
var errMalformed = errors.New("malformed protobuf message")

// Walker steps through the fields of one message. It allocates nothing; Bytes point into the
// message.
type Walker struct {
	Field  Number
	Type   protowire.Type
	Varint uint64 // value of varint, fixed32 and fixed64 fields
	Bytes  []byte // content of length-delimited fields
	rest   []byte
	failed bool
}

// Walk starts at the first field of message.
func Walk(message []byte) Walker { return Walker{rest: message} }

// Next goes to the next field. It returns false at the end, or on a malformed message (Err).
func (w *Walker) Next() bool {
	if len(w.rest) == 0 || w.failed {
		return false
	}
	var n int
	w.Field, w.Type, n = protowire.ConsumeTag(w.rest)
	if n < 0 {
		return w.fail()
	}
	value := w.rest[n:]
	w.Varint, w.Bytes = 0, nil
	switch w.Type {
	case protowire.VarintType:
		w.Varint, n = protowire.ConsumeVarint(value)
	case protowire.BytesType:
		w.Bytes, n = protowire.ConsumeBytes(value)
	case protowire.Fixed32Type:
		var v uint32
		v, n = protowire.ConsumeFixed32(value)
		w.Varint = uint64(v)
	case protowire.Fixed64Type:
		w.Varint, n = protowire.ConsumeFixed64(value)
	default:
		n = protowire.ConsumeFieldValue(w.Field, w.Type, value)
	}
	if n < 0 {
		return w.fail()
	}
	w.rest = value[n:]
	return true
}

func (w *Walker) fail() bool {
	w.failed = true
	return false
}

// Err returns an error if Next ended at a malformed field.
func (w *Walker) Err() error {
	if w.failed {
		return errMalformed
	}
	return nil
}

// Is reports whether the field has number n and is length-delimited.
func (w *Walker) Is(n Number) bool {
	return w.Field == n && w.Type == BytesType
}

// Ints appends the numbers of a repeated integer field, packed or not, to dst: call it for every
// occurrence.
func (w *Walker) Ints(dst []int64) ([]int64, error) {
	if w.Type == protowire.VarintType {
		return append(dst, int64(w.Varint)), nil
	}
	if w.Type != BytesType {
		return dst, errMalformed
	}
	for b := w.Bytes; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return dst, errMalformed
		}
		dst, b = append(dst, int64(v)), b[n:]
	}
	return dst, nil
}
