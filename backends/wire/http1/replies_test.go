package http1

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sluice-bench/sluice/backends"
)

// recorder is a Judge that keeps everything and calls statuses from 300 on failures.
type recorder struct {
	body    []byte
	size    int64
	replies int
	keep    int
}

func (r *recorder) Keep(*backends.Call, int, *backends.Sample) int { return r.keep }

func (r *recorder) Reply(_ *backends.Call, status int, h *Header, body []byte, s *backends.Sample) {
	r.replies++
	r.body = append(r.body[:0], body...)
	r.size = h.Size
	if status >= 300 && status != 304 {
		s.Class = backends.Status
		if l := h.Get("location"); l != nil {
			s.SetNote(l)
		}
	}
}

// outcome is what a wire made of a reply.
type outcome struct {
	Status         int32
	Class          backends.ErrorClass
	Next           backends.Next
	Body           string
	Size, Received int64
	Replies, Rest  int
	Note           string
	Slot           int
}

// pieces cuts b in pieces of n bytes; 0: one piece.
func pieces(b []byte, n int) (cut [][]byte) {
	for n > 0 && len(b) > n {
		cut, b = append(cut, b[:n]), b[n:]
	}
	return append(cut, b)
}

// play feeds a fresh request of w with reads. The clock of the reads starts at 1.
func play(w *Wire, r *recorder, c *backends.Call, reads [][]byte, eof bool) (outcome, *backends.Sample) {
	s := &backends.Sample{}
	*r = recorder{keep: r.keep}
	w.Begin(3, c, backends.Fields{ID: 7}, s)
	got := outcome{Slot: backends.None, Next: backends.NextMore}
	at := int64(0)
	for i, b := range reads {
		at++
		slot, n, next := w.Feed(bytes.Clone(b), at)
		if next != backends.NextMore {
			got.Slot, got.Next, got.Rest = slot, next, len(b)-n
			for _, b := range reads[i+1:] {
				got.Rest += len(b)
			}
			break
		}
		if slot != backends.None || n != len(b) {
			panic(fmt.Sprintf("slot %d, %d of %d bytes taken, but more wanted", slot, n, len(b)))
		}
	}
	if got.Next == backends.NextMore && eof {
		got.Next, got.Slot = w.EOF(at+1), 3
	}
	got.Status, got.Class, got.Received = s.Status, s.Class, s.BytesReceived
	got.Body, got.Size, got.Replies = string(r.body), r.size, r.replies
	got.Note = string(s.Note)
	if got.Class == backends.Protocol { // how much of the offending bytes is quoted depends on the read
		got.Note, _, _ = strings.Cut(got.Note, `: "`)
	}
	return got, s
}

// replyCase is one case of testdata/replies.txt.
type replyCase struct {
	line          int
	name, request string
	reply         []byte
	eof           bool
	want          string
	rest          int
	note          string
}

func readCases(t *testing.T) (cases []replyCase) {
	t.Helper()
	text, err := os.ReadFile("testdata/replies.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		word, value, _ := strings.Cut(line, " ")
		if word == "" || word == "#" {
			continue
		}
		if word == "case" {
			cases = append(cases, replyCase{line: i + 1, name: value, request: "POST"})
			continue
		}
		c := &cases[len(cases)-1]
		switch word {
		case "request":
			c.request = value
		case "reply":
			b, err := strconv.Unquote(`"` + strings.ReplaceAll(value, `"`, `\"`) + `"`)
			if err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
			c.reply = append(c.reply, b...)
		case "eof":
			c.eof = true
		case "want":
			c.want = value
		case "rest":
			c.rest, _ = strconv.Atoi(value)
		case "note":
			c.note = value
		default:
			t.Fatalf("line %d: %q", i+1, line)
		}
	}
	return cases
}

func encodeCall(t testing.TB, r Request) *backends.Call {
	t.Helper()
	head, holes, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return &backends.Call{Head: head, Holes: holes, Body: r.Body, Size: len(head)}
}

func (c *replyCase) call(t testing.TB) *backends.Call {
	r := Request{Method: "POST", Host: "h", Path: "/"}
	switch c.request {
	case "HEAD":
		r.Method = "HEAD"
	case "close":
		r.Headers = []backends.Header{{Name: "Connection", Value: "Close"}}
	}
	call := encodeCall(t, r)
	call.MaxReply = 1e6
	return call
}

