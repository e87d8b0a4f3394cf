package http2

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

// streams are replies of any number of messages, as replies has them, and what the judge saw.
var streams = []struct{ name, says, want string }{
	{"several", good + "|'one|'|'three|= grpc-status=0", `keep 0 ok "" 3 "one,,three"`},
	{"none", good + "|= grpc-status=0", `keep 0 ok "" 0 "no message"`},
	{"none, at once", good + " grpc-status=0!", `keep 0 ok "" 0 "no message"`},
	{
		"across frames", good + "|\"\x00\x00\x00|\"\x00\x03on|\"e\x00\x00\x00\x00\x03two\x00|\"\x00\x00\x00\x02go|= grpc-status=0",
		`keep 0 ok "" 3 "one,two,go"`,
	},
	{"padding", good + "|frame 0 8 1 03000000000178000000|'y|= grpc-status=0", `keep 0 ok "" 2 "x,y"`},
	{
		"compressed", "200 application/grpc grpc-encoding=gzip|\"" + packed("long") + "|'plain|= grpc-status=0",
		`keep 0 ok "" 2 "long,plain"`,
	},
	{
		"cut", good + "|'one|\"\x00\x00\x00\x00\x09x|= grpc-status=0",
		`broken 0 protocol "the server answered OK, but the last message is incomplete" 1 "one"`,
	},
	{"an error after", good + "|'one|= grpc-status=13 grpc-message=late", `keep 13 status "Internal: late" 1 "one"`},
	{
		"too long", good + "|'one|\"\x00\x00\x00\x10\x00",
		`broken 8 status "ResourceExhausted (client side, max_message): the reply has 4096 bytes, the limit is ` +
			`1000" 1 "one"`,
	},
	{
		"bad prefix", good + "|'one|\"\x07\x00\x00\x00\x01x|'two|= grpc-status=0",
		`broken 0 protocol "the message has a prefix that cannot be read" 1 "one"`,
	},
	{
		"cut off", good + "|'one|frame 3 0 1 00000002",
		`keep 13 protocol "the server cut the call off: RST_STREAM with INTERNAL_ERROR" 1 "one"`,
	},
}

// lister is a judge that keeps every message.
type lister struct {
	recorder
	seen []string
}

func (l *lister) Reply(_ *backends.Call, pieces [][]byte, s *backends.Sample) {
	switch {
	case len(pieces) > 0:
		l.seen = append(l.seen, string(pieces[0]))
	case s.Responses == 0:
		l.seen = append(l.seen, "no message")
	}
}

// playStream feeds b to a call whose reply is a stream, in reads of step bytes. Events hold room.
func playStream(t *testing.T, b []byte, step, room int) string {
	t.Helper()
	list := &lister{recorder: recorder{accept: -1}}
	p := newPairOf(t, Options{Streaming: true})
	p.reply.judge = list
	limited := call("x")
	limited.MaxReply = 1000
	_, s := p.begins(limited)
	s.Events = make([]backends.Event, 0, room)
	events := 0
	for at := int64(1); len(b) > 0; at++ {
		n := min(step, len(b))
		for rest := b[:n]; ; {
			_, used, next := p.Feed(rest, at)
			rest = rest[used:]
			events += len(s.Events)
			if next != backends.NextFull && next != backends.NextMore {
				if next == backends.NextClose { // what makes it so may come in a later read
					next = backends.NextKeep
				}
				if room > 0 && events != int(s.Responses) {
					t.Errorf("%d events of %d responses", events, s.Responses)
				}
				return fmt.Sprintf("%s %d %q", strings.TrimSuffix(outcome(s, next, nil), ` ""`), s.Responses,
					strings.Join(list.seen, ","))
			}
			if next == backends.NextFull && len(s.Events) != room {
				t.Errorf("full with %d of %d events", len(s.Events), room)
			}
			if s.Events = s.Events[:0]; next == backends.NextMore {
				break
			}
		}
		b = b[n:]
	}
	return "not finished"
}

// TestStream: a reply of several messages, read in pieces of any size and with room for any number of
// events.
func TestStream(t *testing.T) {
	for _, c := range streams {
		p := newPeer(t)
		for _, word := range split(c.says) {
			p.write(word)
		}
		b := bytes.Clone(p.says())
		for _, step := range []int{1, 2, 3, 7, len(b)} {
			for _, room := range []int{0, 1, 2, 100} {
				if got := playStream(t, b, step, room); got != c.want {
					t.Errorf("%s, reads of %d bytes, room for %d:\n got %s\nwant %s", c.name, step, room, got, c.want)
				}
			}
		}
	}
}

// TestFramed: the messages of a call go out as they are, and end the client's side.
func TestFramed(t *testing.T) {
	p := newPairOf(t, Options{Framed: true})
	both := string(message("one")) + string(message("two"))
	r, _ := p.begins(&backends.Call{Body: [][]byte{[]byte(both)}})
	if string(r.data) != both || !r.ended {
		t.Errorf("sent %q, ended %v", r.data, r.ended)
	}
}

// TestStreamCost: a message of a stream allocates nothing, and the server's window is refilled before it
// is used up.
func TestStreamCost(t *testing.T) {
	p := newPairOf(t, Options{Streaming: true})
	_, s := p.begins(call("x"))
	p.write(good)
	p.Feed(p.says(), 1)
	p.must(p.framer.WriteData(1, false, bytes.Repeat(message("a message"), 100)))
	b := p.says()
	if n := testing.AllocsPerRun(100, func() { p.Feed(b, 2) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if s.Responses != 101*100 {
		t.Errorf("%d responses", s.Responses)
	}
	for fed := 0; fed < 2*windowRefill; fed += len(b) {
		if p.Feed(b, 3); p.WantsWrite() {
			head, _, _ := p.PendingWrite()
			if !bytes.Contains(head, []byte{8, 0, 0, 0, 0, 1}) { // WINDOW_UPDATE of stream 1
				t.Errorf("sent %x", head)
			}
			return
		}
	}
	t.Error("the window of the stream is not refilled")
}

// FuzzStream: a stream has the same outcome however it is cut into reads.
func FuzzStream(f *testing.F) {
	for _, c := range streams {
		p := newPeer(f)
		for _, word := range split(c.says) {
			p.write(word)
		}
		f.Add(p.says(), 3, 1)
	}
	f.Fuzz(func(t *testing.T, b []byte, step, room int) {
		if len(b) > 1<<16 {
			return
		}
		one := playStream(t, b, len(b)+1, 0)
		if cut := playStream(t, b, max(step%64, 1), max(room%8, 0)); one != cut {
			t.Errorf("in one read: %s\nin several: %s", one, cut)
		}
	})
}
