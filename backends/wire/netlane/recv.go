package netlane

import (
	"errors"
	"io"
	"runtime"
	"syscall"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

const (
	// redialLimit bounds the dialling at the end of Recv, which delays a finished sample.
	redialLimit = 250 * time.Millisecond
	// settledAge is the least age in ns at which an unused connection is replaced when the server
	// closes it.
	settledAge = int64(time.Second)
	// silentCloses is the number of consecutive requests that must find their connection closed before
	// the server is taken for one that closes after every reply.
	silentCloses = 2
	maxBuffer    = 256 << 10
)

// Recv implements backends.Lane.
func (l *lane) Recv() (slot int, done bool) {
	for {
		if l.full {
			l.full = false
			if l.feed() {
				return l.slot, !l.full
			}
		}
		switch stateOf(l.word.Load()) {
		case cold:
			if l.closed.Load() {
				return backends.None, false
			}
			if !l.redial {
				l.await(l.wakeup)
			} else if l.redialIdle() {
				return l.slot, true
			}
		case posted:
			if l.dispatch() {
				return l.slot, true
			}
		default:
			if l.read() {
				return l.slot, !l.full
			}
		}
	}
}

// read waits for bytes and feeds them to the wire. It reports whether Recv has to return: the
// request has finished or, with full set, its events have to be taken.
func (l *lane) read() bool {
	k := l.link
	n, err := k.conn.Read(l.buf)
	at := l.o.Clock.Now()
	w := l.word.Load()
	switch {
	case stateOf(w) != idle:
		return l.handleRead(n, err, at)
	case k.talker != nil && n > 0:
		return l.feedIdle(w, n, err, at)
	}
	return l.dropLost(w, at)
}

// handleRead passes the result of one read to the wire.
func (l *lane) handleRead(n int, err error, at int64) bool {
	for stateOf(l.word.Load()) == claimed {
		runtime.Gosched() // Send is patching the head
	}
	l.active.Store(at)
	l.unfed, l.readAt, l.readErr = l.buf[:n], at, err
	return l.feed()
}

// feed passes the bytes that were read to the wire.
func (l *lane) feed() bool {
	if n := len(l.unfed); n > 0 {
		_, used, next := l.link.wire.Feed(l.unfed, l.readAt)
		l.unfed = l.unfed[used:]
		switch {
		case next == backends.NextFull:
			l.full = true
			return true
		case next == backends.NextStale:
			return l.retryUnprocessed(l.readAt)
		case next != backends.NextMore:
			return l.finish(next, used < n, l.readAt)
		}
		l.writePending()
		if n == len(l.buf) && n < maxBuffer {
			l.buf = make([]byte, 2*n)
		}
	}
	if l.readErr != nil {
		return l.handleBroken(l.readErr, l.readAt)
	}
	return false
}

// dropLost drops a connection that ended, or received unexpected bytes, while no request was in
// flight.
func (l *lane) dropLost(w uint64, at int64) bool {
	if !l.word.CompareAndSwap(w, newWord(genOf(w), repair)) {
		l.waitSent() // Send took the connection just now
		return l.retryStale(io.EOF, at)
	}
	return l.dropIdle(at)
}

// dropIdle drops a connection that cannot be used any more, while no request is in flight.
func (l *lane) dropIdle(at int64) bool {
	l.redial = l.link.used || at-l.link.connectedAt >= settledAge
	l.drop(false)
	if !l.word.transition(repair, cold) {
		l.redial = false // posted: dispatch dials
	}
	return false
}

// redialIdle dials while no request is in flight. A request that is posted meanwhile goes out on
// the new connection, or ends with the error of dialling, which is then reported.
func (l *lane) redialIdle() bool {
	l.redial = false
	if !l.word.transition(cold, repair) {
		return false
	}
	err := l.dial(l.o.ConnectTimeout)
	if err == nil {
		l.word.transition(repair, idle)
		return false
	}
	return !l.word.transition(repair, cold) && l.failDial(err)
}

// dispatch sends a posted request and dials first if there is no connection. It reports whether the
// request has already finished.
func (l *lane) dispatch() bool {
	if l.link == nil {
		start := l.o.Clock.Now()
		err := l.dial(l.o.ConnectTimeout)
		l.sample.Connect += l.o.Clock.Now() - start
		if err != nil {
			return l.failDial(err)
		}
		l.link.connectTime = 0
	}
	l.transmit()
	return false
}

// failDial ends a request that got no connection.
func (l *lane) failDial(err error) bool {
	at := l.o.Clock.Now()
	l.setStopped()
	l.fail(ClassOf(err, backends.Dial), err.Error(), at)
	if !l.word.complete(cold) {
		return l.finishCancelled(at)
	}
	return true
}

// fail fills in the sample of a request that the wire did not end.
func (l *lane) fail(class backends.ErrorClass, note string, at int64) {
	l.sample.Class, l.sample.LastByte = class, at
	l.sample.SetNote([]byte(note))
}

// finish ends a request whose reply the wire has judged. surplus: the server sent more bytes than
// the reply announced. They cannot be attributed, so neither the reply nor the connection is
// trusted.
func (l *lane) finish(next backends.Next, surplus bool, at int64) bool {
	l.waitSent()
	s := l.sample
	s.BoundSend()
	if errors.Is(l.writeErr, errUnsent) && s.Class == backends.OK {
		l.failBroken(errUnsent, at)
	}
	if surplus && next != backends.NextBroken && s.Class == backends.OK {
		l.fail(backends.Protocol, "the server sent more bytes than the reply said it has", at)
	}
	keep := next == backends.NextKeep && !surplus && l.writeErr == nil && !l.o.PerRequest &&
		l.silent < silentCloses
	if !keep {
		if !l.word.complete(repair) {
			return l.finishCancelled(at)
		}
		l.reconnect(next != backends.NextBroken, true)
		return true
	}
	l.writePending()
	if s.Flags&backends.Reused != 0 {
		l.silent = 0
	}
	if !l.word.complete(idle) {
		return l.finishCancelled(at)
	}
	return true
}

// reconnect drops the connection and, if again is set, dials another before the slot is free. In
// the state repair no request can arrive.
func (l *lane) reconnect(polite, again bool) {
	l.drop(polite)
	l.redial = false
	to := cold
	if again && !l.o.PerRequest && l.dial(min(redialLimit, l.o.ConnectTimeout)) == nil {
		to = idle
	}
	l.word.transition(repair, to)
}

// handleBroken ends a request, or sends it again, when its connection failed with err before the
// reply was complete.
func (l *lane) handleBroken(err error, at int64) bool {
	l.waitSent()
	l.setStopped()
	switch {
	case causeOf(l.word.Load()) != 0:
		return l.finishCancelled(at)
	case errors.Is(err, io.EOF):
		if next := l.link.wire.EOF(at); next != backends.NextStale {
			return l.finish(next, false, at)
		}
		return l.retryStale(err, at)
	case l.sample.BytesReceived == 0:
		return l.retryStale(err, at)
	}
	l.failBroken(err, at)
	return l.finish(backends.NextBroken, false, at)
}

// retryStale handles a connection that ended before any byte of a reply. Unless it is new, the
// server may have closed it before this request arrived: the request is sent once more, on a new
// connection.
func (l *lane) retryStale(err error, at int64) bool {
	if l.maybeStale && !l.call.Stateful && (l.writeErr == nil || peerClosed(l.writeErr)) {
		l.silent++
		l.sample.Flags |= backends.Resent
		l.drop(false)
		l.writeErr = nil
		l.word.set(posted)
		return false
	}
	l.failBroken(err, at)
	return l.finish(backends.NextBroken, false, at)
}

// failBroken fills in the sample of a request whose connection failed with err; an error of its
// write takes precedence.
func (l *lane) failBroken(err error, at int64) {
	class, text := ClassOf(err, backends.ResetByPeer), err.Error()
	switch failed := l.writeErr; {
	case failed != nil && isErrno(failed, syscall.ECONNRESET):
		class, text = backends.ResetByPeer, failed.Error()
	case failed != nil:
		class, text = ClassOf(failed, backends.Write), failed.Error()
	case errors.Is(err, io.EOF):
		text = "the connection was closed before a reply"
	}
	l.fail(class, l.link.withCloseReason(text), at)
}

// finishCancelled ends a request that has a cause. Its reply may still arrive, so the connection is
// closed.
func (l *lane) finishCancelled(at int64) bool {
	if stateOf(l.word.Load()) == sending {
		l.waitSent()
	}
	l.mu.Lock() // after this, Cancel has finished with the connection
	w := l.word.Load()
	l.word.Store(newWord(genOf(w), repair))
	l.mu.Unlock()
	s, why := l.sample, causeOf(w)
	l.full = false
	s.SetCancelled(why, at, s.SendEnd != 0)
	l.reconnect(false, s.Class == backends.TimedOut)
	return true
}
