package builtin

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// childAttr makes the kernel kill the child when the parent dies, and shields it from a terminal's
// interrupt: the parent drains first and then ends the child itself.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// timer waits for exact times on behalf of one goroutine. Go's own timers are up to 1 ms late in an
// idle process, because it sleeps in whole milliseconds of epoll; a kernel timer is a descriptor of
// that same epoll and wakes it on time, without blocking a thread.
type timer struct {
	f   *os.File
	raw syscall.RawConn // keeps the descriptor from being closed and reused while it is armed
	buf [8]byte
}

// lead is how long before the due time the kernel timer fires: waking takes about that long, and
// the rest is spun.
const lead = 30 * time.Microsecond

func newTimer() (*timer, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("create a kernel timer: %w", err)
	}
	f := os.NewFile(uintptr(fd), "timer")
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("use a kernel timer: %w", err), f.Close())
	}
	return &timer{f: f, raw: raw}, nil
}

// arm makes the timer fire after d, once. It may be called while another goroutine is in fired.
func (t *timer) arm(d time.Duration) {
	var it unix.ItimerSpec
	it.Value = unix.NsecToTimespec(max(int64(d), 1))
	// Fails only after close, when there is no waiter any more.
	_ = t.raw.Control(func(fd uintptr) { _ = unix.TimerfdSettime(int(fd), 0, &it, nil) })
}

// fired blocks until the timer has fired since the last call; false means that it is closed.
func (t *timer) fired() bool {
	_, err := t.f.Read(t.buf[:])
	return err == nil
}

// waitUntil returns at time due of clock, never earlier, or false if the timer was closed
// meanwhile.
func (t *timer) waitUntil(c clock, due int64) bool {
	if d := time.Duration(due - c.now()); d > lead {
		t.arm(d - lead)
		if !t.fired() {
			return false
		}
	}
	for c.now() < due {
	}
	return true
}

// close wakes the waiter and closes the descriptor.
func (t *timer) close() { t.f.Close() }

// mapShared maps the memory that shm_open(3) finds under key.
func mapShared(key string, offset int64, size int) ([]byte, error) {
	name := strings.TrimPrefix(key, "/")
	if name == "" || strings.ContainsAny(name, "/\x00") {
		return nil, fmt.Errorf("key %q", key)
	}
	file, err := os.OpenFile("/dev/shm/"+name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < offset+int64(size) { // access beyond the end would kill the process
		return nil, fmt.Errorf("%s has %d bytes", key, info.Size())
	}
	return unix.Mmap(int(file.Fd()), offset, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

func unmapShared(b []byte) { _ = unix.Munmap(b) } // it is a mapping
