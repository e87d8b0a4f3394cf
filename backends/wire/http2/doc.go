// Package http2 is HTTP/2 (RFC 9113) for unary gRPC calls, one at a time on a connection: a backends.ConnWire. It knows bytes
// only; wire/netlane has the sockets.
//
// It is not: a client of HTTP/2 in general (no server push, no priorities, no second stream at the same time), a place that
// knows messages, a layer that retries. Streams, and calls that share a connection, are grpc-go's (wire/grpcraw).
//
// A call is one HEADERS frame, the message in DATA frames as the server's windows allow, and nothing more: what the fields
// of calls have in common is in the server's table (RFC 7541) after the first call of a connection and takes a byte each.
// Measured beside a bare grpc-go loop, see wire/grpcraw's BenchmarkUnary.
//
// # How a call ends
//
//	the server                                                   class        the connection
//	ended it with status OK and one whole message                the judge's  goes on
//	ended it with another status, which the call accepts         ok           goes on
//	ended it with CANCELLED, or RST_STREAM CANCEL                cancelled    goes on
//	ended it with another status                                 status       goes on
//	answered as HTTP does, without gRPC                          status       is closed
//	has a message over max_message (RESOURCE_EXHAUSTED)          status       is closed
//	cut it off with another RST_STREAM (INTERNAL)                protocol     goes on
//	sent frames out of order, none that can be read, no status,
//	no message, two, a part of one                               protocol     is closed
//	closed the connection within the reply                       reset        is closed
//	says that it has not looked at it: GOAWAY, REFUSED_STREAM    stale        is closed
//
// A call with more fields than the server takes (MAX_HEADER_LIST_SIZE) is not sent. A server that takes no stream at once
// (MAX_CONCURRENT_STREAMS 0) is not ready; where it says so later its connection is of no use any more.
//
// A note says what the server said, after the name of the status. What a connection brings after the end of a call is no part of
// it; a server that says GOAWAY, or breaks the protocol there, gets no more calls on it.
//
// # Stamps
//
// FirstByte is the read that brought the first frame of the reply, LastByte the one that brought the frame which ends it:
// the call has a status only then. BytesReceived counts the frames of the call, not those of the connection.
package http2
