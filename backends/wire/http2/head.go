package http2

import (
	"bytes"

	"golang.org/x/net/http2/hpack"
)

// Field is one header field of a request: a name in lower case, and its value.
type Field struct{ Name, Value string }

// Head holds the encoded header fields of calls (RFC 7541). Immutable.
//
// A connection's first Head enters the server's table, field by field, and takes a byte per field
// from then on. Any other Head on the same connection is written in full each time.
type Head struct {
	entering []byte // enters the fields in the table
	indexed  []byte // refers to the table
	literal  []byte // without the table
	// bytes of the fields as a peer's limits count them, and at least as many as they take in the table
	size int
}

// NewHead encodes fields.
func NewHead(fields []Field) *Head {
	h := &Head{}
	var b bytes.Buffer
	encode := func(e *hpack.Encoder, literal bool) []byte {
		b.Reset()
		for _, f := range fields {
			_ = e.WriteField(hpack.HeaderField{Name: f.Name, Value: f.Value, Sensitive: literal}) // to memory
		}
		return bytes.Clone(b.Bytes())
	}
	h.literal = encode(hpack.NewEncoder(&b), true)
	table := hpack.NewEncoder(&b)
	h.entering, h.indexed = encode(table, false), encode(table, false)
	for _, f := range fields {
		h.size += int(hpack.HeaderField{Name: f.Name, Value: f.Value}.Size())
	}
	return h
}

// block returns the fields for the next call on a connection, and the Head that the server's table
// holds afterwards.
func (h *Head) block(held *Head, table int) (block []byte, now *Head) {
	switch {
	case held == h:
		return h.indexed, h
	case held == nil && h.size <= table:
		return h.entering, h
	}
	return h.literal, held
}
