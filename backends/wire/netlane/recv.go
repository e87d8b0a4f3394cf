package netlane

import (
	"errors"
	"io"
	"runtime"

	"github.com/sluice-bench/sluice/backends"
)

const maxBuffer = 256 << 10

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
		case posted: // send it, on a new connection if there is none
			if l.link == nil {
				start := l.now()
				err := l.dial(l.o.ConnectTimeout)
				l.sample.Connect += l.now() - start
				if err != nil {
					return l.slot, l.failDial(err)
				}
				l.link.connectTime = 0
			}
			l.transmit()
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
	at := l.now()
	w := l.word.Load()
	switch {
	case stateOf(w) != idle:
		return l.handleRead(n, err, at)
	case k.talker != nil && n > 0:
		return l.feedIdle(w, n, err, at)
	case !l.word.CompareAndSwap(w, newWord(genOf(w), repair)):
		l.waitSent() // Send took the connection just now
		return l.retryStale(io.EOF, at)
	}
	return l.dropIdle(at) // it ended, or received unexpected bytes
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
		_, used, next := l.wire.Feed(l.unfed, l.readAt)
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

// failDial ends a request that got no connection. It returns true.
func (l *lane) failDial(err error) bool {
	at := l.now()
	l.setStopped()
	l.fail(ClassOf(err, backends.Dial), err.Error(), at)
	if !l.word.complete(cold) {
		return l.finishCancelled(at)
	}
	return true
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
		l.silent < SilentCloses
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
	// After these the load goes on: the next request on the slot must not pay for the connection.
	l.reconnect(false, s.Class == backends.TimedOut || s.Class == backends.Closed)
	return true
}
