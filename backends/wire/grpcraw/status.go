package grpcraw

import (
	"errors"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Status codes as Refusal returns them.
const (
	Unknown          = int32(codes.Unknown)
	InvalidArgument  = int32(codes.InvalidArgument)
	NotFound         = int32(codes.NotFound)
	PermissionDenied = int32(codes.PermissionDenied)
	Unimplemented    = int32(codes.Unimplemented)
	Unavailable      = int32(codes.Unavailable)
	Unauthenticated  = int32(codes.Unauthenticated)
)

// Refusal returns the code and the message with which the server ended a single call. ok is false
// if the error is not the server's.
func Refusal(err error) (code int32, words string, ok bool) {
	var refused interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &refused) {
		return 0, "", false
	}
	st := refused.GRPCStatus()
	return int32(st.Code()), st.Message(), st.Code() != codes.OK
}

// fail sets the class of the sample. The first matching row applies:
//
//	the request                                               class
//	was cancelled by Cancel: timeout                          timeout, flag Timeout
//	was cancelled by Cancel or Close: drain, stop             stopped, flag Incomplete
//	was closed as the plan says                               closed
//	could not be sent: no connection could be made            dial, tls; client (no descriptors, ports, memory)
//	has more header bytes than the server allows              write
//	met bytes that are not HTTP/2, or frames out of order     protocol
//	lost its connection before the reply was complete         reset
//	had a reply message and no good end (two messages)        protocol
//	was cut off without a status (RST_STREAM)                 protocol
//	ended with CANCELLED                                      cancelled
//	ended with a code that the call accepts (Expect.Status)   ok
//	ended with any other code                                 status
//
// Codes are the server's, or grpc-go's if the server broke the protocol (INTERNAL, UNKNOWN). The
// note of RESOURCE_EXHAUSTED says whether the client's max_message or the server set the limit.
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
	case backends.CauseClosed:
		s.Class = backends.Closed
		return
	}
	st := status.Convert(err)
	s.Status = int32(st.Code())
	s.Class = l.class(st.Code(), k)
	if s.Class == backends.OK {
		s.Responses = 1
		return
	}
	side := ""
	if st.Code() == codes.ResourceExhausted {
		side = " (server side)"
		if l.hasHeaders() && !l.gotMessage {
			side = " (client side, max_message)"
		}
	}
	s.SetNote([]byte(st.Code().String() + side + ": " + st.Message() + details(st) + advice(st)))
}

// details returns the details of a status for a note.
func details(st *status.Status) string {
	if len(st.Proto().GetDetails()) == 0 {
		return ""
	}
	message, err := proto.Marshal(st.Proto())
	if err != nil {
		return ""
	}
	return http2.Details(message)
}

// noMessage is the note of a timeout: a call of grpc-go reports no progress until a message is
// whole.
const noMessage = "no whole message of a reply came within the timeout"

func (l *lane) class(code codes.Code, k *link) backends.ErrorClass {
	said := l.hasServerStatus()
	class := k.class(code, said)
	switch {
	case l.stream == nil && (code == codes.Unavailable || code == codes.Internal):
		return l.via.openClass(code)
	case code == codes.Internal && (l.gotMessage || !said):
		return backends.Protocol
	case class == backends.Status && l.judge.Accepts(l.call, int32(code)):
		return backends.OK
	}
	return class
}

// class returns the class of a call on the link that ended with code; said: by the server.
func (l *link) class(code codes.Code, said bool) backends.ErrorClass {
	switch {
	case code == codes.Canceled:
		return backends.Cancelled
	case code != codes.Unavailable || said || l == nil:
		return backends.Status
	case l.notHTTP2.Load() || l.closed.Load() && !l.broken.Load(): // grpc-go gave it up
		return backends.Protocol
	case l.broken.Load():
		return backends.ResetByPeer
	}
	return backends.Status
}

// openClass returns the class of a call or stream that could not be opened on a connection; nil:
// there was none.
func (c *conn) openClass(code codes.Code) backends.ErrorClass {
	switch {
	case c == nil:
		return backends.Client
	case code == codes.Internal:
		return backends.Write
	case code != codes.Unavailable:
		return backends.Status
	}
	if f := c.failed.Load(); f != nil {
		return f.class
	}
	if last := c.latest.Load(); last != nil && last.notHTTP2.Load() {
		return backends.Protocol
	}
	return backends.Dial
}

// advice returns what to do about a call that grpc-go did not send, "" if unknown.
func advice(st *status.Status) string {
	if st.Code() == codes.Internal && strings.HasPrefix(st.Message(), "header list size to send violates") {
		return " (MAX_HEADER_LIST_SIZE): shorten `headers`"
	}
	return ""
}

// hasHeaders reports whether reply headers arrived apart from the status. A server that refuses a
// call sends none; grpc-go reads them before it refuses a reply that is too large.
func (l *lane) hasHeaders() bool {
	if l.stream == nil {
		return false
	}
	md, _ := l.stream.Header()
	return md != nil
}

// hasServerStatus reports whether the server ended the call with a status of its own. grpc-go gives
// a call whose transport was lost neither headers nor trailers.
func (l *lane) hasServerStatus() bool { return l.stream != nil && len(l.stream.Trailer()) > 0 }

// stale reports whether the request should be sent once more: its connection had been used
// successfully, was closed, and no byte of a reply arrived.
func (l *lane) stale(err error, k *link) bool {
	return k != nil && status.Code(err) == codes.Unavailable &&
		k.broken.Load() && !k.notHTTP2.Load() && k.proven(l.firstSent) &&
		!l.call.Stateful && !l.gotMessage && l.closeCtx.Err() == nil && l.base.Err() == nil &&
		!l.hasServerStatus() && !l.hasHeaders()
}
