package backendtest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// frameHead is the header of a frame as a command defines it, and the fields of its header block.
type frameHead struct {
	kind   byte
	flags  byte
	length int64 // -1: that of the payload
	stream int64 // -1: that of the request
	fields []hpack.HeaderField
}

// frameTypes are the types of frames that "frame" supports (RFC 9113 section 6).
var frameTypes = map[string]http2.FrameType{
	"data": http2.FrameData, "headers": http2.FrameHeaders, "priority": http2.FramePriority,
	"rst_stream": http2.FrameRSTStream,
	"settings":   http2.FrameSettings, "push_promise": http2.FramePushPromise, "ping": http2.FramePing,
	"goaway":        http2.FrameGoAway,
	"window_update": http2.FrameWindowUpdate, "continuation": http2.FrameContinuation,
}

const (
	flagEnd        = 1 // END_STREAM; for settings and ping: ACK
	flagEndHeaders = 4
)

// parseFrame reads the commands of HTTP/2.
//
//	command = "data" *OPTION PAYLOAD       ; as the client's windows allow
//	        / "headers" *OPTION *FIELD     ; FIELD: "name: value"; none: those before a gRPC reply
//	        / "trailers" CODE [ PAYLOAD ]  ; the end of a gRPC reply, with a message
//	        / "frame" TYPE *OPTION PAYLOAD ; any frame, whatever the windows; "frame data", "frame 0x2a", …
//	        / "settings" *( NAME "=" NUMBER )
//	        / "goaway" STREAM CODE [ PAYLOAD ]
//	        / "rst" CODE
//	        / "window" STREAM NUMBER       ; 0: the connection's
//	        / "ping"
//	OPTION  = "end"                        ; END_STREAM; of settings and ping: ACK
//	        / ( "flags" / "stream" / "length" ) "=" NUMBER
//	          ; headers have END_HEADERS unless there are flags; length may be wrong
//	CODE    = NUMBER / NAME                ; "PROTOCOL_ERROR"
func parseFrame(word, value string) (c command, err error) {
	c.word = word
	c.frame.length, c.frame.stream = -1, -1
	switch word {
	case "data":
		err = c.options(&value)
	case "headers":
		c.frame.kind, c.frame.flags = byte(http2.FrameHeaders), flagEndHeaders
		if err = c.options(&value); err == nil {
			c.frame.fields, err = parseFields(value)
		}
		return c, err
	case "trailers":
		return parseTrailers(value)
	case "frame":
		err = c.anyFrame(&value)
	case "settings":
		return c.settings(value)
	case "ping":
		value = `"12345678"`
		c.head(http2.FramePing, 0)
	case "goaway", "rst", "window":
		return c.numbers(value)
	default:
		return c, errors.New("no such command")
	}
	if err == nil {
		c.bytes, err = parsePayload(value)
	}
	return c, err
}

func (c *command) head(kind http2.FrameType, stream int64) {
	c.word, c.frame.kind, c.frame.stream = "frame", byte(kind), stream
}

func (c *command) anyFrame(value *string) error {
	name, rest, _ := strings.Cut(*value, " ")
	kind, known := frameTypes[name]
	if !known {
		n, err := strconv.ParseUint(name, 0, 8)
		if err != nil {
			return fmt.Errorf("%q is no type of frames", name)
		}
		kind = http2.FrameType(n)
	}
	c.frame.kind = byte(kind)
	*value = rest
	return c.options(value)
}

// options removes the options from the front of value.
func (c *command) options(value *string) error {
	for *value != "" {
		word, rest, _ := strings.Cut(*value, " ")
		name, number, given := strings.Cut(word, "=")
		var err error
		var n int64
		if given && !strings.HasPrefix(name, `"`) {
			n, err = strconv.ParseInt(number, 0, 64)
		}
		switch {
		case word == "end":
			c.frame.flags |= flagEnd
		case name == "flags" && given:
			c.frame.flags = byte(n)
		case name == "stream" && given:
			c.frame.stream = n
		case name == "length" && given:
			c.frame.length = n
		default:
			return nil
		}
		if err != nil {
			return err
		}
		*value = strings.TrimSpace(rest)
	}
	return nil
}

