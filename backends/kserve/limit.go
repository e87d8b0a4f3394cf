package kserve

import (
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
)

const (
	headroom = 4
	jsonItem = 26 // bytes of the longest number as JSON, and its separator
)

// replyLimit returns the largest allowed reply to a request in bytes: max_message, or the larger of
// backends.ReplyLimit and headroom times the size of the outputs, as JSON or raw bytes, according
// to the metadata.
func replyLimit(r *backends.Request, t *backends.Target, json bool) int64 {
	if t.MaxMessage > 0 {
		return t.MaxMessage
	}
	if r.Signature == nil {
		return backends.ReplyLimit
	}
	items := int64(1)
	if r.Signature.Batched {
		items = max(int64(r.Items), 1)
	}
	size := int64(0)
	for _, out := range r.Signature.Outputs {
		each := int64(out.Type.Size())
		if json && each > 0 {
			each = jsonItem
		}
		if n, err := tensor.Elements(out.Shape); err == nil { // otherwise a dimension is free
			size += n * items * max(each, 0)
		}
	}
	return max(backends.ReplyLimit, headroom*size)
}
