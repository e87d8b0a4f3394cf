package http1

import "bytes"

// Header gives the fields of a reply's head, in place.
type Header struct {
	text    []byte // field lines, checked
	size    int64
	last    byte
	edition uint64
}

// Edition is a number, never 0, that differs between two replies of one wire whenever their heads do: who has looked at
// the fields of an edition need not look again.
func (h *Header) Edition() uint64 { return h.edition }

// Get is the value of the first field with this name (given in lower case), without white space around it; nil if
// there is none, empty but not nil if the field is empty.
func (h *Header) Get(lowerName string) []byte {
	for text := h.text; len(text) > 0; {
		line := firstLine(text)
		text = text[bytes.IndexByte(text, '\n')+1:]
		colon := bytes.IndexByte(line, ':')
		if colon < 0 {
			return nil
		}
		if equalFold(line[:colon], lowerName) {
			return trim(line[colon+1:])
		}
	}
	return nil
}

// BodySize is how many bytes of content the reply had, kept or not.
func (h *Header) BodySize() int64 { return h.size }

// Last is the last byte of the content that is no white space, kept or not; 0: there is none.
func (h *Header) Last() byte { return h.last }
