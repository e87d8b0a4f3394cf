package executor

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/executor/result"
)

// lengthServer answers as servers do that differ in how they are asked for exact lengths.
type lengthServer struct {
	refuses  string // text of status 400 for requests with min_tokens, or with max_tokens if it names another
	ignores  string // member that is ignored
	reasons  bool
	mu       sync.Mutex
	requests []string // members about lengths of each
}

func (s *lengthServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var got struct {
		Limit   int  `json:"max_tokens"`
		Newer   int  `json:"max_completion_tokens"`
		Minimum int  `json:"min_tokens"`
		Ignore  bool `json:"ignore_eos"`
	}
	if json.Unmarshal(body, &got) != nil {
		return // a question for models
	}
	s.mu.Lock()
	s.requests = append(s.requests, fmt.Sprint(got))
	s.mu.Unlock()
	other := strings.Contains(s.refuses, "max_completion_tokens") && got.Limit > 0
	if s.refuses != "" && (other || !strings.Contains(s.refuses, "max_completion_tokens") && got.Ignore) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":%q}}`, s.refuses)
		return
	}
	n := 5 // where the model ends
	switch {
	case s.ignores == "max_tokens" && got.Limit > 0:
		n = 50
	case s.ignores != "min_tokens" && got.Minimum > 0:
		n = got.Minimum
	}
	reasoning := 0
	if s.reasons {
		reasoning = 3
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"choices":[{"message":{"content":"a"},"finish_reason":"length"}],"usage":{"prompt_tokens":1,`+
		`"completion_tokens":%d,"completion_tokens_details":{"reasoning_tokens":%d}}}`, n, reasoning)
}

// TestExactOutput: the first reply decides how a server is asked for exact lengths.
func TestExactOutput(t *testing.T) {
	const (
		both   = "{8 0 8 true}"
		newer  = "{0 8 8 true}"
		plain  = "{8 0 0 false}"
		asking = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
	)
	for name, c := range map[string]struct {
		server *lengthServer
		row    string
		asked  []string // ahead of the clock, and the one that is measured
		note   string
	}{
		"it keeps to it": {row: "exact_output: true", asked: []string{both, both, both}},
		"auto":           {row: "exact_output: auto", asked: []string{both, both, both}},
		"the other name": {&lengthServer{refuses: asking}, "exact_output: auto", []string{both, newer, newer, newer}, ""},
		"the old name is ignored": {
			&lengthServer{ignores: "max_tokens"}, "exact_output: auto", []string{both, newer, newer, newer}, "",
		},
		"refused": {
			&lengthServer{refuses: "unknown ignore_eos"},
			"exact_output: auto",
			[]string{both, plain, plain, plain},
			"the server refuses min_tokens and ignore_eos, so answers end where the model ends them: ",
		},
		"a model with channels": {
			&lengthServer{reasons: true},
			"exact_output: auto",
			[]string{both, plain, plain, plain},
			"the model reasons ahead of its answers, so they end where it ends them",
		},
		"no minimum": {
			&lengthServer{ignores: "min_tokens"},
			"exact_output: true",
			[]string{both, both, both},
			"8 tokens were asked for, and the first answer has 5",
		},
		"tools": {row: "exact_output: auto, tools: []", asked: []string{plain, plain}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := c.server
			if s == nil {
				s = &lengthServer{}
			}
			server := httptest.NewServer(s)
			defer server.Close()
			r := play(t, `
version: 1
target: {backend: openai, url: "URL", model: m}
data: {rows: [{prompt: a, output_tokens: 8, `+c.row+`}]}
stages: [{id: s, load: {concurrency: 1}, for: 1 request}]
`, server.URL, Env{})
			if diff := cmp.Diff(c.asked, s.requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			note := ""
			if f := r.Nodes[0].Finding(result.OutputLength); f != nil {
				note = f.Text
			}
			if !strings.Contains(note, c.note) || (note == "") != (c.note == "") {
				t.Errorf("finding %q, want %q", note, c.note)
			}
		})
	}
}