// parseFields parses fields, each a string: "name: value".
func parseFields(text string) (fields []hpack.HeaderField, err error) {
	l := &lexer{rest: text}
	for l.peek() != "" {
		p, err := l.term()
		if err != nil {
			return nil, err
		}
		b, err := p.flat()
		name, value, ok := strings.Cut(string(b[1:]), ": ") // a pseudo-header begins with a colon
		if err != nil || !ok {
			return nil, errors.Join(err, fmt.Errorf("%q is no field", b))
		}
		fields = append(fields, hpack.HeaderField{Name: string(b[:1]) + name, Value: value})
	}
	return fields, nil
}

func parseTrailers(value string) (c command, err error) {
	c.word, c.frame.stream, c.frame.length = "headers", -1, -1
	c.frame.kind, c.frame.flags = byte(http2.FrameHeaders), flagEnd|flagEndHeaders
	status, rest, _ := strings.Cut(value, " ")
	c.frame.fields = []hpack.HeaderField{{Name: "grpc-status", Value: status}}
	p, err := parsePayload(rest)
	text, flatErr := p.flat()
	if len(text) > 0 {
		c.frame.fields = append(c.frame.fields, hpack.HeaderField{Name: "grpc-message", Value: string(text)})
	}
	return c, errors.Join(err, flatErr)
}

// settings parses NAME=NUMBER.
func (c command) settings(value string) (command, error) {
	c.head(http2.FrameSettings, 0)
	var b []byte
	for _, word := range strings.Fields(value) {
		name, number, _ := strings.Cut(word, "=")
		id, known := http2.SettingID(0), false
		for i := http2.SettingID(1); i <= http2.SettingMaxHeaderListSize; i++ {
			if i.String() == name {
				id, known = i, true
			}
		}
		n, err := strconv.ParseUint(number, 0, 32)
		if err != nil || !known {
			return c, fmt.Errorf("%q is no setting", word)
		}
		b = append(b, byte(id>>8), byte(id), byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	c.bytes = payload{{b, 1}}
	return c, nil
}

// numbers parses commands made of 32-bit numbers: goaway, rst, window.
func (c command) numbers(value string) (command, error) {
	words := strings.SplitN(value, " ", 3)
	want := map[string]int{"goaway": 2, "rst": 1, "window": 2}[c.word]
	if len(words) < want {
		return c, fmt.Errorf("wants %d numbers", want)
	}
	var b []byte
	var first int64
	for i, word := range words[:want] {
		n, err := errorCode(word)
		if err != nil {
			return c, err
		}
		if i == 0 {
			first = n
		}
		if i > 0 || c.word != "window" { // the first number of window is the stream
			b = append(b, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
		}
	}
	var text payload
	var err error
	if len(words) > want {
		text, err = parsePayload(strings.Join(words[want:], " "))
	}
	switch c.word {
	case "goaway":
		c.head(http2.FrameGoAway, 0)
	case "rst":
		c.head(http2.FrameRSTStream, c.frame.stream)
	default:
		c.head(http2.FrameWindowUpdate, first)
	}
	c.bytes = append(payload{{b, 1}}, text...)
	return c, err
}

// errorCode parses a number or the name of an error code of HTTP/2.
func errorCode(word string) (int64, error) {
	for code := http2.ErrCodeNo; code <= http2.ErrCodeHTTP11Required; code++ {
		if code.String() == word {
			return int64(code), nil
		}
	}
	return strconv.ParseInt(word, 0, 64)
}

// encodeFields encodes a block of fields without table entries and compression (RFC 7541 section
// 6.2.2).
func encodeFields(fields []hpack.HeaderField) []byte {
	var b []byte
	for _, f := range fields {
		b = appendString(appendString(append(b, 0), f.Name), f.Value)
	}
	return b
}

// appendString appends a string literal (RFC 7541 section 5.2).
func appendString(b []byte, s string) []byte {
	n := len(s)
	if n < 127 {
		return append(append(b, byte(n)), s...)
	}
	b = append(b, 127)
	for n -= 127; n >= 128; n >>= 7 {
		b = append(b, byte(n)|128)
	}
	return append(append(b, byte(n)), s...)
}
