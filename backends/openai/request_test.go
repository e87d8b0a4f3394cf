package openai

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

// openFor opens a target of a server that is not asked.
func openFor(t testing.TB, target backends.Target) *conn {
	t.Helper()
	if target.URL == "" {
		target.URL = "http://h"
	}
	c, err := open(target, backends.Clock{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rowsOf parses rows of lines "name value", whose rows are separated by lines "--".
func rowsOf(text string) (rows [][]backends.Member) {
	for part := range strings.SplitSeq(text, "\n--\n") {
		var row []backends.Member
		for line := range strings.SplitSeq(part, "\n") {
			name, value, _ := strings.Cut(line, " ")
			row = append(row, member(name, value))
		}
		rows = append(rows, row)
	}
	return rows
}

const user = `"messages":[{"role":"user","content":`

// TestRequests: the path and the body of each endpoint.
func TestRequests(t *testing.T) {
	for _, c := range []struct {
		endpoint string
		stream   bool
		rows     string
		path     string
		body     string // without model, which comes first
	}{
		{chat, false, `prompt "Hi <you>"`, "/v1/chat/completions", user + `"Hi <you>"}]`},
		{
			chat, true, `text_input "Hi"`, "/v1/chat/completions",
			user + `"Hi"}],"stream":true,"stream_options":{"include_usage":true}`,
		},
		{
			chat, false, "messages [{\"role\":\"system\",\"content\":\"x\"}]\noutput_tokens 7", "/v1/chat/completions",
			`"messages":[{"role":"system","content":"x"}],"max_tokens":7`,
		},
		{
			chat, false, "prompt \"Hi\"\nimage \"https://h/a.png\"\naudio \"wav,UklG\"", "/v1/chat/completions",
			user + `[{"text":"Hi","type":"text"},{"image_url":{"url":"https://h/a.png"},"type":"image_url"},` +
				`{"input_audio":{"data":"UklG","format":"wav"},"type":"input_audio"}]}]`,
		},
		{
			chat, false, "messages [{\"role\":\"system\",\"content\":\"x\"},{\"role\":\"user\",\"content\":\"<Hi>\"}]\n" +
				"image \"https://h/a.png\"", "/v1/chat/completions",
			`"messages":[{"role":"system","content":"x"},{"content":[{"text":"<Hi>","type":"text"},` +
				`{"image_url":{"url":"https://h/a.png"},"type":"image_url"}],"role":"user"}]`,
		},
		{
			messages, false, "messages [{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}]\n" +
				"image \"https://h/a.png\"\noutput_tokens 5", "/v1/messages",
			`"messages":[{"content":[{"type":"text","text":"Hi"},{"source":{"type":"url","url":"https://h/a.png"},` +
				`"type":"image"}],"role":"user"}],"max_tokens":5`,
		},
		{
			chat, false, "text \"Hi\"\ncustom_field {\"a\":[1]}\ntemperature 0.5", "/v1/chat/completions",
			user + `"Hi"}],"custom_field":{"a":[1]},"temperature":0.5`,
		},
		{completions, false, `prompt "Hi"`, "/v1/completions", `"prompt":"Hi"`},
		{
			completions, false, "prompt \"Hi\"\noutput_tokens 9\nexact_output true", "/v1/completions",
			`"prompt":"Hi","max_tokens":9,"min_tokens":9,"ignore_eos":true`,
		},
		{messages, false, "prompt \"Hi\"\noutput_tokens 9\nexact_output \"auto\"", "/v1/messages", user + `"Hi"}],"max_tokens":9`},
		{
			completions, false, "prompt [\"a\",\"b\"]\noutput_tokens 3", "/v1/completions",
			`"prompt":["a","b"],"max_tokens":3`,
		},
		{
			responses, true, "prompt \"Hi\"\noutput_tokens 9", "/v1/responses",
			`"input":[{"role":"user","content":"Hi"}],"max_output_tokens":9,"stream":true`,
		},
		{
			responses, false, "text \"Hi\"\nimage [\"data:image/png;base64,iVBO\"]", "/v1/responses",
			`"input":[{"role":"user","content":[{"text":"Hi","type":"input_text"},` +
				`{"image_url":"data:image/png;base64,iVBO","type":"input_image"}]}]`,
		},
		{responses, false, `input [{"role":"user","content":"Hi"}]`, "/v1/responses", `"input":[{"role":"user","content":"Hi"}]`},
		{messages, true, `prompt "Hi"`, "/v1/messages", user + `"Hi"}],"max_tokens":16384,"stream":true`},
		{
			messages, false,
			"prompt \"Hi\"\nimage \"data:image/png;base64,iVBO\"\noutput_tokens 5\nsystem \"be brief\"",
			"/v1/messages",
			user + `[{"text":"Hi","type":"text"},{"source":{"data":"iVBO","media_type":"image/png","type":"base64"},` +
				`"type":"image"}]}],"max_tokens":5,"system":"be brief"`,
		},
		{images, false, "prompt \"a\"\nsize \"1x1\"", "/v1/images/generations", `"prompt":"a","size":"1x1"`},
		{
			images, false, "image [\"https://h/a.png\"]\n--\nimage \"data:image/png;base64,iVBO\"", "/v1/infer",
			`"input":[{"type":"image_url","url":"https://h/a.png"},{"type":"image_url","url":"data:image/png;base64,iVBO"}]`,
		},
		{embeddings, false, `input "a"`, "/v1/embeddings", `"input":["a"]`},
		{embeddings, false, "text \"a\"\n--\ntext [\"b\",\"c\"]", "/v1/embeddings", `"input":["a","b","c"]`},
		{
			rankings, false, "query \"q\"\npassages [\"a\",\"b\"]", "/v1/ranking",
			`"query":{"text":"q"},"passages":[{"text":"a"},{"text":"b"}]`,
		},
		{
			rankings, false, "query \"q\"\ndocuments [\"a\"]\ntop_n 1", "/v1/rerank",
			`"query":"q","documents":["a"],"top_n":1`,
		},
		{rankings, false, "query \"q\"\ntexts [\"a\"]", "/rerank", `"query":"q","texts":["a"]`},
		{
			rankings, false, "query \"q\"\npassages \"a\"\n--\npassages [\"b\"]\n--\nquery \"q\"\npassages \"c\"", "/v1/ranking",
			`"query":{"text":"q"},"passages":[{"text":"a"},{"text":"b"},{"text":"c"}]`,
		},
	} {
		conn := openFor(t, backends.Target{Model: "m/1", Endpoint: c.endpoint, Streaming: c.stream})
		call, err := conn.Prepare(backends.Request{Rows: rowsOf(c.rows), Row: 3, Items: 2})
		if err != nil {
			t.Errorf("%s %q: %v", c.endpoint, c.rows, err)
			continue
		}
		want := `{"model":"m/1",` + c.body + "}"
		if c.path == "/rerank" || c.path == "/v1/infer" {
			want = "{" + c.body + "}"
		}
		head := string(call.Head)
		if got := string(call.Body[0]); got != want ||
			!strings.HasPrefix(head, "POST "+c.path+" HTTP/1.1\r\nHost: h\r\n") {
			t.Errorf("%s %q: %s\n got %s\nwant %s", c.endpoint, c.rows, head, got, want)
		}
		for _, h := range []struct {
			text string
			want bool
		}{
			{"Content-Type: application/json\r\n", true},
			{"Accept: text/event-stream\r\n", c.stream},
			{"anthropic-version: 2023-06-01\r\n", c.endpoint == messages},
		} {
			if strings.Contains(head, h.text) != h.want {
				t.Errorf("%s: %q is there: %v\n%s", c.endpoint, h.text, !h.want, head)
			}
		}
		if call.Row != 3 || call.Items != 2 || call.Size != len(call.Head)+len(call.Body[0]) {
			t.Errorf("%s: %+v", c.endpoint, call)
		}
	}
}

// TestOverrides: parameters of the target, the request and the row, each over the ones before.
func TestOverrides(t *testing.T) {
	c := openFor(t, backends.Target{
		URL: "http://h/v1", Model: "m", Endpoint: chat, Path: "/v1/other", Streaming: true,
		Headers: []backends.Header{{Name: "Authorization", Value: "Bearer a"}, {Name: "accept", Value: "x/y"}},
		Parameters: []backends.Parameter{
			{Name: "max_tokens", Value: int64(5)},
			{Name: "temperature", Value: 0.5},
			{Name: "seed", Value: int64(1)},
			{Name: "stream_options.continuous_usage_stats", Value: true},
			{Name: "a.b.c", Value: "x"},
		},
	})
	call, err := c.Prepare(backends.Request{
		Model: "adapter", Headers: []backends.Header{{Name: "authorization", Value: "Bearer b"}},
		Parameters: []backends.Parameter{{Name: "seed", Value: int64(2)}, {Name: "stop", Value: []any{"\n"}}},
		Rows:       rowsOf("prompt \"Hi\"\noutput_tokens 9\nstop null\ntemperature 0"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"adapter",` + user + `"Hi"}],"max_tokens":5,"stream":true,` +
		`"stream_options":{"include_usage":true,"continuous_usage_stats":true},"temperature":0,"seed":2,` +
		`"a":{"b":{"c":"x"}},"stop":null}`
	if got := string(call.Body[0]); got != want {
		t.Errorf(" got %s\nwant %s", got, want)
	}
	head := "POST /v1/other HTTP/1.1\r\nHost: h\r\naccept: x/y\r\nauthorization: Bearer b\r\n" +
		"Content-Type: application/json\r\n"
	if got := string(call.Head); !strings.HasPrefix(got, head) {
		t.Errorf(" got %q\nwant %q", got, head)
	}
}

// TestRefusals: what no request can be made of.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		target  backends.Target
		request backends.Request
		want    string
	}{
		{backends.Target{Endpoint: chat}, backends.Request{}, "endpoint chat takes rows of text"},
		{
			backends.Target{Endpoint: chat},
			backends.Request{Rows: rowsOf("x 1")},
			"name it prompt, text, text_input, input",
		},
		{
			backends.Target{Endpoint: chat},
			backends.Request{Rows: rowsOf("text \"a\"\ntext_input \"b\"")},
			`has its text twice, as "text" and as "text_input"`,
		},
		{
			backends.Target{Endpoint: chat},
			backends.Request{Rows: rowsOf("text 5")},
			"must be a string, found a number",
		},
		{backends.Target{Endpoint: chat}, backends.Request{Rows: rowsOf(`messages "a"`)}, "messages must be a list"},
		{
			backends.Target{Endpoint: chat},
			backends.Request{Rows: rowsOf("text \"a\"\noutput_tokens \"many\"")},
			"output_tokens must be a number",
		},
		{
			backends.Target{Endpoint: chat},
			backends.Request{Rows: rowsOf("text \"a\"\noutput_tokens 2.5")},
			"output_tokens must be a whole number of at least 0, found 2.5",
		},
		{
			backends.Target{Endpoint: messages},
			backends.Request{Rows: rowsOf("text \"a\"\noutput_tokens -4")},
			"output_tokens must be a whole number of at least 0, found -4",
		},
		{
			backends.Target{Endpoint: chat},
			backends.Request{Rows: rowsOf("text \"a\"\nimage \"cat.png\"")},
			`image "cat.png" is no URL`,
		},
		{
			backends.Target{Endpoint: chat},
			backends.Request{Rows: rowsOf("text \"a\"\naudio \"UklG\"")},
			`audio is "format,base64"`,
		},
		{
			backends.Target{Endpoint: chat},
			backends.Request{Rows: rowsOf("text \"a\"\nstream true")},
			"stream is true: the target's `streaming` decides that",
		},
		{
			backends.Target{Endpoint: chat},
			backends.Request{Rows: rowsOf("text \"a\"\noutput_tokens 5\nexact_output \"often\"")},
			`exact_output must be true, false or "auto", found "often"`,
		},
		{
			backends.Target{Endpoint: chat},
			backends.Request{Rows: rowsOf("text \"a\"\nexact_output true")},
			"exact_output needs output_tokens beside it",
		},
		{
			backends.Target{Endpoint: responses},
			backends.Request{Rows: rowsOf("text \"a\"\noutput_tokens 5\nexact_output true")},
			"endpoint responses cannot be asked for an exact number of tokens",
		},
		{
			backends.Target{Endpoint: embeddings},
			backends.Request{Rows: rowsOf("text {}")},
			"must be a string, or a list of them, found a map",
		},
		{
			backends.Target{Endpoint: rankings},
			backends.Request{Rows: rowsOf(`query "q"`)},
			"passages, documents or texts",
		},
		{
			backends.Target{Endpoint: rankings},
			backends.Request{Rows: rowsOf("query \"q\"\ntexts 5")},
			"texts a list of strings",
		},
		{
			backends.Target{Endpoint: rankings},
			backends.Request{Rows: rowsOf("query \"q\"\ntexts \"a\"\n--\nquery \"r\"\ntexts \"b\"")},
			"the rows of a batch have different queries",
		},
		{
			backends.Target{Endpoint: rankings},
			backends.Request{Rows: rowsOf("query \"q\"\ntexts \"a\"\n--\ndocuments \"b\"")},
			"or different names of their texts",
		},
		{backends.Target{Endpoint: chat}, backends.Request{Body: []byte("{")}, "the body is not JSON"},
		{
			backends.Target{Endpoint: chat, Parameters: []backends.Parameter{{Name: "model.x", Value: true}}},
			backends.Request{Rows: rowsOf(`text "a"`)},
			"parameter model.x: model is no object",
		},
		{
			backends.Target{Endpoint: chat, Parameters: []backends.Parameter{{Name: "a", Value: true}}},
			backends.Request{Body: []byte("{}")},
			"write them into it",
		},
		{
			backends.Target{Endpoint: chat},
			backends.Request{Body: []byte("{}"), Headers: []backends.Header{{Name: "Accept-Encoding", Value: "gzip"}}},
			"header Accept-Encoding cannot be set",
		},
	} {
		if _, err := openFor(t, c.target).Prepare(c.request); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.request, err, c.want)
		}
	}
	for want, target := range map[string]backends.Target{
		"header content-type cannot be set": {Headers: []backends.Header{{Name: "content-type", Value: "x"}}},
		"does not stream":                   {Endpoint: rankings, Streaming: true},
		"scheme \"grpc\"":                   {URL: "grpc://h"},
	} {
		if target.URL == "" {
			target.URL = "http://h"
		}
		if err := Kind().Check(target); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestBody: a whole body is sent unchanged.
func TestBody(t *testing.T) {
	const body = `{"model":"x", "messages": []}`
	call, err := openFor(t, backends.Target{Endpoint: chat}).Prepare(backends.Request{
		Body: []byte(body), Expect: &backends.Expect{Status: []int{400}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(call.Body[0]); got != body || call.Items != 1 || !call.Impl.(*expectation).accepts(400) {
		t.Errorf("%s, %+v", got, call)
	}
}

// TestExplain: a server that refuses a key or knows another model says so before the clock starts; any other
// answer is for the plan's assertions.
func TestExplain(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"data":[{"id":"a"},{"id":"b"}]}`))
	}))
	defer s.Close()
	c := openFor(t, backends.Target{URL: s.URL, Model: "m-1", ConnectTimeout: time.Minute})
	for _, x := range []struct {
		status int32
		class  backends.ErrorClass
		note   string
		want   string
	}{
		{200, backends.OK, "", ""},
		{404, backends.OK, "m-1", ""}, // the plan expects it
		{404, backends.Status, "The model `m-1` does not exist", `the server does not know model "m-1": The model`},
		{404, backends.Status, "no such path", ""},
		{401, backends.Status, "no key", "the server wants an API key"},
		{400, backends.Status, "too long for m-1", ""},
	} {
		sample := &backends.Sample{Status: x.status, Class: x.class, Note: []byte(x.note)}
		err := c.Explain(sample)
		if text := fmt.Sprint(err); (err != nil) != (x.want != "") || !strings.Contains(text, x.want) {
			t.Errorf("%d %v %q: %v, want %q", x.status, x.class, x.note, err, x.want)
		}
		var unknown *backends.UnknownModelError
		if errors.As(err, &unknown) && !slices.Equal(unknown.Known, []string{"a", "b"}) {
			t.Errorf("the server has %v", unknown.Known)
		}
	}
}

// TestReady: a server is ready if it lists models, or answers that it has no list.
func TestReady(t *testing.T) {
	for status, want := range map[int]string{
		200: "", 404: "", 405: "", 401: "status 401: Invalid API Key", 503: "status 503: Invalid API Key",
	} {
		asked := ""
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = r.Method + " " + r.URL.Path + " " + r.Header.Get("Authorization")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"error":{"message":"Invalid API Key"}}`))
		}))
		c := openFor(t, backends.Target{
			URL: s.URL + "/llm/v1", Headers: []backends.Header{{Name: "Authorization", Value: "Bearer k"}},
		})
		err := c.Ready(t.Context(), "m")
		if (err != nil) != (want != "") || err != nil && !strings.HasSuffix(err.Error(), want) ||
			asked != "GET /llm/v1/models Bearer k" {
			t.Errorf("%d: %v, want %q; asked %q", status, err, want, asked)
		}
		_ = c.Close(t.Context())
		s.Close()
	}
}
