package builtin

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fast is a server whose texts take no time.
func fast(g Generation) Config {
	return Config{TTFT: &Dist{}, ITL: &Dist{}, Generation: &g}
}

// trimmed posts a request and returns the reply without what all events have in common.
func trimmed(t testing.TB, s *Server, path, body string) (status int, text string) {
	t.Helper()
	a := post(t, s.HTTPURL()+path, body)
	text = string(a.body)
	for _, common := range []string{
		`"created":1700000000`, `"logprobs":null`, `"object":"chat.completion.chunk"`, `"object":"text_completion"`,
		`"model":"chat"`,
	} {
		text = strings.ReplaceAll(text, ","+common, "")
		text = strings.ReplaceAll(text, common, "")
	}
	return a.status, text
}

// TestChatStream: events in the forms of real servers, with usage in each place where it is seen.
func TestChatStream(t *testing.T) {
	const ask = `{"model":"chat","stream":true,"max_tokens":2,"messages":[{"role":"user","content":"one two"}]`
	const role = `{"choices":[{"delta":{"content":"","role":"assistant"},"finish_reason":null,"index":0}],"id":"x"}`
	event := func(delta, finish, usage string) string {
		return `{"choices":[{"delta":{` + delta + `},"finish_reason":` + finish + `,"index":0}],"id":"x"` + usage + `}`
	}
	const thin = `,"usage":{"completion_tokens":2,"prompt_tokens":3,"total_tokens":5}`
	const whole = `{"choices":[],"id":"x"` + thin + `}`
	the, quick := event(`"content":" the"`, "null", ""), event(`"content":" quick"`, "null", "")
	length := event("", `"length"`, "")
	grown := func(line string, n, total string) string {
		return strings.TrimSuffix(line, "}") + `,"usage":{"completion_tokens":` + n +
			`,"prompt_tokens":3,"total_tokens":` + total + `}}`
	}
	for _, c := range []struct {
		name, more string
		g          Generation
		want       []string
	}{
		{"no usage", "", Generation{}, []string{role, the, quick, length}},
		{
			"asked", `,"stream_options":{"include_usage":true}`,
			Generation{},
			[]string{role, the, quick, length, whole},
		},
		{"separate", "", Generation{Usage: "separate"}, []string{role, the, quick, length, whole}},
		{
			"last", "",
			Generation{Usage: "last"},
			[]string{role, the, quick, event("", `"length"`, thin)},
		},
		{
			"none", `,"stream_options":{"include_usage":true}`,
			Generation{Usage: "none"},
			[]string{role, the, quick, length},
		},
		{
			"growing", `,"stream_options":{"continuous_usage_stats":true}`,
			Generation{},
			[]string{
				grown(role, "0", "3"), grown(the, "1", "4"), grown(quick, "2", "5"), grown(length, "2", "5"),
			},
		},
		{
			"bundled", "",
			Generation{FirstEventTokens: 2},
			[]string{role, event(`"content":" the quick"`, "null", ""), length},
		},
		{
			"hidden", "",
			Generation{HiddenTokens: 3, Usage: "last"},
			[]string{
				role, the, quick,
				event("", `"length"`, `,"usage":{"completion_tokens":5,"prompt_tokens":3,"total_tokens":8}`),
			},
		},
		{
			"reasoning", "",
			Generation{ReasoningTokens: 1, Usage: "last"},
			[]string{
				role, event(`"reasoning_content":" the"`, "null", ""), quick,
				event("", `"length"`, `,"usage":{"completion_tokens":2,"completion_tokens_details":`+
					`{"reasoning_tokens":1},"prompt_tokens":3,"total_tokens":5}`),
			},
		},
		{
			"tool call", "",
			Generation{ToolCalls: true},
			[]string{
				role, event(`"tool_calls":[{"function":{"arguments":"{\"text\":\" the","name":"get_weather"},"id":"call-1",`+
					`"index":0,"type":"function"}]`, "null", ""),
				event(`"tool_calls":[{"function":{"arguments":" quick\"}"},"index":0}]`, "null", ""),
				event("", `"tool_calls"`, ""),
			},
		},
	} {
		s := start(t, fast(c.g))
		status, got := trimmed(t, s, "/v1/chat/completions", ask+c.more+"}")
		want := "data: " + strings.Join(append(c.want, "[DONE]"), "\n\ndata: ") + "\n\n"
		if got = strings.ReplaceAll(got, "chatcmpl-00000000", "x"); status != 200 || got != want {
			t.Errorf("%s: %d (-want +got):\n%s", c.name, status, cmp.Diff(want, got))
		}
	}
}

