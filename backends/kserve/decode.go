package kserve

import (
	"strconv"

	"github.com/sluice-bench/sluice/backends/wire/http1"
)

// decoder knows the heads of replies and decodes their content coding, for one lane.
type decoder struct {
	http1.Decoder
	edition uint64
	size    int64
	sizeOK  bool
}

const (
	contentCodingLower = "content-encoding"
	jsonLengthLower    = "inference-header-content-length"
)

// jsonSize returns the length of the JSON before raw tensors; -1 if all of the body is JSON.
func (d *decoder) jsonSize(h *http1.Header) (n int64, ok bool) {
	if d.edition != h.Edition {
		d.edition, d.size, d.sizeOK = h.Edition, -1, true
		if text := h.Get(jsonLengthLower); text != nil {
			v, err := strconv.ParseUint(string(text), 10, 62)
			d.size, d.sizeOK = int64(v), err == nil
		}
	}
	return d.size, d.sizeOK
}
