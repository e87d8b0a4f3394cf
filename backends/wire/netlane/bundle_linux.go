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

// bundle is several lanes as one, each with a slot of it: one goroutine waits for all of their connections.
//
// What Recv of a lane does is then a coroutine that gives way wherever it would wait, and goes on when there is a reason:
//
//	it waits for …                        goes on when …
//	bytes                                 the kernel says that there are some, or the end
//	a request, without a connection       Send or Close rouses it
//	a connection that is being made       the goroutine that makes it rouses it
//	the caller, whom it told something    Recv is called again, unless all it has to do is to read
type bundle struct {
	lanes  []*lane
	events *os.File // epoll: level-triggered, so that nothing is lost that is not read at once
	raw    syscall.RawConn
	await  transfer
	came   []syscall.EpollEvent
	bell   *os.File // eventfd, to end a wait

	asleep atomic.Bool // Recv waits, or is about to
	roused atomic.Bool // a lane is
	begun  atomic.Bool // Recv was called, or Close before it, which then gives back what a wait needs

	// Recv's own.
	resume []func() (struct{}, bool) // by lane: lets it go on until it gives way; nil: it has ended. Made by the first Recv
	live   int                       // lanes that have not; without any nothing waits any more
	spoke  []bool                    // by lane: what it told stands in told
	told   []word
	at     int   // in told: the next that Recv gives
	due    []int // lanes that go on without a reason from outside
	turns  []int
}

// word is what a lane told, as Recv gives it.
type word struct {
	lane, slot int
	done       bool
}

// bellAt is the bell's place among the lanes.
const bellAt = -1

// bundled puts lanes together.
func bundled(lanes []*lane) (backends.Lane, error) {
	n := len(lanes)
	b := &bundle{
		lanes: lanes, came: make([]syscall.EpollEvent, n+1), live: n, spoke: make([]bool, n),
		told: make([]word, 0, n), due: make([]int, 0, n), turns: make([]int, 0, n),
	}
	events, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("wait for several connections: %w", err)
	}
	b.events = os.NewFile(uintptr(events), "epoll")
	bell, _, failed := syscall.Syscall(syscall.SYS_EVENTFD2, 0, syscall.O_CLOEXEC, 0)
	if failed != 0 {
		_ = b.events.Close()
		return nil, fmt.Errorf("wait for several connections: %w", failed)
	}
	b.bell = os.NewFile(bell, "bell")
	if b.raw, err = b.events.SyscallConn(); err == nil {
		err = b.watch(bell, bellAt)
	}
	if err != nil {
		b.release()
		return nil, err
	}
	b.await.init(syscall.SYS_EPOLL_PWAIT)
	for i, l := range lanes {
		b.take(i, l)
	}
	return b, nil
}

// take makes a lane one of the bundle.
func (b *bundle) take(i int, l *lane) {
	l.enlist = func(fd uintptr) error { return b.watch(fd, i) }
	l.rouse = func() {
		l.roused.Store(true)
		b.roused.Store(true)
		if b.asleep.Load() {
			b.ring()
		}
	}
}

// play is the Recv of a lane, again and again to its end.
func (b *bundle) play(i int, l *lane) func() (struct{}, bool) {
	resume, _ := iter.Pull(func(yield func(struct{}) bool) {
		l.give = func() { yield(struct{}{}) }
		for {
			slot, done := l.Recv()
			if slot == backends.None && !done {
				return
			}
			b.told, b.spoke[i] = append(b.told, word{i, slot, done}), true
			l.give()
		}
	})
	return resume
}

// watch has the wait end when a file can be read.
func (b *bundle) watch(fd uintptr, at int) error {
	var failed error
	err := b.raw.Control(func(events uintptr) {
		failed = syscall.EpollCtl(int(events), syscall.EPOLL_CTL_ADD, int(fd), &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(at)})
	})
	if err = errors.Join(err, failed); err != nil {
		return fmt.Errorf("wait for several connections: %w", err)
	}
	return nil
}

func (b *bundle) ring() {
	_, _ = b.bell.Write([]byte{7: 1, 0: 1}) // any number but 0, in any order of bytes
}

// release gives back what the kernel has of the bundle.
func (b *bundle) release() { _, _ = b.events.Close(), b.bell.Close() }

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
		_ = l.Close() // gives no error
	}
	if b.begun.CompareAndSwap(false, true) {
		b.release()
	}
	return nil
}

// begin gives each lane its coroutine, unless all were closed before.
func (b *bundle) begin() {
	b.resume = make([]func() (struct{}, bool), len(b.lanes))
	if !b.begun.CompareAndSwap(false, true) {
		b.live = 0
		return
	}
	for i, l := range b.lanes {
		b.resume[i] = b.play(i, l)
	}
}

// late is Recv where all lanes have ended: what was sent since, or before Recv was ever called, is answered without a wait.
func (b *bundle) late() (slot int, done bool) {
	for _, l := range b.lanes {
		if l.give = nil; inFlight(l.word.Load()) {
			return l.Recv()
		}
	}
	return backends.None, false
}

// Recv implements backends.Lane. Of what comes at the same time all is read before any of it is given.
func (b *bundle) Recv() (slot int, done bool) {
	if b.resume == nil {
		b.begin()
	}
	for {
		if b.at < len(b.told) {
			w := b.told[b.at]
			b.at++
			b.spoke[w.lane] = false
			if !w.done || stateOf(b.lanes[w.lane].word.Load()) != idle {
				b.due = append(b.due, w.lane)
			}
			return w.slot, w.done
		}
		if b.live == 0 {
			b.release()
			return b.late()
		}
		b.told, b.at = b.told[:0], 0
		b.turns, b.due = b.due, b.turns[:0]
		for _, i := range b.turns {
			b.goOn(i)
		}
		if len(b.told) == 0 && b.live > 0 {
			b.wait()
		}
	}
}

// goOn lets a lane go on until it gives way, unless Recv has to give first what it has told.
func (b *bundle) goOn(i int) {
	if b.spoke[i] || b.resume[i] == nil {
		return
	}
	if _, ok := b.resume[i](); !ok {
		b.resume[i] = nil
		b.live--
	}
}

// wait returns when some lanes had reason to go on, and did.
func (b *bundle) wait() {
	b.await.flags = ^uintptr(0) // ms: no limit
	b.asleep.Store(true)
	if b.roused.Load() {
		b.await.flags = 0
	}
	n, err := b.await.run(b.raw, unsafe.Pointer(&b.came[0]), len(b.came))
	b.asleep.Store(false)
	if err != nil {
		panic("netlane: wait for events: " + err.Error()) // they are ours, and open
	}
	for _, e := range b.came[:n] {
		if e.Fd == bellAt {
			_, _ = b.bell.Read(make([]byte, 8))
			continue
		}
		b.lanes[e.Fd].ready = true
		b.goOn(int(e.Fd))
	}
	if !b.roused.Swap(false) {
		return
	}
	for i, l := range b.lanes {
		switch {
		case !l.roused.Load():
		case b.spoke[i]:
			b.roused.Store(true) // once it has been heard
		default:
			l.roused.Store(false)
			l.ready = true // to look whether its connection still is
			b.goOn(i)
		}
	}
}