// TestTextReplies: the other forms of replies, and refusals in OpenAI's shape.
func TestTextReplies(t *testing.T) {
	s := start(t, fast(Generation{OutputTokens: 2}))
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{
			"/v1/chat/completions", `{"model":"chat-a","messages":[{"role":"user","content":[{"type":"text",` +
				`"text":"a b"}]}],"n":2}`, 200,
			`{"choices":[{"finish_reason":"stop","index":0,"message":{"content":" the quick","role":"assistant"}},` +
				`{"finish_reason":"stop","index":1,"message":{"content":" the quick","role":"assistant"}}],` +
				`"id":"chatcmpl-00000000","model":"chat-a","object":"chat.completion",` +
				`"usage":{"completion_tokens":4,"prompt_tokens":3,"total_tokens":7}}`,
		},
		{
			"/v1/completions", `{"model":"chat","prompt":["a b c"],"max_tokens":1}`, 200,
			`{"choices":[{"finish_reason":"length","index":0,"text":" the"}],"id":"cmpl-00000001",` +
				`"usage":{"completion_tokens":1,"prompt_tokens":3,"total_tokens":4}}`,
		},
		{
			"/v1/completions", `{"model":"chat","prompt":"a","max_tokens":1,"stream":true}`, 200,
			`data: {"choices":[{"finish_reason":null,"index":0,"text":" the"}],"id":"cmpl-00000002"}` + "\n\n" +
				`data: {"choices":[{"finish_reason":"length","index":0,"text":""}],"id":"cmpl-00000002"}` + "\n\n" +
				"data: [DONE]\n\n",
		},
		{
			"/v1/chat/completions", `{"model":"nosuch","messages":[{"role":"user","content":"a"}]}`, 404,
			`{"error":{"message":"The model ` + "`nosuch`" + ` does not exist","type":"invalid_request_error",` +
				`"param":"model","code":"model_not_found"}}`,
		},
		{
			"/v1/chat/completions", `{"model":"chat"}`, 400,
			`{"error":{"message":"Missing required parameter: 'messages'.","type":"invalid_request_error",` +
				`"param":"messages","code":null}}`,
		},
		{
			"/v1/completions", `{"model":"chat","prompt":"a","max_tokens":0}`, 400,
			`{"error":{"message":"max_tokens must be from 1 to 65536, got 0","type":"invalid_request_error",` +
				`"param":"max_tokens","code":null}}`,
		},
		{
			"/v1/embeddings", `{"model":"embeddings","input":[]}`, 400,
			`{"error":{"message":"'input' must be a text or a list of them that is not empty",` +
				`"type":"invalid_request_error","param":"input","code":null}}`,
		},
		{
			"/v1/embeddings", `{"model":"embeddings","input":[""]}`, 200,
			`{"data":[{"embedding":[1,0,0,0,0,0,0,0],"index":0,"object":"embedding"}],"model":"embeddings",` +
				`"object":"list","usage":{"prompt_tokens":0,"total_tokens":0}}`,
		},
		{
			"/rerank", `{"query":"","texts":["",""]}`, 200, `[{"index":0,"score":1},{"index":1,"score":1}]`,
		},
		{
			"/v1/ranking", `{"model":"rankings","query":{"text":""},"passages":[{"text":""}]}`, 200,
			`{"rankings":[{"index":0,"logit":1}],"usage":{"prompt_tokens":0,"total_tokens":0}}`,
		},
		{
			"/v1/rerank", `{"model":"rankings","query":"","documents":[""]}`, 200,
			`{"model":"rankings","object":"list","results":[{"index":0,"relevance_score":1}],` +
				`"usage":{"prompt_tokens":0,"total_tokens":0}}`,
		},
	} {
		status, got := trimmed(t, s, c.path, c.body)
		if status != c.status || got != c.want {
			t.Errorf("%s %s: %d (-want +got):\n%s", c.path, c.body, status, cmp.Diff(c.want, got))
		}
	}
	if a := post(t, s.HTTPURL()+"/v1/completions", "{"); a.status != 400 ||
		!strings.Contains(string(a.body), "could not parse the JSON body") {
		t.Errorf("%d %s", a.status, a.body)
	}
	for _, name := range TextModels() {
		if a := get(t, s.HTTPURL()+"/v1/models"); !strings.Contains(string(a.body), `"id":"`+name+`"`) {
			t.Errorf("%s lacks %s", a.body, name)
		}
	}
}

// TestRankingOrder: the text that has more words of the query comes first.
func TestRankingOrder(t *testing.T) {
	s := start(t, Config{})
	a := post(t, s.HTTPURL()+"/v1/rerank",
		`{"model":"rankings","query":"red apple pie","documents":["green field","red apple pie","red car"]}`)
	r := decode[struct {
		Results []struct {
			Index int
			Score float64 `json:"relevance_score"`
		}
	}](t, a.body)
	if len(r.Results) != 3 || r.Results[0].Index != 1 || r.Results[0].Score < 0.999 ||
		r.Results[1].Score < r.Results[2].Score {
		t.Errorf("%s", a.body)
	}
}

