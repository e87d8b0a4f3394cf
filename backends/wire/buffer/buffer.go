// Package buffer grows the buffers in which replies are gathered.
//
// It is not: a pool (a lane keeps its buffers).
package buffer

import "slices"

const (
	// large is the size from which a buffer grows by a factor of four: of a reply of 64 MiB a third is left behind as garbage on
	// the way, where append leaves behind four times as much. What is not used of a large buffer takes no memory.
	large  = 1 << 20
	factor = 4
)

// Append appends p to b, whose content has at most limit bytes.
func Append(b, p []byte, limit int64) []byte { return append(Grow(b, len(p), limit), p...) }

// Grow gives b with room for n bytes more.
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

// Reuse gives b without its content; nil for a large one of which the content took little. One that is empty stays, as it may
// not have come to be used.
func Reuse(b []byte) []byte {
	if cap(b) > large && len(b) > 0 && len(b) < cap(b)/factor {
		return nil
	}
	return b[:0]
}
