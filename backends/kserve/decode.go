package kserve

import (
	"bytes"
	"strconv"

	"github.com/sluice-bench/sluice/backends/wire/coding"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

// decoder knows the heads of replies and decodes their content coding, for one lane.
type decoder struct {
	edition uint64
	name    string // "": none, "?": one that was not requested
	size    int64
	sizeOK  bool
	reader  coding.Reader
}

const (
	contentCodingLower = "content-encoding"
	jsonLengthLower    = "inference-header-content-length"
)

// read reads a head, unless it repeats the previous one.
func (d *decoder) read(h *http1.Header) {
	if d.edition == h.Edition() {
		return
	}
	d.edition, d.name = h.Edition(), ""
	switch name := bytes.ToLower(h.Get(contentCodingLower)); {
	case len(name) == 0 || string(name) == "identity":
	case string(name) == coding.Gzip || string(name) == "x-gzip":
		d.name = coding.Gzip
	case string(name) == coding.Deflate:
		d.name = coding.Deflate
	default:
		d.name = "?"
	}
	d.size, d.sizeOK = -1, true
	if text := h.Get(jsonLengthLower); text != nil {
		v, err := strconv.ParseUint(string(text), 10, 62)
		d.size, d.sizeOK = int64(v), err == nil
	}
}

// isCoded reports whether the reply with this head is compressed.
func (d *decoder) isCoded(h *http1.Header) bool {
	d.read(h)
	return d.name != ""
}

// jsonSize returns the length of the JSON before raw tensors; -1 if all of the body is JSON.
func (d *decoder) jsonSize(h *http1.Header) (n int64, ok bool) {
	d.read(h)
	return d.size, d.sizeOK
}

// decode returns the decoded content, at most limit bytes. If cut is set, body is only the start of
// the content, which is no error.
func (d *decoder) decode(body []byte, limit int64, cut bool) ([]byte, bool) {
	plain, err := d.reader.Read(d.name, body, limit)
	return plain, err == nil || cut && len(plain) > 0
}
