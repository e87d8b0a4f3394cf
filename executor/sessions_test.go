package executor

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
)

// message is one of a conversation.
type message struct {
	Role, Content string
	ToolCalls     []any  `json:"tool_calls"`
	ToolCallID    string `json:"tool_call_id"`
}

// exchange is a request and its reply, as a proxy in front of the server saw them.
type exchange struct {
	at       time.Time
	messages []message
	reply    bytes.Buffer
}

// answer returns the text of the reply, of a stream or in one piece.
func (x *exchange) answer() string {
	var text strings.Builder
	for line := range strings.Lines(x.reply.String()) {
		var e struct {
			Choices []struct{ Delta, Message message }
		}
		if json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &e) == nil && len(e.Choices) > 0 {
			text.WriteString(e.Choices[0].Delta.Content + e.Choices[0].Message.Content)
		}
	}
	return text.String()
}

// eavesdropper is a proxy that keeps what passes.
type eavesdropper struct {
	guard sync.Mutex
	all   []*exchange
	// refuse answers a request itself; nil, or false: it is passed on.
	refuse func(w http.ResponseWriter, x *exchange) bool
}

// eavesdrop puts a proxy in front of an embedded server of language models.
func eavesdrop(t *testing.T, g builtin.Generation) (*eavesdropper, string) {
	t.Helper()
	quick := &builtin.Dist{Mean: 1e-3}
	to, err := url.Parse(serve(t, builtin.Config{Generation: &g, TTFT: quick, ITL: quick}).HTTPURL())
	if err != nil {
		t.Fatal(err)
	}
	e := &eavesdropper{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{at: time.Now()}
		body, _ := io.ReadAll(r.Body)
		var parsed struct{ Messages []message }
		if json.Unmarshal(body, &parsed) == nil && parsed.Messages != nil {
			x.messages = parsed.Messages
			e.guard.Lock()
			e.all = append(e.all, x)
			e.guard.Unlock()
			if e.refuse != nil && e.refuse(w, x) {
				return
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy := httputil.NewSingleHostReverseProxy(to)
		proxy.FlushInterval = -1
		proxy.ModifyResponse = func(r *http.Response) error {
			r.Body = struct {
				io.Reader
				io.Closer
			}{io.TeeReader(r.Body, &x.reply), r.Body}
			return nil
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return e, server.URL
}

// sessionRows are the rows of n sessions of as many turns, one after the other, as lines of a plan. The
// length of each answer is its own; more is said by further members.
func sessionRows(n, turns int, more func(session, turn int) string) string {
	var b strings.Builder
	b.WriteString("data:\n  rows:\n")
	for i := range n {
		for k := range turns {
			fmt.Fprintf(&b, "    - {session_id: s%d, prompt: p%d.%d, output_tokens: %d%s}\n", i, i, k, 1+i+2*k,
				more(i, k))
		}
	}
	return b.String()
}

func nothingMore(int, int) string { return "" }

// sessionsOf returns the exchanges of each session, by the prompt of its first turn.
func (e *eavesdropper) sessions() map[string][]*exchange {
	e.guard.Lock()
	defer e.guard.Unlock()
	all := map[string][]*exchange{}
	for _, x := range e.all {
		all[x.messages[0].Content] = append(all[x.messages[0].Content], x)
	}
	return all
}

// TestSessions: each turn holds those before it and the answers of the server, whether these are streamed,
// whatever plays the sessions.
func TestSessions(t *testing.T) {
	t.Parallel()
	for name, load := range map[string]string{
		"closed":             "load: {concurrency: 3}, for: 6 sessions",
		"closed, stream":     "load: {concurrency: 3}, for: 6 sessions",
		"sessions arrive":    "load: {rate: 200/s, of: sessions}, for: 6 sessions",
		"arrive, stream":     "load: {rate: 200/s, of: sessions}, for: 6 sessions",
		"turns arrive":       "load: {rate: 200/s}, sequences: {live: 6}, for: 10s",
		"sessions by passes": "load: {concurrency: 2}, for: 1 pass",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, at := eavesdrop(t, builtin.Generation{})
			r := play(t, fmt.Sprintf(`version: 1
target: {backend: openai, url: "URL", model: chat, endpoint: chat, streaming: %t, probe: false}
%s  at_end: stop
stages:
  - {id: s, %s, assert: [errors.count == 0]}
`, strings.Contains(name, "stream"), sessionRows(6, 5, nothingMore), load), at, Env{})
			n := node(t, r, "s")
			if got := count(n, "requests.count"); got != 30 || r.Verdict != "pass" {
				t.Fatalf("%d requests, verdict %s: %v", got, r.Verdict, n.Validity.Findings)
			}
			if got := value(t, n, "sequences.count"); got != 6 {
				t.Errorf("%v sessions", got)
			}
			list := e.sessions()
			for i := range 6 {
				checkHistory(t, list[fmt.Sprintf("p%d.0", i)], i, 5)
			}
		})
	}
}

// checkHistory checks that the exchanges of session i are its turns, each with what came before.
func checkHistory(t *testing.T, turns []*exchange, i, want int) {
	t.Helper()
	if len(turns) != want {
		t.Fatalf("session %d has %d turns", i, len(turns))
	}
	var history []message
	for k, x := range turns {
		history = append(history, message{Role: "user", Content: fmt.Sprintf("p%d.%d", i, k)})
		if diff := gocmp.Diff(history, x.messages); diff != "" {
			t.Fatalf("turn %d of session %d (-want +got):\n%s", k, i, diff)
		}
		answer := x.answer()
		if n := len(strings.Fields(answer)); n != 1+i+2*k {
			t.Fatalf("turn %d of session %d: the server said %q", k, i, answer)
		}
		history = append(history, message{Role: "assistant", Content: answer})
	}
}

// TestFailedTurn: what follows a turn that failed is not sent, and counted as dropped for that.
func TestFailedTurn(t *testing.T) {
	t.Parallel()
	for _, load := range []string{
		"load: {concurrency: 2}, for: 4 sessions", "load: {rate: 200/s, of: sessions}, for: 4 sessions",
	} {
		e, at := eavesdrop(t, builtin.Generation{})
		e.refuse = func(w http.ResponseWriter, x *exchange) bool {
			last := x.messages[len(x.messages)-1].Content
			if last == "p1.1" || last == "p3.0" {
				http.Error(w, "no", http.StatusInternalServerError)
				return true
			}
			return false
		}
		r := play(t, `version: 1
target: {backend: openai, url: "URL", model: chat, endpoint: chat, probe: false}
`+sessionRows(4, 4, nothingMore)+`stages:
  - {id: s, `+load+`, assert: [errors.ratio < 50%]}
`, at, Env{})
		n := node(t, r, "s")
		if sent, failed := count(n, "requests.count"), count(n, "errors.count"); sent != 4+2+4+1 || failed != 2 {
			t.Errorf("%s: %d sent, %d failed", load, sent, failed)
		}
		if got := value(t, n, "dropped.sequence.count"); got != 2+3 {
			t.Errorf("%s: %v turns skipped", load, got)
		}
		if got := value(t, n, "sequences.count"); got != 2 {
			t.Errorf("%s: %v whole sessions", load, got)
		}
		if !slices.ContainsFunc(n.Validity.Findings, func(f result.Finding) bool {
			return f.Code == "steps-dropped" && strings.Contains(f.Text, "5 turns")
		}) {
			t.Errorf("%s: findings %v", load, n.Validity.Findings)
		}
	}
}

// TestToolTurns: results of tools are for the calls that the server made.
func TestToolTurns(t *testing.T) {
	t.Parallel()
	e, at := eavesdrop(t, builtin.Generation{ToolCalls: true})
	play(t, `version: 1
target: {backend: openai, url: "URL", model: chat, endpoint: chat, streaming: true, probe: false}
data:
  rows:
    - {session_id: a, prompt: add}
    - {session_id: a, messages: [{role: tool, tool_call_id: recorded, content: "5"}]}
stages:
  - {id: s, load: {concurrency: 1}, for: 1 session}
`, at, Env{})
	list := e.sessions()["add"]
	if len(list) != 2 || len(list[1].messages) != 3 || len(list[1].messages[1].ToolCalls) != 1 {
		t.Fatalf("%d turns: %+v", len(list), list)
	}
	call := list[1].messages[1].ToolCalls[0].(map[string]any)
	if id := list[1].messages[2].ToolCallID; id == "recorded" || id != call["id"] {
		t.Errorf("the result is for call %q, the server's is %v", id, call)
	}
	f := call["function"].(map[string]any)
	const arguments = `{"text":" the quick brown fox jumps over a lazy dog while seven small boats drift home the"}`
	if f["arguments"] != arguments {
		t.Errorf("the call is %v", call)
	}
}

// TestSessionTimes: turns are due after their delays, or at their recorded times, or when the turn before
// has ended if that is later.
func TestSessionTimes(t *testing.T) {
	t.Parallel()
	const ms = int64(time.Millisecond)
	for name, c := range map[string]struct {
		keys, load string
		more       func(session, turn int) string
		delays     [2]int64    // between turns, ms
		times      [2][3]int64 // of the turns of both sessions since the start, ms
	}{
		"delays": {
			load: "{concurrency: 1}, for: 2 sessions", delays: [2]int64{60, 0},
			more: func(_, k int) string { return []string{", delay: 900", ", delay: 60", ""}[k] },
		},
		"delays, sessions arrive": {
			load: "{rate: 100/s, of: sessions}, for: 2 sessions", delays: [2]int64{60, 90},
			more: func(_, k int) string { return []string{"", ", delay: 60", ", delay: 90"}[k] },
		},
		"idle cap": {
			keys: "  idle_cap: 50ms\n", load: "{concurrency: 2}, for: 2 sessions", delays: [2]int64{50, 50},
			more: func(_, k int) string { return []string{"", ", delay: 1h", ", delay: 2000"}[k] },
		},
		"recorded": {
			load: "{schedule: {}}", times: [2][3]int64{{0, 70, 70}, {30, 100, 101}},
			more: func(i, k int) string {
				return fmt.Sprintf(", timestamp: %d", [2][3]int{{0, 70, 70}, {30, 100, 101}}[i][k])
			},
		},
		"recorded, part, twice as fast": {
			load: "{schedule: {speed: 2, from: 100ms}}", times: [2][3]int64{{0, 70, 150}, {30, 100, 180}},
			more: func(i, k int) string { return fmt.Sprintf(", timestamp: %d", 100+[]int{0, 140, 300}[k]+60*i) },
		},
		"recorded, idle cap": {
			keys: "  idle_cap: 40ms\n", load: "{schedule: {}}", times: [2][3]int64{{0, 40, 80}, {30, 70, 110}},
			more: func(i, k int) string { return fmt.Sprintf(", timestamp: %d", []int{0, 5_000, 90_000}[k]+30*i) },
		},
		"recorded, closed": {
			keys: "  timing: closed\n", load: "{schedule: {}}", delays: [2]int64{50, 0},
			more: func(i, k int) string {
				return []string{fmt.Sprintf(", timestamp: %d", 30*i), ", timestamp: 999999, delay: 50", ""}[k]
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, at := eavesdrop(t, builtin.Generation{})
			var all sent
			r := play(t, `version: 1
target: {backend: openai, url: "URL", model: chat, endpoint: chat, probe: false}
`+sessionRows(2, 3, c.more)+"  time_unit: ms\n"+c.keys+`stages:
  - {id: s, load: `+c.load+`}
`, at, Env{Record: keep(&all)})
			if n := node(t, r, "s"); count(n, "requests.count") != 6 {
				t.Fatalf("%d requests: %v", count(n, "requests.count"), n.Validity.Findings)
			}
			list := e.sessions()
			checkHistory(t, list["p0.0"], 0, 3)
			checkHistory(t, list["p1.0"], 1, 3)
			slices.SortFunc(all.all, func(a, b backends.Sample) int { return cmp.Compare(a.Row, b.Row) })
			start := all.all[0].Due
			for i, s := range all.all {
				want, k := s.Due, i%3
				if c.times[1][2] != 0 {
					want = start + c.times[i/3][k]*ms
				}
				if k > 0 {
					ended := all.all[i-1].LastByte
					if want = max(want, ended); c.delays[k-1] != 0 {
						want = ended + c.delays[k-1]*ms
					}
				}
				if s.Due != want {
					t.Errorf("turn %d of session %d is due %v late", k, i/3, time.Duration(s.Due-want))
				}
			}
		})
	}
}

// TestReplayedSessions: of recorded sessions each turn is due at its recorded time, or when the turn before has
// ended if that is later, whatever the server takes.
func TestReplayedSessions(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(1, 2))
	const sessions, turns = 12, 4
	var times [sessions][turns]int64 // ms
	for i := range sessions {
		at := int64(i * 15)
		for k := range turns {
			times[i][k] = at
			if at += draw.Int64N(60); i == 0 && k == 1 {
				at += 1500 // a turn that waits for no other, also on a busy machine
			}
		}
	}
	e, at := eavesdrop(t, builtin.Generation{})
	e.refuse = func(_ http.ResponseWriter, x *exchange) bool {
		time.Sleep(time.Duration(len(x.messages)*7%5) * 10 * time.Millisecond) //nolint:forbidigo // the time of an answer
		return false
	}
	var all sent
	play(t, `version: 1
target: {backend: openai, url: "URL", model: chat, endpoint: chat, probe: false}
`+sessionRows(sessions, turns, func(i, k int) string { return fmt.Sprintf(", timestamp: %d", times[i][k]) })+`  time_unit: ms
stages:
  - {id: s, load: {schedule: {}}}
`, at, Env{Record: keep(&all)})
	slices.SortFunc(all.all, func(a, b backends.Sample) int { return cmp.Compare(a.Row, b.Row) })
	if len(all.all) != sessions*turns {
		t.Fatalf("%d requests", len(all.all))
	}
	waited := 0
	for i, s := range all.all {
		want := all.all[0].Due + times[i/turns][i%turns]*int64(time.Millisecond)
		if i%turns > 0 && all.all[i-1].LastByte > want {
			want = all.all[i-1].LastByte
			waited++
		}
		if s.Due != want {
			t.Errorf("row %d is due %v after its time", i, time.Duration(s.Due-want))
		}
	}
	if waited == 0 || waited == sessions*(turns-1) {
		t.Errorf("%d turns waited for the one before", waited)
	}
}

// TestCutSessions: a session that a number of requests cuts is in no figure of whole sessions.
func TestCutSessions(t *testing.T) {
	t.Parallel()
	_, at := eavesdrop(t, builtin.Generation{})
	r := play(t, `version: 1
target: {backend: openai, url: "URL", model: chat, endpoint: chat, probe: false}
`+sessionRows(4, 4, nothingMore)+`stages:
  - {id: s, load: {concurrency: 1}, for: 10 requests}
`, at, Env{})
	n := node(t, r, "s")
	if requests, whole := count(n, "requests.count"), count(n, "sequences.count"); requests != 10 || whole != 2 {
		t.Errorf("%d requests, %d whole sessions; want 10 and 2", requests, whole)
	}
}

// TestSampleOfSessions: whole sessions are drawn, the same ones with the same seed.
func TestSampleOfSessions(t *testing.T) {
	t.Parallel()
	var drawn [3]string
	for i, seed := range []int{1, 1, 2} {
		e, at := eavesdrop(t, builtin.Generation{})
		r := play(t, fmt.Sprintf("version: 1\nseed: %d\n", seed)+`target: {backend: openai, url: "URL", model: chat, endpoint: chat, probe: false}
`+sessionRows(20, 2, nothingMore)+`  sample: 25%
stages:
  - {id: s, load: {concurrency: 1}, for: 1 pass}
`, at, Env{})
		if n := count(node(t, r, "s"), "requests.count"); n != 10 {
			t.Fatalf("%d requests", n)
		}
		list := e.sessions()
		var names []string
		for name, turns := range list {
			if names = append(names, name); len(turns) != 2 {
				t.Errorf("%d turns of %s", len(turns), name)
			}
		}
		slices.SortFunc(names, cmp.Compare)
		drawn[i] = strings.Join(names, " ")
	}
	if drawn[0] != drawn[1] || drawn[0] == drawn[2] || len(strings.Fields(drawn[0])) != 5 {
		t.Errorf("drawn %q", drawn)
	}
}

// TestVerbatimSessions: rows that hold their history are refused, unless they are to be sent as they are.
func TestVerbatimSessions(t *testing.T) {
	t.Parallel()
	e, at := eavesdrop(t, builtin.Generation{})
	rows := `
    - {session_id: a, messages: [{role: user, content: x}]}
    - {session_id: a, messages: [{role: user, content: x}, {role: assistant, content: y}, {role: user, content: z}]}
`
	text := `version: 1
target: {backend: openai, url: "URL", model: chat, endpoint: chat, probe: false}
data:
  %srows:` + rows + `stages:
  - {id: s, load: {concurrency: 1}, for: 1 session}
`
	if got := mistakes(t, fmt.Sprintf(text, ""), at); !strings.Contains(got, "its messages begin with those of rows, row 0") {
		t.Errorf("append: %s", got)
	}
	play(t, fmt.Sprintf(text, "history: verbatim\n  "), at, Env{})
	list := e.sessions()["x"]
	if len(list) != 2 || len(list[1].messages) != 3 || list[1].messages[1].Content != "y" {
		t.Errorf("sent %+v", list)
	}
}

// TestSessionMistakes: what sessions cannot have is refused where it is written.
func TestSessionMistakes(t *testing.T) {
	const rows = "{session_id: a, prompt: x}, {session_id: a, prompt: y}"
	for _, c := range []struct{ target, data, stage, want string }{
		{"", "rows: [{prompt: x}]", "{concurrency: 1}, for: 2 sessions", `stage "s" lasts for sessions, and its requests form none`},
		{"", "rows: [{prompt: x}]", "{rate: 5/s, of: sessions}, for: 1s", "counts sequences, and its requests form none"},
		{"", "rows: [{prompt: x}], idle_cap: 1s", "{concurrency: 1}, for: 2 requests", `"idle_cap" has no effect: the rows form no sessions`},
		{"", "command: [x], format: jsonl, idle_cap: 1s", "{concurrency: 1}, for: 2 requests", `"idle_cap" has no effect`},
		{"", "prompts: {count: 2}, history: verbatim", "{concurrency: 1}, for: 2 requests", `"history" has no effect`},
		{"endpoint: completions, ", "rows: [" + rows + "]", "{concurrency: 1}, for: 2 sessions", "hold no messages"},
		{"", "rows: [" + rows + "], timing: open", "{concurrency: 1}, for: 2 sessions", "only where a schedule plays these"},
		{"", "rows: [" + rows + "], timing: strict", "{concurrency: 1}, for: 2 requests", "only where a schedule plays these"},
		{"", "rows: [" + rows + "]", "{concurrency: 1}, sequences: {length: 3}, for: 2 sessions", "are as long as their rows"},
		{"", "rows: [" + rows + "]", "{rate: 5/s, of: users, arrivals: poisson}, for: 1s", `"arrivals" does not fit`},
		{"", "rows: [" + rows + "]", "{rate: {ramp: [{to: 5/s, over: 1s}]}, of: users}, for: 1s", `"ramp" does not fit`},
		{"", "rows: [" + rows + "]", "{schedule: {}}", `rows, row 0 has no "timestamp"`},
	} {
		text := `version: 1
target: {backend: openai, url: "http://localhost:1", model: m, ` + c.target + `probe: false}
data: {` + c.data + `}
stages:
  - {id: s, load: ` + c.stage + `}
`
		if got := mistakes(t, text, ""); !strings.Contains(got, c.want) {
			t.Errorf("%s, %s:\n%swant %s", c.data, c.stage, got, c.want)
		}
	}
}

// mistakes returns the diagnostics of a plan, one a line.
func mistakes(t *testing.T, text, url string) string {
	t.Helper()
	plan, diags := scenario.Parse("plan.yaml", []byte(strings.ReplaceAll(text, "URL", url)), scenario.Overrides{})
	if !diags.HasErrors() {
		_, diags = program.Compile(plan, all.Kinds())
	}
	var b strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&b, "%s: %s\n", d.Severity, d.Summary)
	}
	return b.String()
}

