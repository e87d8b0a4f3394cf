package backendtest

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// payload holds the bytes of a command; repeated bytes are stored once.
type payload []repeatedBytes

// repeatedBytes is a byte sequence, n times.
type repeatedBytes struct {
	bytes []byte
	n     int64
}

// requestID is the placeholder of the id of the answered request, which has 20 digits.
const requestID = "<id of the request:>"

// maxFlat bounds the bytes that have to be in memory at once.
const maxFlat = 64 << 20

// join returns the same bytes in fewer pieces, of up to maxJoin bytes as far as n can be halved.
func (p repeatedBytes) join() (b []byte, n int64) {
	times := int64(1)
	for times*2*int64(len(p.bytes)) <= maxJoin && p.n%(times*2) == 0 && p.n > 0 {
		times *= 2
	}
	return bytes.Repeat(p.bytes, int(times)), p.n / times
}

const maxJoin = 64 << 10

func (p payload) size() (n int64) {
	for _, part := range p {
		n += int64(len(part.bytes)) * part.n
	}
	return n
}

// flat returns all bytes.
func (p payload) flat() ([]byte, error) {
	if n := p.size(); n > maxFlat {
		return nil, fmt.Errorf("%d bytes where %d may be", n, maxFlat)
	}
	var b []byte
	for _, part := range p {
		b = append(b, bytes.Repeat(part.bytes, int(part.n))...)
	}
	return b, nil
}

// parsePayload parses the payload of a script:
//
//	payload  = *term
//	term     = ( STRING / "$id" / FUNCTION "(" … ")" ) [ "*" SIZE ]
//	           ; a Go string, also a raw one; the id of the request; SIZE times
//	SIZE     = NUMBER [ "KiB" / "MiB" / "GiB" ]
//	FUNCTION = "hex"                     ; digits
//	         / "gzip" / "deflate"        ; of a payload; deflate is that of HTTP, which is zlib
//	         / "message" / "compressed"  ; of a payload: a gRPC message with its prefix
//	         / "prefix"   ; FLAG SIZE: the prefix of a gRPC message alone, which may be wrong
//	         / "proto"    ; fields of a protobuf message: NUMBER ":" ( INTEGER / term / "(" fields ")" )
func parsePayload(text string) (payload, error) {
	l := &lexer{rest: text}
	p, err := l.payload(false)
	if err == nil && l.peek() != "" {
		err = fmt.Errorf("%q where the payload should end", l.peek())
	}
	return p, err
}

// lexer reads the tokens of a payload: strings, words and punctuation.
type lexer struct{ rest string }

const (
	spaces      = " \t"
	quotes      = "\"`"
	punctuation = "()*" + quotes
)

// peek returns the next token; "" at the end.
func (l *lexer) peek() string {
	l.rest = strings.TrimLeft(l.rest, spaces)
	switch {
	case l.rest == "":
		return ""
	case strings.IndexByte(quotes, l.rest[0]) >= 0:
		if q, err := strconv.QuotedPrefix(l.rest); err == nil {
			return q
		}
		return l.rest
	case strings.IndexByte(punctuation, l.rest[0]) >= 0:
		return l.rest[:1]
	}
	if end := strings.IndexAny(l.rest, spaces+punctuation); end >= 0 {
		return l.rest[:end]
	}
	return l.rest
}

func (l *lexer) next() string {
	t := l.peek()
	l.rest = l.rest[len(t):]
	return t
}

func (l *lexer) want(token string) error {
	if t := l.next(); t != token {
		return fmt.Errorf("%q where %q should be", t, token)
	}
	return nil
}

// payload parses terms up to the end or, with inside set, the closing parenthesis.
func (l *lexer) payload(inside bool) (p payload, err error) {
	for t := l.peek(); t != "" && (!inside || t != ")"); t = l.peek() {
		term, err := l.term()
		if err != nil {
			return nil, err
		}
		p = append(p, term...)
	}
	if inside {
		err = l.want(")")
	}
	return p, err
}

