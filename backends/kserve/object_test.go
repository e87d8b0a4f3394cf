package kserve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

// feed gives a reply to a judge, in reads of size bytes.
func feed(judge http1.Judge, reply string, size int, e *backends.Expect) *backends.Sample {
	call := &backends.Call{Head: []byte("POST / HTTP/1.1\r\n\r\n"), Impl: asking(e)}
	w := http1.New(judge)
	s := &backends.Sample{}
	w.Begin(0, call, backends.Fields{}, s)
	for rest := []byte(reply); len(rest) > 0; {
		n := min(size, len(rest))
		_, used, _ := w.Feed(rest[:n], 5)
		rest = rest[used:]
		if used == 0 {
			break
		}
	}
	return s
}

func eventReply(head, text string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; "+
		"charset=utf-8\r\n%sContent-Length: %d\r\n\r\n%s", head, len(text), text)
}

// shown are the outputs of the replies that a sample keeps, "!" for one that cannot be read.
func shown(c backends.Replier, s *backends.Sample) (list []string) {
	for _, reply := range s.Replies() {
		tensors, err := c.Outputs(reply)
		var text strings.Builder
		for _, t := range tensors {
			fmt.Fprintf(&text, "%s %s%v %q;", t.Name, t.Type, t.Shape, t.Data)
		}
		if err != nil {
			text.WriteString("!")
		}
		list = append(list, text.String())
	}
	return list
}

// TestKeptReplies: what is kept of a reply gives back its outputs, compressed or not, in one read
// or in many.
func TestKeptReplies(t *testing.T) {
	infer, object := &HTTP{}, &HTTP{target: backends.Target{Endpoint: Generate}}
	two := `data: {"model_name":"m","OUT":"a"}` + "\n\n" + `data: {"id":"7","OUT":["b",""],"N":2}` + "\n\n"
	head := `{"outputs":[{"name":"A","datatype":"UINT8","shape":[2],"parameters":{"binary_data_size":2}}]}`
	long := `{"OUT":"` + strings.Repeat("x", 3000) + `"}`
	raw := strings.Replace(packed(t, 200, "gzip", "gzip", head+"\x07\x08"), "\r\n",
		fmt.Sprintf("\r\nInference-Header-Content-Length: %d\r\n", len(head)), 1)
	for _, c := range []struct {
		what  string
		conn  *HTTP
		reply string
		want  []string
	}{
		{"raw", infer, binaryReply(head, "\x07\x08", len(head)), []string{`A UINT8[2] "\a\b";`}},
		{"raw, compressed", infer, raw, []string{`A UINT8[2] "\a\b";`}},
		{"an error", infer, jsonReply(200, `{"error":"x"}`), nil},
		{"a status", infer, jsonReply(500, head), nil},
		{"an object", object, jsonReply(200,
			`{"id":"1","model_name":"m","model_version":"1","T":true,"I":[[1,-2]],"F":[1,0.5],"E":[],"O":{"a":1},`+
				`"Z":null,"S":"\u0041b"}`), []string{
			`T BOOL[1] "\x01";I INT64[2] "\x01\x00\x00\x00\x00\x00\x00\x00\xfe\xff\xff\xff\xff\xff\xff\xff";` +
				`F FP64[2] "\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\xe0?";E BYTES[0] "";S BYTES[1] ` +
				`"\x02\x00\x00\x00Ab";`,
		}},
		{
			"an object, compressed", object, packed(t, 200, "gzip", "gzip", `{"OUT":"a"}`),
			[]string{`OUT BYTES[1] "\x01\x00\x00\x00a";`},
		},
		{
			"a long object, compressed", object, packed(t, 200, "deflate", "deflate", long),
			[]string{`OUT BYTES[1] "` + `\xb8\v\x00\x00` + strings.Repeat("x", 3000) + `";`},
		},
		{"an object that is an error", object, jsonReply(200, `{"error":"x"}`), nil},
		{
			"events", object, eventReply("", two),
			[]string{
				`OUT BYTES[1] "\x01\x00\x00\x00a";`,
				`OUT BYTES[2] "\x01\x00\x00\x00b\x00\x00\x00\x00";N INT64[1] "\x02\x00\x00\x00\x00\x00\x00\x00";`,
			},
		},
		{
			"events, the last an error", object, eventReply("", two+`data: {"error":"x"}`+"\n\n"),
			[]string{
				`OUT BYTES[1] "\x01\x00\x00\x00a";`,
				`OUT BYTES[2] "\x01\x00\x00\x00b\x00\x00\x00\x00";N INT64[1] "\x02\x00\x00\x00\x00\x00\x00\x00";`,
			},
		},
	} {
		for _, keep := range []bool{true, false} {
			for _, size := range []int{1 << 20, 7} {
				var judge http1.Judge = &httpJudge{keep: keep}
				if c.conn == object {
					judge = &objectJudge{httpJudge: httpJudge{keep: keep}}
				}
				want := c.want
				if !keep {
					want = nil
				}
				if diff := cmp.Diff(want, shown(c.conn, feed(judge, c.reply, size, nil))); diff != "" {
					t.Errorf("%s, kept: %v, in reads of %d (-want +got):\n%s", c.what, keep, size, diff)
				}
			}
		}
	}
}

