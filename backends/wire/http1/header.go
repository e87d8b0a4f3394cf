package http1

import "bytes"

// Header gives access to the fields of a reply's head, in place.
type Header struct {
	Size int64 // content bytes of the reply, kept or not
	Last byte  // the last content byte that is not white space, kept or not; 0 if there is none
	// Edition is a number, never 0, that differs between two replies of one wire whenever their heads
	// differ: a reader that has seen the fields of an edition need not read them again.
	Edition uint64
	text    []byte // field lines, checked
}

// Get returns the value of the first field with this name (in lower case), without white space
// around it; nil if there is no such field, empty but not nil if it is empty.
func (h *Header) Get(lowerName string) []byte {
	for line, rest := cutLine(h.text); len(line) > 0; line, rest = cutLine(rest) {
		if name, value, _ := bytes.Cut(line, []byte{':'}); equalFold(name, lowerName) {
			return trim(value)
		}
	}
	return nil
}
