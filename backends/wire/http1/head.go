package http1

import (
	"bytes"
	"math"

	"github.com/sluice-bench/sluice/backends"
)

// stepHead reads bytes of a head. A head that arrived in one read is parsed in place; else it is
// gathered in acc.
//
// Bytes that are not HTTP/1 are refused at the first wrong one, so that a server of another
// protocol fails at once and not by timeout.
func (w *Wire) stepHead(b []byte, at int64) (int, backends.Next) {
	had := len(w.acc)
	if had == 0 {
		w.firstByte = at
		if n := len(w.cached.head); n > 0 && bytes.HasPrefix(b, w.cached.head) {
			return n, w.accept(b[:n], b[n:], at)
		}
	}
	if i := notHTTP(b, had); i >= 0 {
		text := append(w.acc, b[:min(len(b), 64)]...)
		if text[0] == 0 { // a SETTINGS frame, by its first byte alone: reads may be cut anywhere
			return i + 1, w.fail(at, "the reply is not HTTP/1 but begins as HTTP/2 does, which gRPC servers speak: write "+
				"grpc:// in `url`, or the server's port for HTTP", nil)
		}
		return i + 1, w.fail(at, "the reply is not HTTP/1", text)
	}
	text, from := b, 0
	if had > 0 {
		w.acc = append(w.acc, b[:min(len(b), maxHead+1-had)]...)
		text, from = w.acc, max(0, had-3)
	}
	end := headEnd(text, from)
	switch {
	case end > maxHead || end < 0 && len(text) > maxHead:
		return maxHead + 1 - had,
			w.fail(at, "the head of the reply is longer than the limit", nil)
	case end < 0 && had == 0:
		w.acc = append(w.acc, b...)
		return len(b), backends.NextMore
	case end < 0:
		return len(b), backends.NextMore
	}
	return end - had, w.parse(text[:end], b[end-had:], at)
}

const magic = "HTTP/1."

// notHTTP returns the index in b of the first byte that cannot be in a status line, or -1; had is
// the number of bytes of the line before b.
func notHTTP(b []byte, had int) int {
	for i := 0; i < len(b) && had+i < len(magic); i++ {
		if b[i] != magic[had+i] {
			return i
		}
	}
	return -1
}

// headEnd returns the length of the head in b including its empty line, or -1 if that has not
// arrived. A line may end with a bare LF (RFC 9112 section 2.2).
func headEnd(b []byte, from int) int {
	for {
		i := bytes.IndexByte(b[from:], '\n')
		if i < 0 {
			return -1
		}
		from += i + 1
		rest := b[from:]
		if len(rest) > 0 && rest[0] == '\n' {
			return from + 1
		}
		if len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n' {
			return from + 2
		}
	}
}

// framing holds what the fields of a head say about the end of the message and of the connection.
type framing struct {
	length           int64 // Content-Length; -1: none
	chunked, coded   bool  // Transfer-Encoding: contains chunked; is present
	close, keepAlive bool  // Connection
}

// cachedHead is the last valid head and its parsed values. Servers send the same bytes again and
// again, except for a date, and a comparison costs a tenth of parsing them.
type cachedHead struct {
	head          []byte
	fields        int // offset of the fields
	status, minor int
	framing       framing
	edition       uint64 // number of heads parsed so far
}

// parse reads a whole head and sets the next phase; rest is what the same read brought after it.
func (w *Wire) parse(head, rest []byte, at int64) backends.Next {
	status, minor, fields := statusLine(head)
	if status < 100 {
		line, _ := cutLine(head)
		return w.fail(at, "the status line is malformed", line)
	}
	if bytes.Contains(head, []byte("\n ")) || bytes.Contains(head, []byte("\n\t")) { // obs-fold
		head = w.unfold(head)
		fields = head[len(head)-len(fields):]
	}
	w.status = status
	f := framing{length: -1}
	if what, about := f.read(fields); what != "" {
		return w.fail(at, what, about)
	}
	if status < 200 {
		return w.interim(at)
	}
	w.cached = cachedHead{
		head: append(w.cached.head[:0], head...), fields: len(head) - len(fields),
		status: status, minor: minor, framing: f, edition: w.cached.edition + 1,
	}
	return w.accept(head, rest, at)
}

