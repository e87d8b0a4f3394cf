package executor

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/tokenizer"
)

// TestPromptSessions: prompts with turns are sessions. Each turn holds the messages before it byte by byte and the
// answers to them, its own has the length of the plan, and no session begins as another one does. A server that
// finds the history in its cache is as the plan wants.
func TestPromptSessions(t *testing.T) {
	t.Parallel()
	e, at := eavesdrop(t, builtin.Generation{PrefixCache: true})
	r := play(t, `version: 1
seed: 3
validity: {send_delay: 1min} # the share of cached tokens has no bounds
target: {backend: openai, url: "URL", model: chat, endpoint: chat, streaming: true, probe: false}
data:
  prompts: {count: 4, input_tokens: 60, output_tokens: 3, system: 30, context: 90, turns: {min: 1, max: 4}, delay: 20ms}
stages:
  - {id: s, load: {concurrency: [1, 3]}, for: 8 sessions, assert: [errors.count == 0, tokens.cached.share > 0.4]}
`, at, Env{})
	if r.Verdict != "pass" {
		t.Fatalf("verdict %s", r.Verdict)
	}
	for _, n := range r.Nodes {
		if f := n.Finding(result.WarmCache); f != nil {
			t.Errorf("%s: %s", n.ID, f.Text)
		}
	}
	sessions, turns, systems := map[string]string{}, 0, map[string]bool{}
	last := map[string]time.Time{}
	for _, x := range e.all {
		if turns++; len(x.messages)%2 != 0 {
			t.Fatalf("a turn has the messages %v", x.messages)
		}
		systems[x.messages[0].Content] = true
		first, history := x.messages[1].Content, fmt.Sprint(x.messages[:len(x.messages)-1])
		for i, m := range x.messages {
			want := 60
			switch {
			case i == 0:
				want = 30
			case i == 1:
				want = 150
			case m.Role == "assistant":
				want = 3
			}
			if got := len(strings.Fields(m.Content)); got != want {
				t.Errorf("message %d has %d words, want %d", i, got, want)
			}
		}
		if gap := x.at.Sub(last[first]); gap < 20*time.Millisecond {
			t.Errorf("a turn came %s after the one before it", gap)
		}
		last[first] = x.at
		switch before, begun := sessions[first]; {
		case len(x.messages) == 2 && begun:
			t.Errorf("two sessions begin with %q", first)
		case len(x.messages) > 2 && history != before:
			t.Errorf("a turn follows\n%s\nand holds\n%s", before, history)
		}
		sessions[first] = fmt.Sprint(append(slices.Clone(x.messages), message{Role: "assistant", Content: x.answer()}))
	}
	if len(sessions) != 16 || len(systems) != 2 || turns < 24 {
		t.Errorf("%d sessions of %d turns with %d system prompts", len(sessions), turns, len(systems))
	}
}

// TestPromptSessionsMessages: over an interface that has the system prompt beside the messages, each turn has it.
func TestPromptSessionsMessages(t *testing.T) {
	t.Parallel()
	s, url := talk(t, func(w http.ResponseWriter, _ string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"type":"message","role":"assistant","content":[{"type":"text","text":"so"}],`+
			`"usage":{"input_tokens":5,"output_tokens":1}}`)
	})
	file, err := filepath.Abs("tokenizer/testdata/wordpiece.json")
	if err != nil {
		t.Fatal(err)
	}
	r := play(t, `version: 1
target: {backend: openai, url: "URL", model: m, endpoint: messages, probe: false, tokenizer: `+file+`}
data: {prompts: {count: 2, input_tokens: 40, output_tokens: 3, system: 30, turns: 3}}
stages:
  - {id: s, load: {concurrency: 1}, for: 4 sessions, assert: [errors.count == 0]}
`, url, Env{})
	k, err := tokenizer.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.asked) != 12 || r.Verdict != "pass" {
		t.Fatalf("%d requests, verdict %s", len(s.asked), r.Verdict)
	}
	system, firsts := "", map[string]bool{}
	for i, text := range s.asked {
		var q struct {
			System   string
			Messages []struct {
				Role    string
				Content any
			}
		}
		if err := json.Unmarshal([]byte(text[strings.Index(text, "{"):]), &q); err != nil {
			t.Fatalf("%s: %s", err, text)
		}
		if system == "" {
			system = q.System
		}
		if q.System != system || k.Count(q.System) != 30 || len(q.Messages) != 1+2*(i%3) {
			t.Errorf("request %d: %+v", i, q)
		}
		own := q.Messages[len(q.Messages)-1].Content.(string)
		if k.Count(own) != 40 {
			t.Errorf("a turn has %d tokens", k.Count(own))
		}
		firsts[q.Messages[0].Content.(string)] = true
	}
	if len(firsts) != 4 {
		t.Errorf("%d beginnings of 4 sessions", len(firsts))
	}
}
