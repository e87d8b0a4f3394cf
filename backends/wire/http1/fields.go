package http1

import (
	"bytes"

	"golang.org/x/net/http/httpguts"
)

// read checks the field lines and stores what frames the message. what describes the first mistake
// and about is its line; "" if there is none.
func (f *framing) read(fields []byte) (what string, about []byte) {
	for line, rest := cutLine(fields); len(line) > 0; line, rest = cutLine(rest) {
		name, value, ok := split(line)
		if !ok {
			return "a field of the reply is malformed", line
		}
		if what = f.field(name, value); what != "" {
			return what, line
		}
	}
	return "", nil
}

// field reads one field.
func (f *framing) field(name, value []byte) string {
	switch {
	case equalFold(name, "content-length"):
		return f.contentLength(value)
	case equalFold(name, "transfer-encoding"):
		return f.transferEncoding(value)
	case equalFold(name, "connection"):
		for item := range items(value) {
			f.close = f.close || equalFold(item, "close")
			f.keepAlive = f.keepAlive || equalFold(item, "keep-alive")
		}
	}
	return ""
}

// contentLength reads a Content-Length (RFC 9110 section 8.6). The same number more than once, in a
// list or in several fields, is one number; different ones leave the end of the message unknown.
func (f *framing) contentLength(value []byte) string {
	some := false
	for item := range items(value) {
		n, ok := decimal(item)
		if !ok {
			return "the content length is no number"
		}
		if f.length >= 0 && f.length != n {
			return "the content lengths differ"
		}
		f.length, some = n, true
	}
	if !some {
		return "the content length is no number"
	}
	return ""
}

// transferEncoding reads a Transfer-Encoding. The only coding that a client accepts unasked is
// chunked, once (RFC 9112 sections 6.1 and 7.4).
func (f *framing) transferEncoding(value []byte) string {
	for item := range items(value) {
		if !equalFold(item, "chunked") || f.chunked {
			return "the transfer coding is not chunked"
		}
		f.chunked = true
	}
	if f.coded = f.chunked; !f.coded {
		return "the transfer coding is not chunked"
	}
	return ""
}

// split cuts a field line into name and value (RFC 9112 section 5): no white space before the
// colon, no NUL or CR in the value.
func split(line []byte) (name, value []byte, ok bool) {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 {
		return nil, nil, false
	}
	for _, c := range line[:colon] {
		if !httpguts.IsTokenRune(rune(c)) {
			return nil, nil, false
		}
	}
	value = trim(line[colon+1:])
	if bytes.IndexByte(value, 0) >= 0 || bytes.IndexByte(value, '\r') >= 0 {
		return nil, nil, false
	}
	return line[:colon], value, true
}

// items yields the elements of a comma list, trimmed, without empty ones (RFC 9110 section 5.6.1).
func items(list []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for item := range bytes.SplitSeq(list, []byte{','}) {
			if item = trim(item); len(item) > 0 && !yield(item) {
				return
			}
		}
	}
}

// decimal reads 1*DIGIT below 2^62.
func decimal(b []byte) (n int64, ok bool) {
	for _, c := range b {
		if !isDigit(c) || n >= 1<<58 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, len(b) > 0
}

// trim cuts optional white space off both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// equalFold compares b with a lower-case ASCII word, ignoring case.
func equalFold(b []byte, lower string) bool {
	return len(b) == len(lower) && bytes.EqualFold(b, []byte(lower))
}
