package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
)

// textsOfAnswers lists answers: a name, the events of a stream or a whole reply, and behind "= " what the model
// generated; behind "~ " what can be told of it where replies are kept whole, which are those with content.
const textsOfAnswers = `
chat in events
{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}
{"choices":[{"index":0,"delta":{"content":"One"}}]}
{"choices":[{"index":0,"delta":{"content":" \"two\"\n"}}]}
{"choices":[{"index":0,"delta":{"content":"\ud83d"}}]}
{"choices":[{"index":0,"delta":{"content":"\ude00"}}]}
{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
{"choices":[],"usage":{"completion_tokens":4}}
= ["One \"two\"\n😀"]

chat in one piece
{"choices":[{"index":0,"message":{"role":"assistant","content":"One two"}}],"usage":{"completion_tokens":2}}
= ["One two"]

reasoning, then the answer
{"choices":[{"index":0,"delta":{"reasoning_content":"Let me"}}]}
{"choices":[{"index":0,"delta":{"reasoning_content":" see"}}]}
{"choices":[{"index":0,"delta":{"content":"Yes"}}]}
= ["Let me see","Yes"]

reasoning under two names and in parts
{"choices":[{"delta":{"reasoning":"so","reasoning_content":"so","reasoning_details":[{"type":"reasoning.text","text":"so"}]}}]}
{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.summary","summary":" far"},{"type":"reasoning.encrypted","data":"AAAA"}]}}]}
= ["so far"]

two choices that take turns
{"choices":[{"index":0,"delta":{"content":"a"}}]}
{"choices":[{"index":1,"delta":{"content":"x"}}]}
{"choices":[{"index":0,"delta":{"content":"b"}}]}
{"choices":[{"index":1,"delta":{"content":"y"}}]}
= ["ab","xy"]

two choices in one piece
{"choices":[{"index":0,"message":{"content":"a"}},{"message":{"content":"b"},"index":1}]}
= ["a","b"]

tool calls
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"get","arguments":""}}]}}]}
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]}}]}
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"c2","function":{"name":"put","arguments":"{}"}}]}}]}
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}
= ["get","{\"a\":1}","put","{}"]

another choice: no identifier is generated, and its parts are apart
{"choices":[{"index":1,"delta":{"content":"a","tool_calls":[{"index":0,"id":"c1","function":{"name":"get","arguments":"{}"}}]}}]}
{"choices":[{"delta":{"reasoning":"b"},"index":1}]}
= ["a","get","{}","b"]

a function call of old servers, a custom tool, and speech
{"choices":[{"index":0,"delta":{"function_call":{"name":"get","arguments":"{}"}}}]}
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"type":"custom","custom":{"name":"sql","input":"select 1"}}]}}]}
{"choices":[{"index":0,"delta":{"audio":{"id":"x","transcript":"said"}}}]}
= ["get{}said","sql","select 1"]

text alone
{"text":"One"}
{"text":" two"}
= ["One two"]

a refusal
{"choices":[{"index":0,"message":{"content":null,"refusal":"No."}}]}
= ["No."]

completions
{"choices":[{"index":0,"text":"One"}]}
{"choices":[{"index":0,"text":" two","finish_reason":"length"}]}
= ["One two"]

llama.cpp's own endpoint
{"content":"One","stop":false}
{"content":" two","stop":true,"tokens_predicted":2}
= ["One two"]

responses in events
{"type":"response.created","response":{"output":[]}}
{"type":"response.reasoning_text.delta","output_index":0,"delta":"Hm"}
{"type":"response.reasoning_text.done","output_index":0,"text":"Hm"}
{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","content":[{"type":"reasoning_text","text":"Hm"}]}}
{"type":"response.output_text.delta","output_index":1,"delta":"One"}
{"type":"response.output_text.delta","output_index":1,"delta":" two"}
{"type":"response.output_text.done","output_index":1,"text":"One two"}
{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"One two"}]}}
{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{}"}
{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"c","name":"get","arguments":"{}"}}
{"type":"response.completed","response":{"output":[{"type":"message","content":[{"type":"output_text","text":"One two"}]}]}}
= ["Hm","One two","get","{}"]
~ ["Hm","One two","{}"]

responses in one piece
{"output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"Sum"}]},{"type":"message","content":[{"type":"output_text","text":"One"},{"type":"refusal","refusal":"no"}]}]}
= ["Sum","One","no"]

responses: reasoning and a summary of it
{"output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"Sum"}],"content":[{"type":"reasoning_text","text":"All of it"}]}]}
= ["All of it"]

messages in events
{"type":"message_start","message":{"content":[],"usage":{"input_tokens":3}}}
{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}
{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}
{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"AAAA"}}
{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"One"}}
{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"c","name":"get","input":{}}}
{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}
{"type":"message_stop"}
= ["Hm","One","get","{\"a\":1}"]

messages in one piece
{"type":"message","content":[{"type":"thinking","thinking":"Hm","signature":"AAAA"},{"type":"text","text":"One"},{"type":"tool_use","id":"c","name":"get","input":{"a":1}}]}
= ["Hm","One","get","{\"a\":1}"]
`

// TestTexts: what a model generated is read out of what is kept of its answer, and out of whole replies.
func TestTexts(t *testing.T) {
	for _, answer := range strings.Split(strings.Trim(textsOfAnswers, "\n"), "\n\n") {
		name, rest, _ := strings.Cut(answer, "\n")
		rest, last, _ := strings.Cut(rest, "\n= ")
		last, ofWhole, differs := strings.Cut(last, "\n~ ")
		for _, kept := range []bool{false, true} {
			if kept && differs {
				last = ofWhole
			}
			var want []string
			if err := json.Unmarshal([]byte(last), &want); err != nil {
				t.Fatal(name, err)
			}
			var j judge
			s := &backends.Sample{}
			for e := range strings.SplitSeq(rest, "\n") {
				switch ok := j.parser.read([]byte(e), nil); {
				case !ok:
					t.Fatalf("%s: %s", name, e)
				case !kept:
					s.Text = j.parser.appendAnswer(s.Text, []byte(e))
				case !j.repeats() && (j.parser.answer || j.parser.reasoning):
					s.AddText([]byte(e))
				}
			}
			got, ok := connTo(t, chat, kept).Texts(s)
			if diff := cmp.Diff(want, got); diff != "" || !ok {
				t.Errorf("%s, whole replies %t, all of it %t (-want +got):\n%s", name, kept, ok, diff)
			}
		}
	}
}

// TestTextsOfAllOrNone: of an answer that was too long to be kept nothing is counted.
func TestTextsOfAllOrNone(t *testing.T) {
	if _, ok := connTo(t, chat, false).Texts(&backends.Sample{Text: []byte{tagTooLong}}); ok {
		t.Error("an answer that was too long has texts")
	}
	s := &backends.Sample{}
	s.AddText([]byte(`{"content":"a"}`))
	s.AddText(make([]byte, backends.MaxText))
	if _, ok := connTo(t, chat, true).Texts(s); ok {
		t.Error("an answer with a reply that was too long has texts")
	}
	if _, ok := connTo(t, chat, false).Texts(&backends.Sample{}); ok {
		t.Error("an answer of which nothing could be read has texts")
	}
}
