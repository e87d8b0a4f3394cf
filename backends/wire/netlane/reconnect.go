package netlane

import (
	"errors"
	"io"
	"syscall"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

const (
	// redialLimit bounds the dialling at the end of Recv, which delays a finished sample.
	redialLimit = 250 * time.Millisecond
	// SettledAge is the least age in ns at which an unused connection is replaced when the server
	// closes it.
	SettledAge = int64(time.Second)
	// SilentCloses is the number of consecutive requests that must find their connection closed before
	// the server is taken for one that closes after every reply.
	SilentCloses = 2
)

// handleBroken ends a request, or sends it again, when its connection failed with err before the
// reply was complete.
func (l *lane) handleBroken(err error, at int64) bool {
	l.waitSent()
	l.setStopped()
	switch {
	case causeOf(l.word.Load()) != 0:
		return l.finishCancelled(at)
	case errors.Is(err, io.EOF):
		if next := l.wire.EOF(at); next != backends.NextStale {
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

// dropIdle drops a connection that cannot be used any more, while no request is in flight.
func (l *lane) dropIdle(at int64) bool {
	l.redial = l.link.used || at-l.link.connectedAt >= SettledAge
	l.drop(false)
	if !l.word.transition(repair, cold) {
		l.redial = false // posted: Recv dials
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
