package netlane

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/sluice-bench/sluice/backends"
)

// bundle joins several lanes into one with a slot for each: one goroutine waits for all their
// connections.
//
// The Recv of each lane is a coroutine. It yields wherever it would wait and is resumed on an
// event:
//
//	it waits for …                   resumed when …
//	bytes                            the kernel reports bytes, or the end of the connection
//	a request, without a connection  Send or Close wakes it
//	a connection being dialled       the dialling goroutine wakes it
//	the caller, after a report       Recv is called again, unless the lane only has to read
type bundle struct {
	lanes       []*lane
	epoll       *os.File // level-triggered: bytes that are not read at once are reported again
	raw         syscall.RawConn
	await       transfer
	epollEvents []syscall.EpollEvent
	wakeFD      *os.File // eventfd that ends a wait

	waiting   atomic.Bool // Recv waits, or is about to
	laneWoken atomic.Bool // the woken flag of some lane is set
	started   atomic.Bool // Recv was called, or Close before it, which then releases epoll and wakeFD

	// The fields below belong to Recv.
	resume     []func() (struct{}, bool)
	running    int    // lanes that have not ended; at 0 nothing waits any more
	hasReport  []bool // by lane: a report of it is in reports
	reports    []report
	nextReport int   // index in reports that Recv returns next
	runnable   []int // lanes that go on without an event
	turns      []int
}

// report holds one result of a lane's Recv.
type report struct {
	lane, slot int
	done       bool
}

// wakeIndex marks events of wakeFD, where other events have the index of a lane.
const wakeIndex = -1

// newBundle joins lanes.
func newBundle(lanes []*lane) (backends.Lane, error) {
	n := len(lanes)
	b := &bundle{
		lanes: lanes, epollEvents: make([]syscall.EpollEvent, n+1), running: n, hasReport: make([]bool, n),
		reports: make([]report, 0, n), runnable: make([]int, 0, n), turns: make([]int, 0, n),
	}
	events, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("wait for several connections: %w", err)
	}
	b.epoll = os.NewFile(uintptr(events), "epoll")
	bell, _, failed := syscall.Syscall(syscall.SYS_EVENTFD2, 0, syscall.O_CLOEXEC, 0)
	if failed != 0 {
		_ = b.epoll.Close()
		return nil, fmt.Errorf("wait for several connections: %w", failed)
	}
	b.wakeFD = os.NewFile(bell, "bell")
	if b.raw, err = b.epoll.SyscallConn(); err == nil {
		err = b.register(bell, wakeIndex)
	}
	if err != nil {
		b.release()
		return nil, err
	}
	b.await.init(syscall.SYS_EPOLL_PWAIT)
	for i, l := range lanes {
		b.add(i, l)
	}
	return b, nil
}

// add connects lane i to the bundle's events.
func (b *bundle) add(i int, l *lane) {
	l.register = func(fd uintptr) error { return b.register(fd, i) }
	l.wake = func() {
		l.woken.Store(true)
		b.laneWoken.Store(true)
		if b.waiting.Load() {
			b.signal()
		}
	}
}

// runLane returns a coroutine that repeats Recv of lane i until the lane ends.
func (b *bundle) runLane(i int, l *lane) func() (struct{}, bool) {
	resume, _ := iter.Pull(func(yield func(struct{}) bool) {
		l.yield = func() { yield(struct{}{}) }
		for {
			slot, done := l.Recv()
			if slot == backends.None && !done {
				return
			}
			b.reports, b.hasReport[i] = append(b.reports, report{i, slot, done}), true
			l.yield()
		}
	})
	return resume
}

// register ends waits when fd becomes readable; at is the index of its lane.
func (b *bundle) register(fd uintptr, at int) error {
	var failed error
	err := b.raw.Control(func(events uintptr) {
		failed = syscall.EpollCtl(int(events), syscall.EPOLL_CTL_ADD, int(fd),
			&syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(at)})
	})
	if err = errors.Join(err, failed); err != nil {
		return fmt.Errorf("wait for several connections: %w", err)
	}
	return nil
}