func TestReplies(t *testing.T) {
	r := &recorder{keep: 1 << 20}
	w := New(r) // one wire for all: nothing of a reply may outlive it
	words := map[backends.Next]string{
		backends.NextMore: "more", backends.NextKeep: "keep", backends.NextClose: "close",
		backends.NextBroken: "broken", backends.NextStale: "stale",
	}
	for _, c := range readCases(t) {
		t.Run(c.name, func(t *testing.T) {
			call := c.call(t)
			whole, s := play(w, r, call, pieces(c.reply, 0), c.eof)
			got := fmt.Sprintf("%d %v %s", whole.Status, whole.Class, words[whole.Next])
			if strings.Contains(c.want, `"`) {
				got += fmt.Sprintf(" %q", whole.Body)
			}
			if got != c.want || whole.Rest != c.rest || !strings.Contains(string(s.Note), c.note) {
				t.Errorf("testdata/replies.txt:%d: got %s, rest %d, note %q; want %s, rest %d",
					c.line, got, whole.Rest, s.Note, c.want, c.rest)
			}
			judged := whole.Next == backends.NextKeep || whole.Next == backends.NextClose
			if judged != (whole.Replies == 1) || whole.Slot != 3 {
				t.Errorf("%d replies judged, slot %d", whole.Replies, whole.Slot)
			}
			if int(whole.Received) != len(c.reply)-whole.Rest {
				t.Errorf("BytesReceived %d of %d, rest %d", whole.Received, len(c.reply), whole.Rest)
			}
			for _, n := range []int{1, 7} {
				cut, _ := play(w, r, call, pieces(c.reply, n), c.eof)
				if diff := cmp.Diff(whole, cut); diff != "" {
					t.Errorf("in pieces of %d (-whole +cut):\n%s", n, diff)
				}
			}
		})
	}
}

func TestStampsAreThoseOfTheReads(t *testing.T) {
	r := &recorder{keep: 100}
	w := New(r)
	c := encodeCall(t, Request{Method: "POST", Host: "h", Path: "/"})
	_, s := play(w, r, c, [][]byte{
		[]byte("HTTP/1.1 100 Continue\r\n\r\n"), []byte("HTTP/1.1 200 OK\r\nContent-"),
		[]byte("Length: 4\r\n\r\nab"), []byte("c"), []byte("d"),
	}, false)
	if s.FirstByte != 2 || s.LastByte != 5 || s.Responses != 1 {
		t.Errorf("first byte at %d, last at %d, %d responses; want 2, 5, 1", s.FirstByte, s.LastByte, s.Responses)
	}
}

func TestKeepBoundsWhatTheJudgeSees(t *testing.T) {
	reply := []byte("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789")
	fault := []byte("HTTP/1.1 503 No\r\nContent-Length: 10\r\n\r\n0123456789")
	c := encodeCall(t, Request{Method: "POST", Host: "h", Path: "/"})
	for _, n := range []int{0, 1, 7} {
		r := &recorder{keep: 4}
		w := New(r)
		if got, _ := play(w, r, c, pieces(reply, n), false); got.Body != "0123" || got.Size != 10 {
			t.Errorf("pieces of %d: kept %q of %d bytes", n, got.Body, got.Size)
		}
		r.keep = 0
		if got, _ := play(w, r, c, pieces(fault, n), false); got.Body != "" || got.Note != "0123456789" {
			t.Errorf("pieces of %d: kept %q, note %q", n, got.Body, got.Note)
		}
	}
}

func TestLimits(t *testing.T) {
	long := strings.Repeat("x", maxHead)
	for name, reply := range map[string]string{
		"head":       "HTTP/1.1 200 OK\r\nX: " + long + "\r\n\r\n",
		"open head":  "HTTP/1.1 200 OK\r\nX: " + long,
		"trailers":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: " + long,
		"chunk line": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + long,
	} {
		r := &recorder{keep: 1000}
		w := New(r)
		c := encodeCall(t, Request{Method: "POST", Host: "h", Path: "/"})
		whole, _ := play(w, r, c, pieces([]byte(reply), 0), true)
		if whole.Class != backends.Protocol || whole.Next != backends.NextBroken {
			t.Errorf("%s: %v, next %d", name, whole.Class, whole.Next)
		}
		for _, n := range []int{1, 7, 50} {
			if cut, _ := play(w, r, c, pieces([]byte(reply), n), true); cut != whole {
				t.Errorf("%s in pieces of %d: %s", name, n, cmp.Diff(whole, cut))
			}
		}
	}
}

