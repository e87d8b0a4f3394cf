package http2

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"golang.org/x/net/http2"
)

// outcome is what became of a call, but for its stamps.
func outcome(s *backends.Sample, next backends.Next, reply []byte) string {
	return fmt.Sprintf("%s %d %s %q %q",
		[...]string{"more", "keep", "close", "broken", "stale", "full"}[next], s.Status, s.Class, s.Note, reply)
}

func packed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	m := message(b.String())
	m[0] = 1
	return string(m)
}

const good = "200 application/grpc"

// replies are what a server says in place of a reply, in a word for each frame:
//
//	200 application/grpc …    fields: the status, the content type, others as name=value; ! ends the stream
//	'text                     a message, with its prefix; with ! …
//	"bytes                    content as it stands
//	= …                       trailers, which end the stream
//	frame type flags stream hex
var replies = []struct{ name, says, want string }{
	{"good", good + "|'fine|= grpc-status=0", `keep 0 ok "" "fine"`},
	{"empty message", good + "|'|= grpc-status=0", `keep 0 ok "" ""`},
	{"in pieces", good + "|\"\x00\x00\x00\x00|\"\x04fi|\"n|\"e|= grpc-status=0", `keep 0 ok "" "fine"`},
	{"after 100", "100 |" + good + "|'fine|= grpc-status=0", `keep 0 ok "" "fine"`},
	{"with a suffix", "200 application/grpc+proto|'fine|= grpc-status=0", `keep 0 ok "" "fine"`},
	{
		"compressed", "200 application/grpc grpc-encoding=gzip|\"" + packed("long long") + "|= grpc-status=0",
		`keep 0 ok "" "long long"`,
	},
	{
		"too long when decompressed",
		"200 application/grpc grpc-encoding=gzip|\"" + packed(strings.Repeat("x", 2000)) + "|= grpc-status=0",
		`broken 8 status "ResourceExhausted (client side, max_message): the reply has more bytes when it is ` +
			`decompressed, the limit is 1000" ""`,
	},
	{
		"unknown coding", "200 application/grpc grpc-encoding=zstd|\"" + packed("x") + "|= grpc-status=0",
		`broken 0 protocol "the message is compressed with a coding that was not requested: \"zstd\"" ""`,
	},
	{
		"too long", good + "|\"\x00\x00\x00\x10\x00",
		`broken 8 status "ResourceExhausted (client side, max_message): the reply has 4096 bytes, the limit is ` +
			`1000" ""`,
	},
	{
		"no message", good + "|= grpc-status=0",
		`broken 0 protocol "the server answered OK without a whole message" ""`,
	},
	{
		"cut message", good + "|\"\x00\x00\x00\x00\x09x|= grpc-status=0",
		`broken 0 protocol "the server answered OK, but the message is incomplete" ""`,
	},
	{
		"two messages", good + "|'one|'two|= grpc-status=0",
		`broken 0 protocol "the server sent more than one message" ""`,
	},
	{
		"more than the message", good + "|\"\x00\x00\x00\x00\x01xy",
		`broken 0 protocol "the server sent more than one message" ""`,
	},
	{
		"bad prefix", good + "|\"\x07\x00\x00\x00\x01x|= grpc-status=0",
		`broken 0 protocol "the message has a prefix that cannot be read" ""`,
	},
	{
		"status alone", good + " grpc-status=3 grpc-message=no%20such!",
		`keep 3 status "InvalidArgument: no such" ""`,
	},
	{
		"status after a message", good + "|'x|= grpc-status=13 grpc-message=late",
		`keep 13 status "Internal: late" ""`,
	},
	{ // MLServer's words; the limit of this client has its own case, above
		"the server's limit of messages", "200 application/grpc grpc-status=8 grpc-message=SERVER%3A%20Received%20message%20larger%20than%20max%20%288000046%20vs.%204194304%29!",
		`keep 8 status "ResourceExhausted (server side): SERVER: Received message larger than max (8000046 vs. 4194304)" ""`,
	},
	{"accepted status", good + " grpc-status=5!", `keep 5 ok "" ""`},
	{"cancelled", good + " grpc-status=1!", `keep 1 cancelled "Canceled: " ""`},
	{"unknown code", good + " grpc-status=77!", `keep 77 status "Code(77): " ""`},
	{
		"code that is none", good + " grpc-status=x!",
		`broken 0 protocol "the server ended the call with a status that is not a number: \"x\"" ""`,
	},
	{"no status", good + "|'x|= x=y", `broken 0 protocol "the server ended the call without a status" ""`},
	{
		"no status, content ends", good + "|'x!",
		`broken 0 protocol "the server ended the call without a status" ""`,
	},
	{"head ends", good + "!", `broken 0 protocol "the server ended the call without a status" ""`},
	{"content first", "'x", `broken 0 protocol "the server sent content before the head of the reply" ""`},
	{
		"two heads", good + "|" + good,
		`broken 0 protocol "the server sent trailers that do not end the reply" ""`,
	},
	{
		"a proxy's page", "404 text/html|\"<html>",
		`close 12 status "Unimplemented: the reply is not gRPC: HTTP status 404" ""`,
	},
	{
		"a proxy that cannot", "503 text/html!",
		`close 14 status "Unavailable: the reply is not gRPC: HTTP status 503" ""`,
	},
	{
		"a page", "200 text/html|\"<html>",
		`broken 0 protocol "the reply is not gRPC: its content-type is \"text/html\"" ""`,
	},
	{
		"cut off", good + "|frame 3 0 1 00000002",
		`keep 13 protocol "the server cut the call off: RST_STREAM with INTERNAL_ERROR" ""`,
	},
	{"cancel", "frame 3 0 1 00000008", `keep 1 cancelled "Canceled: the server sent RST_STREAM with CANCEL" ""`},
	{"refused", "frame 3 0 1 00000007", `stale 0 ok "" ""`},
	{
		"unknown reset", "frame 3 0 1 000000ff",
		`keep 13 protocol "the server cut the call off: RST_STREAM with unknown error code 0xff" ""`,
	},
	{"goes before", "frame 7 0 0 0000000000000000", `stale 0 ok "" ""`},
	{"goes after", "frame 7 0 0 0000000100000000|" + good + "|'fine|= grpc-status=0", `close 0 ok "" "fine"`},
	{
		"goes within", good + "|frame 7 0 0 0000000000000000",
		`broken 0 protocol "the server sent GOAWAY for the call after the start of its reply" ""`,
	},
	{
		"goes within, and says why", good + "|frame 7 0 0 000000000000000b 746f6f5f6d616e795f70696e6773",
		`broken 0 protocol "the server sent GOAWAY for the call after the start of its reply: the server ` +
			`sent GOAWAY with ENHANCE_YOUR_CALM \"too_many_pings\"" ""`,
	},
	{
		"other frames between",
		"frame 6 0 0 0102030405060708|" + good +
			"|frame 2 0 1 0000000000|'fine|frame aa 0 1 ffff|frame 8 0 0 00000001|= grpc-status=0",
		`keep 0 ok "" "fine"`,
	},
	{"padding", "200 application/grpc|frame 0 8 1 03000000000178000000|= grpc-status=0", `keep 0 ok "" "x"`},
	{"all padding", "200 application/grpc|frame 0 8 1 0200" + "00|'x|= grpc-status=0", `keep 0 ok "" "x"`},
	{
		"too much padding", "200 application/grpc|frame 0 8 1 0400",
		`broken 0 protocol "the server sent a frame of more padding than it has room for" ""`,
	},
	{
		"content of no call", "frame 0 0 7 ffff",
		`broken 0 protocol "the server sent a frame of a stream that was not opened" ""`,
	},
	{
		"head of a stream of the server's", "frame 1 4 2 88",
		`broken 0 protocol "the server sent a frame of a stream that was not opened" ""`,
	},
	{
		"reset of no call", "frame 3 0 7 00000008",
		`broken 0 protocol "the server sent a frame of a stream that was not opened" ""`,
	},
	{"priority of no call", "frame 2 0 7 0000000000|" + good + "|'fine|= grpc-status=0", `keep 0 ok "" "fine"`},
	{"unknown frame of no call", "frame aa 0 7 ffff|" + good + "|'fine|= grpc-status=0", `keep 0 ok "" "fine"`},
	{
		"no :status", "frame 1 4 1 5f106170706c69636174696f6e2f67727063",
		`broken 0 protocol "the server sent fields without one :status in front, or trailers with one" ""`,
	},
	{
		"two :status", "frame 1 4 1 8888",
		`broken 0 protocol "the server sent fields without one :status in front, or trailers with one" ""`,
	},
	{
		":status behind a field", "frame 1 4 1 5f106170706c69636174696f6e2f6772706388",
		`broken 0 protocol "the server sent fields without one :status in front, or trailers with one" ""`,
	},
	{
		":status in trailers", good + "|'x|frame 1 5 1 88",
		`broken 0 protocol "the server sent fields without one :status in front, or trailers with one" ""`,
	},
	{
		"continued", "frame 1 0 1 88|frame 9 4 1 5f106170706c69636174696f6e2f67727063|'fine|= grpc-status=0",
		`keep 0 ok "" "fine"`,
	},
	{
		"continued by another", "frame 1 0 1 88|frame 0 0 1 00",
		`broken 0 protocol "the server sent another frame within the fields of a reply" ""`,
	},
	{
		"continuation of nothing", "frame 9 4 1 88",
		`broken 0 protocol "the server sent a CONTINUATION frame of nothing" ""`,
	},
	{
		"fields that are none", "frame 1 4 1 ff",
		`broken 0 protocol "the fields of a reply cannot be read: decoding error: truncated headers" ""`,
	},
	{
		"priority and padding", "frame 1 2d 1 02 0000000000 88 0000|",
		`broken 0 protocol "the reply is not gRPC: its content-type is \"\"" ""`,
	},
	{
		"push", "frame 5 4 1 0000000288",
		`broken 0 protocol "the server pushed a reply that was not requested" ""`,
	},
	{
		"bad settings", "frame 4 0 0 000400",
		`broken 0 protocol "the server sent a SETTINGS frame that cannot be read" ""`,
	},
	{
		"settings out of range", "frame 4 0 0 000480000000",
		`broken 0 protocol "the server set a window that is too large" ""`,
	},
	{
		"frames out of range", "frame 4 0 0 000500000001",
		`broken 0 protocol "the server set a length of frames that is not allowed" ""`,
	},
	{"bad ping", "frame 6 0 0 00", `broken 0 protocol "the server sent a PING frame that cannot be read" ""`},
	{
		"bad reset", "frame 3 0 1 00",
		`broken 0 protocol "the server sent a RST_STREAM frame that cannot be read" ""`,
	},
	{
		"bad goaway", "frame 7 0 0 00",
		`broken 0 protocol "the server sent a GOAWAY frame that cannot be read" ""`,
	},
	{
		"bad window", "frame 8 0 0 00",
		`broken 0 protocol "the server sent a WINDOW_UPDATE frame that cannot be read" ""`,
	},
	{
		"no window", "frame 8 0 0 00000000",
		`broken 0 protocol "the server sent a WINDOW_UPDATE that is not allowed" ""`,
	},
	{
		"no window of a call that has ended", good + "|'fine|= grpc-status=0|frame 8 0 1 00000000",
		`keep 0 ok "" "fine"`,
	},
	{
		"no window of the call", "frame 8 0 1 00000000",
		`broken 0 protocol "the server sent a WINDOW_UPDATE that is not allowed" ""`,
	},
	{
		"window too large", "frame 8 0 0 7fffffff",
		`broken 0 protocol "the server sent a WINDOW_UPDATE that is not allowed" ""`,
	},
	{
		"content of nothing", "frame 0 0 0 00",
		`broken 0 protocol "the server sent content that belongs to no stream" ""`,
	},
	{
		"no frames", "raw 220 mail ready, no frames here",
		`broken 0 protocol "the server sent a frame that is longer than it may be" ""`,
	},
}

