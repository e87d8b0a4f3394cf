package grpcraw

import (
	"errors"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Refusal is the code and the words with which the server ended a single call. False: the error is not the server's.
func Refusal(err error) (code int32, words string, ok bool) {
	var refused interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &refused) {
		return 0, "", false
	}
	st := refused.GRPCStatus()
	return int32(st.Code()), st.Message(), st.Code() != codes.OK
}

// fail gives the sample its class. The first row that fits counts:
//
//	the request                                               class
//	was cancelled by Cancel: timeout                          timeout, flag Timeout
//	was cancelled by Cancel or Close: drain, stop             stopped, flag Incomplete
//	could not be sent: no connection could be made            dial, tls, or client (out of descriptors, ports, memory)
//	has more fields than the server takes                     write
//	met bytes that are no HTTP/2, or frames out of order      protocol
//	its connection broke before the reply was complete        reset
//	had a reply message and no good end (two messages)        protocol
//	was cut off without a word (RST_STREAM)                   protocol
//	ended with CANCELLED                                      cancelled
//	ended with a code that the call accepts (Expect.Status)   ok
//	ended with any other code                                 status
//
// Codes are the server's, or grpc-go's where the server broke the protocol (INTERNAL, UNKNOWN). RESOURCE_EXHAUSTED says
// in its note whether the client's max_message or the server is the one that limits.
func (l *lane) fail(err error, k *link, why backends.Cause) {
	s := l.sample
	if why == 0 && l.closeCtx.Err() != nil {
		why = backends.CauseStop
	}
	switch why {
	case backends.CauseTimeout, backends.CauseInactivity:
		s.SetCancelled(why, s.LastByte, s.SendEnd != 0)
		s.SetNote([]byte(noMessage))
		return
	case backends.CauseDrain, backends.CauseStop:
		s.Class = backends.Stopped
		s.Flags |= backends.Incomplete
		return
	}
	st := status.Convert(err)
	s.Status = int32(st.Code())
	s.Class = l.class(st.Code(), k)
	if s.Class == backends.OK {
		s.Responses = 1
		return
	}
	s.SetNote([]byte(l.statusNote(st)))
}

// noMessage is all that is known of a call that grpc-go makes until a message is whole.
const noMessage = "no whole message of a reply came within the timeout"

func (l *lane) class(code codes.Code, k *link) backends.ErrorClass {
	switch {
	case l.via == nil:
		return backends.Client
	case l.stream == nil && code == codes.Unavailable:
		return l.via.dialClass()
	case l.stream == nil && code == codes.Internal:
		return backends.Write
	case code == codes.Unavailable && !l.hasServerStatus() && k != nil && k.protocolBroken():
		return backends.Protocol
	case code == codes.Unavailable && !l.hasServerStatus() && k != nil && k.broken.Load():
		return backends.ResetByPeer
	case code == codes.Internal && (l.gotMessage || !l.hasServerStatus()):
		return backends.Protocol
	case code == codes.Canceled:
		return backends.Cancelled
	case l.judge.Accepts(l.call, int32(code)):
		return backends.OK
	}
	return backends.Status
}

// dialClass is the class of a call that got no transport.
func (c *conn) dialClass() backends.ErrorClass {
	if failed := backends.ErrorClass(c.lastClass.Load()); failed != backends.OK {
		return failed
	}
	if last := c.latest.Load(); last != nil && last.notHTTP2.Load() {
		return backends.Protocol
	}
	return backends.Dial
}

// statusNote is the server's own words, after its code.
func (l *lane) statusNote(st *status.Status) string {
	side := ""
	if st.Code() == codes.ResourceExhausted {
		side = " (server side)"
		if l.hasHeaders() && !l.gotMessage {
			side = " (client side, max_message)"
		}
	}
	return st.Code().String() + side + ": " + st.Message() + advice(st)
}

// advice is what to do about a call that grpc-go did not send.
func advice(st *status.Status) string {
	if st.Code() == codes.Internal && strings.HasPrefix(st.Message(), "header list size to send violates") {
		return " (MAX_HEADER_LIST_SIZE): shorten `headers`"
	}
	return ""
}

// hasHeaders reports whether reply headers came apart from the status. A server that refuses a call sends none; grpc-go
// sees them before it refuses a reply that is too large.
func (l *lane) hasHeaders() bool {
	if l.stream == nil {
		return false
	}
	md, _ := l.stream.Header()
	return md != nil
}

// hasServerStatus reports whether the server has ended the call with a status of its own. grpc-go gives a call whose transport was
// lost neither headers nor trailers.
func (l *lane) hasServerStatus() bool { return l.stream != nil && len(l.stream.Trailer()) > 0 }

// stale reports whether the request should go out once more: it was on a connection that had been of use, that
// connection was closed, and nothing of a reply has come.
func (l *lane) stale(err error, k *link) bool {
	return k != nil && status.Code(err) == codes.Unavailable &&
		k.broken.Load() && !k.notHTTP2.Load() && k.proven(l.firstSent) &&
		!l.call.Stateful && !l.gotMessage && l.closeCtx.Err() == nil && l.base.Err() == nil && !l.hasServerStatus() && !l.hasHeaders()
}
