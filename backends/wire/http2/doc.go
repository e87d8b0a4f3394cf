// Package http2 is HTTP/2 (RFC 9113) for unary gRPC calls, one at a time on a connection: a
// backends.ConnWire. It handles bytes only; wire/netlane has the sockets.
//
// It is not: a client of HTTP/2 in general (no server push, no priorities, no concurrent streams),
// a place that knows messages, a layer that retries. Streams, and calls that share a connection,
// use grpc-go (wire/grpcraw).
//
// A call is one HEADERS frame and the message in DATA frames as the server's windows allow: after
// the first call of a connection the header fields that calls have in common are in the server's
// table (RFC 7541) and take a byte each. Its cost is measured against a bare grpc-go loop, see
// BenchmarkUnary of wire/grpcraw.
//
// # How a call ends
//
//	the server                                                   class        the connection
//	ended it with status OK and one whole message                the judge's  goes on
//	ended it with another status, which the call accepts         ok           goes on
//	ended it with CANCELLED, or RST_STREAM CANCEL                cancelled    goes on
//	ended it with another status                                 status       goes on
//	answered as HTTP does, without gRPC                          status       is closed
//	sent a message over max_message (RESOURCE_EXHAUSTED)         status       is closed
//	cut it off with another RST_STREAM (INTERNAL)                protocol     goes on
//	sent frames out of order or malformed, or a reply without
//	a status, without a message, with two or a part of one       protocol     is closed
//	closed the connection within the reply                       reset        is closed
//	declared it unprocessed: GOAWAY, REFUSED_STREAM              stale        is closed
//
// A call with more header bytes than the server allows (MAX_HEADER_LIST_SIZE) is not sent. A server
// that allows no streams (MAX_CONCURRENT_STREAMS 0) is not ready; if it says so later its
// connection is closed.
//
// A note contains the server's message, after the name of the status, and then the status details that
// it sent. Frames after the end of a
// call do not belong to it; a server that sends GOAWAY, or breaks the protocol there, gets no more
// calls on the connection.
//
// # Stamps
//
// FirstByte is the read of the first frame of the reply, LastByte the read of the frame that ends
// it: only then has the call a status. BytesReceived counts the frames of the call, not those of
// the connection.
package http2
