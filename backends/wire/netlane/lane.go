package netlane

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

// inlineLimit is the largest request, in bytes, that an idle connection takes without blocking: its
// send buffer is empty and four times as large.
const inlineLimit = 32 << 10

// lane is one connection at a time.
//
// Its word holds a generation, a cause and a state:
//
//	state    who owns the lane           leaves by
//	cold     nobody; no connection       Send → posted; Recv (idle redial) → repair
//	idle     nobody; Recv may read       Send → claimed; Recv (bytes or EOF) → repair
//	repair   Recv, replacing the         Recv → idle or cold; Send → posted
//	         connection, or answering
//	         what came on it
//	posted   Recv, which will dial and   Recv → sent, or cold when dialling failed
//	         send the request
//	claimed  Send, before its write      Send → sending
//	sending  Send, in its write          Send → sent
//	sent     Recv, waiting for a reply   Recv → idle, repair or cold; posted when stale
//
// In the last four a request is in flight and Cancel may set its cause; whoever ends the request
// does so with a compare-and-swap that fails if a cause has come.
type lane struct {
	o      *Options
	word   word
	wakeup chan struct{} // one token: a request was posted, or the lane was closed

	request
	active atomic.Int64 // time of the last byte sent or received

	recvWaits atomic.Bool   // Recv waits for the end of Send's write …
	sendDone  chan struct{} // … and receives a token
	grace     *time.Timer   // bounds that wait; made on first use

	// locked for assignments and deadlines only, never on the path of a request that succeeds
	mu     sync.Mutex
	link   *link // written by Recv under mu
	abort  context.CancelFunc
	closed atomic.Bool

	// The fields below belong to Recv.
	input
	redial bool // replace the connection that was lost while idle
	silent int  // consecutive requests whose connection was closed without a reply byte
	dials  int  // connections dialled so far
	wire   backends.Wire

	out output // belongs to the goroutine that sends

	member // set in a bundle
}

// request is the request in flight. Send writes it before it sets a state in which Recv reads it.
type request struct {
	slot       int
	call       *backends.Call
	fields     backends.Fields
	sample     *backends.Sample
	maybeStale bool  // the connection may have been closed before this request was written
	writeErr   error // error of the write; set by Send before the state sent
}

// fail fills in the sample of a request that the wire did not end.
func (r *request) fail(class backends.ErrorClass, note string, at int64) {
	r.sample.Class, r.sample.LastByte = class, at
	r.sample.SetNote([]byte(note))
}

// input holds the bytes of one read.
type input struct {
	buf     []byte
	unfed   []byte // not fed to the wire yet
	readAt  int64
	readErr error
	full    bool // the wire waits until the caller has taken the sample's events
}

// member connects a lane to its bundle; outside a bundle all fields are zero.
type member struct {
	yield    func()                     // lets the other lanes run until this one has an event
	wake     func()                     // makes such an event; from any goroutine
	register func(socket uintptr) error // makes readable bytes such an event
	woken    atomic.Bool
	readable bool // there may be something to read
}

// awaitBytes yields until there may be something to read. When the bundle has ended and yield is
// nil, the connection is closed and reads fail.
func (m *member) awaitBytes() {
	for !m.readable && m.yield != nil {
		m.yield()
	}
	m.readable = false
}

// await waits for a token in c, or its close. In a bundle the lane yields meanwhile.
func (m *member) await(c <-chan struct{}) {
	for m.yield != nil {
		select {
		case <-c:
			return
		default:
			m.yield()
		}
	}
	<-c
}

// graceTime is the time that a server which has already answered gets to read the rest of the
// request.
const graceTime = 20 * time.Millisecond

// States of a lane.
const (
	cold uint64 = iota
	idle
	repair
	posted
	claimed
	sending
	sent
)

func stateOf(w uint64) uint64         { return w & 0xff }
func causeOf(w uint64) backends.Cause { return backends.Cause(w >> 8) }
func genOf(w uint64) uint32           { return uint32(w >> 32) }
func inFlight(w uint64) bool          { return stateOf(w) >= posted }

func newWord(gen uint32, state uint64) uint64 { return uint64(gen)<<32 | state }

func newLane(o *Options) *lane {
	return &lane{
		o: o, wakeup: make(chan struct{}, 1), sendDone: make(chan struct{}, 1),
		input: input{buf: make([]byte, 8<<10)},
	}
}

func (l *lane) now() int64 { return l.o.Clock.Now() }

// word is the atomic {generation, cause, state} of a lane.
type word struct{ atomic.Uint64 }

