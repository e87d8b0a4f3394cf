package http1

import "github.com/sluice-bench/sluice/backends"

// Request is an HTTP request before encoding.
type Request struct {
	Method  string // a token; POST, GET …
	Host    string // value of the Host field: host or host:port as in the URL
	Path    string // origin-form, escaped: /v2/models/m/infer?x=y
	Headers []backends.Header
	// Prefix is the first part of the content, copied into the head so that holes can lie in it.
	Prefix []byte
	// Holes are places in Prefix: At counts from its first byte.
	Holes []backends.Hole
	// Body is the rest of the content. Only its length is used here: it goes into backends.Call.Body as it is.
	Body [][]byte
}

// Encode gives the head (request line, fields, Prefix) and the holes with At counted from its start, ready for
// backends.Call. Content-Length and Host are written by Encode; both are refused in Headers, as is Transfer-Encoding.
// Names must be tokens and values hold no control characters (RFC 9110 section 5), so no header can split the request.
func Encode(r Request) (head []byte, holes []backends.Hole, err error) { return nil, nil, nil }
