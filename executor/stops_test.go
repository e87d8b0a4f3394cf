package executor

import (
	"context"
	"testing"
)

// TestSignalBeforeListen: a signal counts from the moment it was sent, also where nobody has been told of it yet.
func TestSignalBeforeListen(t *testing.T) {
	asked := make(chan int, 2)
	s := &stops{come: make(chan struct{}), asked: asked, tell: func() {}}
	if why := s.now(); why != "" || s.heard() != 0 {
		t.Errorf("before: %q, signal %d", why, s.heard())
	}
	s, end := watchStops(context.Background(), nil, 0) // its listener hears of nothing
	defer end()
	s.asked = asked
	asked <- 15
	asked <- 2
	if why := s.now(); why != "the run was interrupted" || s.waiting.Err() == nil {
		t.Errorf("after: %q, waiting %v", why, s.waiting.Err())
	}
	if got := s.heard(); got != 15 || s.over() != "" {
		t.Errorf("signal %d, %q: the first one counts", got, s.over())
	}
}
