package executor

import (
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

// TestRefusalsAreNoAnswer: a refusal is no sign of life, in whatever class its request ended.
func TestRefusalsAreNoAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		class     backends.ErrorClass
		status    int32
		responses uint32
		want      bool
	}{
		{backends.OK, 200, 1, true},
		{backends.Status, 400, 1, true},
		{backends.Status, 503, 1, false},
		{backends.TimedOut, 503, 1, false}, // read whole when the time was up
		{backends.Stopped, 503, 1, false},
		{backends.Status, 14, 0, false},
		{backends.TimedOut, 14, 0, false},
		{backends.TimedOut, 0, 0, false},
		{backends.TimedOut, 0, 1, true}, // the first of several
		{backends.Decode, 200, 0, true},
		{backends.Dial, 0, 0, false},
	} {
		s := &backends.Sample{Class: c.class, Status: c.status}
		s.Responses = c.responses
		if counts(s) != c.want {
			t.Errorf("class %v, status %d, %d responses: want %v", c.class, c.status, c.responses, c.want)
		}
	}
}
