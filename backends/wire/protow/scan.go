package protow

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// maxDepth is the deepest nesting of messages that a Scanner can enter.
const maxDepth = 4

// Scanner steps through the fields of a message that lies in pieces, as it came off a transport,
// without joining them: what is not wanted is skipped whatever its size. It allocates nothing but
// what Append needs.
//
//	s.Begin(pieces)
//	for s.Next() {
//		switch {
//		case s.Is(1):
//			text = s.Append(text[:0])
//		case s.Is(2):
//			s.Enter() // Next now gives the fields of this field …
//			…
//			s.Leave() // … and those behind it again
//		}
//	}
type Scanner struct {
	Field  Number
	Type   protowire.Type
	Varint uint64 // value of varint fields

	c      cursor
	size   int           // bytes of the message
	stop   int           // end of this field's value
	ends   [maxDepth]int // ends of the entered messages, the whole message first
	depth  int
	failed bool
}

// Begin starts at the first field of a message.
func (s *Scanner) Begin(pieces [][]byte) {
	*s = Scanner{c: cursor{pieces: pieces}}
	for _, p := range pieces {
		s.size += len(p)
	}
	s.ends[0] = s.size
}

// pos returns the number of bytes read.
func (s *Scanner) pos() int {
	left := -s.c.at
	for _, p := range s.c.pieces {
		left += len(p)
	}
	return s.size - left
}

// Next goes to the next field of the innermost entered message. It returns false at its end, or on
// a malformed message (Err).
func (s *Scanner) Next() bool {
	at := s.pos()
	if s.failed || s.stop > at && !s.c.advance(uint64(s.stop-at)) {
		return false
	}
	end := s.ends[s.depth]
	if at = max(at, s.stop); at >= end {
		s.failed = s.failed || at > end
		return false
	}
	tag, ok := s.c.varint()
	if s.Field, s.Type = protowire.DecodeTag(tag); !ok || s.Field < protowire.MinValidNumber || !s.value() ||
		s.stop > end {
		s.failed = true
	}
	return !s.failed
}

// value reads a varint, or finds the end of the value.
func (s *Scanner) value() (ok bool) {
	s.Varint = 0
	switch s.Type {
	case protowire.VarintType:
		s.Varint, ok = s.c.varint()
		s.stop = s.pos()
	case protowire.BytesType:
		var size uint64
		size, ok = s.c.varint()
		at := s.pos()
		ok = ok && size <= uint64(s.size-at)
		s.stop = at + int(min(size, uint64(s.size)))
	case protowire.Fixed32Type:
		s.stop, ok = s.pos()+4, true
	case protowire.Fixed64Type:
		s.stop, ok = s.pos()+8, true
	}
	return ok
}

// Is reports whether this is a length-delimited field with number n.
func (s *Scanner) Is(n Number) bool { return s.Field == n && s.Type == protowire.BytesType }

// EnterMessage goes into the length-delimited field that Next found.
func (s *Scanner) EnterMessage() {
	if s.depth+1 == maxDepth {
		s.failed = true
		return
	}
	s.depth++
	s.ends[s.depth], s.stop = s.stop, 0
}

// LeaveMessage skips the rest of the innermost entered message.
func (s *Scanner) LeaveMessage() {
	s.stop = s.ends[s.depth]
	s.depth = max(s.depth-1, 0)
}

// Size returns the number of bytes of the length-delimited field that Next found, before any of it
// is read.
func (s *Scanner) Size() int { return s.stop - s.pos() }

// Varints returns the number of packed varints in the length-delimited field that Next found.
func (s *Scanner) Varints() (n int) {
	for p := s.nextBytes(); len(p) > 0; p = s.nextBytes() {
		for _, b := range p {
			n += int(b>>7 ^ 1) // the last byte of each varint has this bit clear
		}
	}
	return n
}

// Append appends the bytes of the length-delimited field that Next found.
func (s *Scanner) Append(dst []byte) []byte {
	for p := s.nextBytes(); len(p) > 0; p = s.nextBytes() {
		dst = append(dst, p...)
	}
	return dst
}

// nextBytes reads the next bytes of the value that lie in one piece; none at its end.
func (s *Scanner) nextBytes() []byte {
	left := s.stop - s.pos()
	if left <= 0 || !s.c.skipEmpty() {
		return nil
	}
	p := s.c.pieces[0][s.c.at:]
	p = p[:min(left, len(p))]
	s.c.at += len(p)
	return p
}

// Err returns an error if the message was malformed in the part read so far.
func (s *Scanner) Err() error {
	if s.failed {
		return errMalformed
	}
	return nil
}
