package drive

import (
	"runtime"
	"syscall"
	"testing"
)

func TestSharpTimerPutsTheOldSlackBack(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	slack := func() uintptr {
		ns, _, errno := syscall.Syscall(syscall.SYS_PRCTL, prGetTimerSlack, 0, 0)
		if errno != 0 {
			t.Fatal(errno)
		}
		return ns
	}
	before := slack()
	restore := sharpTimer()
	if got := slack(); got != 1 {
		t.Errorf("slack %d ns, want 1", got)
	}
	restore()
	if got := slack(); got != before {
		t.Errorf("slack %d ns afterwards, was %d", got, before)
	}
}
