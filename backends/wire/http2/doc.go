// Package http2 is HTTP/2 (RFC 9113) for unary gRPC calls, one at a time on a connection: a backends.Talker. It knows bytes
// only; wire/netlane has the sockets.
//
// It is not: a client of HTTP/2 in general (no server push, no priorities, no second stream at the same time), a place that
// knows messages, a layer that retries. Streams, and calls that share a connection, are grpc-go's (wire/grpcraw).
//
// A call is one HEADERS frame, the message in DATA frames as the server's windows allow, and nothing more: what the fields
// of calls have in common is in the server's table (RFC 7541) after the first call of a connection and takes a byte each.
// Measured beside a bare grpc-go loop, see wire/grpcraw's BenchmarkUnary.
//
// # Stamps
//
// FirstByte is the read that brought the first frame of the reply, LastByte the one that brought the frame which ends it:
// the call has a status only then. BytesReceived counts the frames of the call, not those of the connection.
package http2