// write encodes one word of replies.
func (p *peer) write(word string) {
	p.t.Helper()
	end := strings.HasSuffix(word, "!")
	word = strings.TrimSuffix(word, "!")
	if raw, ok := strings.CutPrefix(word, "raw "); ok {
		p.out.WriteString(raw)
		return
	}
	if text, ok := strings.CutPrefix(word, "frame "); ok {
		var kind, flags, stream int
		if _, err := fmt.Sscanf(text, "%x %x %d", &kind, &flags, &stream); err != nil {
			p.t.Fatal(err)
		}
		payload, err := hex.DecodeString(strings.Join(strings.Fields(text)[3:], ""))
		p.must(err)
		p.must(p.framer.WriteRawFrame(http2.FrameType(kind), http2.Flags(flags), uint32(stream), payload))
		return
	}
	switch {
	case word == "":
	case word[0] == '\'':
		p.must(p.framer.WriteData(1, end, message(word[1:])))
	case word[0] == '"':
		p.must(p.framer.WriteData(1, end, []byte(word[1:])))
	default:
		var fields []string
		for i, f := range strings.Fields(word) {
			switch {
			case word[0] == '=' && i == 0:
				end = true
			case i == 0:
				fields = append(fields, ":status: "+f)
			case i == 1 && word[0] != '=':
				fields = append(fields, "content-type: "+f)
			default:
				fields = append(fields, strings.Replace(f, "=", ": ", 1))
			}
		}
		p.sayFields(1, end, fields...)
	}
}

