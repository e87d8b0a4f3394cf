package netlane

import (
	"errors"
	"io"
	"runtime"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

const (
	// eagerDial bounds the dialling at the end of Recv, which holds back a finished sample.
	eagerDial = 250 * time.Millisecond
	// settled is how long an unused connection must have stood to be replaced when it is closed.
	settled = int64(time.Second)
	// silentCloses in a row make a server one that closes after every reply.
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
				l.await()
			} else if l.replace() {
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

// read waits for bytes and gives them to the wire. It reports whether there is something to say of the request: that it has
// finished or, with full set, that its events are to be taken away.
func (l *lane) read() bool {
	k := l.link
	n, err := k.conn.Read(l.buf)
	at := l.o.Clock.Now()
	w := l.word.Load()
	switch {
	case stateOf(w) != idle:
		return l.came(n, err, at)
	case k.talker != nil && n > 0:
		return l.hear(w, n, err, at)
	}
	return l.lost(w, at)
}

// came gives what one read brought to the wire.
func (l *lane) came(n int, err error, at int64) bool {
	for stateOf(l.word.Load()) == claimed {
		runtime.Gosched() // Send is patching the head
	}
	l.active.Store(at)
	l.rest, l.readAt, l.readErr = l.buf[:n], at, err
	return l.feed()
}

// feed gives what was read to the wire.
func (l *lane) feed() bool {
	if n := len(l.rest); n > 0 {
		_, used, next := l.link.wire.Feed(l.rest, l.readAt)
		l.rest = l.rest[used:]
		switch {
		case next == backends.NextFull:
			l.full = true
			return true
		case next == backends.NextStale:
			return l.unseen(l.readAt)
		case next != backends.NextMore:
			return l.finish(next, used < n, l.readAt)
		}
		l.answer()
		if n == len(l.buf) && n < maxBuffer {
			l.buf = make([]byte, 2*n)
		}
	}
	if l.readErr != nil {
		return l.broken(l.readErr, l.readAt)
	}
	return false
}

// lost drops a connection that ended, or brought bytes that nobody asked for, while no request was in flight.
func (l *lane) lost(w uint64, at int64) bool {
	if !l.word.CompareAndSwap(w, newWord(genOf(w), repair)) {
		l.waitSent() // Send took the connection just now
		return l.stale(io.EOF, at)
	}
	return l.leave(at)
}

// leave drops a connection that is of no use any more, while no request is in flight.
func (l *lane) leave(at int64) bool {
	l.redial = l.link.used || at-l.link.born >= settled
	l.drop(false)
	if !l.swap(repair, cold) {
		l.redial = false // posted: dispatch dials
	}
	return false
}

// swap changes the state if it is from.
func (l *lane) swap(from, to uint64) bool {
	w := l.word.Load()
	return stateOf(w) == from && l.word.CompareAndSwap(w, newWord(genOf(w), to))
}

// replace dials while no request is in flight. If one is posted meanwhile, it goes out on the new connection, or ends
// with what dialling met, which is then reported.
func (l *lane) replace() bool {
	l.redial = false
	if !l.swap(cold, repair) {
		return false
	}
	err := l.dial(l.o.ConnectTimeout)
	if err == nil {
		l.swap(repair, idle)
		return false
	}
	return !l.swap(repair, cold) && l.undialled(err)
}

// dispatch sends a posted request, dialling first if there is no connection. It reports whether the request has
// finished already.
func (l *lane) dispatch() bool {
	if l.link == nil {
		start := l.o.Clock.Now()
		err := l.dial(l.o.ConnectTimeout)
		l.sample.Connect += l.o.Clock.Now() - start
		if err != nil {
			return l.undialled(err)
		}
		l.link.took = 0
	}
	l.transmit()
	return false
}

// undialled ends a request for which there is no connection.
func (l *lane) undialled(err error) bool {
	at := l.o.Clock.Now()
	l.stopped()
	l.fail(dialClass(err), err.Error(), at)
	if !l.settle(cold) {
		return l.cancelled(at)
	}
	return true
}

// fail fills the sample of a request that the wire had no part in ending.
func (l *lane) fail(class backends.ErrorClass, note string, at int64) {
	l.sample.Class, l.sample.LastByte = class, at
	l.sample.SetNote([]byte(note))
}

// finish ends a request that the wire has judged. With surplus the server sent more than the reply said it had: what
// the rest belongs to cannot be known, so neither reply nor connection is trusted.
func (l *lane) finish(next backends.Next, surplus bool, at int64) bool {
	l.waitSent()
	s := l.sample
	s.BoundSend()
	if errors.Is(l.failed, errUnsent) && s.Class == backends.OK {
		l.lose(errUnsent, at)
	}
	if surplus && next != backends.NextBroken && s.Class == backends.OK {
		l.fail(backends.Protocol, "the server sent more bytes than the reply said it has", at)
	}
	keep := next == backends.NextKeep && !surplus && l.failed == nil && !l.o.PerRequest && l.silent < silentCloses
	if !keep {
		if !l.settle(repair) {
			return l.cancelled(at)
		}
		l.renew(next != backends.NextBroken, true)
		return true
	}
	l.answer()
	if s.Flags&backends.Reused != 0 {
		l.silent = 0
	}
	if !l.settle(idle) {
		return l.cancelled(at)
	}
	return true
}

// renew drops the connection and, if again is set, dials another before the slot is free. The state is repair and no
// request can come.
func (l *lane) renew(polite, again bool) {
	l.drop(polite)
	l.redial = false
	to := cold
	if again && !l.o.PerRequest && l.dial(min(eagerDial, l.o.ConnectTimeout)) == nil {
		to = idle
	}
	l.swap(repair, to)
}

// broken ends, or sends again, a request whose connection met err while the reply was not complete.
func (l *lane) broken(err error, at int64) bool {
	l.waitSent()
	l.stopped()
	switch {
	case causeOf(l.word.Load()) != 0:
		return l.cancelled(at)
	case errors.Is(err, io.EOF):
		switch next := l.link.wire.EOF(at); next {
		case backends.NextStale:
			return l.stale(err, at)
		default:
			return l.finish(next, false, at)
		}
	case l.sample.BytesReceived == 0:
		return l.stale(err, at)
	}
	l.lose(err, at)
	return l.finish(backends.NextBroken, false, at)
}

// stale handles a connection that ended before any byte of a reply. If it is not a new one, the server may well have
// closed it before this request came: it is sent once more, on a new connection.
func (l *lane) stale(err error, at int64) bool {
	if l.old && !l.call.Stateful && (l.failed == nil || peerGone(l.failed)) {
		l.silent++
		l.sample.Flags |= backends.Resent
		l.drop(false)
		l.failed = nil
		l.move(posted)
		return false
	}
	l.lose(err, at)
	return l.finish(backends.NextBroken, false, at)
}

// lose fills the sample of a request whose connection met err; what its write met counts first.
func (l *lane) lose(err error, at int64) {
	switch {
	case l.failed != nil:
		l.fail(writeClass(l.failed), l.link.parted(l.failed.Error()), at)
	case errors.Is(err, io.EOF):
		l.fail(backends.ResetByPeer, l.link.parted("the connection was closed before a reply"), at)
	default:
		l.fail(readClass(err), l.link.parted(err.Error()), at)
	}
}

// cancelled ends a request that has a cause. The connection may still bring its reply, so it is thrown away.
func (l *lane) cancelled(at int64) bool {
	if stateOf(l.word.Load()) == sending {
		l.waitSent()
	}
	l.mu.Lock() // after this, Cancel has done with the connection
	w := l.word.Load()
	l.word.Store(newWord(genOf(w), repair))
	l.mu.Unlock()
	s, why := l.sample, causeOf(w)
	l.full = false
	s.SetCancelled(why, at, s.SendEnd != 0)
	late := s.Class == backends.TimedOut
	l.renew(false, late)
	return true
}