func TestAPIKey(t *testing.T) {
	s := start(t, Config{APIKey: "sk-secret"})
	for key, want := range map[string]int{"": 401, "Bearer sk-other": 401, "sk-secret": 401, "Bearer sk-secret": 200} {
		a, err := request(t, client(t), http.MethodGet, s.HTTPURL()+"/v1/models",
			http.Header{"Authorization": {key}}, nil)
		if err != nil || a.status != want {
			t.Errorf("%q: %d, want %d, %v", key, a.status, want, err)
		}
		const refused = `{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error",` +
			`"param":null,"code":"invalid_api_key"}}`
		if want == 401 && string(a.body) != refused {
			t.Errorf("%q: %s", key, a.body)
		}
	}
}

const short = `{"model":"chat","stream":true,"messages":[{"role":"user","content":"a"}]}`

// TestStreamFaults: a stream goes wrong after as many tokens as asked for, and its outcome is counted.
func TestStreamFaults(t *testing.T) {
	g := Generation{FailAfter: 2}
	failing := fast(g)
	failing.Errors = 1
	s := start(t, failing)
	_, got := trimmed(t, s, "/v1/chat/completions", short)
	if strings.Count(got, `"content":" `) != 2 || strings.Contains(got, "[DONE]") ||
		!strings.HasSuffix(got, `data: {"error":{"message":"simulated failure","type":"server_error","param":null,`+
			`"code":500}}`+"\n\n") {
		t.Errorf("%s", got)
	}
	if n := s.counts().Results; n != (resultCounts{Failed: 1}) {
		t.Errorf("%+v", n)
	}

	resetting := fast(g)
	resetting.Reset = 1
	s = start(t, resetting)
	a, err := request(t, client(t), http.MethodPost, s.HTTPURL()+"/v1/chat/completions", nil, []byte(short))
	if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v after %s", err, a.body)
	}

	early := fast(Generation{})
	early.Errors = 1
	if a := post(t, start(t, early).HTTPURL()+"/v1/chat/completions", short); a.status != 500 {
		t.Errorf("%d %s", a.status, a.body)
	}

	g.Stuck = 1
	s = start(t, fast(g))
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.HTTPURL()+"/v1/chat/completions",
		strings.NewReader(short))
	resp, err := client(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for tokens := 0; tokens < 2; {
		if !lines.Scan() {
			t.Fatalf("the stream ended after %d tokens: %v", tokens, lines.Err())
		}
		if bytes.Contains(lines.Bytes(), []byte(`"content":" `)) {
			tokens++
		}
	}
	resp.Body.Close()
	eventually(t, "the request is gone", func() bool { return s.counts().Results.Cancelled == 1 })
}

// TestStreamTimes: tokens are sent when they are due, never before, and the server says when.
func TestStreamTimes(t *testing.T) {
	const first, next = 30 * time.Millisecond, 10 * time.Millisecond
	s := start(t, Config{
		TTFT: &Dist{Mean: first.Seconds()}, ITL: &Dist{Mean: next.Seconds()},
		Generation: &Generation{OutputTokens: 4},
	})
	began := time.Now()
	if a := post(t, s.HTTPURL()+"/v1/chat/completions", short); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if took := time.Since(began); took < first+3*next {
		t.Errorf("the answer took %v", took)
	}
	list := decode[[]responseTime](t, get(t, s.URLs().Control+"/sim/responses").body)
	if len(list) != 4 {
		t.Fatalf("%+v", list)
	}
	for i, r := range list {
		due := first + time.Duration(i)*next
		if late := time.Duration(r.Sent-r.Arrived) - due; r.Index != i || late < 0 || late > time.Second {
			t.Errorf("token %d was sent %v after it was due: %+v", i, late, r)
		}
	}
}

// TestTextPlaces: with one place, the second of two requests waits for the end of the first.
func TestTextPlaces(t *testing.T) {
	const each = 40 * time.Millisecond
	s := start(t, Config{Instances: 1, TTFT: &Dist{Mean: each.Seconds()}, Generation: &Generation{OutputTokens: 1}})
	done := make(chan time.Time, 2)
	began := time.Now()
	for range 2 {
		go func() {
			post(t, s.HTTPURL()+"/v1/chat/completions", short)
			done <- time.Now()
		}()
	}
	<-done
	if both := (<-done).Sub(began); both < 2*each {
		t.Errorf("two requests took %v", both)
	}
}

// TestCloseSilent: the connection is closed after a reply, and no header says so.
func TestCloseSilent(t *testing.T) {
	s := start(t, fast(Generation{CloseSilent: true}))
	c, err := net.Dial("tcp", strings.TrimPrefix(s.HTTPURL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(deadline))
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(short), short)
	all, err := io.ReadAll(c) // to the end of the connection
	if err != nil || !strings.HasSuffix(string(all), "data: [DONE]\n\n\r\n0\r\n\r\n") ||
		strings.Contains(string(all), "Connection:") {
		t.Errorf("%v: %s", err, all)
	}
}
