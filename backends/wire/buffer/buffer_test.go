package buffer

import (
	"bytes"
	"testing"
)

// TestAppend: a buffer holds what was appended, has no room beyond its limit, and little is left
// behind as it grows.
func TestAppend(t *testing.T) {
	const limit = 20<<20 + 1
	piece := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	var b []byte
	left := 0
	for len(b)+len(piece) <= limit {
		before := cap(b)
		if b = Append(b, piece, limit); cap(b) != before {
			left += before
		}
		if cap(b) > limit {
			t.Fatalf("room for %d bytes, the limit is %d", cap(b), limit)
		}
	}
	if len(b) != 20<<20 || !bytes.Equal(b[len(b)-len(piece):], piece) {
		t.Errorf("%d bytes", len(b))
	}
	if left > limit/2*3 {
		t.Errorf("%d bytes were left behind on the way to %d", left, len(b))
	}
	if b = Append(b, []byte("xy"), limit); len(b) != 20<<20+2 {
		t.Errorf("%d bytes", len(b))
	}
}

func TestReuse(t *testing.T) {
	for _, c := range []struct {
		size, room int
		kept       bool
	}{
		{0, 0, true},
		{1, large, true},
		{0, 4 * large, true},
		{1, 4 * large, false},
		{large - 1, 4 * large, false},
		{large, 4 * large, true},
	} {
		b := Reuse(make([]byte, c.size, c.room))
		if len(b) != 0 || (cap(b) == c.room) != c.kept {
			t.Errorf("%d of %d bytes: room for %d, kept: %v", c.size, c.room, cap(b), c.kept)
		}
	}
}
