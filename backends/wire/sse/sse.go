// Package sse finds the events in a stream of server-sent events (WHATWG HTML, section 9.2.6) as
// its bytes arrive.
//
// It is not: a reader of a connection (http1), a place that knows what events mean.
//
//	stream  = [ BOM ] *event
//	event   = *( comment / field ) end-of-line
//	comment = ":" *any-char end-of-line
//	field   = name [ ":" [ space ] *any-char ] end-of-line
//	end-of-line = CR LF / LF / CR
//
// The fields "data" and "event" are read; "id" and "retry" are for clients that reconnect. An event
// without data is ignored.
package sse

import (
	"bytes"
	"cmp"

	"github.com/sluice-bench/sluice/backends/wire/buffer"
)

// Scanner is the state of one stream. The zero Scanner is at its start. It allocates only to grow
// its buffers.
type Scanner struct {
	// Data holds the data lines of the event that Next found, with LF between them. Event is its type,
	// empty if it has none. Both are valid until the next call.
	Data, Event []byte
	Limit       int // bytes kept of one event; 0: MaxEvent
	// TooLong reports whether an event exceeded the limit: no further events are found until Reset.
	TooLong bool

	line      []byte // the received part of a line that arrived in pieces
	lines     int    // data lines of the event
	started   bool   // bytes of the stream were read: a BOM is content now
	afterCR   bool   // the last line ended with CR, which LF may follow
	inComment bool   // the line is a comment, which is not kept
	found     bool   // Data and Event belong to a returned event
}

// MaxEvent is the default limit of an event in bytes.
const MaxEvent = 64 << 20

func (s *Scanner) limit() int64 { return int64(cmp.Or(s.Limit, MaxEvent)) }

// fits reports whether more bytes of an event may be kept. If not, all are dropped; the buffers
// stay, as the next stream may need as much and garbage of that size is collected late.
func (s *Scanner) fits(more int) bool {
	if int64(len(s.line)+len(s.Data)+more) > s.limit() {
		s.Reset()
		s.TooLong = true
	}
	return !s.TooLong
}

// Reset goes to the start of another stream.
func (s *Scanner) Reset() {
	*s = Scanner{Data: s.Data[:0], Event: s.Event[:0], Limit: s.Limit, line: s.line[:0]}
}

// Next reads b up to the end of the next event. It returns the number of bytes read and whether an
// event ended; if not, all of b was read.
func (s *Scanner) Next(b []byte) (n int, ok bool) {
	s.dropFound()
	for n < len(b) {
		if s.TooLong {
			return len(b), false
		}
		if s.afterCR {
			s.afterCR = false
			if b[n] == '\n' {
				n++
				continue
			}
		}
		i := lineEnd(b[n:])
		if s.inComment = s.inComment || len(s.line) == 0 && b[n] == ':'; s.inComment {
			s.started = true
			if i < 0 {
				return len(b), false
			}
			s.inComment, s.afterCR = false, b[n+i] == '\r'
			n += i + 1
			continue
		}
		if i < 0 {
			if s.fits(len(b) - n) {
				s.line = buffer.Append(s.line, b[n:], s.limit())
			}
			return len(b), false
		}
		if !s.fits(i) {
			continue
		}
		line := b[n : n+i]
		s.afterCR = b[n+i] == '\r'
		n += i + 1
		if len(s.line) > 0 {
			s.line = append(s.line, line...)
			line = s.line
		}
		ok = s.readLine(line)
		s.line = s.line[:0]
		if ok {
			return n, true
		}
	}
	return n, false
}

// lineEnd returns the index of the first CR or LF in b; -1: there is none. It looks for one, then for the
// other, which is faster than for both; by pieces, as a stream may use one of them only.
func lineEnd(b []byte) int {
	const piece = 512
	for start := 0; start < len(b); start += piece {
		p := b[start:min(start+piece, len(b))]
		i := bytes.IndexByte(p, '\n')
		if i >= 0 {
			p = p[:i]
		}
		if cr := bytes.IndexByte(p, '\r'); cr >= 0 {
			i = cr
		}
		if i >= 0 {
			return start + i
		}
	}
	return -1
}

// End handles the end of the stream. It reports whether that ended an event: servers omit the last
// empty line.
func (s *Scanner) End() (ok bool) {
	s.dropFound()
	if len(s.line) > 0 {
		s.readLine(s.line)
		s.line = s.line[:0]
	}
	return s.readLine(nil)
}

// dropFound clears the event that was returned.
func (s *Scanner) dropFound() {
	if s.found {
		s.Data, s.Event, s.lines, s.found = s.Data[:0], s.Event[:0], 0, false
	}
}

var bom = []byte("\xef\xbb\xbf")

// readLine reads one line, and reports whether it ended an event.
func (s *Scanner) readLine(line []byte) bool {
	if !s.started {
		s.started = true
		line = bytes.TrimPrefix(line, bom)
	}
	if len(line) == 0 {
		s.found = s.lines > 0
		if !s.found {
			s.Event = s.Event[:0]
		}
		return s.found
	}
	name, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		if s.lines++; s.lines > 1 {
			s.Data = append(s.Data, '\n')
		}
		s.Data = buffer.Append(s.Data, value, s.limit())
	case "event":
		s.Event = append(s.Event[:0], value...)
	}
	return false
}
