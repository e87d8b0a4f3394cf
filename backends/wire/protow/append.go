package protow

import (
	"github.com/sluice-bench/sluice/backends"
	"google.golang.org/protobuf/encoding/protowire"
)

// AppendString appends a string or bytes field.
func AppendString[T string | []byte](dst []byte, n protowire.Number, v T) []byte {
	dst = AppendHead(dst, n, len(v))
	return append(dst, v...)
}

// AppendHead appends the tag and length of a length-delimited field of size bytes.
func AppendHead(dst []byte, n protowire.Number, size int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, n, protowire.BytesType), uint64(size))
}

// AppendUint appends a varint field: integers, enums and bools.
func AppendUint(dst []byte, n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, n, protowire.VarintType), v)
}

// AppendFixed64 appends a field of eight bytes: doubles by their bits.
func AppendFixed64(dst []byte, n protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(dst, n, protowire.Fixed64Type), v)
}

// AppendInts appends a packed field of integers, or nothing if v is empty.
func AppendInts(dst []byte, n protowire.Number, v []int64) []byte {
	if len(v) == 0 {
		return dst
	}
	size := 0
	for _, x := range v {
		size += protowire.SizeVarint(uint64(x))
	}
	dst = AppendHead(dst, n, size)
	for _, x := range v {
		dst = protowire.AppendVarint(dst, uint64(x))
	}
	return dst
}

// Fill writes the value of a hole of a call into it: digits, a varint as wide as the hole, a counter, or a word that
// varies.
func Fill(to []byte, field uint8, c *backends.Call, f *backends.Fields) {
	switch {
	case field >= backends.FieldVaryRequest:
		copy(to, c.Vary.Word(field, f.ID))
		return
	case field >= backends.FieldCounter:
		c.Counters[field-backends.FieldCounter].Put(to, f.ID)
		return
	}
	switch v := f.Value(field); field {
	case backends.FieldSequence, backends.FieldStart, backends.FieldEnd:
		backends.PutVarint(to, v)
	default:
		backends.PutDigits(to, v)
	}
}
