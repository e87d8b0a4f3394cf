// Package netlane puts a Wire on a net.Conn (TCP, TLS, unix socket): the result is a backends.Lane that dials, stamps,
// redials, cancels and answers every Send exactly once. Its depth is 1, or that of a bundle: so many connections that one
// goroutine serves.
//
// It is not: a protocol (that is the Wire's), a pool, a retry layer (a stale connection is replaced, a failure is not
// repeated), a scheduler.
//
// # Which connection a request rides
//
// A connection that cannot be used again (the server said close, an error, our own cancel) is replaced at the end of
// Recv, before the slot is free, so that connects stay out of latency; if that does not succeed within 250 ms, the
// next request dials, and answers for it. A connection that the server closes while the lane is idle is replaced at
// once. One that turns out closed under a request before any byte of a reply is replaced and the request sent again;
// after two of these in a row the server is taken for one that closes after every reply, and the lane replaces the
// connection after each. A connection that never carried a request and was closed within a second of being dialled
// is not replaced before the next Send, and neither is one that could not be dialled, so a server that is down costs
// one attempt a request.
//
// The first request on a replacement has the flag Redialled, one that was sent again the flag Resent. Connect of the first is the
// time that the replacement took; with the flag Ahead it was made between requests, and is in no latency. SendStart is when the lane began with the request, which
// is before dialling if it had to; Connect tells the time of that.
//
// A ConnWire's connection is ready when both sides have greeted each other, which Connect tells too. What its wire owes the
// server is written by Recv: while a request is in flight, and between requests before the next may go out. A request that
// the server says it has not looked at is sent again as one is whose connection turned out closed.
//
// # Who waits
//
// Recv waits in the runtime's poller: a read in vain, a wait for events, a read. With Options.MaxBlocked it waits in the read
// itself, see held: two system calls a request in place of 4.6 (strace, one in flight over HTTP). Where that takes more
// goroutines than may hold, connections are put together and one waits for the events of all, see bundle: a write, a read and
// a part of a wait for each request, and no change of goroutines. Beside a real Triton on the same two cores, with 16 in
// flight, that took a fifth of the CPU from a request over HTTP (13.3 to 10.5 µs) and a sixth over gRPC, and answered 16 and
// 12 % more of them.
package netlane