func (l *lexer) term() (p payload, err error) {
	switch t := l.next(); {
	case t != "" && strings.IndexByte(quotes, t[0]) >= 0:
		var s string
		s, err = strconv.Unquote(t)
		p = payload{{[]byte(s), 1}}
	case t == "$id":
		p = payload{{[]byte(requestID), 1}}
	default:
		p, err = l.function(t)
	}
	if err != nil || l.peek() != "*" {
		return p, err
	}
	l.next()
	n, err := parseSize(l.next())
	if err != nil {
		return nil, err
	}
	if len(p) == 1 {
		return payload{{p[0].bytes, p[0].n * n}}, nil
	}
	b, err := p.flat()
	return payload{{b, n}}, err
}

func parseSize(text string) (int64, error) {
	shift := 0
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			text, shift = number, 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(text, 10, 52)
	return n << shift, err
}

func (l *lexer) function(name string) (p payload, err error) {
	if err := l.want("("); err != nil {
		return nil, fmt.Errorf("%q is no payload: %w", name, err)
	}
	switch name {
	case "hex":
		var digits strings.Builder
		for t := l.peek(); t != ")" && t != ""; t = l.peek() {
			digits.WriteString(l.next())
		}
		b, err := hex.DecodeString(digits.String())
		return payload{{b, 1}}, errors.Join(err, l.want(")"))
	case "prefix":
		flag, flagErr := strconv.ParseUint(l.next(), 0, 8)
		size, sizeErr := parseSize(l.next())
		return payload{{prefix(byte(flag), size), 1}}, errors.Join(flagErr, sizeErr, l.want(")"))
	case "proto":
		b, err := l.fields()
		return payload{{b, 1}}, err
	}
	if p, err = l.payload(true); err != nil {
		return nil, err
	}
	switch name {
	case "message":
		return append(payload{{prefix(0, p.size()), 1}}, p...), nil
	case "compressed":
		return append(payload{{prefix(1, p.size()), 1}}, p...), nil
	case "gzip":
		return compress(p, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	case "deflate":
		return compress(p, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })
	}
	return nil, fmt.Errorf("there is no function %q", name)
}

// prefix returns the prefix of a gRPC message.
func prefix(flag byte, size int64) []byte {
	return binary.BigEndian.AppendUint32([]byte{flag}, uint32(size))
}

func compress(p payload, with func(io.Writer) io.WriteCloser) (payload, error) {
	var b bytes.Buffer
	w := with(&b)
	for _, part := range p {
		for some, n := part.join(); n > 0; n-- {
			if _, err := w.Write(some); err != nil {
				return nil, err
			}
		}
	}
	err := w.Close()
	return payload{{b.Bytes(), 1}}, err
}

// fields parses the fields of a protobuf message, up to the closing parenthesis.
func (l *lexer) fields() (b []byte, err error) {
	for t := l.next(); t != ")"; t = l.next() {
		number, value, ok := strings.Cut(t, ":")
		n, err := strconv.ParseUint(number, 10, 29)
		if !ok || err != nil {
			return nil, fmt.Errorf("%q where a field's number and a colon should be", t)
		}
		if v, err := strconv.ParseInt(value, 0, 64); err == nil {
			b = binary.AppendUvarint(binary.AppendUvarint(b, n<<3), uint64(v))
			continue
		}
		l.rest = value + l.rest // a term may follow the colon directly
		var part []byte
		if l.peek() == "(" {
			l.next()
			part, err = l.fields()
		} else {
			var p payload
			if p, err = l.term(); err == nil {
				part, err = p.flat()
			}
		}
		if err != nil {
			return nil, err
		}
		b = append(binary.AppendUvarint(binary.AppendUvarint(b, n<<3|2), uint64(len(part))), part...)
	}
	return b, nil
}