// TestUsers: each user's requests begin as far apart as its rate says, or when the one before has ended if that
// is later, and never overlap.
func TestUsers(t *testing.T) {
	t.Parallel()
	const ms = int64(time.Millisecond)
	for name, c := range map[string]struct {
		rate   string
		every  int64
		answer time.Duration
	}{
		"on time": {"25/s", 40 * ms, 0},
		"slow":    {"200/s", 5 * ms, 20 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, at := eavesdrop(t, builtin.Generation{})
			e.refuse = func(http.ResponseWriter, *exchange) bool {
				time.Sleep(c.answer) //nolint:forbidigo // the time of an answer
				return false
			}
			var all sent
			r := play(t, `version: 1
target: {backend: openai, url: "URL", model: chat, endpoint: chat, probe: false}
`+sessionRows(6, 3, nothingMore)+`stages:
  - {id: s, load: {rate: `+c.rate+`, of: users}, sequences: {live: 4}, for: 48 requests}
`, at, Env{Record: keep(&all)})
			if n := node(t, r, "s"); count(n, "requests.count") != 48 || n.Load.Kind != "rate" || n.Load.Users != 4 {
				t.Fatalf("%d requests of a %s: %v", count(n, "requests.count"), n.Load.Kind, n.Validity.Findings)
			}
			if f := node(t, r, "s").Finding(result.UsersBehind); f == nil && c.answer > 0 {
				t.Error("no note says that the rate is not kept")
			} else if f != nil && !strings.Contains(f.Text, "4 users sent ") {
				t.Error(f.Text)
			}
			all.dues()
			users, exact := map[uint32]backends.Sample{}, 0
			for _, one := range all.all {
				before, again := users[one.Lane]
				if users[one.Lane] = one; !again {
					continue
				}
				want := max(before.Due+c.every, before.LastByte)
				if want == before.Due+c.every {
					exact++
				}
				if one.Due != want {
					t.Errorf("user %d: due %v after its time", one.Lane, time.Duration(one.Due-want))
				}
			}
			if len(users) != 4 || c.answer == 0 && exact == 0 || c.answer > 0 && exact > 0 {
				t.Errorf("%d users, %d requests in time", len(users), exact)
			}
		})
	}
}

