package http2

import (
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"golang.org/x/net/http2"
)

// TestFirstWords: what a server may say first.
func TestFirstWords(t *testing.T) {
	for says, want := range map[string]struct {
		next backends.Next
		why  string
	}{
		"frame 4 0 0 ":                      {backends.NextKeep, ""},
		"frame 4 0 0 000300000064":          {backends.NextKeep, ""},
		"frame 4 0 0 |frame 8 0 0 00010000": {backends.NextKeep, ""},
		"frame 4 1 0 ": {
			backends.NextBroken, "the server does not answer as HTTP/2 does",
		},
		"frame 6 0 0 0102030405060708": {
			backends.NextBroken, "the server does not answer as HTTP/2 does",
		},
		"raw HTTP/1.1 400 Bad Request": {
			backends.NextBroken, "the server does not answer as HTTP/2 does, but as HTTP/1",
		},
		"raw 220 mail ready": {
			backends.NextBroken, "the server does not answer as HTTP/2 does",
		},
		"raw \x00": {backends.NextMore, ""},
		"frame 4 0 0 |frame 7 0 0 " + "0000000000000000": {backends.NextClose, ""},
	} {
		w, p := New(Options{}), newPeer(t)
		for _, word := range split(says) {
			p.write(word)
		}
		if next := w.FeedIdle(p.says()); next != want.next || w.CloseReason() != want.why {
			t.Errorf("%q: %v %q", says, next, w.CloseReason())
		}
	}
}

func split(says string) (words []string) {
	for len(says) > 0 {
		i := 0
		for i < len(says) && says[i] != '|' {
			i++
		}
		words = append(words, says[:i])
		says = says[min(i+1, len(says)):]
	}
	return words
}

// TestAnswers: settings and pings are answered in order, between calls and within one;
// acknowledgements are not.
func TestAnswers(t *testing.T) {
	for _, within := range []bool{false, true} {
		p := newPair(t)
		if within {
			p.begins(call("x"))
		}
		p.must(p.framer.WritePing(false, [8]byte{1}))
		p.must(p.framer.WriteSettings())
		p.must(p.framer.WritePing(true, [8]byte{2}))
		p.must(p.framer.WriteSettingsAck())
		p.must(p.framer.WritePing(false, [8]byte{3}))
		if within {
			p.Feed(p.says(), 1)
		} else {
			p.FeedIdle(p.says())
		}
		p.passAnswers()
		r := p.reads()
		if len(r.other) != 3 || r.other[0].(*http2.PingFrame).Data != [8]byte{1} ||
			!r.other[0].(*http2.PingFrame).IsAck() || !r.other[1].(*http2.SettingsFrame).IsAck() ||
			r.other[2].(*http2.PingFrame).Data != [8]byte{3} {
			t.Errorf("within %t: %v", within, r.other)
		}
		if p.WantsWrite() {
			t.Error("there is more to answer")
		}
	}
}

// TestReceiveWindow: content is given back before the server has used up the connection's window.
func TestReceiveWindow(t *testing.T) {
	p := newPair(t)
	content := make([]byte, minFrameLimit)
	p.unreturned, p.stream = windowRefill-10*minFrameLimit, 9
	window := int64(windowRefill) // of the rest of it
	for range 20 {
		p.must(p.framer.WriteData(9, false, content)) // of a call that is over: it counts all the same
		if window -= minFrameLimit; window < 0 {
			t.Fatal("the server has no window any more")
		}
		p.FeedIdle(p.says())
		if p.WantsWrite() {
			p.passAnswers()
			if more := int64(p.reads().other[0].(*http2.WindowUpdateFrame).Increment); more < windowRefill {
				t.Errorf("%d bytes are given back", more)
			}
			window += windowRefill
		}
	}
	if window != 2*windowRefill-20*minFrameLimit {
		t.Errorf("%d bytes of the window are left", window)
	}
}

