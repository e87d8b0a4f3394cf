package http1

import "bytes"

// Header gives access to the fields of a reply's head, in place.
type Header struct {
	text    []byte // field lines, checked
	size    int64
	last    byte
	edition uint64
}

// Edition returns a number, never 0, that differs between two replies of one wire whenever their
// heads differ: a reader that has seen the fields of an edition need not read them again.
func (h *Header) Edition() uint64 { return h.edition }

// Get returns the value of the first field with this name (in lower case), without white space
// around it; nil if there is no such field, empty but not nil if it is empty.
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

// BodySize returns the number of content bytes of the reply, kept or not.
func (h *Header) BodySize() int64 { return h.size }

// Last returns the last content byte that is not white space, kept or not; 0 if there is none.
func (h *Header) Last() byte { return h.last }
