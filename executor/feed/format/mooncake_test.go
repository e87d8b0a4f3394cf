package format

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario"
)

// readText reads a text as a file of a format.
func readText(format, history, text string) (*reader, error) {
	r := newReader(&scenario.Dataset{Format: format, History: history})
	r.from = &Origin{Name: "file"}
	err := r.parse("file", []byte(text))
	if err == nil {
		r.checkSequences()
		r.checkHistory()
	}
	return r, err
}

// show writes records as text, a line each: its place, what it says about itself, and its members.
func show(r *reader) string {
	var lines []string
	for i := range r.Records {
		rec := &r.Records[i]
		words := []string{strconv.Itoa(rec.Number)}
		for _, word := range [...]string{rec.id, rec.Path, rec.Session, string(rec.Timestamp), string(rec.Delay)} {
			if word != "" {
				words = append(words, word)
			}
		}
		if b := rec.Blocks; b != nil {
			words = append(words, fmt.Sprintf("%d/%d%v", b.Tokens, b.Size, b.IDs))
		}
		for _, f := range rec.Inputs {
			words = append(words, f.Name+"="+string(f.Value.Text))
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, "\n")
}

// unreadable is the beginning of an error, and a text that has it.
type unreadable struct{ want, text string }

func TestMooncake(t *testing.T) {
	for text, want := range map[string]string{
		`{"timestamp": 0, "input_length": 1025, "output_length": 52, "hash_ids": [46, 47, 2]}` + "\r\n\n" +
			`{"timestamp": [27.5], "input_length": 10, "output_length": 0}`: `1 0 1025/512[46 47 2] output_tokens=52` +
			"\n" + `3 27.5 10/512[] output_tokens=0`,
		`{"timestamp": 1, "text_input": "a", "input_length": 9, "hash_ids": null}`:     `1 1 text_input="a"`,
		`{"messages": [{}], "tools": [1], "extra": {"seed": 1, "tools": 2}, "top": 1}`: `1 messages=[{}] tools=[1] top=1 seed=1`,
		`{"input_length": 2, "session_id": 7, "delay": 5, "id": "a", "type": "text"}`:  `1 a 7 5 2/512[]`,
		`{"text": "x", "custom_field": "v", "type": "chat"}`:                           `1 text="x" custom_field="v"`,
		`{"input_length": 1, "custom_field": "v"}`:                                     `1 1/512[]`,
		`{"payload": {"model": "m"}}`:                                                  `1 payload={"model": "m"}`,
		`{"chat_id": 1, "timestamp": 61.1, "input_length": 17, "output_length": 2, "turn": 1, "hash_ids": [5, 6]}`: `1 61.1 ` +
			`17/16[5 6] output_tokens=2`,
	} {
		r, err := readText(Mooncake, "", text)
		if got := show(r); err != nil || got != want || len(r.Diags) > 0 {
			t.Errorf("%s:\n got %s\nwant %s\n%v %v", text, got, want, err, r.Diags)
		}
		unit := int64(msec)
		if strings.Contains(text, "chat_id") {
			unit *= 1000
		}
		if r.from.TimeUnit != unit {
			t.Errorf("%s: unit of %d ns", text, r.from.TimeUnit)
		}
	}
}

// TestBailianChats: with their history in them, the rows of a chat are a session.
func TestBailianChats(t *testing.T) {
	const rows = `{"chat_id":1,"parent_chat_id":-1,"input_length":16,"hash_ids":[1]}
{"chat_id":2,"parent_chat_id":-1,"input_length":16,"hash_ids":[2]}
{"chat_id":3,"parent_chat_id":1,"input_length":32,"hash_ids":[1,3]}
{"chat_id":4,"parent_chat_id":3,"input_length":48,"hash_ids":[1,3,4]}
{"chat_id":9,"parent_chat_id":8,"input_length":1,"hash_ids":[7]}`
	r, err := readText(Mooncake, Verbatim, rows)
	want := "1 1 16/16[1]\n2 2 16/16[2]\n3 1 32/16[1 3]\n4 1 48/16[1 3 4]\n5 9 1/16[7]"
	if got := show(r); err != nil || got != want || len(r.Diags) > 0 {
		t.Errorf("%v %v\n got %s\nwant %s", err, r.Diags, got, want)
	}
	r, err = readText(Mooncake, "", rows)
	if got := show(r); err != nil || strings.Contains(got, "3 1 32") {
		t.Errorf("%v: without `history`\n%s", err, got)
	}
}

// TestMooncakeMistakes: rows that make no prompt, and sizes that do not fit, each with its line.
func TestMooncakeMistakes(t *testing.T) {
	for _, c := range []unreadable{
		{"there are no rows in this file", ""},
		{"line 2, column 1: a row is a map", "[]"},
		{"line 2, column 16: ", `{"timestamp": 6`},
		{`line 2, column 37: there is no "input_length"`, `{"timestamp": 6, "output_length": 1}`},
		{`line 2, column 37: there is no "input_length"`, `{"timestamp": 6, "hash_ids": [1, 2]}`},
		{`line 2, column 20: "input_length" must be a whole number from 0 to 2147483647: -1`, `{"input_length": -1}`},
		{`line 2, column 21: "input_length" must be a whole number from 0 to 2147483647: 1.5`, `{"input_length": 1.5}`},
		{`line 2, column 37: "hash_ids" must be a list of whole numbers from 0 on, found "a"`, `{"input_length": 1, "hash_ids": ["a"]}`},
		{`line 2, column 36: "hash_ids" must be a list of whole numbers from 0 on, found -1`, `{"input_length": 1, "hash_ids": [-1]}`},
		{`line 2, column 36: "hash_ids" must be a list of whole numbers, found a string`, `{"input_length": 1, "hash_ids": "x"}`},
		{
			`line 2, column 41: "input_length" is 513, which is 2 blocks of 512 tokens, and "hash_ids" has 1`,
			`{"input_length": 513, "hash_ids": [702]}`,
		},
		{
			`line 2, column 47: "input_length" is 756, which is 2 blocks of 512 tokens, and "hash_ids" has 3`,
			`{"input_length": 756, "hash_ids": [702, 1, 2]}`,
		},
		{`line 2, column 42: some rows of this file have a "chat_id" and others have none`, `{"input_length": 1, "chat_id": 5, "x": 1}`},
		{`line 2, column 15: "chat_id" must be a whole number, found "a"`, `{"chat_id":"a"}`},
		{`line 2, column 32: this row has its prompt twice, as "text" and as "text_input"`, `{"text": "a", "text_input": "b", "a":1}`},
		{`line 2, column 50: this row has "text" and "hash_ids": one of them is the prompt`, `{"text": "a", "input_length": 1, "hash_ids": [1]}`},
	} {
		first := `{"timestamp": 5, "input_length": 1, "output_length": 1}` + "\n"
		if c.text == "" {
			first = ""
		}
		if _, err := readText(Mooncake, "", first+c.text); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
	r := newReader(&scenario.Dataset{})
	r.from, r.rows = &Origin{Name: "trace.jsonl"}, 1
	row := `{"input_length": 1}` + "\n"
	if err := r.readTrace([]byte(row + row)); err == nil || !strings.HasPrefix(err.Error(), "line 2, column") {
		t.Errorf("more rows than there is room for: %v", err)
	}
}

// TestHistory: rows of a session that hold the turns before them are refused, unless they are sent as they
// are.
func TestHistory(t *testing.T) {
	turn := func(messages string) string { return `{"session_id":"s","messages":[` + messages + "]}\n" }
	const a, b = `{"role":"user","content":"a"}`, `{"role": "assistant", "content": "b"}`
	length := func(n int, ids string) string {
		return fmt.Sprintf(`{"session_id":"s","input_length":%d,"hash_ids":[%s]}`+"\n", n, ids)
	}
	body := func(members string) string { return `{"session_id":"s","payload":{` + members + "}}\n" }
	text := func(text string) string { return `{"session_id":"s","text_input":"` + text + "\"}\n" }
	for name, c := range map[string]struct{ text, want string }{
		"messages": {
			turn(a) + turn(strings.ReplaceAll(a, ":", ": ")+","+b+","+a),
			`file, line 2: its messages begin with those of file, line 1, so the rows of session "s" hold their history`,
		},
		"members in another order": {
			turn(a) + turn(`{"content":"a","role":"user"},`+b),
			`file, line 2: its messages begin with those of file, line 1, so the rows of session "s" hold their history`,
		},
		"blocks": {
			length(600, "1,2") + length(1100, "1,5,6"),
			`file, line 2: its hash_ids begin with those of file, line 1, so the rows of session "s" hold their history`,
		},
		"whole bodies": {
			body(`"model":"m","messages":[`+a+"]") + body(`"messages":[`+a+","+b+","+a+`],"model":"m"`),
			`file, line 2: its payload begins with that of file, line 1, so the rows of session "s" hold their history`,
		},
		"whole bodies in lists": {
			strings.ReplaceAll(strings.ReplaceAll(body(`"messages":[`+a+"]"), `{"messages"`, `[{"messages"`), "}}\n", "}]}\n") +
				body(`"messages":[`+a+","+b+`]`),
			`file, line 2: its payload begins with that of file, line 1, so the rows of session "s" hold their history`,
		},
		"whole bodies with a prompt": {
			body(`"prompt":"Why is the sea salty, and the lake not?"`) +
				body(`"prompt":"Why is the sea salty, and the lake not?\nRivers.\nAnd why?"`),
			`file, line 2: its payload begins with that of file, line 1, so the rows of session "s" hold their history`,
		},
		"texts": {
			text("User: why is the sea salty?") + text("User: why is the sea salty?\\nAssistant: rivers.\\nUser: and lakes?"),
			`file, line 2: its text_input begins with that of file, line 1, so the rows of session "s" hold their history`,
		},
		"a message of the whole text": {
			turn(strings.ReplaceAll(a, `"a"`, `"User: why is the sea salty?"`)) +
				turn(strings.ReplaceAll(a, `"a"`, `"User: why is the sea salty? Rivers. And lakes?"`)),
			`file, line 2: its messages begin with those of file, line 1, so the rows of session "s" hold their history`,
		},
		"a text that begins with another's words": {text("And now?") + text("And now? I mean the lakes."), ""},
		"other texts":        {text("User: why is the sea salty?") + text("User: why is the lake not salty?"), ""},
		"other whole bodies": {body(`"messages":[`+a+"]") + body(`"messages":[`+b+","+a+"]"), ""},
		"other messages":     {turn(a) + turn(b+","+a), ""},
		"the same message":   {turn(a) + turn(a), ""},
		"other blocks":       {length(600, "1,2") + length(1100, "3,2,6"), ""},
		"no block is whole":  {length(500, "1") + length(1100, "1,2,3"), ""},
	} {
		r, err := readText(Mooncake, "", c.text)
		got := ""
		if len(r.Diags) > 0 {
			got = r.Diags[0].Summary
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, c.want)
		}
		if r, err := readText(Mooncake, Verbatim, c.text); err != nil || len(r.Diags) > 0 || len(r.Records) != 2 {
			t.Errorf("%s, verbatim: %v %v", name, err, r.Diags)
		}
	}
}

// FuzzRequests: no text of a file of requests makes the reader panic, or fail without a place.
func FuzzRequests(f *testing.F) {
	for i := range requestFormats {
		for _, seed := range []string{
			`{"timestamp": 0, "input_length": 513, "output_length": 52, "hash_ids": [46, 47], "session_id": 1}`,
			"{\"timestamp\": [1e3]}\nnull",
			`[{"id":"a","conversations":[{"from":"human","value":"q"},{"from":"gpt","value":"a"}]}]`,
			`{"messages":[{"role":"system","content":"s"}]}`,
			`{"custom_id":"a","method":"POST","url":"/v1/embeddings","body":{"input":["a"],"model":"m"}}`,
			`{"log":{"entries":[{"startedDateTime":"2025-01-31T10:00:00Z","request":{"method":"POST","url":"/completions",` +
				`"postData":{"text":"{\"prompt\":1}"}}}]}}`,
			"POST http://h/v1/completions\nA: b\n@none\n\n# x\nGET http://h/x",
			`{"method":"POST","url":"http://h/v1/embeddings","body":"e30="}`,
		} {
			f.Add(uint(i), false, seed)
		}
	}
	f.Fuzz(func(t *testing.T, i uint, verbatim bool, text string) {
		history := ""
		if verbatim {
			history = Verbatim
		}
		_, err := readText(requestFormats[i%uint(len(requestFormats))], history, text)
		if err != nil && !strings.HasPrefix(err.Error(), "line ") && !strings.Contains(err.Error(), "no ") {
			t.Errorf("no line in %q", err)
		}
	})
}

var requestFormats = []string{Mooncake, ShareGPT, OpenAIBatch, HAR, Vegeta}
