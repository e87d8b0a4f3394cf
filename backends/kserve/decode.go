package kserve

import (
	"bytes"

	"github.com/sluice-bench/sluice/backends/wire/coding"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

// decoder decodes the content coding of replies, for one lane.
type decoder struct {
	edition uint64
	name    string // "": none, "?": one that was not requested
	reader  coding.Reader
}

const contentCodingLower = "content-encoding"

// isCoded reports whether the reply with this head is compressed. A head that repeats the previous
// one is not searched again.
func (d *decoder) isCoded(h *http1.Header) bool {
	if d.edition != h.Edition() {
		d.edition = h.Edition()
		d.name = ""
		switch name := bytes.ToLower(h.Get(contentCodingLower)); {
		case len(name) == 0 || string(name) == "identity":
		case string(name) == coding.Gzip || string(name) == "x-gzip":
			d.name = coding.Gzip
		case string(name) == coding.Deflate:
			d.name = coding.Deflate
		default:
			d.name = "?"
		}
	}
	return d.name != ""
}

// decode returns the decoded content, at most limit bytes. If cut is set, body is only the start of
// the content, which is no error.
func (d *decoder) decode(body []byte, limit int64, cut bool) ([]byte, bool) {
	plain, err := d.reader.Read(d.name, body, limit)
	return plain, err == nil || cut && len(plain) > 0
}
