package executor

import (
	"context"
	"testing"
)

// TestSignalBeforeListen: a signal counts from the moment it was sent, even before the listener has
// read it.
func TestSignalBeforeListen(t *testing.T) {
	asked := make(chan int, 2)
	s := &stops{waiting: context.Background(), asked: asked, cancel: func(error) {}}
	if why := s.now(); why != "" || s.received() != 0 {
		t.Errorf("before: %q, signal %d", why, s.received())
	}
	s = watchStops(context.Background(), nil, 0) // its listener gets no signal
	defer s.end()
	s.asked = asked
	asked <- 15
	asked <- 2
	if why := s.now(); why != "the run was interrupted" || s.waiting.Err() == nil {
		t.Errorf("after: %q, waiting %v", why, s.waiting.Err())
	}
	if got := s.received(); got != 15 || s.over() != "" {
		t.Errorf("signal %d, %q: the first one counts", got, s.over())
	}
}

// TestCancelBeforeListen: nothing begins once the caller has cancelled the run, although its
// listener has been handed the signal and has not yet had the time to say so.
func TestCancelBeforeListen(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := watchStops(ctx, nil, 0)
	defer s.end()
	cancel()
	if why := s.now(); why != "the run was interrupted" {
		t.Errorf("%q", why)
	}
}
