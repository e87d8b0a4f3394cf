package backendtest

import (
	"syscall"
	"time"
)

// sleep waits for less than a millisecond, which Go's timers of an idle process round up to one: a reply that
// arrives byte by byte would take four times as long.
func sleep(d time.Duration) {
	left := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&left, nil) // a signal ends it early, which no test depends on
}