func (b *bundle) signal() {
	_, _ = b.wakeFD.Write([]byte{7: 1, 0: 1}) // any number but 0, in either byte order
}

// release closes epoll and wakeFD.
func (b *bundle) release() { _, _ = b.epoll.Close(), b.wakeFD.Close() }

// Send implements backends.Lane.
func (b *bundle) Send(slot int, c *backends.Call, f backends.Fields, s *backends.Sample) {
	b.lanes[slot].Send(slot, c, f, s)
}

// Cancel implements backends.Lane.
func (b *bundle) Cancel(slot int, gen uint32, why backends.Cause) {
	b.lanes[slot].Cancel(slot, gen, why)
}

// Activity implements backends.Lane.
func (b *bundle) Activity(slot int) int64 { return b.lanes[slot].Activity(slot) }

// Close implements backends.Lane.
func (b *bundle) Close() error {
	for _, l := range b.lanes {
		_ = l.Close() // returns no error
	}
	if b.started.CompareAndSwap(false, true) {
		b.release()
	}
	return nil
}

// begin makes the coroutine of each lane, unless all were closed before.
func (b *bundle) begin() {
	b.resume = make([]func() (struct{}, bool), len(b.lanes))
	if !b.started.CompareAndSwap(false, true) {
		b.running = 0
		return
	}
	for i, l := range b.lanes {
		b.resume[i] = b.runLane(i, l)
	}
}

// recvEnded implements Recv after the end of all lanes: a request sent since then, or before Recv
// was ever called, is answered without a wait.
func (b *bundle) recvEnded() (slot int, done bool) {
	for _, l := range b.lanes {
		if l.yield = nil; inFlight(l.word.Load()) {
			return l.Recv()
		}
	}
	return backends.None, false
}

// Recv implements backends.Lane. Everything that arrived at the same time is read before any of it
// is reported.
func (b *bundle) Recv() (slot int, done bool) {
	if b.resume == nil {
		b.begin()
	}
	for {
		if b.nextReport < len(b.reports) {
			w := b.reports[b.nextReport]
			b.nextReport++
			b.hasReport[w.lane] = false
			if !w.done || stateOf(b.lanes[w.lane].word.Load()) != idle {
				b.runnable = append(b.runnable, w.lane)
			}
			return w.slot, w.done
		}
		if b.running == 0 {
			b.release()
			return b.recvEnded()
		}
		b.reports, b.nextReport = b.reports[:0], 0
		b.turns, b.runnable = b.runnable, b.turns[:0]
		for _, i := range b.turns {
			b.resumeLane(i)
		}
		if len(b.reports) == 0 && b.running > 0 {
			b.wait()
		}
	}
}

// resumeLane runs a lane until it yields, unless its last report has not been returned yet.
func (b *bundle) resumeLane(i int) {
	if b.hasReport[i] || b.resume[i] == nil {
		return
	}
	if _, ok := b.resume[i](); !ok {
		b.resume[i] = nil
		b.running--
	}
}

// wait blocks until at least one lane has an event, and resumes those lanes.
func (b *bundle) wait() {
	b.await.flags = ^uintptr(0) // ms: no limit
	b.waiting.Store(true)
	if b.laneWoken.Load() {
		b.await.flags = 0
	}
	n, err := b.await.run(b.raw, unsafe.Pointer(&b.epollEvents[0]), len(b.epollEvents))
	b.waiting.Store(false)
	if err != nil {
		panic("netlane: wait for events: " + err.Error()) // the descriptors are our own and open
	}
	for _, e := range b.epollEvents[:n] {
		if e.Fd == wakeIndex {
			_, _ = b.wakeFD.Read(make([]byte, 8))
			continue
		}
		b.lanes[e.Fd].readable = true
		b.resumeLane(int(e.Fd))
	}
	if !b.laneWoken.Swap(false) {
		return
	}
	for i, l := range b.lanes {
		switch {
		case !l.woken.Load():
		case b.hasReport[i]:
			b.laneWoken.Store(true) // again once its report is returned
		default:
			l.woken.Store(false)
			l.readable = true // to check whether its connection still exists
			b.resumeLane(i)
		}
	}
}
