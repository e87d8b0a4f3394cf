package executor

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/tokenizer"
)

// chatRequest is a request of a chat as a server reads it.
type chatRequest struct {
	MaxTokens int  `json:"max_tokens"`
	MinTokens int  `json:"min_tokens"`
	IgnoreEOS bool `json:"ignore_eos"`
	Messages  []struct{ Role, Content string }
}

// requestsOf returns what a server was asked.
func requestsOf(t *testing.T, s *talker) (list []chatRequest) {
	t.Helper()
	for _, text := range s.asked {
		var r chatRequest
		if err := json.Unmarshal([]byte(text[strings.Index(text, "{"):]), &r); err != nil {
			t.Fatalf("%s: %s", err, text)
		}
		list = append(list, r)
	}
	return list
}

// cachedWords answers as streamWords does, of a server that had n of 100 tokens in its cache.
func cachedWords(n int) func(http.ResponseWriter, string) {
	return func(w http.ResponseWriter, _ string) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}],\"usage\":"+
			"{\"prompt_tokens\":100,\"completion_tokens\":1,\"prompt_tokens_details\":{\"cached_tokens\":%d}}}\n\ndata: [DONE]\n\n", n)
	}
}

// promptsPlan sends prompts to a server: at two levels with a warm-up, and in another stage.
func promptsPlan(t *testing.T, url, tokens, prompts string) string {
	t.Helper()
	file, err := filepath.Abs("tokenizer/testdata/" + tokens + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return `version: 1
seed: 5
target: {backend: openai, url: "` + url + `", model: m, endpoint: chat, streaming: true, probe: false, tokenizer: ` + file + `}
data: {prompts: ` + prompts + `}
stages:
  - {id: levels, warmup: 3 requests, load: {concurrency: {levels: {from: 1, to: 2}}}, for: 12 requests}
  - {id: other, load: {concurrency: 1}, for: 5 requests}
`
}

// TestPrompts: what a server reads has exactly the lengths of the plan, and no request begins as another
// one does, unless the plan says that they may.
func TestPrompts(t *testing.T) {
	t.Parallel()
	for _, tokens := range []string{"bytelevel", "sentencepiece", "unigram", "wordpiece"} {
		t.Run(tokens, func(t *testing.T) {
			t.Parallel()
			s, url := talk(t, streamWords)
			play(t, promptsPlan(t, url, tokens, "{count: 5, input_tokens: 90, output_tokens: 7, exact_output: true, system: 60, "+
				"prefixes: {count: 2, tokens: 40}}"), url, Env{})
			k, err := tokenizer.Open("tokenizer/testdata/" + tokens + ".json")
			if err != nil {
				t.Fatal(err)
			}
			systems, users := map[string]int{}, map[string]int{}
			for _, r := range requestsOf(t, s) {
				if len(r.Messages) != 2 || r.MaxTokens != 7 || r.MinTokens != 7 || !r.IgnoreEOS || r.Messages[0].Role != "system" {
					t.Fatalf("asked %+v", r)
				}
				for i, want := range []int{60, 130} {
					if text := r.Messages[i].Content; k.Count(text) != want {
						t.Errorf("message %d has %d tokens, want %d: %q", i, k.Count(text), want, text)
					}
				}
				systems[r.Messages[0].Content]++
				users[r.Messages[1].Content]++
			}
			if len(s.asked) != 35 || len(users) != 35 || len(systems) != 3 {
				t.Errorf("%d requests with %d texts and %d system prompts, want 35, 35 and one for each level and stage",
					len(s.asked), len(users), len(systems))
			}
		})
	}
}

// TestReuse: prompts that the plan reuses are the same in the levels of a stage, or in all stages.
func TestReuse(t *testing.T) {
	t.Parallel()
	texts := func(prompts string, seed int) (list []string) {
		s, url := talk(t, streamWords)
		plan := strings.Replace(promptsPlan(t, url, "bytelevel", prompts), "seed: 5", fmt.Sprint("seed: ", seed), 1)
		r := play(t, plan, url, Env{})
		if f := node(t, r, "other").Finding(result.WarmCache); f != nil {
			t.Errorf("%s: %s", prompts, f.Text)
		}
		for _, q := range requestsOf(t, s) {
			list = append(list, q.Messages[0].Content)
		}
		return list
	}
	all, stage := texts("{count: 5, reuse: all}", 5), texts("{count: 5, reuse: stage}", 5)
	if all[0] != all[5] || !slices.Contains(all[15:20], all[0]) || all[0] != all[30] || all[0] == all[1] {
		t.Error("reuse: all does not send the same prompts in all levels and stages")
	}
	if stage[0] != stage[5] || !slices.Contains(stage[15:20], stage[0]) || stage[0] == stage[30] {
		t.Error("reuse: stage does not send the same prompts in the levels of a stage alone")
	}
	fresh, again, others := texts("{count: 5}", 5), texts("{count: 5}", 5), texts("{count: 5}", 6)
	if fmt.Sprint(fresh[:15]) != fmt.Sprint(again[:15]) || fmt.Sprint(fresh[30:]) != fmt.Sprint(again[30:]) {
		t.Error("the same seed gives other prompts")
	}
	for i, text := range others {
		if text == fresh[i] {
			t.Errorf("another seed gives the same prompt %d", i)
		}
	}
}

// TestWarmCache: a server that had seen the prompts is a finding, unless they share as much.
func TestWarmCache(t *testing.T) {
	t.Parallel()
	corpus := filepath.Join(t.TempDir(), "corpus.txt")
	if err := os.WriteFile(corpus, []byte("some words of the user's own"), 0o600); err != nil {
		t.Fatal(err)
	}
	for prompts, want := range map[string]bool{
		"{count: 5, input_tokens: 100}":                                              true,
		"{count: 5, input_tokens: 100, reuse: all}":                                  false,
		"{count: 5, input_tokens: 100, system: 100}":                                 false,
		"{count: 5, lengths: [{input: 100}, {input: 300}], system: 10}":              true,
		"{count: 5, input_tokens: 100, corpus: " + corpus + "}":                      true,
		"{count: 5, input_tokens: 50, prefixes: {count: 1}, corpus: " + corpus + "}": false,
	} {
		_, url := talk(t, cachedWords(50))
		r := play(t, promptsPlan(t, url, "wordpiece", prompts), url, Env{})
		if f := node(t, r, "other").Finding(result.WarmCache); (f != nil) != want {
			t.Errorf("%s: finding %+v, want one: %v", prompts, f, want)
		}
	}
}

// TestPromptMedia: a server decodes the images and the audio that prompts have, in the sizes of the plan; the same
// seed sends the same bytes, and each prompt has others.
func TestPromptMedia(t *testing.T) {
	t.Parallel()
	parts := func(endpoint, prompts, seed string) (seen []string) {
		s, url := talk(t, streamWords)
		play(t, `version: 1
seed: `+seed+`
target: {backend: openai, url: "`+url+`", model: m, streaming: true, probe: false, endpoint: `+endpoint+`}
data: {prompts: {count: 3, input_tokens: 20, `+prompts+`}}
stages: [{id: s, load: {concurrency: 1}, for: 1 pass}]
`, url, Env{})
		for _, text := range s.asked {
			seen = append(seen, mediaIn(t, text[strings.Index(text, "{"):]))
		}
		return seen
	}
	const both = "system: 10, images: {count: 2, width: {min: 30, max: 60}, height: 40, format: jpeg}, " +
		"audio: {seconds: {min: 0.25, max: 0.5}, sample_rate: 8000, format: wav}"
	chats := parts("chat", both, "5")
	size := regexp.MustCompile(`^jpeg (\d+)x40 \w+; jpeg (\d+)x40 \w+; wav (\d+) \w+$`)
	widths, lengths, distinct := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, seen := range chats {
		found := size.FindStringSubmatch(seen)
		if found == nil {
			t.Fatalf("a server got %q", seen)
		}
		if n, _ := strconv.Atoi(found[3]); n < 4044 || n > 8044 {
			t.Errorf("audio has %d bytes", n)
		}
		for _, w := range found[1:3] {
			if n, _ := strconv.Atoi(w); n < 30 || n > 60 {
				t.Errorf("an image is %d pixels wide", n)
			}
			widths[w] = true
		}
		lengths[found[3]], distinct[seen] = true, true
	}
	if len(distinct) != 3 || len(widths) < 2 || len(lengths) < 2 {
		t.Errorf("prompts do not differ: %q", chats)
	}
	if again, other := parts("chat", both, "5"), parts("chat", both, "6"); !slices.Equal(again, chats) || other[0] == chats[0] {
		t.Errorf("seed 5 gave %q, then %q, and seed 6 %q", chats, again, other)
	}
	for _, endpoint := range []string{"responses", "messages"} {
		seen := parts(endpoint, "images: {width: 64, height: 48}", "5")
		if !strings.HasPrefix(seen[0], "png 64x48 ") || len(seen) != 3 {
			t.Errorf("%s: a server got %q", endpoint, seen)
		}
	}
}

// mediaIn decodes the images and the audio of a request, each with a hash of its bytes.
func mediaIn(t *testing.T, body string) string {
	t.Helper()
	var list []string
	for _, m := range regexp.MustCompile(`"(?:data:image/\w+;base64,|data":")([A-Za-z0-9+/=]+)"`).FindAllStringSubmatch(body, -1) {
		data, err := base64.StdEncoding.DecodeString(m[1])
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("wav %d", len(data))
		if string(data[:4]) != "RIFF" {
			picture, kind, err := image.Decode(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			text = fmt.Sprintf("%s %dx%d", kind, picture.Bounds().Dx(), picture.Bounds().Dy())
		}
		list = append(list, fmt.Sprintf("%s %x", text, sha256.Sum256(data)))
	}
	return strings.Join(list, "; ")
}