// TestLastStream: a connection is not used beyond the numbers that streams can have.
func TestLastStream(t *testing.T) {
	p := newPair(t)
	p.stream = maxStreamID - 4
	for _, want := range []backends.Next{backends.NextKeep, backends.NextClose} {
		r, _ := p.begins(call("x"))
		p.sayReply(r.stream, "fine")
		if _, _, next := p.Feed(p.says(), 1); next != want {
			t.Errorf("stream %d: %v, want %v", r.stream, next, want)
		}
	}
}

// TestNoAllocations: a call costs none, whatever its size.
func TestNoAllocations(t *testing.T) {
	for _, size := range []int{10, 60_000} {
		p := newPair(t, http2.Setting{ID: http2.SettingInitialWindowSize, Val: maxWindow})
		c, s := call(string(make([]byte, size))), &backends.Sample{}
		p.must(p.framer.WriteWindowUpdate(0, maxWindow-defaultWindow))
		p.FeedIdle(p.says())
		stream := uint32(1)
		next := func() {
			p.out.Reset()
			p.sayReply(stream, "fine")
			stream += 2
		}
		begin := func() {
			s.Reset()
			p.Begin(0, c, backends.Fields{ID: 7}, s)
			if _, _, next := p.Feed(p.out.Bytes(), 1); next != backends.NextKeep {
				t.Fatalf("%v %q", next, s.Note)
			}
		}
		for range 3 {
			next()
			begin()
		}
		both := testing.AllocsPerRun(100, func() { next(); begin() })
		peers := testing.AllocsPerRun(100, next)
		if both > peers {
			t.Errorf("%d bytes: %v allocations a call", size, both-peers)
		}
	}
}

// BenchmarkCall is a call of 1 KiB without a socket.
func BenchmarkCall(b *testing.B) {
	p := newPair(b)
	c, s := call(string(make([]byte, 1<<10))), &backends.Sample{}
	var said [][]byte
	for stream := uint32(1); stream < 100; stream += 2 { // after some the peer's table has all there is
		p.sayReply(stream, string(make([]byte, 256)))
		said = append(said, p.says())
	}
	i := 0
	one := func() {
		s.Reset()
		p.Begin(0, c, backends.Fields{ID: 7}, s)
		p.connWindow = defaultWindow
		if _, _, next := p.Feed(said[i], 1); next != backends.NextKeep {
			b.Fatalf("%v %q", next, s.Note)
		}
		if i++; i == len(said) {
			i, p.stream = 10, 19
		}
	}
	for range 20 {
		one()
	}
	b.ReportAllocs()
	for b.Loop() {
		one()
	}
}

// FuzzFeed: whatever a server sends, the wire neither panics nor ends a call twice, and says the
// same however reads cut it.
func FuzzFeed(f *testing.F) {
	for _, c := range replies {
		p := newPeer(f)
		for _, word := range split(c.says) {
			p.write(word)
		}
		f.Add(p.says(), 3)
	}
	f.Fuzz(func(t *testing.T, b []byte, step int) {
		if len(b) > 1<<16 {
			return
		}
		one, _ := play(t, b, len(b)+1)
		cut, _ := play(t, b, max(step%64, 1))
		if one != cut {
			t.Errorf("in one read: %s\nin several: %s", one, cut)
		}
	})
}

// play feeds b to a call.
func play(t *testing.T, b []byte, step int) (got string, left int) {
	p := newPair(t)
	limited := call("x")
	limited.MaxReply = 1000
	_, s := p.begins(limited)
	for len(b) > 0 {
		n := min(step, len(b))
		_, _, next := p.Feed(b[:n], 1)
		p.WantsWrite()
		if p.WantsWrite() {
			p.PendingWrite()
		}
		if b = b[n:]; next == backends.NextMore {
			continue
		}
		if next == backends.NextClose { // what makes it so may come in a later read
			next = backends.NextKeep
		}
		return outcome(s, next, p.judge.reply), len(b)
	}
	return outcome(s, p.EOF(2), p.judge.reply), 0
}
