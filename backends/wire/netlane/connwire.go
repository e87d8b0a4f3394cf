package netlane

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

// errNotProcessed is the error of a request that the server declares unprocessed.
var errNotProcessed = errors.New("the server accepts no more requests on the connection")

// errUnsent is the error of a request that the server would not take.
var errUnsent = errors.New("the request was not sent")

// withCloseReason appends to what the reason that the server gave for closing, if any.
func (k *link) withCloseReason(what string) string {
	if k.talker != nil {
		if why := k.talker.CloseReason(); why != "" {
			return what + ": " + why
		}
	}
	return what
}

// handshake sends the client's preface and waits for the server's, after which the connection can
// carry a request.
func (k *link) handshake(ctx context.Context, o *Options) error {
	if secure, ok := k.conn.(*tls.Conn); ok && len(o.TLS.NextProtos) > 0 &&
		!slices.Contains(o.TLS.NextProtos, secure.ConnectionState().NegotiatedProtocol) {
		return &classError{
			backends.TLS, errors.New("the server does not offer " + o.TLS.NextProtos[0] + " (ALPN)"),
		}
	}
	stop := context.AfterFunc(ctx, func() { _ = k.conn.SetDeadline(pastDeadline) })
	err := k.exchangePrefaces()
	if stop() {
		return err
	}
	if err = context.Cause(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if why := k.talker.CloseReason(); why != "" {
		return errors.New(why)
	}
	return errors.New("the server accepted the connection and sent nothing within the connect_timeout")
}

func (k *link) exchangePrefaces() error {
	if _, err := k.conn.Write(k.talker.Preface()); err != nil {
		return err
	}
	buf := make([]byte, 4<<10)
	for {
		n, err := k.conn.Read(buf)
		next := backends.NextMore
		if n > 0 {
			next = k.talker.FeedIdle(buf[:n])
		}
		switch {
		case next == backends.NextKeep:
			return k.writePending(&output{})
		case next == backends.NextBroken:
			return &classError{backends.Protocol, errors.New(k.talker.CloseReason())}
		case next == backends.NextClose:
			return errors.New(k.withCloseReason(errNotProcessed.Error()))
		case errors.Is(err, io.EOF):
			return errors.New(k.withCloseReason("the server closed the connection before it sent a byte"))
		case err != nil:
			return err
		}
	}
}

// writePending writes the bytes that the wire itself wants to send.
func (k *link) writePending(out *output) error {
	if !k.talker.WantsWrite() {
		return nil
	}
	head, body, _ := k.talker.PendingWrite()
	_, err := out.write(k, head, body)
	return err
}

// feedIdle takes the n bytes that arrived while no request was in flight, on a connection that also
// carries bytes of its own. err is the error of the same read.
func (l *lane) feedIdle(w uint64, n int, err error, at int64) bool {
	// Send took the connection just now; its reply is yet to come
	if !l.word.CompareAndSwap(w, newWord(genOf(w), repair)) {
		return l.handleRead(n, err, at)
	}
	if l.link.talker.FeedIdle(l.buf[:n]) == backends.NextKeep && err == nil &&
		l.link.writePending(&l.out) == nil {
		l.word.transition(repair, idle) // else a request was posted meanwhile: it goes out on this connection
		return false
	}
	return l.dropIdle(at)
}

// writePending writes the bytes that the wire itself wants to send while a request is in flight. An
// error shows at the next read.
func (l *lane) writePending() {
	k := l.link
	if k.talker == nil || !k.talker.WantsWrite() {
		return
	}
	l.awaitSent(false)
	head, body, part := k.talker.PendingWrite()
	n, err := l.out.write(k, head, body)
	if part {
		l.sample.BytesSent += n
		l.sample.SendEnd = l.now() // finish keeps it from being after the first byte
		l.writeErr = errors.Join(l.writeErr, err)
	}
}

// retryUnprocessed sends a request again that the server declares unprocessed, or ends it.
func (l *lane) retryUnprocessed(at int64) bool {
	l.waitSent()
	l.setStopped()
	if causeOf(l.word.Load()) != 0 {
		return l.finishCancelled(at)
	}
	refused, silent := l.link.talker != nil && l.link.talker.FeedIdle(nil) == backends.NextKeep, l.silent
	ended := l.retryStale(errNotProcessed, at)
	// it refused the request, not the connection: no sign of a server that closes after every reply
	if refused {
		l.silent = silent
	}
	return ended
}

// waitSent waits for the end of a write by another goroutine. A server may answer before it has
// read the whole request; it gets graceTime to read the rest, then the write is aborted.
func (l *lane) waitSent() { l.awaitSent(true) }

// awaitSent waits for the end of a write by another goroutine; with hurry for little longer than
// graceTime.
func (l *lane) awaitSent(hurry bool) {
	for range 100 {
		if stateOf(l.word.Load()) == sent {
			return
		}
		runtime.Gosched()
	}
	l.recvWaits.Store(true)
	if stateOf(l.word.Load()) == sent && l.recvWaits.CompareAndSwap(true, false) {
		return
	}
	if !hurry {
		<-l.sendDone
		return
	}
	if l.grace == nil {
		l.grace = time.NewTimer(graceTime)
	} else {
		l.grace.Reset(graceTime)
	}
	defer l.grace.Stop()
	select {
	case <-l.sendDone:
	case <-l.grace.C:
		_ = l.link.conn.SetWriteDeadline(pastDeadline)
		<-l.sendDone
		if l.writeErr == nil {
			l.writeErr = errWriteAborted // the deadline stays in the past: nothing more can be written here
		}
	}
}
