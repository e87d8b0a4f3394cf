package drive

import (
	"syscall"
	"time"
	"unsafe"
)

const (
	prSetTimerSlack = 29
	prGetTimerSlack = 30
)

// sharpTimer makes sleeps of the calling thread end within the kernel's own precision instead of its default 50 µs of
// slack, and returns what puts the old slack back. The goroutine must be locked to its thread.
func sharpTimer() (restore func()) {
	old, _, errno := syscall.Syscall(syscall.SYS_PRCTL, prGetTimerSlack, 0, 0)
	if errno != 0 {
		return func() {}
	}
	slack := func(ns uintptr) { _, _, _ = syscall.Syscall(syscall.SYS_PRCTL, prSetTimerSlack, ns, 0) }
	slack(1)
	return func() { slack(old) }
}

// nap sleeps about ns on the thread's own timer: the runtime's sleeps end 1 ms late. A signal may end it early.
func nap(ns int64) {
	t := syscall.NsecToTimespec(ns)
	_ = syscall.Nanosleep(&t, nil)
}

// rawNap sleeps at most so long and keeps the processor of its goroutine: the scheduler does not see that it sleeps. A
// signal, such as that of a scheduler that wants to stop the goroutine, ends it early; the goroutine then stops where it
// calls a function, so this one must stay a call. (A yield instead would be no stop: the collector, which scans the stack of
// a goroutine that it has stopped, would ask again and again.)
//
//go:noinline
func rawNap(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_, _, _ = syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0)
}