// set changes the state and keeps the generation and a cause that may have been set.
func (a *word) set(to uint64) {
	for {
		w := a.Load()
		if a.CompareAndSwap(w, w&^0xff|to) {
			return
		}
	}
}

// complete ends the request and changes to state to. It returns false if the request was cancelled.
func (a *word) complete(to uint64) bool {
	w := a.Load()
	return causeOf(w) == 0 && a.CompareAndSwap(w, newWord(genOf(w), to))
}

// transition changes the state if it is from.
func (a *word) transition(from, to uint64) bool {
	w := a.Load()
	return stateOf(w) == from && a.CompareAndSwap(w, newWord(genOf(w), to))
}

// Send implements backends.Lane. Without a connection it leaves the request to Recv.
func (l *lane) Send(slot int, c *backends.Call, f backends.Fields, s *backends.Sample) {
	l.slot, l.call, l.fields, l.sample, l.writeErr = slot, c, f, s, nil
	for {
		w := l.word.Load()
		switch stateOf(w) {
		case idle:
			if l.word.CompareAndSwap(w, newWord(s.Gen, claimed)) {
				l.transmit()
				return
			}
		case cold, repair:
			s.SendStart = l.now()
			if l.word.CompareAndSwap(w, newWord(s.Gen, posted)) {
				l.wakeRecv()
				return
			}
		default:
			panic("netlane: Send on a lane with a request in flight")
		}
	}
}

// transmit writes the request to the connection. The caller owns both.
func (l *lane) transmit() {
	s, k := l.sample, l.link
	if s.SendStart == 0 {
		s.SendStart = l.now()
	}
	l.maybeStale = k.used || l.now()-k.connectedAt >= SettledAge
	head, body := l.wire.Begin(l.slot, l.call, l.fields, s)
	switch {
	case k.used:
		s.Flags |= backends.Reused
	case k.replaces:
		s.Flags = s.Flags&^backends.Reused | backends.Redialled
		if k.connectTime > 0 {
			s.Connect += k.connectTime
			s.Flags |= backends.Ahead
		}
	}
	k.used = true
	l.active.Store(s.SendStart)
	l.word.set(sending)
	waits := l.call.Size > inlineLimit
	if !waits { // the kernel may run the server before the write returns
		s.SendEnd = l.now()
	}
	if head != nil {
		s.BytesSent, l.writeErr = l.out.write(k, head, body)
	} else {
		l.writeErr = errUnsent
	}
	if waits {
		s.SendEnd = l.now()
	}
	if l.writeErr != nil && !peerClosed(l.writeErr) {
		_ = k.conn.SetReadDeadline(pastDeadline) // the peer will not end Recv's read
	}
	l.word.set(sent)
	if l.recvWaits.CompareAndSwap(true, false) {
		l.sendDone <- struct{}{}
	}
}

// wakeRecv wakes a Recv that waits without a connection.
func (l *lane) wakeRecv() {
	select {
	case l.wakeup <- struct{}{}:
	default:
	}
	if l.wake != nil {
		l.wake()
	}
}

// Activity implements backends.Lane.
func (l *lane) Activity(int) int64 { return l.active.Load() }

// Cancel implements backends.Lane.
func (l *lane) Cancel(_ int, gen uint32, why backends.Cause) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.word.Load(); genOf(w) == gen {
		l.cancel(why)
	}
}

// cancel sets the cause of the request in flight and interrupts the read or write of Recv or Send.
// The caller holds mu, so that Recv cannot go on to another connection before this one is
// interrupted.
func (l *lane) cancel(why backends.Cause) {
	for {
		w := l.word.Load()
		if !inFlight(w) || causeOf(w) != 0 {
			return
		}
		if l.word.CompareAndSwap(w, w|uint64(why)<<8) {
			break
		}
	}
	if l.abort != nil {
		l.abort()
	}
	if l.link != nil {
		_ = l.link.conn.SetDeadline(pastDeadline)
	}
}

// setStopped sets the cause of a request that was sent on a closed lane.
func (l *lane) setStopped() {
	if l.closed.Load() {
		l.mu.Lock()
		l.cancel(backends.CauseStop)
		l.mu.Unlock()
	}
}

// Close implements backends.Lane.
func (l *lane) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed.Swap(true) {
		return nil
	}
	l.cancel(backends.CauseStop)
	if l.abort != nil {
		l.abort()
	}
	if l.link != nil {
		_ = l.link.raw.Close() // ends reads and writes in progress
	}
	l.wakeRecv()
	return nil
}
