package http

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

func newReader(b []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(b)) }

// played feeds a reply, one read for each element, to the wire of a target.
func played(t *testing.T, target backends.Target, r backends.Request, reads ...string) *backends.Sample {
	t.Helper()
	call, err := open(t, target).Prepare(r)
	if err != nil {
		t.Fatal(err)
	}
	wire := http1.New(new(judge))
	if target.Streaming {
		wire = http1.New(new(streamJudge))
	}
	s := &backends.Sample{Events: make([]backends.Event, 0, 16)}
	wire.Begin(0, call, backends.Fields{}, s)
	for i, read := range reads {
		slot, n, next := wire.Feed([]byte(read), int64(i+1))
		if next != backends.NextMore && (i < len(reads)-1 || n != len(read) || slot != 0) {
			t.Fatalf("read %d: %d of %d bytes, next %d", i, n, len(read), next)
		}
		if next != backends.NextMore {
			return s
		}
	}
	wire.EOF(int64(len(reads) + 1))
	return s
}

func packed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

// TestJudge: the class and note of each kind of reply.
func TestJudge(t *testing.T) {
	status := func(code int, head, body string) string {
		return fmt.Sprintf("HTTP/1.1 %d \r\n%scontent-length: %d\r\n\r\n%s", code, head, len(body), body)
	}
	coded := reply("Content-Encoding: gzip\r\n", packed(`{"y":2}`))
	traceback := "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    " + strings.Repeat("x", 9000) +
		"\nValueError: cannot reshape\n"
	accepts := checked
	accepts.Expect = &backends.Expect{Status: []int{404}, Fields: checked.Expect.Fields}
	for name, c := range map[string]struct {
		target backends.Target
		r      backends.Request
		reply  string
		want   string
	}{
		"good":              {backends.Target{}, checked, reply("", `{"x":[1], "y":2.0}`), "ok"},
		"nothing expected":  {backends.Target{}, backends.Request{}, reply("", "<html>"), "ok"},
		"an empty reason":   {backends.Target{}, backends.Request{}, status(200, "", ""), "ok"},
		"another value":     {backends.Target{}, checked, reply("", `{"y":[3]}`), "mismatch field y is [3], want 2"},
		"no value":          {backends.Target{}, checked, reply("", `{}`), "mismatch field y is missing"},
		"cut JSON":          {backends.Target{}, checked, reply("", `{"y":2`), `decode the reply is not JSON: {"y":2`},
		"broken JSON":       {backends.Target{}, checked, reply("", `{"y":2,<p>`), `decode the reply is not JSON: {"y":2,<p>`},
		"no JSON":           {backends.Target{}, checked, reply("", `<p>`), "decode the reply is not JSON: <p>"},
		"another status":    {backends.Target{}, checked, status(201, "", `{"y":2}`), `status an unexpected status 201: {"y":2}`},
		"an expected one":   {backends.Target{}, accepts, status(404, "", `{"y":2}`), "ok"},
		"and another value": {backends.Target{}, accepts, status(404, "", `{"y":1}`), "mismatch field y is 1, want 2"},
		"200 is not":        {backends.Target{}, accepts, status(200, "", ""), "status an empty reply with status 200"},
		"a redirect": {
			backends.Target{},
			checked, status(307, "Location: /other\r\n", "moved"),
			"status the server redirects, which requests do not follow: write the right address into `url` " +
				"and `path`; it points to /other",
		},
		"too large":   {backends.Target{}, checked, status(413, "", ""), "status an empty reply with status 413"},
		"a traceback": {backends.Target{}, checked, status(500, "", traceback), "status ValueError: cannot reshape"},
		"coded":       {backends.Target{Compression: "gzip"}, checked, coded, "ok"},
		"coded unasked": {
			backends.Target{},
			checked, coded,
			"decode the reply is compressed, but the target does not set `compression`",
		},
		"coded wrongly": {
			backends.Target{Compression: "gzip"},
			checked, reply("Content-Encoding: gzip\r\n", `{"y":2}`),
			"decode the reply is not compressed as its header says",
		},
		"coded and too large": {
			backends.Target{Compression: "gzip", MaxMessage: 200},
			checked,
			reply("Content-Encoding: gzip\r\n", packed(strings.Repeat(" ", 300)+`{"y":2}`)),
			"decode the decompressed reply exceeds `max_message`",
		},
		"a coded refusal": {
			backends.Target{Compression: "gzip"},
			checked,
			status(500, "content-encoding: gzip\r\n", packed(`{"error":"no luck"}`)), "status no luck",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := played(t, c.target, c.r, c.reply)
			if got := strings.TrimSpace(s.Class.String() + " " + string(s.Note)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestCause: what the refusals of servers say, each in its own form.
func TestCause(t *testing.T) {
	for _, c := range [][2]string{
		{`{"error":"Model with name x does not exist."}`, "Model with name x does not exist."},
		{`{"error":{"message":"bad \"n\"","type":"invalid","param":null,"code":400}}`, `bad "n"`},
		{`{"detail":"Not Found"}`, "Not Found"},
		{
			`{"detail":[{"type":"missing","loc":["body","inputs",0],"msg":"Field required"},{"msg":"more"}]}`,
			"Field required: inputs",
		},
		{"{\n  \"code\": 404,\n  \"type\": \"NotFound\",\n  \"message\": \"no x\"\n}\n", "NotFound: no x"},
		{"Traceback (most recent call last):\n  File\nKeyError: 'instances'\n", "KeyError: 'instances'"},
		{"Internal Server Error\nTraceback (most recent call last):\n  File\n\n  x\r\nKeyError: 'a'\r\n", "KeyError: 'a'"},
		{`{"detail":"Traceback (most recent call last):\n  File\nValueError: 1\nof 2\n\nAt:\n  x"}`, "ValueError: 1"},
		{
			`{"error":"Traceback (most recent call last):\nKeyError: 1\n\nDuring handling of the above exception, another ` +
				`exception occurred:\n\nTraceback (most recent call last):\n  File\nValueError: 2\n"}`, "ValueError: 2",
		},
		{
			`{"code":503,"type":"InternalServerException","message":"failed\nTraceback (most recent call last):\n  f\nE: 1\n"}`,
			"InternalServerException: E: 1",
		},
		{`{"error":{"message":"Traceback (most recent call last):\n  File\nValueError: x"}}`, "ValueError: x"},
		{`{"detail":[{"loc":["n"],"msg":"Traceback (most recent call last):\n  File\nValueError: x"}]}`, "ValueError: x: n"},
		{"Traceback (most recent call last):\n  File a\n    cut", "cut"},
		{"no luck: Traceback (most recent call last)", "no luck: Traceback (most recent call last)"},
		{`{"reason":"other"}`, `{"reason":"other"}`},
		{`{"error":`, `{"error":`},
		{"plain\n", "plain"},
		{"", ""},
	} {
		if got := string(AppendCause(nil, []byte(c[0]))); got != c[1] {
			t.Errorf("%q\ngot  %q\nwant %q", c[0], got, c[1])
		}
	}
}

func FuzzCause(f *testing.F) {
	f.Add([]byte(`{"detail":[{"loc":["a"],"msg":"b"}],"error":{"message":"c"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if got := AppendCause([]byte("x"), body); got[0] != 'x' {
			t.Errorf("%q", got)
		}
	})
}

// TestStream: responses are events, chunks, or reads, each with the time of the read that completes it.
func TestStream(t *testing.T) {
	target := backends.Target{Streaming: true}
	const chunked = "HTTP/1.1 200 \r\nts_stream_next: true\r\ntransfer-encoding: chunked\r\n\r\n"
	const events = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	const plain = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" // until the connection ends
	fields := func(n int64) backends.Request {
		return backends.Request{Expect: &backends.Expect{Fields: []backends.Field{{Path: "n", Want: n}}}}
	}
	for name, c := range map[string]struct {
		r     backends.Request
		reads []string
		want  string // class, first and last byte, times of events with * if coalesced, note
	}{
		"chunks": {
			backends.Request{},
			[]string{chunked, "6\r\nword0 \r\n", "6\r\nword1 \r\n6\r\nword2 \r\n", "4\r\ndo", "ne\r\n", "0\r\n\r\n"},
			"ok 2 5 [2 3 3* 5]",
		},
		"each chunk compared": {
			fields(2), []string{chunked + "7\r\n{\"n\":2}\r\n", "7\r\n{\"n\"", ":2}\r\n0\r\n\r\n"}, "ok 1 3 [1 3]",
		},
		"the first one wrong": {
			fields(2), []string{chunked + "7\r\n{\"n\":1}\r\n", "7\r\n{\"n\":2}\r\n0\r\n\r\n"}, "mismatch 1 2 [1 2] field n is 1, want 2",
		},
		"the last one wrong": {
			fields(2), []string{chunked + "7\r\n{\"n\":2}\r\n", "7\r\n{\"n\":3}\r\n0\r\n\r\n"}, "mismatch 1 2 [1 2] field n is 3, want 2",
		},
		"two wrong": {
			fields(2), []string{chunked + "3\r\n<p>\r\n", "7\r\n{\"n\":3}\r\n0\r\n\r\n"}, "decode 1 2 [1 2] the reply is not JSON: <p>",
		},
		"cut after 200": { // MLServer's answer for an unknown model
			backends.Request{}, []string{chunked}, "reset 1 2 [] the connection was closed before the last chunk",
		},
		"until the end of the connection": {
			backends.Request{}, []string{"HTTP/1.1 200 OK\r\n\r\n", "a", "b"}, "ok 2 3 [2 3]",
		},
		"with a length": {backends.Request{}, []string{reply("", "ab")}, "ok 1 1 []"},
		"events": {
			fields(2),
			[]string{
				events, "11\r\ndata: {\"n\":2}\n\nda\r\n", "15\r\nta: {\"n\":2}\n\n: ping\n\n\r\n",
				"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n",
			},
			"ok 2 3 [2 3]",
		},
		"an event wrong": {
			fields(2), []string{plain + "data: {\"n\":1}\n\n", "data: {\"n\":2}\n\n"}, "mismatch 1 2 [1 2] field n is 1, want 2",
		},
		"an event named error": {
			backends.Request{}, []string{plain + "data: 1\n\n", "event: error\ndata: out of memory\n\n"}, "server 1 1 [1] out of memory",
		},
		"an error at the end": { // without the empty line that ends an event
			backends.Request{}, []string{plain + "data: 1\n\n", "event: error\ndata: no luck\n"}, "server 1 1 [1] no luck",
		},
		"an error first": {
			fields(2), []string{plain + "data: {\"error\":{\"message\":\"no luck\"}}\n\n", "data: {\"n\":1}\n\n"}, "server 2 2 [2] no luck",
		},
		"an error of another form": {
			backends.Request{}, []string{plain + "data: {\"id\":1, \"error\":[7]}\n\n"}, "server 1 2 [] {\"id\":1, \"error\":[7]}",
		},
		"no errors": {
			backends.Request{},
			[]string{plain + "data: \"error\"\n\n" + "data: {\"error\":null}\n\n" + "data: {\"error\":\"\",\"x\":{\"error\":1}}\n\n" + "data: {\"error\":false}\n\n"},
			"ok 1 1 [1 1* 1* 1*]",
		},
		"no event":                    {backends.Request{}, []string{events + "0\r\n\r\n"}, "decode 1 1 [] the stream has no event"},
		"none but the end":            {backends.Request{}, []string{plain + ": ping\n\ndata: [DONE]\n\n"}, "decode 1 2 [] the stream has no event"},
		"none of the expected events": {fields(2), []string{events + "0\r\n\r\n"}, "decode 1 1 [] the stream has no event"},
		"none of the expected chunks": {fields(2), []string{chunked + "0\r\n\r\n"}, "mismatch 1 1 [] the stream has no response"},
		"no chunk":                    {backends.Request{}, []string{chunked + "0\r\n\r\n"}, "ok 1 1 []"},
		"refused":                     {fields(2), []string{"HTTP/1.1 503 \r\ncontent-length: 2\r\n\r\nno"}, "status 1 1 [] no"},
		"an expected refusal": {
			backends.Request{Expect: &backends.Expect{Status: []int{503}}},
			[]string{strings.Replace(plain, "200", "503", 1) + "event: error\ndata: busy\n\n"},
			"ok 1 1 [1]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := played(t, target, c.r, c.reads...)
			times := []string{}
			for _, e := range s.Events {
				times = append(times, strconv.FormatInt(e.At, 10)+strings.Repeat("*", int(e.Flags)))
			}
			got := fmt.Sprintf("%v %d %d %v %s", s.Class, s.FirstByte, s.LastByte, times, s.Note)
			if diff := cmp.Diff(c.want, strings.TrimSpace(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
