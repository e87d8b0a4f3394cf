// Package http1 speaks HTTP/1.1 (RFC 9112) as a client, without I/O: prebuilt requests go out, replies are parsed from
// whatever pieces the reads bring, in place where possible, without allocation after warm-up.
//
// It is not: a socket, a clock, a connection pool, a judge of statuses (a kind supplies that), a redirect or cookie
// engine, a decompressor. A redirect is a reply like any other.
//
//	head, holes, err := http1.Encode(http1.Request{Method: "POST", Host: "localhost:8000", Path: "/v2/models/m/infer", Body: body})
//	call := &backends.Call{Head: head, Holes: holes, Body: body, Size: …}
//	wire := http1.New(judge, http1.Options{})
package http1
