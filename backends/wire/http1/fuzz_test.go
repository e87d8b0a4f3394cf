package http1

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sluice-bench/sluice/backends"
)

// FuzzReply: whatever a server sends, the wire does not panic, takes no more than it was given, and
// comes to the same end however the bytes are cut and whatever came before; and what both it and
// net/http take for a whole reply, they read alike.
func FuzzReply(f *testing.F) {
	for _, c := range readCaptures(f) {
		f.Add(c.reply, uint8(5), bytes.HasPrefix(c.request, []byte("HEAD")))
	}
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nhi\r\n0\r\nX: y\r\n\r\n"),
		uint8(3), false)
	f.Add([]byte("HTTP/1.1 103 x\r\n\r\nHTTP/1.0 200\nA:\n\tb\nContent-Length: 1, 1\n\n!?"), uint8(1), false)
	f.Fuzz(func(t *testing.T, reply []byte, size uint8, head bool) {
		method := "POST"
		if head {
			method = "HEAD"
		}
		call := encodeCall(t, Request{Method: method, Host: "h", Path: "/"})
		r := &recorder{keep: 1 << 16}
		w := New(r)
		whole, s := play(w, r, call, pieces(reply, 0), true)
		if whole.Next == backends.NextMore {
			t.Fatal("no end at EOF")
		}
		if int(whole.Received) != len(reply)-whole.Rest {
			t.Fatalf("%d bytes received of %d, %d left", whole.Received, len(reply), whole.Rest)
		}
		if s.FirstByte > s.LastByte {
			t.Fatalf("first byte at %d, last at %d", s.FirstByte, s.LastByte)
		}
		if again, _ := play(w, r, call, pieces(reply, 0), true); again != whole {
			t.Fatalf("the same bytes a second time (-once +again):\n%s", cmp.Diff(whole, again))
		}
		if cut, _ := play(w, r, call, pieces(reply, 1+int(size)), true); cut != whole {
			t.Fatalf("in pieces of %d (-whole +cut):\n%s", 1+int(size), cmp.Diff(whole, cut))
		}
		if after, _ := play(w, r, call, pieces(reply[:min(len(reply), int(size))], 0),
			true); after != fresh(t, r, call, reply[:min(len(reply), int(size))]) {
			t.Fatalf("a part of it differs after the whole: %+v", after)
		}
		if whole.Next == backends.NextKeep || whole.Next == backends.NextClose {
			crossCheck(t, reply, method, whole)
		}
	})
}

// fresh is what a wire makes of reply that has seen nothing before.
func fresh(t *testing.T, r *recorder, call *backends.Call, reply []byte) outcome {
	t.Helper()
	got, _ := play(New(r), r, call, pieces(reply, 0), true)
	return got
}

// crossCheck reads a reply that the wire took with net/http. What net/http refuses is passed over:
// it is stricter in places where RFC 9112 lets a client choose.
func crossCheck(t *testing.T, reply []byte, method string, got outcome) {
	in := bufio.NewReader(bytes.NewReader(reply))
	for {
		res, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil || got.Status == 304 {
			return
		}
		if res.StatusCode < 200 {
			continue
		}
		if res.ProtoMinor == 0 && bytes.Contains(bytes.ToLower(reply), []byte("transfer-encoding")) {
			return // faulty framing (RFC 9112 section 6.1), which net/http reads as if there were no coding
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return
		}
		if int(got.Status) != res.StatusCode || got.Size != int64(len(body)) ||
			!bytes.HasPrefix(body, []byte(got.Body)) {
			t.Fatalf("status %d, %d bytes %q; net/http: %d, %d bytes %q",
				got.Status, got.Size, got.Body, res.StatusCode, len(body), body)
		}
		return
	}
}

// Every well-formed reply of the captures is read by net/http too, and alike.
func TestAgreesWithNetHTTP(t *testing.T) {
	compared := 0
	for _, c := range readCaptures(t) {
		r := &recorder{keep: 1 << 20}
		got, _ := play(New(r), r, &backends.Call{Head: c.request}, pieces(c.reply, 0), true)
		if got.Next != backends.NextKeep && got.Next != backends.NextClose {
			continue
		}
		res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(finalReply(c.reply))),
			&http.Request{Method: string(bytes.Fields(c.request)[0])})
		if err != nil {
			t.Errorf("%s: net/http: %v", c.name, err)
			continue
		}
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != int(got.Status) || got.Body != string(body) {
			t.Errorf("%s: %d %q; net/http: %d %q %v", c.name, got.Status, got.Body, res.StatusCode, body, err)
		}
		if res.Close && got.Next == backends.NextKeep {
			t.Errorf("%s: net/http closes, the wire keeps", c.name)
		}
		compared++
	}
	if compared < 130 {
		t.Errorf("only %d compared", compared)
	}
}
