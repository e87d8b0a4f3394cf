package drive

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// alarm ends short pauses of one goroutine on the kernel's own timer: the runtime's are 1 ms coarse, and a thread that
// sleeps in the kernel keeps others of its process from running. A goroutine that waits for a file to be readable does not.
type alarm struct {
	fd     int
	file   *os.File // nil: there is none, the runtime's timers must do
	buffer [8]byte
}

func newAlarm() *alarm {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return &alarm{}
	}
	return &alarm{fd: fd, file: os.NewFile(uintptr(fd), "timer")}
}

// wait returns after ns.
func (a *alarm) wait(ns int64) {
	if a.file != nil {
		spec := unix.ItimerSpec{Value: unix.NsecToTimespec(ns)}
		if unix.TimerfdSettime(a.fd, 0, &spec, nil) == nil {
			if _, err := a.file.Read(a.buffer[:]); err == nil {
				return
			}
		}
	}
	time.Sleep(time.Duration(ns))
}

func (a *alarm) close() {
	if a.file != nil {
		_ = a.file.Close() // a timer has nothing to lose
	}
}
