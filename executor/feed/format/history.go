package format

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// Verbatim is the history of a dataset whose turns are sent as they are.
const Verbatim = "verbatim"

// checkHistory refuses turns of a session that hold the turns before them, unless they are to be sent as
// they are: the history would be sent twice.
func (r *reader) checkHistory() {
	if r.dataset.History == Verbatim {
		return
	}
	last := map[string]*Record{}
	for i := range r.Records {
		rec := &r.Records[i]
		if rec.Session == "" {
			continue
		}
		if before := last[rec.Session]; before != nil {
			what := repeats(before, rec)
			if what != "" {
				r.fail(rec.From.Pos, "history", "%s: its %s of %s, so the rows of session %q "+
					"hold their history", rec.Name(), what, before.Name(), rec.Session).
					Help("write `history: verbatim`, and each row is sent as it is")
				return
			}
		}
		last[rec.Session] = rec
	}
}

// repeats says which member of a row begins with that of the row before; "": none does.
func repeats(before, rec *Record) string {
	what, first := talkOf(before)
	_, then := talkOf(rec)
	switch {
	case len(first) > 0 && len(then) > len(first) && slices.EqualFunc(first, then[:len(first)], bytes.Equal):
		return beginsWith(what)
	case len(first) == 1 && len(then) == 1 && continues(first[0], then[0]):
		return beginsWith(what)
	case before.Blocks != nil && rec.Blocks != nil:
		whole := before.Blocks.IDs[:min(int(before.Blocks.Tokens/before.Blocks.Size), len(before.Blocks.IDs))]
		if len(whole) > 0 && len(rec.Blocks.IDs) > len(whole) &&
			slices.Equal(whole, rec.Blocks.IDs[:len(whole)]) {
			return beginsWith(hashIDs)
		}
	}
	return ""
}

func beginsWith(member string) string {
	if strings.HasSuffix(member, "s") {
		return member + " begin with those"
	}
	return member + " begins with that"
}

// leastPrefix is the length of a text in bytes from which on it is no chance that another begins with it: a
// turn may begin with the words "And" or "Tell me".
const leastPrefix = 24

// continues reports whether a text, or a message of one text, begins with all of another and goes on.
func continues(first, then []byte) bool {
	a, b := textIn(first), textIn(then)
	return len(a) >= leastPrefix && len(b) > len(a) && strings.HasPrefix(b, a)
}

// textIn returns a JSON string, or the content of a message that is one; "" for anything else.
func textIn(value []byte) (text string) {
	var message struct{ Content string }
	if json.Unmarshal(value, &text) != nil && json.Unmarshal(value, &message) == nil {
		text = message.Content
	}
	return text
}

// talkMembers are the members of a row or a whole body that are a list of messages, or a text.
var talkMembers = []string{"messages", "input", "prompt", "text", "text_input"}

// talkOf returns what a row says, as messages in one form or as one text, and the name of its member; "",
// nil: neither.
func talkOf(rec *Record) (string, [][]byte) {
	if v, _ := Find(rec.Inputs, payload); v != nil {
		return payload, talkInBody(v.Text)
	}
	if rec.Body != nil {
		return "body", talkInBody(rec.Body)
	}
	for _, name := range talkMembers {
		if v, _ := Find(rec.Inputs, name); v != nil {
			if v.Form == Cell && name != talkMembers[0] {
				text, _ := json.Marshal(string(v.Text)) // a string has JSON
				return name, [][]byte{text}
			}
			return name, talkIn(v.Text)
		}
	}
	return "", nil
}

// talkInBody returns what a whole body says; perf_analyzer's files have a list of one body.
func talkInBody(body []byte) [][]byte {
	if body = bytes.TrimSpace(body); bytes.HasPrefix(body, []byte{'['}) {
		if list := elements(body); len(list) == 1 {
			body = list[0]
		}
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return nil
	}
	for _, name := range talkMembers {
		if text := members[name]; text != nil {
			return talkIn(text)
		}
	}
	return nil
}

// talkIn returns the elements of a list, or a text as one element. perf_analyzer's files have a text in a
// list of one.
func talkIn(value []byte) [][]byte {
	switch value = bytes.TrimSpace(value); {
	case bytes.HasPrefix(value, []byte{'['}):
		return elements(value)
	case bytes.HasPrefix(value, []byte{'"'}):
		return [][]byte{value}
	}
	return nil
}

// elements returns the elements of a JSON list in one form: without white space, members by name.
func elements(text []byte) (list [][]byte) {
	c := jsonscan.Strict(text)
	for c.Enter('['); c.More(']'); {
		text := c.Value()
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var v any
		one, err := []byte(nil), d.Decode(&v)
		if err == nil {
			one, err = json.Marshal(v)
		}
		if err != nil {
			one = bytes.Clone(text)
		}
		list = append(list, one)
	}
	return list
}
