package format

import (
	"strings"
	"testing"
)

func TestShareGPT(t *testing.T) {
	const talk = `{"id":"c","conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"b"},` +
		`{"from":"human","value":"c\n"},{"from":"gpt","value":"d"},{"from":"human","value":"e"}]}`
	const brief = `{"messages":[{"role":"system","content":"S"},{"role":"user","content":"a"},` +
		`{"role":"assistant","content":"b"}]}`
	const briefly = `messages=[{"role":"system","content":"S"},{"role":"user","content":"a"}]`
	const second = `[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c\n"}]`
	const silent = `{"id":"x","conversations":[{"from":"gpt","value":"b"},{"from":"human","value":"a"}]}`
	for name, c := range map[string]struct{ history, text, want, warning string }{
		"first turns": {"", "[" + talk + ", " + brief + "]", "0 c prompt=\"a\"\n1 " + briefly, ""},
		"a line each": {"", talk + "\n\n" + brief, "1 c prompt=\"a\"\n3 " + briefly, ""},
		"all turns":   {Verbatim, "[" + talk + "]", "0 c file 0 prompt=\"a\"\n0 c file 0 messages=" + second, ""},
		"own turns":   {"append", "[" + talk + "]", "0 c file 0 prompt=\"a\"\n0 c file 0 prompt=\"c\\n\"", ""},
		"an answer first": {
			"", `[{"conversation":[{"from":"gpt","value":"-"},{"from":"user","value":"a"},{"from":"model","value":"b"}]}]`,
			`0 prompt="a"`, "",
		},
		"left out": {
			"", "[" + silent + "," + talk + `,{"conversations":[]},{"conversations":[{"from":"tool","value":"x"}]}]`,
			`1 c prompt="a"`,
			`file: conversations that are left out: 3, first file, conversation 0 ("x"), without a question that was answered`,
		},
		"another speaker": {
			"", `[{"conversations":[{"from":"tool","value":"x"}]},` + talk + "]", `1 c prompt="a"`,
			`file: conversations that are left out: 1, first file, conversation 0, which has a turn of "tool"`,
		},
	} {
		r, err := readText(ShareGPT, c.history, c.text)
		warning := ""
		if len(r.Diags) > 0 {
			warning = r.Diags[0].Summary
		}
		if got := show(r); err != nil || got != c.want || warning != c.warning {
			t.Errorf("%s:\n got %s\nwant %s\n%v\n%s", name, got, c.want, err, warning)
		}
	}
	for _, c := range []unreadable{
		{"there are no conversations in this file", "[]"},
		{"there are no rows in this file", ""},
		{"line 2, column 2: a conversation is a map, found a number", "[\n 5]"},
		{`line 1, column 10: there is no "conversations" in this row`, `[{"id":1}]`},
		{"line 1, column 49: the text of a turn is a string, found a list", `{"conversations":[{"from":"human","value":      []}]}`},
		{`line 1, column 32: a turn is {"from": who, "value": text}`, `{"conversations":[{"value":"x"}]}`},
		{"line 1, column ", `{"conversations":5}`},
		{"line 2, column ", "[\n" + talk},
		{`no conversation makes a request: file, conversation 0 ("x"), without a question that was answered`, "[" + silent + "]"},
	} {
		if _, err := readText(ShareGPT, "", c.text); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestOpenAIBatch(t *testing.T) {
	const chat = `{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt","messages":[{}],` +
		`"max_tokens":5,"stream":false}}`
	const embed = `{"custom_id":2,"url":"/v1/embeddings","body":{"input":["a","b"]}}`
	r, err := readText(OpenAIBatch, "", chat+"\n\n"+embed)
	want := "1 a /v1/chat/completions messages=[{}] max_tokens=5\n" + `3 2 /v1/embeddings input=["a","b"]`
	if got := show(r); err != nil || got != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	for _, c := range []unreadable{
		{"there are no rows in this file", "\n"},
		{"line 2, column 1: a row is a map, found a list", "[]"},
		{`line 2, column 14: there is no "body" in this row`, `{"url":"/v1"}`},
		{`line 2, column 16: method is "GET": requests of a batch are POST`, `{"method":"GET","body":{}}`},
		{`line 2, column 21: duplicate "a"`, `{"body":{"a":1,"a":2}}`},
		{"line 2, column ", `{"body":[]}`},
		{"line 2, column ", `{"url":5}`},
	} {
		if _, err := readText(OpenAIBatch, "", embed+"\n"+c.text); c.text != "\n" &&
			(err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}
