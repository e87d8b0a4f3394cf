package http2

// Field is one header field of a request: a name in lower case, and its value.
type Field struct{ Name, Value string }

// Head holds the encoded header fields of calls (RFC 7541). Immutable.
//
// A connection's first Head enters the server's table, field by field, and takes a byte per field
// from then on. Any other Head on the same connection is written in full each time.
type Head struct {
	entering  []byte // enters the fields in the table
	indexed   []byte // refers to the table
	literal   []byte // without the table
	tableSize int    // bytes of the table that it needs
	listSize  int    // bytes of the fields as a peer's limit counts them
}

const (
	staticFields = 61 // entries of the static table (RFC 7541 appendix A)
	entryCost    = 32 // of a field in the table, in addition to its text (section 4.1)
)

// static maps fields, or names of fields, that calls use to their index in the static table;
// negative: only the name matches.
var static = map[string]int{
	":method POST": 3, ":path": -4, ":authority": -1, ":scheme http": 6, ":scheme https": 7,
	"content-type": -31, "user-agent": -58, "authorization": -23, "cookie": -32, "accept-encoding": -16,
}

// NewHead encodes fields.
func NewHead(fields []Field) *Head {
	h := &Head{}
	entered := 0
	for _, f := range fields {
		if static[f.Name+" "+f.Value] == 0 {
			entered++
		}
	}
	place := staticFields + entered // index of the next field that enters, once all have
	for _, f := range fields {
		h.listSize += len(f.Name) + len(f.Value) + entryCost
		if n := static[f.Name+" "+f.Value]; n > 0 {
			h.entering, h.indexed, h.literal = append(h.entering,
				0x80|byte(n)), append(h.indexed, 0x80|byte(n)), append(h.literal, 0x80|byte(n))
			continue
		}
		h.tableSize += len(f.Name) + len(f.Value) + entryCost
		h.entering = appendLiteral(h.entering, 0x40, 6, f)
		h.literal = appendLiteral(h.literal, 0, 4, f)
		h.indexed = appendNumber(h.indexed, 0x80, 7, place)
		place--
	}
	return h
}

// appendLiteral appends a field in full, in the form selected by kind, whose index has the given
// number of bits (sections 6.2.1 and 6.2.2).
func appendLiteral(dst []byte, kind byte, bits int, f Field) []byte {
	n := -static[f.Name]
	dst = appendNumber(dst, kind, bits, n)
	if n == 0 {
		dst = append(appendNumber(dst, 0, 7, len(f.Name)), f.Name...)
	}
	return append(appendNumber(dst, 0, 7, len(f.Value)), f.Value...)
}

// appendNumber appends an integer whose first bits share a byte with kind (section 5.1).
func appendNumber(dst []byte, kind byte, bits, n int) []byte {
	most := 1<<bits - 1
	if n < most {
		return append(dst, kind|byte(n))
	}
	dst, n = append(dst, kind|byte(most)), n-most
	for ; n >= 0x80; n >>= 7 {
		dst = append(dst, byte(n)|0x80)
	}
	return append(dst, byte(n))
}

// block returns the fields for the next call on a connection, and the Head that the server's table
// holds afterwards.
func (h *Head) block(held *Head, table int) (block []byte, now *Head) {
	switch {
	case held == h:
		return h.indexed, h
	case held == nil && h.tableSize <= table:
		return h.entering, h
	}
	return h.literal, held
}