// TestReplies: whatever a server says, and however reads cut it, the call ends once and in the same way.
func TestReplies(t *testing.T) {
	for _, c := range replies {
		for _, step := range []int{1 << 20, 1, 2, 7, 11} {
			p := newPair(t)
			p.judge.accept = 5
			limited := call("x")
			limited.MaxReply = 1000
			_, s := p.begins(limited)
			for word := range strings.SplitSeq(c.says, "|") {
				p.write(word)
			}
			got, ends := "", 0
			for b, at := p.says(), int64(1); len(b) > 0; at++ {
				n := min(step, len(b))
				part := bytes.Clone(b[:n])
				if ends > 0 {
					p.FeedIdle(part)
				} else if slot, used, next := p.Feed(part, at); next != backends.NextMore {
					got = outcome(s, next, p.judge.reply)
					ends++
					if slot != 0 || used != n {
						t.Errorf("%s: slot %d, %d of %d bytes", c.name, slot, used, n)
					}
					if s.FirstByte > s.LastByte {
						t.Errorf("%s: first byte at %d, last at %d", c.name, s.FirstByte, s.LastByte)
					}
				}
				for i := range part {
					part[i] = 0xee // a read's buffer is used again
				}
				b = b[n:]
			}
			// In small steps the end of a call can come before the news that the connection cannot be used.
			if got != c.want {
				t.Errorf("%s, %d bytes at a time:\n got %s\nwant %s", c.name, step, got, c.want)
			}
		}
	}
}