// accept takes a valid head, whose values are cached.
func (w *Wire) accept(head, rest []byte, at int64) backends.Next {
	k := &w.cached
	w.status = k.status
	w.sample.FirstByte = w.firstByte // not of an interim reply, which says nothing about the result
	w.h = Header{text: head[k.fields:], Edition: k.edition}
	w.close = w.close || k.framing.close || k.minor == 0 && !k.framing.keepAlive
	return w.frame(head, rest, at)
}

// interim skips a 1xx reply (RFC 9110 section 15.2): any number may precede the reply. 101 would
// switch the connection to another protocol, which is never requested.
func (w *Wire) interim(at int64) backends.Next {
	if w.status == 101 {
		return w.fail(at, "the server switched protocols unasked", nil)
	}
	w.startHead()
	return backends.NextMore
}

// frame chooses how the end of the content is found, by the rules of RFC 9112 section 6.3 in their
// order. If both Transfer-Encoding and Content-Length are present the former applies and the
// connection is not used again, since another reader of it may have seen another end; likewise for
// Transfer-Encoding in HTTP/1.0 (section 6.1).
func (w *Wire) frame(head, rest []byte, at int64) backends.Next {
	f := &w.cached.framing
	w.streaming = w.stream != nil && w.stream.Streams(w.call, w.status, &w.h)
	w.judgeBytes = 0
	if !w.streaming {
		w.judgeBytes = max(0, w.judge.Keep(w.call, w.status, w.sample))
	}
	w.keepBytes = w.judgeBytes
	if w.status >= 400 {
		w.keepBytes = max(w.keepBytes, backends.NoteSize)
	}
	switch {
	case w.noBody || w.status == 204 || w.status == 304:
		return w.finish(nil, at)
	case f.coded:
		w.close = w.close || f.length >= 0 || w.cached.minor == 0
		w.phase = inSize
	case f.length > w.maxContent && w.status < 300 && !w.streaming:
		return w.tooLong(f.length, at)
	case f.length == 0:
		return w.finish(nil, at)
	case f.length > 0:
		w.phase, w.bytesLeft = inFixed, f.length
	default:
		w.phase, w.bytesLeft, w.close = inToEOF, math.MaxInt64, true
	}
	if w.phase != inFixed || w.bytesLeft > int64(len(rest)) {
		if len(w.acc) == 0 { // keep the head beyond this read
			w.acc = append(w.acc, head...)
		}
		w.h.text = w.acc[w.cached.fields:len(head)]
	}
	return backends.NextMore
}

// statusLine parses HTTP-version SP 3DIGIT [SP reason] (RFC 9112 section 4). The reason may be
// empty, and the space before it missing. status is 0 if the line is malformed.
func statusLine(head []byte) (status, minor int, fields []byte) {
	line, fields := cutLine(head)
	if len(line) < len("HTTP/1.1 200") || string(line[:len(magic)]) != magic || !isDigit(line[7]) ||
		line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return 0, 0, nil
	}
	code, _ := decimal(line[9:12]) // 0 if it is no number
	return int(code), int(line[7] - '0'), fields
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// cutLine returns b up to its first line end, and what follows that.
func cutLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), rest
}

// unfold returns a copy of the head in acc with every obs-fold replaced by spaces, as a user agent
// must (RFC 9112 section 5.2).
func (w *Wire) unfold(head []byte) []byte {
	if len(w.acc) == 0 {
		w.acc = append(w.acc, head...)
	}
	head = w.acc[:len(head)]
	for i := 1; i < len(head)-1; i++ {
		if head[i] == '\n' && (head[i+1] == ' ' || head[i+1] == '\t') {
			head[i] = ' '
			if head[i-1] == '\r' {
				head[i-1] = ' '
			}
		}
	}
	return head
}
