// Package netlane runs a Wire on a net.Conn (TCP, TLS, unix socket): the result is a backends.Lane
// that dials, takes timestamps, redials, cancels and answers every Send exactly once. Its depth is
// 1, or the size of a bundle: several connections served by one goroutine.
//
// It is not: a protocol (that is the Wire's), a pool, a retry layer (a stale connection is
// replaced, a failure is not repeated), a scheduler.
//
// # The connection of a request
//
// A connection that cannot be used again (the server announced a close, an error, our own cancel)
// is replaced at the end of Recv, before the slot is free, so that dialling stays out of latency.
// If that takes longer than 250 ms, the next request dials and its class reports a failure. A
// connection that the server closes while the lane is idle is replaced at once. One that is found
// closed by a request before any byte of the reply is replaced and the request is sent again; after
// two of these in a row the server is taken for one that closes after every reply, and the lane
// replaces the connection after each. A connection that never carried a request and was closed
// within a second of being dialled is not replaced before the next Send, and neither is one that
// could not be dialled: a server that is down costs one attempt per request.
//
// The first request on a replacement has the flag Redialled, one that was sent again the flag
// Resent. Connect of the first holds the time that the replacement took; with the flag Ahead the
// connection was made between requests and is in no latency. SendStart is the time at which the
// lane began with the request, before dialling if it had to dial; Connect holds the dial time.
//
// The connection of a ConnWire is ready when both sides have sent their preface; Connect includes
// that time. Bytes that the wire itself wants to send are written by Recv: while a request is in
// flight, and between requests before the next one may go out. A request that the server declares
// unprocessed is sent again, as one whose connection was found closed.
//
// # Who waits
//
// Recv waits in the runtime's poller: a read in vain, a wait for events, a read. With
// Options.MaxBlocked it waits in the read itself, see blockingConn: 2 system calls per request in
// place of 4.6 (strace, one in flight over HTTP). Where that needs more goroutines than may block,
// connections are bundled and one goroutine waits for the events of all of them, see bundle: a
// write, a read and a part of a wait per request, and no switch between goroutines. Next to a real
// Triton on the same two cores, with 16 in flight, bundles save a fifth of the CPU per request over
// HTTP (13.3 to 10.5 µs) and a sixth over gRPC, and 16 and 12 % more requests are answered.
package netlane
