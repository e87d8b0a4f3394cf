package load

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// endless is a file of lines without an end.
type endless struct{ line string }

func (e endless) Read(p []byte) (int, error) {
	n := 0
	for n+len(e.line) <= len(p) {
		n += copy(p[n:], e.line)
	}
	return n, nil
}

// TestManyMoments: a file of more gaps or times than can be held is refused where it goes over.
func TestManyMoments(t *testing.T) {
	gaps, err := ReadGaps(endless{"1\n"}, 1)
	if !errors.Is(err, errTooMany) || gaps != nil ||
		!strings.HasPrefix(err.Error(), "line 16777217: the file has more than 16777216 entries") {
		t.Errorf("gaps: %d, %v", len(gaps), err)
	}
	times, err := ReadTimes(io.MultiReader(strings.NewReader("0\n"), endless{"7\n"}), "times.txt", 1)
	if !errors.Is(err, errTooMany) || times != nil {
		t.Errorf("times: %d, %v", len(times), err)
	}
}