// TestCancel: the share of the requests that the plan wants is closed, not before the time, and is in no
// latency and no error count.
func TestCancel(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{
		"http":    "target: {backend: kserve, url: HTTP, model: slow}",
		"grpc":    "target: {backend: kserve, url: GRPC, model: slow}",
		"stream":  "target: {backend: triton, url: GRPC, model: slow, streaming: true}",
		"arrives": "target: {backend: kserve, url: HTTP, model: slow}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 500e-3}, Instances: 128})
			load := "{concurrency: 50}"
			if name == "arrives" {
				load = "{rate: 400/s}"
			}
			var all sent
			r := play(t, strings.NewReplacer("HTTP", s.HTTPURL(), "GRPC", s.GRPCURL()).Replace(`version: 1
`+noLimits+"\n"+keys+`
stages:
  - {id: s, load: `+load+`, for: 100 requests, cancel: {ratio: 20%, after: 30ms}}
`), "", Env{Record: keep(&all)})
			n := node(t, r, "s")
			if got := value(t, n, "cancelled.by_us"); got != 20 || count(n, "errors.count") != 0 {
				t.Errorf("%v closed, %d failed: %v", got, count(n, "errors.count"), n.Errors)
			}
			if f := n.Finding(result.ClosedByUs); f == nil || !strings.HasPrefix(f.Text, "20 requests were closed ") {
				t.Errorf("finding %+v, want the number of those that were closed", f)
			}
			if ok := *n.Metrics["latency"].Count; ok != 80 || r.Verdict != "pass" {
				t.Errorf("%d latencies, verdict %s", ok, r.Verdict)
			}
			for _, one := range all.all {
				after := time.Duration(one.LastByte - one.Due) // the time counts from just before SendStart
				if one.Class == backends.Closed && (after < 30*time.Millisecond || after > 10*time.Second) {
					t.Errorf("closed %v after it was due", after)
				}
			}
		})
	}
}
