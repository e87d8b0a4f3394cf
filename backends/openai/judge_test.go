package openai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

func jsonReply(status int, text string, headers ...string) string {
	return fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s",
		status, strings.Join(headers, ""), len(text), text)
}

// TestWhole: replies in one piece.
func TestWhole(t *testing.T) {
	const list = `{"object":"list","data":[{"embedding":[0.1,-2e-3]},{"embedding":[1]}],` +
		`"usage":{"prompt_tokens":6,"total_tokens":6}}`
	for _, c := range []struct {
		name, reply string
		results     int
		stream      bool
		want        string
	}{
		{
			"chat", jsonReply(200, `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant",`+
				`"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1,`+
				`"completion_tokens_details":null}}`), 0, false, `ok  5/1/-/- - ""`,
		},
		{
			"tool calls", jsonReply(200, `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"1",`+
				`"function":{"name":"f","arguments":"{}"}}]}}]}`), 0, false, `ok  -/-/-/- - ""`,
		},
		{"completions", jsonReply(200, `{"choices":[{"text":"a"}]}`), 0, false, `ok  -/-/-/- - ""`},
		{
			"responses", jsonReply(200, `{"object":"response","status":"completed","error":null,"output":[{"type":`+
				`"reasoning","summary":[]},{"type":"message","content":[{"type":"output_text","text":"a"}]}],`+
				`"usage":{"input_tokens":2,"output_tokens":3,"output_tokens_details":{"reasoning_tokens":0}}}`), 0, false,
			`ok  2/3/-/0 - ""`,
		},
		{
			"messages", jsonReply(200, `{"type":"message","content":[{"type":"text","text":"a"}],"stop_reason":`+
				`"end_turn","usage":{"input_tokens":2,"output_tokens":3}}`), 0, false, `ok  2/3/-/- - ""`,
		},
		{"embeddings", jsonReply(200, list), 2, false, `ok  6/-/-/- - ""`},
		{
			"too few embeddings", jsonReply(200, list), 3, false,
			`decode  -/-/-/- - "the reply has 2 embeddings for 3 texts`,
		},
		{"ranks", jsonReply(200, `{"rankings":[{"index":0,"logit":1}]}`), anyResults, false, `ok  -/-/-/- - ""`},
		{"ranks of Cohere", jsonReply(200, `{"results":[{"index":0}]}`), anyResults, false, `ok  -/-/-/- - ""`},
		{"ranks in a list", jsonReply(200, ` [{"index":0,"score":0.5},7] `), anyResults, false, `ok  -/-/-/- - ""`},
		{
			"no ranks", jsonReply(200, `{"results":[]}`), anyResults, false,
			`decode  -/-/-/- - "the reply has no results`,
		},
		{
			"no text", jsonReply(200, `{"choices":[{"message":{"content":""}}]}`), 0, false,
			`decode  -/-/-/- - "the reply has no token`,
		},
		{"an error", jsonReply(200, `{"error":{"message":"x"}}`), 0, false, `server  -/-/-/- - "{\"error\"`},
		{
			"an error that is a message alone", jsonReply(200, `{"code":500,"message":"Internal error"}`), 0, false,
			`server  -/-/-/- - "{\"code\":500`,
		},
		{
			"an error of a choice", jsonReply(200, `{"choices":[{"index":0,"message":{"content":"a"},`+
				`"error":{"code":502}}]}`), 0, false, `server  -/-/-/- - "{\"choices\"`,
		},
		{
			"a choice finished by an error", jsonReply(200, `{"choices":[{"index":0,"message":{"content":"a"},`+
				`"finish_reason":"error"}]}`), 0, false, `server  -/-/-/- - "{\"choices\"`,
		},
		{
			"a status and an answer", jsonReply(200, `{"message":"success","choices":[{"message":{"content":"a"}}]}`),
			0, false, `ok  -/-/-/- - ""`,
		},
		{"a message", jsonReply(200, `{"message":{"content":"a"},"done":true}`), 0, false, `ok  -/-/-/- - ""`},
		{
			"a status and ranks", jsonReply(200, `{"message":"ok","results":[{"index":0}]}`), anyResults, false,
			`ok  -/-/-/- - ""`,
		},
		{"no JSON", jsonReply(200, `<html>`), 0, false, `decode  -/-/-/- - "the reply is no JSON: <html>"`},
		{
			"cut JSON", jsonReply(200, `{"choices":[{"text":"a"}]`), 0, false,
			`decode  -/-/-/- - "the reply is no JSON`,
		},
		{
			"a status", jsonReply(401, `{"error":{"message":"no key"}}`), 0, false,
			`status  -/-/-/- - "{\"error\":{\"message\":\"no key\"`,
		},
		{"no words", jsonReply(503, ``), 0, false, `status  -/-/-/- - "an empty reply with status 503"`},
		{
			"a redirect", jsonReply(301, ``, "Location: /v2\r\n"), 0, false,
			`status  -/-/-/- - "the server redirects`,
		},
		{
			"compressed", jsonReply(200, `x`, "Content-Encoding: gzip\r\n"), 0, false,
			`decode  -/-/-/- - "the reply is compressed, which was not asked for: gzip"`,
		},
		{
			"no stream", jsonReply(200, `{"choices":[{"message":{"content":"a"}}]}`), 0, true,
			`decode  -/-/-/- - "the reply is no stream of events, its type is application/json"`,
		},
		{
			"an error in place of a stream", jsonReply(200, `{"error":"x"}`), 0, true,
			`server  -/-/-/- - "{\"error\":\"x\"}"`,
		},
	} {
		for _, size := range []int{1 << 20, 1, 7} {
			s := &backends.Sample{}
			w := http1.New(&judge{streaming: c.stream})
			w.Begin(0, &backends.Call{Head: posted, Impl: &expectation{results: c.results}}, backends.Fields{}, s)
			for reply := c.reply; reply != ""; reply = reply[min(size, len(reply)):] {
				w.Feed([]byte(reply[:min(size, len(reply))]), 5)
			}
			got, whole := facts(s), strings.HasSuffix(c.want, ` ""`)
			if !strings.HasPrefix(got, strings.TrimSuffix(c.want, `"`)) || whole && got != c.want ||
				s.FirstToken != 0 {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
		}
	}
}

// TestPlannedStatus: a status that the plan names is good whatever the reply says.
func TestPlannedStatus(t *testing.T) {
	s := &backends.Sample{}
	w := http1.New(&judge{})
	w.Begin(0, &backends.Call{Head: posted, Impl: &expectation{statuses: []int{429}}}, backends.Fields{}, s)
	w.Feed([]byte(jsonReply(429, `{"error":"slow down"}`)), 5)
	if s.Class != backends.OK || len(s.Note) > 0 {
		t.Errorf("%s %q", s.Class, s.Note)
	}
}

// TestExpectedValues: a good reply with another value than the plan expects is a mismatch, one of a status that the
// plan names as well; a reply that is bad without that stays what it is.
func TestExpectedValues(t *testing.T) {
	const text = `{"choices":[{"text":"a"}],"usage":{"prompt_tokens":5}}`
	for _, c := range []struct {
		reply, path string
		want        any
		status      int
		class       backends.ErrorClass
		note        string
	}{
		{jsonReply(200, text), "usage.prompt_tokens", int64(5), 200, backends.OK, ""},
		{jsonReply(200, text), "choices.0.text", "b", 200, backends.Mismatch, `field choices.0.text is "a", want "b"`},
		{jsonReply(200, text), "id", "b", 200, backends.Mismatch, "field id is missing"},
		{jsonReply(501, `{"error":{"code":501}}`), "error.code", int64(501), 501, backends.OK, ""},
		{
			jsonReply(501, `{"error":{"code":500}}`), "error.code", int64(501), 501, backends.Mismatch,
			"field error.code is 500, want 501",
		},
		{jsonReply(501, `<html>`), "error.code", int64(501), 501, backends.Decode, "the reply is no JSON: <html>"},
		{jsonReply(200, `{"error":"x"}`), "error", "y", 200, backends.Server, `{"error":"x"}`},
		{jsonReply(404, `{"a":1}`), "a", int64(1), 200, backends.Status, `{"a":1}`},
	} {
		e := &expectation{}
		field := backends.Field{Path: c.path, Want: c.want}
		if err := e.expect(&backends.Expect{Status: []int{c.status}, Fields: []backends.Field{field}}, false); err != nil {
			t.Fatal(err)
		}
		s := &backends.Sample{}
		w := http1.New(&judge{})
		w.Begin(0, &backends.Call{Head: posted, Impl: e}, backends.Fields{}, s)
		w.Feed([]byte(c.reply), 5)
		if s.Class != c.class || string(s.Note) != c.note {
			t.Errorf("%s of %q: %s %q, want %s %q", c.path, c.reply, s.Class, s.Note, c.class, c.note)
		}
	}
}

// TestExpectedOfStream: values are refused where good replies are streams, and compared where a refusal is good.
func TestExpectedOfStream(t *testing.T) {
	fields := []backends.Field{{Path: "error.code", Want: int64(400)}}
	for _, c := range []struct {
		statuses []int
		ok       bool
	}{{nil, false}, {[]int{400, 200}, false}, {[]int{400, 429}, true}} {
		err := new(expectation).expect(&backends.Expect{Status: c.statuses, Fields: fields}, true)
		if (err == nil) != c.ok {
			t.Errorf("statuses %v: %v", c.statuses, err)
		}
	}
}

// TestKeptReplies: events with content are kept as they came.
func TestKeptReplies(t *testing.T) {
	for _, m := range madeStreams(t)[:1] {
		s := play(&judge{streaming: true, keep: true}, streamHead+"Connection: close\r\n\r\n"+m.text, 9)
		got := s.Replies()
		if len(got) != 2 || !strings.HasPrefix(string(got[1]), `data: {"choices"`) ||
			!strings.HasSuffix(string(got[1]), "\"finish_reason\":null}]}\n\n") {
			t.Fatalf("%q", got)
		}
		list, err := openFor(t, backends.Target{}).Outputs(got[1])
		if err != nil || len(list) != 1 || list[0].Name != "response" || string(list[0].Data[4:]) != string(got[1]) {
			t.Errorf("%+v %v", list, err)
		}
	}
}

// longStream is a reply of chat with n content events.
func longStream(n int) []byte {
	var b strings.Builder
	for range n {
		b.WriteString(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,` +
			`"model":"m","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}` +
			"\n\n")
	}
	b.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}],` +
		`"usage":{"completion_tokens":64}}` + "\n\ndata: [DONE]\n\n")
	return fmt.Appendf(nil, "%sContent-Length: %d\r\n\r\n%s", streamHead, b.Len(), b.String())
}

// BenchmarkStream: one stream of 64 content events, in reads of 64 and of 4096 bytes, and with its text kept.
func BenchmarkStream(b *testing.B) {
	reply := longStream(64)
	for _, name := range []string{"64", "4096", "text"} {
		size := 4096
		if name == "64" {
			size = 64
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			w := http1.New(&judge{streaming: true})
			call := &backends.Call{Head: posted, Impl: &expectation{}, KeepAnswer: name == "text"}
			s := &backends.Sample{Events: make([]backends.Event, 0, 100)}
			for b.Loop() {
				s.Reset()
				w.Begin(0, call, backends.Fields{}, s)
				for rest := reply; len(rest) > 0; rest = rest[min(size, len(rest)):] {
					w.Feed(rest[:min(size, len(rest))], 7)
				}
				if s.Class != backends.OK || s.Responses != 64 {
					b.Fatal(s.Class, s.Responses)
				}
			}
		})
	}
}

// TestStreamDoesNotAllocate: however the reads cut it.
func TestStreamDoesNotAllocate(t *testing.T) {
	reply := longStream(64)
	w := http1.New(&judge{streaming: true})
	call := &backends.Call{Head: posted, Impl: &expectation{}, KeepAnswer: true}
	s := &backends.Sample{Events: make([]backends.Event, 0, 100)}
	for _, size := range []int{1, 64, 1 << 20} {
		if n := testing.AllocsPerRun(10, func() {
			s.Reset()
			w.Begin(0, call, backends.Fields{}, s)
			for rest := reply; len(rest) > 0; rest = rest[min(size, len(rest)):] {
				w.Feed(rest[:min(size, len(rest))], 7)
			}
		}); n != 0 || s.Class != backends.OK {
			t.Errorf("%v allocations in pieces of %d, %s %s", n, size, s.Class, s.Note)
		}
	}
}

// TestFullEvents: a stream goes on when the caller has taken the events of a sample that is full.
func TestFullEvents(t *testing.T) {
	w := http1.New(&judge{streaming: true})
	s := &backends.Sample{Events: make([]backends.Event, 0, 5)}
	w.Begin(0, &backends.Call{Head: posted, Impl: &expectation{}}, backends.Fields{}, s)
	parts, events, rest := 0, 0, longStream(64)
	for {
		_, n, next := w.Feed(rest, 7)
		rest = rest[n:]
		events += len(s.Events)
		s.Events = s.Events[:0]
		if next != backends.NextFull {
			break
		}
		parts++
	}
	if parts != 12 || events != 64 || s.Responses != 64 || s.Class != backends.OK || s.FirstToken != 7 {
		t.Errorf("%d parts, %d events, %+v", parts, events, s)
	}
}

// FuzzStream: no bytes of a server panic, and how they are cut changes nothing but the times.
func FuzzStream(f *testing.F) {
	for _, m := range madeStreams(f) {
		f.Add(m.text, 7)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		reply := streamHead + "Connection: close\r\n\r\n" + text
		j := &judge{streaming: true}
		whole, cut := facts(play(j, reply, 1<<20)), facts(play(j, reply, max(size, 1)))
		if whole != cut {
			t.Errorf("%q whole:\n%s\nin pieces of %d:\n%s", text, whole, size, cut)
		}
	})
}
