package openai

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

// conversations have the events of an answer, one a line, between two turns; want is the list of messages of
// the second.
const conversations = `
chat, stream
{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}
{"choices":[{"index":0,"delta":{"content":" caf\u00e9"}}]}
{"choices":[{"index":1,"delta":{"content":"another choice"}}]}
{"choices":[{"index":0,"delta":{"reasoning_content":"hm","content":" \"quoted\" \ud83d"}}]}
{"choices":[{"index":0,"delta":{"content":"\ude00"},"finish_reason":"stop"}],"usage":{"completion_tokens":3}}
= [{"role":"user","content":"first"},{"role":"assistant","content":" caf\u00e9 \"quoted\" \ud83d\ude00"},{"role":"user","content":"second"}]

chat, whole
{"choices":[{"index":0,"message":{"role":"assistant","content":"yes","refusal":null,"tool_calls":[]},"finish_reason":"stop"}]}
= [{"role":"user","content":"first"},{"role":"assistant","content":"yes"},{"role":"user","content":"second"}]

chat, reasoning only
{"choices":[{"index":0,"message":{"role":"assistant","content":null,"reasoning":"long"},"finish_reason":"length"}]}
= [{"role":"user","content":"first"},{"role":"assistant","content":""},{"role":"user","content":"second"}]

chat, calls in pieces
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"add","arguments":""}}]}}]}
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":"}}]}}]}
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","function":{"name":"sub","arguments":"{}"}}]}}]}
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]},"finish_reason":"tool_calls"}]}
+ {"role":"tool","tool_call_id":"rec1","content":"3"},{"role":"tool","tool_call_id":"rec2","content":"4"}
= [{"role":"user","content":"first"},{"role":"assistant","content":"","tool_calls":[{"id":"call_a","type":"function","function":{"name":"add","arguments":"{\"x\":1}"}},{"id":"call_b","type":"function","function":{"name":"sub","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_a","content":"3"},{"role":"tool","tool_call_id":"call_b","content":"4"}]

chat, calls without index
{"choices":[{"message":{"content":"x","tool_calls":[{"id":"p","function":{"name":"f","arguments":"1"}},{"id":"q","function":{"name":"g","arguments":"2"}}]}}]}
= [{"role":"user","content":"first"},{"role":"assistant","content":"x","tool_calls":[{"id":"p","type":"function","function":{"name":"f","arguments":"1"}},{"id":"q","type":"function","function":{"name":"g","arguments":"2"}}]},{"role":"user","content":"second"}]

chat, too many results
{"choices":[{"message":{"content":"no call"}}]}
+ {"role":"tool","tool_call_id":"rec1","content":"3"}
= the turn has the results of 1 tool calls, and the answer before it made 0

chat, recorded answer keeps its ids
{"choices":[{"message":{"content":"no call"}}]}
+ {"role":"assistant","tool_calls":[{"id":"rec1"}]},{"role":"tool","tool_call_id":"rec1","content":"3"}
= [{"role":"user","content":"first"},{"role":"assistant","content":"no call"},{"role":"assistant","tool_calls":[{"id":"rec1"}]},{"role":"tool","tool_call_id":"rec1","content":"3"}]

responses, stream
{"type":"response.output_text.delta","delta":"one"}
{"type":"response.output_text.delta","delta":" two"}
{"type":"response.output_text.done","text":"one two"}
{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"one two"}]}}
{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"c1","name":"f","arguments":""}}
{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}}
{"type":"response.completed","response":{"output":[{"type":"message"}]}}
+ {"type":"function_call_output","call_id":"old","output":"5"}
= [{"role":"user","content":"first"},{"role":"assistant","content":"one two"},{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"5"}]

responses, whole
{"object":"response","output":[{"type":"reasoning","summary":[{"text":"hm"}]},{"type":"message","content":[{"type":"output_text","text":"one"}]}]}
= [{"role":"user","content":"first"},{"role":"assistant","content":"one"},{"role":"user","content":"second"}]

messages, stream
{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}
{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}
{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"one"}}
{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{}}}
{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}
{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"1}"}}
+ {"role":"user","content":[{"type":"tool_result","tool_use_id":"old","content":"2"}]}
= [{"role":"user","content":"first"},{"role":"assistant","content":[{"type":"text","text":"one"},{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"2"}]}]

messages, whole
{"type":"message","content":[{"type":"text","text":"one"},{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}]}
= [{"role":"user","content":"first"},{"role":"assistant","content":[{"type":"text","text":"one"},{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}]},{"role":"user","content":"second"}]

messages, empty
{"type":"message","content":[]}
= the answer has neither text nor tool calls

completions, none
{"choices":[{"text":"x"}]}
= endpoint completions holds no messages that an answer could be put among
`

