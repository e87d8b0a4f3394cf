package executor

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// talker answers as an LLM server does, and keeps the requests.
type talker struct {
	guard  sync.Mutex
	asked  []string // "PATH KEY BODY"
	answer func(w http.ResponseWriter, body string)
}

func (s *talker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet { // of models
		fmt.Fprint(w, `{"object":"list","data":[{"id":"m"}]}`)
		return
	}
	body, _ := io.ReadAll(r.Body)
	s.guard.Lock()
	s.asked = append(s.asked, fmt.Sprintf("%s %s %s", r.URL.Path, r.Header.Get("Authorization"), body))
	s.guard.Unlock()
	s.answer(w, string(body))
}

func talk(t *testing.T, answer func(w http.ResponseWriter, body string)) (*talker, string) {
	s := &talker{answer: answer}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL
}

// streamWords answers with a stream of two words, or with an error for the prompt "fail".
func streamWords(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/event-stream")
	word := func(s string) {
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", s)
		_ = http.NewResponseController(w).Flush()
	}
	word("a")
	if strings.Contains(body, `"fail"`) {
		fmt.Fprint(w, "data: {\"error\":{\"message\":\"out of memory\"}}\n\n")
		return
	}
	word("b")
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],"+
		"\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n")
}

// TestText: rows of text go to the path of the plan, with its key, and a stream that fails in the middle
// is a failure although its status is 200.
func TestText(t *testing.T) {
	t.Parallel()
	s, url := talk(t, streamWords)
	r := play(t, `version: 1
target:
  backend: openai
  url: ${url}
  model: m
  endpoint: chat
  path: /chat
  streaming: true
  headers: {Authorization: Bearer key}
  parameters: {temperature: 0}
  probe: false
vars: {url: {env: URL, default: "`+url+`"}}
data: {rows: [{question: hi}, {question: fail}], columns: {prompt: question}}
stages: [{id: s, load: {concurrency: 1}, for: 4 requests, assert: [errors.ratio <= 50%]}]
`, url, Env{})
	n := node(t, r, "s")
	for i, prompt := range []string{"hi", "fail", "hi", "fail"} {
		want := fmt.Sprintf(`/chat Bearer key {"model":"m","messages":[{"role":"user","content":%q}],"stream":true,`+
			`"stream_options":{"include_usage":true},"temperature":0}`, prompt)
		if i >= len(s.asked) || s.asked[i] != want {
			t.Fatalf("asked\n%s\nwant request %d as\n%s", strings.Join(s.asked, "\n"), i, want)
		}
	}
	if len(s.asked) != 4 || value(t, n, "errors.server.count") != 2 || len(n.Errors) != 1 ||
		!strings.Contains(n.Errors[0].Example, "out of memory") {
		t.Errorf("%d requests, errors %+v", len(s.asked), n.Errors)
	}
	if r.Verdict != "pass" {
		t.Errorf("verdict %s", r.Verdict)
	}
}

// TestTextMix: several models, or adapters of one, at one target.
func TestTextMix(t *testing.T) {
	t.Parallel()
	s, url := talk(t, streamWords)
	play(t, `version: 1
target: {backend: openai, url: "`+url+`", endpoint: chat, streaming: true, probe: false}
data: {rows: [{prompt: hi}]}
stages:
  - id: s
    load: {concurrency: 1}
    mix: {sql: {model: sql-lora}, chat: {model: chat-lora}}
    for: 4 requests
`, url, Env{})
	sql := 0
	for _, a := range s.asked {
		if strings.Contains(a, `"model":"sql-lora"`) {
			sql++
		}
	}
	if len(s.asked) != 4 || sql != 2 {
		t.Errorf("%d requests, %d of them to sql-lora", len(s.asked), sql)
	}
}
