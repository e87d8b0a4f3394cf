package drive

import (
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/delay"
)

// sharpTimer makes sleeps of the calling thread end within the kernel's own precision instead of
// its default slack of 50 µs. restore sets the old slack. The goroutine must be locked to its
// thread.
func sharpTimer() (restore func()) {
	old, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		return func() {}
	}
	slack := func(ns int) { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(ns), 0, 0, 0) }
	slack(1)
	return func() { slack(old) }
}

// threadSleep sleeps about ns on the thread's own timer: the runtime's sleeps end 1 ms late. A
// signal may end it early.
func threadSleep(ns int64) {
	t := syscall.NsecToTimespec(ns)
	_ = syscall.Nanosleep(&t, nil)
}

// rawSleep sleeps at most d and keeps the processor of its goroutine: the scheduler does not see
// that it sleeps. A signal, such as the scheduler's to stop the goroutine, ends it early; the
// goroutine then stops at the next function call, so this function must not be inlined. (A yield
// would not stop it: the collector, which scans the stacks of stopped goroutines, would ask again
// and again.)
//
//go:noinline
func rawSleep(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_, _, _ = syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0)
}

// shortTimer ends short pauses of one goroutine on a timer of the kernel: the runtime's timers are
// 1 ms coarse, and a thread that sleeps in the kernel keeps other threads of its process from
// running. A goroutine that waits for a readable file does not.
type shortTimer struct {
	fd     int
	file   *os.File // nil: unavailable, the runtime's timers are used
	buffer [8]byte
}

func newShortTimer() *shortTimer {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return &shortTimer{}
	}
	return &shortTimer{fd: fd, file: os.NewFile(uintptr(fd), "timer")}
}

// wait returns after ns.
func (a *shortTimer) wait(ns int64) {
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

func (a *shortTimer) close() {
	if a.file != nil {
		_ = a.file.Close() // closing a timer loses nothing
	}
}

// hiddenSleep is the length of one sleep of a hidden goroutine. A scheduler that wants to stop the
// goroutine ends it with a signal, as it does anyway after 10 ms.
const hiddenSleep = time.Duration(delay.BeatEvery)

// StayAwake keeps Go's scheduler from sleeping between a request and its reply, until stop is
// called. A program whose goroutines all wait is idle: its monitor thread sleeps too, and the
// thread that gets the next reply has to wake it, which costs two thread switches and a timer for
// each request of a short closed loop. A goroutine in a system call that is hidden from the
// scheduler makes the program look busy and uses no CPU. It gets a processor of its own in addition
// to the existing ones, of which at most most are kept. From then on GOMAXPROCS no longer follows a
// container's limit.
//
// Measured beside a real Triton on two cores: over HTTP 35 to 20 µs of CPU a request at 1 in flight
// and 16 to 10 at 16, over gRPC 50 to 45 and 21 to 16; and with one processor in place of two, 1 in
// flight over gRPC, 56 to 32 µs and a fifth more requests.
func StayAwake(most int) (stop func()) { return hidden(most, func() {}) }

// Heartbeat records in log that this process runs, until stop is called. What comes too late shows a
// pause. A goroutine that waits for a ticker on a thread of its own would take the processor of a
// loop at each beat, and ten thread switches.
func Heartbeat(clock backends.Clock, log *delay.Log) (stop func()) {
	end := hidden(math.MaxInt, func() { log.Beat(clock.Now()) })
	return func() {
		end()
		log.Rest()
	}
}

// addProcessor adds a processor, until remove is called, for a goroutine whose thread sleeps in the kernel:
// that keeps its processor, as the scheduler's monitor takes it back late in a program that does little.
// Goroutines that wait for a time beside a pacer need it: of 10,000 turns on two processors some were sent
// over 1 ms late, in each run the same ones, when the pacer's thread slept ahead of an arrival.
func addProcessor() (remove func()) {
	change := func(n int) {
		processors.Lock()
		defer processors.Unlock()
		processors.hidden += n
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
	}
	change(1)
	return func() { change(-1) }
}

// processors guards GOMAXPROCS, which is one number for all runs of the process. hidden counts the
// goroutines that each keep a processor.
var processors struct {
	sync.Mutex
	hidden int
}

// hidden calls each, in a goroutine that sleeps between calls without the scheduler seeing it, on one
// processor in addition to those that others can use, of which at most most are kept, until stop is
// called.
func hidden(most int, each func()) (stop func()) {
	var stopped atomic.Bool
	done := make(chan struct{})
	processors.Lock()
	all := runtime.GOMAXPROCS(0)
	free := all - processors.hidden
	spare := max(free-most, 0)
	processors.hidden++
	runtime.GOMAXPROCS(all - spare + 1)
	processors.Unlock()
	go func() {
		defer close(done)
		for !stopped.Load() {
			each()
			rawSleep(hiddenSleep)
		}
	}()
	return func() {
		stopped.Store(true)
		<-done
		processors.Lock()
		defer processors.Unlock()
		processors.hidden--
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + spare - 1)
	}
}
