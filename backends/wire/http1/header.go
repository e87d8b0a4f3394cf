package http1

// Header gives the fields of a reply's head, in place.
type Header struct{ text []byte }

// Get is the value of the first field with this name (given in lower case), without white space around it; nil if
// there is none, empty but not nil if the field is empty.
func (h *Header) Get(lowerName string) []byte { return nil }

// BodySize is how many bytes of content the reply had, kept or not.
func (h *Header) BodySize() int64 { return 0 }
