package http1

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sluice-bench/sluice/backends"
)

func TestEncode(t *testing.T) {
	head, holes, err := Encode(Request{
		Method: "POST", Host: "h:8000", Path: "/v2/models/m/infer?a=b",
		Headers: []backends.Header{
			{Name: "X-One", Value: "1 2"}, {Name: "Connection", Value: "close"}, {Name: "Empty", Value: ""},
		},
		Prefix: []byte(`{"id":"00000000"`), Holes: []backends.Hole{{At: 7, Width: 8, Field: backends.FieldID}},
		Body: [][]byte{[]byte(`,"x":`), []byte(`1}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "POST /v2/models/m/infer?a=b HTTP/1.1\r\nHost: h:8000\r\nconnection: close\r\n" +
		"X-One: 1 2\r\nEmpty: \r\nContent-Length: 23\r\n\r\n" + `{"id":"00000000"`
	if diff := cmp.Diff(want, string(head)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !saysClose(head) || saysClose([]byte(strings.Replace(want, "close", "else", 1))) {
		t.Error("saysClose differs")
	}
	if len(holes) != 1 || string(head[holes[0].At:holes[0].At+8]) != "00000000" {
		t.Errorf("holes %v", holes)
	}
}

func TestEncodeWithoutContent(t *testing.T) {
	for method, want := range map[string]bool{
		"GET": false, "HEAD": false, "DELETE": false, "POST": true, "PUT": true,
	} {
		head, _, err := Encode(Request{Method: method, Host: "h", Path: "/"})
		if err != nil || bytes.Contains(head, []byte("Content-Length: 0\r\n")) != want {
			t.Errorf("%s: %q %v", method, head, err)
		}
	}
}

func TestEncodeHostHeaderReplacesTheUrls(t *testing.T) {
	head, _, err := Encode(Request{
		Method: "GET", Host: "10.0.0.1", Path: "/",
		Headers: []backends.Header{{Name: "host", Value: "models.example"}},
	})
	if err != nil || string(head) != "GET / HTTP/1.1\r\nHost: models.example\r\n\r\n" {
		t.Errorf("%q %v", head, err)
	}
}

func TestEncodeRefuses(t *testing.T) {
	good := Request{Method: "POST", Host: "h", Path: "/"}
	for what, change := range map[string]func(*Request){
		"method": func(r *Request) { r.Method = "PO ST" }, "no method": func(r *Request) { r.Method = "" },
		"CONNECT": func(r *Request) { r.Method = "CONNECT" },
		"host":    func(r *Request) { r.Host = "h\r\nX: y" }, "no host": func(r *Request) { r.Host = "" },
		"path": func(r *Request) { r.Path = "/a b" }, "relative path": func(r *Request) { r.Path = "a" },
		"CR in path": func(r *Request) { r.Path = "/\r" },
		"name":       func(r *Request) { r.Headers = []backends.Header{{Name: "a b", Value: "c"}} },
		"colon":      func(r *Request) { r.Headers = []backends.Header{{Name: "a:", Value: "c"}} },
		"no name":    func(r *Request) { r.Headers = []backends.Header{{Value: "c"}} },
		"CR LF":      func(r *Request) { r.Headers = []backends.Header{{Name: "a", Value: "b\r\nX: y"}} },
		"LF":         func(r *Request) { r.Headers = []backends.Header{{Name: "a", Value: "b\nX: y"}} },
		"NUL":        func(r *Request) { r.Headers = []backends.Header{{Name: "a", Value: "b\x00"}} },
		"space":      func(r *Request) { r.Headers = []backends.Header{{Name: "a", Value: " b"}} },
		"length":     func(r *Request) { r.Headers = []backends.Header{{Name: "content-LENGTH", Value: "1"}} },
		"coding": func(r *Request) {
			r.Headers = []backends.Header{
				{Name: "Transfer-Encoding", Value: "chunked"},
			}
		},
		"upgrade": func(r *Request) { r.Headers = []backends.Header{{Name: "Connection", Value: "upgrade"}} },
		"hole":    func(r *Request) { r.Holes = []backends.Hole{{At: 0, Width: 1, Field: backends.FieldID}} },
		"narrow": func(r *Request) {
			r.Prefix, r.Holes = []byte("0000"), []backends.Hole{{Width: 4, Field: backends.FieldEnd}}
		},
		"narrow id": func(r *Request) {
			r.Prefix, r.Holes = make([]byte, 19), []backends.Hole{{Width: 19, Field: backends.FieldSequence}}
		},
		"no field": func(r *Request) { r.Prefix, r.Holes = []byte("00"), []backends.Hole{{Width: 1}} },
	} {
		r := good
		change(&r)
		if head, _, err := Encode(r); err == nil {
			t.Errorf("%s: %q", what, head)
		}
	}
	_, _, err := Encode(Request{Headers: []backends.Header{{Name: "Authorization", Value: "Bearer s3cret\n"}}})
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a secret in an error, or none: %v", err)
	}
	if n := strings.Count(err.Error(), "\n"); n != 3 {
		t.Errorf("4 mistakes, reported in %d lines: %v", n+1, err)
	}
}

func TestBeginFillsHoles(t *testing.T) {
	body := [][]byte{[]byte("tail")}
	c := encodeCall(t, Request{
		Method: "POST", Host: "h", Path: "/", Prefix: []byte("id=0000,again=000000,"), Body: body,
		Holes: []backends.Hole{
			{At: 3, Width: 4, Field: backends.FieldID}, {At: 14, Width: 6, Field: backends.FieldID},
		},
	})
	w := New(&recorder{})
	for id, want := range map[uint64]string{
		7: "id=0007,again=000007,tail", 123456: "id=3456,again=123456,tail",
	} {
		head, rest := w.Begin(0, c, backends.Fields{ID: id}, &backends.Sample{})
		req, err := http.ReadRequest(bufio.NewReader(io.MultiReader(bytes.NewReader(head),
			bytes.NewReader(rest[0]))))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(req.Body); err != nil || string(got) != want {
			t.Errorf("id %d: %q %v", id, got, err)
		}
	}
	if bytes.Contains(c.Head, []byte("0007")) {
		t.Error("the shared head was written to")
	}
}

func TestBeginFillsEveryField(t *testing.T) {
	text := `{"id":"aaaaaaaa","seq":bbbbbbbbbbbbbbbbbbbb,"text":"cccccccccccccccccccc","region":"ddd",` +
		`"start":eeeee,"end":fffff}`
	r := Request{Method: "POST", Host: "h", Path: "/", Prefix: []byte(text)}
	for field, place := range map[uint8]string{
		backends.FieldID: "aaaaaaaa", backends.FieldSequence: strings.Repeat("b", 20),
		backends.FieldSequenceText: strings.Repeat("c", 20),
		backends.FieldRegion:       "ddd", backends.FieldStart: "eeeee", backends.FieldEnd: "fffff",
	} {
		r.Holes = append(r.Holes,
			backends.Hole{At: uint32(strings.Index(text, place)), Width: uint8(len(place)), Field: field})
	}
	w, c := New(&recorder{}), encodeCall(t, r)
	for _, f := range []struct {
		fields backends.Fields
		want   string
	}{
		{
			backends.Fields{ID: 7, Sequence: 1 << 63, Region: 12, Start: true},
			`{"id":"00000007","seq": ` +
				`9223372036854775808,"text":"09223372036854775808","region":"012","start":true ,"end":false}`,
		},
		{
			backends.Fields{Sequence: 0, End: true},
			`{"id":"00000000","seq":                   ` +
				`0,"text":"00000000000000000000","region":"000","start":false,"end":true }`,
		},
		{
			backends.Fields{Sequence: 100, Start: true, End: true},
			`{"id":"00000000","seq":                 ` +
				`100,"text":"00000000000000000100","region":"000","start":true ,"end":true }`,
		},
	} {
		head, _ := w.Begin(0, c, f.fields, &backends.Sample{})
		body := head[bytes.Index(head, []byte("\r\n\r\n"))+4:]
		if string(body) != f.want || !json.Valid(body) {
			t.Errorf("%+v: %s", f.fields, body)
		}
	}
}
