//go:build !linux

package builtin

import (
	"errors"
	"syscall"
	"time"
)

// childAttr returns nil: without a parent-death signal only the closed stdin ends the child.
func childAttr() *syscall.SysProcAttr { return nil }

// timer waits with Go's own timers on systems without kernel timers; they may be a little late.
type timer struct {
	t    *time.Timer
	done chan struct{}
}

func newTimer() (*timer, error) {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &timer{t: t, done: make(chan struct{})}, nil
}

func (t *timer) arm(d time.Duration) { t.t.Reset(max(d, 1)) }

func (t *timer) fired() bool {
	select {
	case <-t.t.C:
		return true
	case <-t.done:
		return false
	}
}

func (t *timer) waitUntil(c clock, due int64) bool {
	if d := time.Duration(due - c.now()); d > 0 {
		t.arm(d)
		return t.fired()
	}
	return true
}

func (t *timer) close() { close(t.done) }

func mapShared(string, int64, int) ([]byte, error) {
	return nil, errors.New("this system has no shared memory here")
}

func unmapShared([]byte) {}
