// Package netlane puts a Wire on a net.Conn (TCP, TLS, unix socket): the result is a backends.Lane of depth 1 that
// dials, stamps, redials, cancels and answers every Send exactly once.
//
// It is not: a protocol (that is the Wire's), a pool, a retry layer (a stale connection is replaced, a failure is not
// repeated), a scheduler.
package netlane