// TestStamps: the first frame of a reply and its last, whatever of the connection comes between;
// bytes are the reply's.
func TestStamps(t *testing.T) {
	p := newPair(t)
	_, s := p.begins(call("x"))
	bytes := int64(0)
	for at, word := range []string{
		"frame 6 0 0 0102030405060708", good, "frame 8 0 1 00000001", "'fine", "= grpc-status=0",
	} {
		p.write(word)
		b := p.says()
		if at != 0 && at != 2 {
			bytes += int64(len(b))
		}
		if _, _, next := p.Feed(b, int64(10+at)); next != backends.NextMore && at < 4 {
			t.Fatal(next)
		}
	}
	if s.FirstByte != 11 || s.LastByte != 14 || s.Responses != 1 || s.BytesReceived != bytes {
		t.Errorf("%+v", s)
	}
}

// TestEOF: a connection that ends under a call.
func TestEOF(t *testing.T) {
	for says, want := range map[string]string{
		"": `stale 0 ok "" ""`, "frame 6 0 0 0102030405060708": `stale 0 ok "" ""`,
		good:            `broken 0 reset "the connection was closed within the reply" ""`,
		good + "|'fine": `broken 0 reset "the connection was closed within the reply" ""`,
		good + "|frame 7 0 0 0000000100000002": `broken 0 reset "the connection was closed within the reply: ` +
			`the server sent GOAWAY with INTERNAL_ERROR" ""`,
	} {
		p := newPair(t)
		_, s := p.begins(call("x"))
		for word := range strings.SplitSeq(says, "|") {
			p.write(word)
		}
		if b := p.says(); len(b) > 0 {
			p.Feed(b, 1)
		}
		if got := outcome(s, p.EOF(2), p.judge.reply); got != want {
			t.Errorf("%q: %s, want %s", says, got, want)
		}
	}
}