// TestContinue: the second turn of a conversation holds the first, the answer to it, and its own messages,
// whether the answer was kept in frames or as whole replies.
func TestContinue(t *testing.T) {
	for _, text := range strings.Split(strings.TrimSpace(conversations), "\n\n") {
		lines := strings.Split(text, "\n")
		endpoint, _, _ := strings.Cut(lines[0], ",")
		own, want := `{"role":"user","content":"second"}`, ""
		var events []string
		for _, l := range lines[1:] {
			switch l[:2] {
			case "+ ":
				own = l[2:]
			case "= ":
				want = l[2:]
			default:
				events = append(events, l)
			}
		}
		for _, kept := range []bool{false, true} {
			c := connTo(t, endpoint, kept)
			name := "messages"
			if endpoint == completions {
				name = "prompt"
			}
			first := prepared(t, c, name, `[{"role":"user","content":"first"}]`)
			second := prepared(t, c, name, "["+own+"]")
			s := &backends.Sample{}
			for _, e := range events {
				if kept {
					s.AddText([]byte("data: "), []byte(e), []byte("\n\n"))
				} else {
					s.Text = appendAnswer(s.Text, []byte(e))
				}
			}
			call, err := c.Continue(first, second, s)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				body := string(bytes.Join(call.Body, nil))
				_, list, found := strings.Cut(body, `"`+conversation(endpoint)+`":`)
				if !found || call.Size != len(call.Head)+len(body) {
					t.Fatalf("%s: %d bytes, head %s, body %s", lines[0], call.Size, call.Head, body)
				}
				got = strings.TrimSuffix(strings.TrimSuffix(list, "}"), `,"max_tokens":16384`)
			}
			if got != want {
				t.Errorf("%s, whole replies %t:\ngot  %s\nwant %s", lines[0], kept, got, want)
			}
		}
	}
}

// connTo returns an open target, to which nothing is sent.
func connTo(t testing.TB, endpoint string, kept bool) *conn {
	t.Helper()
	c, err := open(backends.Target{
		URL: "http://localhost:1", Model: "m", Endpoint: endpoint, KeepReplies: kept,
	}, backends.Clock{Origin: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func prepared(t testing.TB, c *conn, name, list string) *backends.Call {
	t.Helper()
	call, err := c.Prepare(backends.Request{Rows: [][]backends.Member{{{Name: name, Value: []byte(list)}}}})
	if err != nil {
		t.Fatal(err)
	}
	return call
}

// TestContinueGrows: the third turn holds both answers, and the calls that were prepared stay as they were.
func TestContinueGrows(t *testing.T) {
	c := connTo(t, chat, false)
	call := prepared(t, c, "prompt", `"q"`)
	first := call
	for range 4 {
		s := &backends.Sample{Text: appendAnswer(nil, []byte(`{"choices":[{"message":{"content":"a"}}]}`))}
		next, err := c.Continue(call, prepared(t, c, "prompt", `"q"`), s)
		if err != nil {
			t.Fatal(err)
		}
		call = next
	}
	body := string(bytes.Join(call.Body, nil))
	turn := `{"role":"user","content":"q"}`
	want := `{"model":"m","messages":[` + strings.Repeat(turn+`,{"role":"assistant","content":"a"},`, 4) + turn + `]}`
	if body != want {
		t.Errorf("got  %s\nwant %s", body, want)
	}
	if len(first.Body) != 1 || string(first.Body[0]) != `{"model":"m","messages":[`+turn+`]}` {
		t.Errorf("the first call has become %s", first.Body)
	}
	if err := c.Continues(prepared(t, c, "messages", `[]`)); err == nil {
		t.Error("a turn without messages is taken")
	}
}

// TestAnswerDoesNotAllocate: answers are kept while the clock runs.
func TestAnswerDoesNotAllocate(t *testing.T) {
	event := []byte(`{"choices":[{"index":0,"delta":{"content":" word","tool_calls":[{"index":0,"id":"x"}]}}]}`)
	buffer := make([]byte, 0, 1<<10)
	if n := testing.AllocsPerRun(100, func() { buffer = appendAnswer(buffer[:0], event) }); n != 0 {
		t.Errorf("%v allocations in an event", n)
	}
}

func FuzzAnswer(f *testing.F) {
	for _, line := range strings.Split(conversations, "\n") {
		if strings.HasPrefix(line, "{") {
			f.Add([]byte(line))
		}
	}
	c := connTo(f, chat, false)
	first, second := prepared(f, c, "prompt", `"q"`), prepared(f, c, "prompt", `"r"`)
	f.Fuzz(func(t *testing.T, event []byte) {
		s := &backends.Sample{Text: appendAnswer(appendAnswer(nil, event), event)}
		c.Texts(s)
		call, err := c.Continue(first, second, s)
		if err != nil {
			return
		}
		var body []byte
		for _, b := range call.Body {
			body = append(body, b...)
		}
		if _, err := c.Prepare(backends.Request{Body: body}); err != nil {
			t.Errorf("the next turn is no JSON: %s", body)
		}
	})
}