// TestContentLimit: content that has more bytes than the call allows ends the reply as soon as that
// is known. What a status other than 2xx says stands, but the connection does not.
func TestContentLimit(t *testing.T) {
	const most = 60
	long, spaces := strings.Repeat("x", 100), strings.Repeat(" ", 1000)
	chunked := "Transfer-Encoding: chunked\r\n\r\n"
	for _, c := range []struct {
		name, reply string
		want        string // class, next and what is left unread
	}{
		{"length", "HTTP/1.1 200 OK\r\nContent-Length: 61\r\n\r\nx", "decode 3 1"},
		{"length as long as it may be", "HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n" + long[:60], "ok 1 0"},
		{"to EOF", "HTTP/1.1 200 OK\r\n\r\n" + long, "decode 3 39"},
		{"spaces to EOF", "HTTP/1.1 200 OK\r\n\r\n" + spaces, "decode 3 939"},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\n" + long, "decode 3 39"},
		{"chunks", "HTTP/1.1 200 OK\r\n" + chunked + "1E\r\n" + long[:30] + "\r\n1F\r\n" + long, "decode 3 100"},
		{
			"small chunks without end", "HTTP/1.1 200 OK\r\n" + chunked + strings.Repeat("1\r\nx\r\n", 100),
			"decode 3 237",
		},
		{"a huge chunk", "HTTP/1.1 200 OK\r\n" + chunked + "fffffffffff\r\n", "decode 3 0"},
		{"status, length", "HTTP/1.1 500 No\r\nContent-Length: 3000000000\r\n\r\n" + long, "status 2 39"},
		{"status, in one read", "HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\n" + long, "status 2 39"},
		{"status, chunks", "HTTP/1.1 404 No\r\n" + chunked + "FF\r\n" + spaces, "status 2 939"},
		{"status, to EOF", "HTTP/1.1 302 No\r\n\r\n" + long, "status 2 39"},
	} {
		r := &recorder{keep: 1000}
		w := New(r)
		call := encodeCall(t, Request{Method: "POST", Host: "h", Path: "/"})
		call.MaxReply = most
		whole, s := play(w, r, call, pieces([]byte(c.reply), 0), false)
		if got := fmt.Sprintf("%v %d %d", whole.Class, whole.Next, whole.Rest); got != c.want {
			t.Errorf("%s: %s %q, want %s", c.name, got, s.Note, c.want)
		}
		if s.Class == backends.Decode && !strings.Contains(string(s.Note), "limit of 60: raise `max_message`") {
			t.Errorf("%s: note %q", c.name, s.Note)
		}
		if cap(w.body) > 4*most {
			t.Errorf("%s: %d bytes are kept", c.name, cap(w.body))
		}
		for _, n := range []int{1, 7, 50} {
			if cut, _ := play(w, r, call, pieces([]byte(c.reply), n), false); cut != whole {
				t.Errorf("%s in pieces of %d: %s", c.name, n, cmp.Diff(whole, cut))
			}
		}
	}
}

// A server may answer before the request is written to its end, and a wire may be begun anew after
// a cut reply.
func TestBeginForgets(t *testing.T) {
	r := &recorder{keep: 100}
	w := New(r)
	c := encodeCall(t, Request{Method: "POST", Host: "h", Path: "/"})
	for _, cut := range []string{
		"", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab",
		"HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3;a\r\nab",
	} {
		play(w, r, c, [][]byte{[]byte(cut)}, false)
		got, _ := play(w, r, c, [][]byte{[]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")}, false)
		if got.Class != backends.OK || got.Body != "hi" || got.Next != backends.NextKeep {
			t.Errorf("after %q: %+v", cut, got)
		}
	}
	if slot, n, next := w.Feed([]byte("surplus"), 1); slot != backends.None || n != 0 ||
		next != backends.NextBroken {
		t.Errorf("bytes that belong to no request: slot %d, n %d, next %d", slot, n, next)
	}
}

func TestHeaderGet(t *testing.T) {
	h := Header{text: []byte("A: 1\r\nEmpty:\r\nLong-Name:  two words \r\na: 3\r\n\r\n")}
	for name, want := range map[string]string{"a": "1", "long-name": "two words", "empty": ""} {
		if got := h.Get(name); got == nil || string(got) != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := h.Get("b"); got != nil {
		t.Errorf("b: %q", got)
	}
}
