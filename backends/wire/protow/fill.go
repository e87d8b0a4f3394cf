package protow

import "github.com/sluice-bench/sluice/backends"

// Fill writes a field's value into its hole: digits, or a varint as wide as the hole.
func Fill(to []byte, field uint8, f *backends.Fields) {
	switch v := f.Value(field); field {
	case backends.FieldSequence, backends.FieldStart, backends.FieldEnd:
		putVarint(to, v)
	default:
		backends.PutDigits(to, v)
	}
}

// putVarint writes v as a varint of len(to) bytes: one may be longer than its value needs.
func putVarint(to []byte, v uint64) {
	last := len(to) - 1
	for i := range last {
		to[i] = byte(v) | 0x80
		v >>= 7
	}
	to[last] = byte(v) & 0x7f
}
