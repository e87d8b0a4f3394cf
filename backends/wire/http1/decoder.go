package http1

import (
	"bytes"

	"github.com/sluice-bench/sluice/backends/wire/coding"
)

// Decoder decodes the content coding of the replies of one wire. The zero Decoder is ready.
type Decoder struct {
	edition uint64
	name    string // "": none, "?": an unknown one
	reader  coding.Reader
}

// Coded reports whether the reply with this head is compressed.
func (d *Decoder) Coded(h *Header) bool {
	if d.edition == h.Edition {
		return d.name != ""
	}
	d.edition, d.name = h.Edition, ""
	switch name := bytes.ToLower(h.Get("content-encoding")); {
	case len(name) == 0 || string(name) == "identity":
	case string(name) == coding.Gzip || string(name) == "x-gzip":
		d.name = coding.Gzip
	case string(name) == coding.Deflate:
		d.name = coding.Deflate
	default:
		d.name = "?"
	}
	return d.name != ""
}

// Decode returns the decoded content of the reply of the last head, at most limit bytes. If cut is
// set, body is only the start of the content, which is no error.
func (d *Decoder) Decode(body []byte, limit int64, cut bool) ([]byte, bool) {
	plain, err := d.reader.Read(d.name, body, limit)
	return plain, err == nil || cut && len(plain) > 0
}

// Cap returns the capacity of the output buffer in bytes.
func (d *Decoder) Cap() int { return d.reader.Cap() }