// TestCompressedObjects: an object is what it is without its coding; of a stream of responses none
// could be told apart.
func TestCompressedObjects(t *testing.T) {
	seven := &backends.Expect{
		Outputs: []backends.Tensor{{Name: "OUT", Type: tensor.Int32, Shape: []int64{1}, Data: []byte{7, 0, 0, 0}}},
	}
	long := `{"OUT":7,"TEXT":"` + strings.Repeat("xyz", 3000) + `"}`
	for _, c := range []struct {
		what, reply string
		expect      *backends.Expect
		class       backends.ErrorClass
		note        string
	}{
		{"an object", packed(t, 200, "gzip", "gzip", `{"OUT":7}`), seven, backends.OK, ""},
		{
			"another value", packed(t, 200, "deflate", "deflate", `{"OUT":8}`), seven, backends.Mismatch,
			"OUT [0] is 8, want 7",
		},
		{"a long one", packed(t, 200, "gzip", "gzip", long), seven, backends.OK, ""},
		{"a long one, nothing expected", packed(t, 200, "gzip", "gzip", long), nil, backends.OK, ""},
		{
			"an error", packed(t, 200, "gzip", "gzip", `{"error":"one response only"}`), nil, backends.Server,
			"one response only",
		},
		{"a status", packed(t, 400, "gzip", "gzip", `{"error":"bad input"}`), nil, backends.Status, "bad input"},
		{
			"another coding", packed(t, 200, "gzip", "deflate", `{"OUT":7}`), nil, backends.Decode,
			"not compressed as its header says: gzip",
		},
		{
			"a stream", eventReply("Content-Encoding: gzip\r\n", "\x1f\x8b\x08"), nil, backends.Decode,
			"the responses are compressed and cannot be read one by one: gzip",
		},
		{
			"a stream that is not", eventReply("Content-Encoding: identity\r\n", "data: {}\n\n"), nil, backends.OK,
			"",
		},
	} {
		for _, size := range []int{1 << 20, 11} {
			s := feed(&objectJudge{}, c.reply, size, c.expect)
			if s.Class != c.class || !strings.Contains(string(s.Note), c.note) ||
				c.class == backends.OK && len(s.Note) > 0 {
				t.Errorf("%s, in reads of %d: %s %q", c.what, size, s.Class, s.Note)
			}
		}
	}
}

// A stream that is asked for in a coding is refused before anything is sent: at the target, and for
// a request of its own.
func TestStreamsAreNotCompressed(t *testing.T) {
	target := backends.Target{URL: "http://h", Model: "m", Endpoint: Generate, Streaming: true}
	gzip := []backends.Header{{Name: "accept-Encoding", Value: "gzip"}}
	c := openFor(t, target)
	if _, err := c.Prepare(backends.Request{Headers: gzip}); err == nil ||
		!strings.Contains(err.Error(), "header accept-Encoding cannot be set") {
		t.Errorf("a request: %v", err)
	}
	if _, err := c.Prepare(backends.Request{
		Headers: []backends.Header{{Name: "Accept-Encoding", Value: "identity"}},
	}); err != nil {
		t.Error(err)
	}
	target.Headers = gzip
	if err := Check(target); err == nil ||
		!strings.Contains(err.Error(), "header accept-Encoding cannot be set") {
		t.Errorf("a target: %v", err)
	}
	target.Streaming = false
	if err := Check(target); err != nil {
		t.Error(err)
	}
}

// TestLongEvents: a response that never ends fails the request, whatever came before it, and what
// comes after is dropped.
func TestLongEvents(t *testing.T) {
	good, long := "data: {\"OUT\":1}\n\n", "data: {\"OUT\":\""+strings.Repeat("x", 200)+"\"}\n\n"
	for _, size := range []int{1, 7, 1 << 20} {
		for _, c := range []struct {
			text      string
			class     backends.ErrorClass
			responses int32
		}{
			{good + good, backends.OK, 2},
			{good + long, backends.Decode, 1},
			{long + good, backends.Decode, 0},
			{good + "data: [DONE]\n\n" + long, backends.OK, 1},
			{"data: {\"error\":\"boom\"}\n\n" + long, backends.Server, 0},
		} {
			j := &objectJudge{}
			j.events.Limit = 100
			s := feed(j, eventReply("", c.text), size, nil)
			if s.Class != c.class || int32(s.Responses) != c.responses ||
				c.class == backends.Decode && string(s.Note) != "an event of the stream is longer than 64 MiB" {
				t.Errorf("%q in pieces of %d: %v %q, %d responses", c.text, size, s.Class, s.Note, s.Responses)
			}
		}
	}
}

// TestTokensOfStream: responses with text are tokens; one whose texts are empty is only a response.
func TestTokensOfStream(t *testing.T) {
	for text, want := range map[string]backends.Tokens{
		`{"text_output":"a"} {"id":"7","text_output":"","cum":0} {"text_output":"b"} {"text_output":""}`: {
			FirstToken: 1, SecondToken: 3, LastToken: 3, FirstAnswer: 1,
		},
		`{"OUT":1} {"OUT":[2]}`: {FirstToken: 1, SecondToken: 2, LastToken: 2, FirstAnswer: 1},
	} {
		w := http1.New(&objectJudge{})
		s := &backends.Sample{Events: make([]backends.Event, 0, 9)}
		call := &backends.Call{Head: []byte("POST / HTTP/1.1\r\n\r\n"), Impl: expect(&backends.Request{}, nil)}
		w.Begin(0, call, backends.Fields{}, s)
		w.Feed([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"), 0)
		at := int64(0)
		for event := range strings.SplitSeq(text, " ") {
			at++
			w.Feed([]byte("data: "+event+"\n\n"), at)
		}
		w.EOF(at)
		if s.Tokens != want || int64(s.Responses) != at || s.Class != backends.OK {
			t.Errorf("%s: %+v, %d responses, %s %s", text, s.Tokens, s.Responses, s.Class, s.Note)
		}
	}
}
