// Package buffer grows the buffers that collect replies.
//
// It is not: a pool (a lane keeps its buffers).
package buffer

import "slices"

const (
	// large is the size in bytes from which a buffer grows by factor: for a reply of 64 MiB that
	// leaves a third of its size as garbage, where append leaves four times as much. The unused part
	// of a large buffer takes no memory.
	large  = 1 << 20
	factor = 4
)

// Append appends p to b, whose content has at most limit bytes.
func Append(b, p []byte, limit int64) []byte { return append(Grow(b, len(p), limit), p...) }

// Grow returns b with capacity for n more bytes; limit bounds its content.
func Grow(b []byte, n int, limit int64) []byte {
	size := len(b) + n
	if size <= cap(b) {
		return b
	}
	if size <= large {
		return slices.Grow(b, n)
	}
	room := large
	for room < size {
		room *= factor
	}
	if int64(room) > limit {
		room = max(size, int(limit))
	}
	return append(make([]byte, 0, room), b...)
}

// Reuse returns b without its content; nil for a large buffer whose content was small. An empty
// buffer is kept, as it may not have been used yet.
func Reuse(b []byte) []byte {
	if cap(b) > large && len(b) > 0 && len(b) < cap(b)/factor {
		return nil
	}
	return b[:0]
}
