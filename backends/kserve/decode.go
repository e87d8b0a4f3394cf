package kserve

import (
	"bytes"

	"github.com/sluice-bench/sluice/backends/wire/coding"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

// decoder undoes the content coding of replies, for one lane.
type decoder struct {
	edition uint64
	name    string // "" none, "?" one that was not asked for
	reader  coding.Reader
}

const contentCodingLower = "content-encoding"

// isCoded reports whether the reply with this head is compressed. A head that says again what the one before said is not
// searched again.
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

// decode gives the content, at most limit bytes of it. Of a content that is cut on purpose what there is counts.
func (d *decoder) decode(body []byte, limit int64, cut bool) ([]byte, bool) {
	plain, err := d.reader.Read(d.name, body, limit)
	return plain, err == nil || cut && len(plain) > 0
}
