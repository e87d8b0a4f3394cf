package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// turn is what a call keeps so that a conversation can go on with it.
type turn struct {
	path    string
	headers []backends.Header
	// Of a call of Continue: the messages before its own, each with a comma behind it, and its own without
	// brackets.
	history, own []byte
}

// maxHistory bounds the messages of a conversation, bytes.
const maxHistory = 64 << 20

// Continues implements backends.Continuer.
func (c *conn) Continues(call *backends.Call) error {
	_, _, _, err := c.split(bodyOf(call, 0))
	return err
}

// bodyOf returns the body of a call of Prepare as it is sent in the request with an id.
func bodyOf(call *backends.Call, id uint64) []byte {
	e := call.Impl.(*expectation)
	if len(e.holes) == 0 {
		return call.Body[0]
	}
	body := slices.Concat(e.front, call.Body[0])
	for _, h := range e.holes {
		copy(body[h.At:int(h.At)+int(h.Width)], call.Vary.Word(h.Field, id))
	}
	return body
}

// SentBody implements backends.Recaller.
func (c *conn) SentBody(call *backends.Call, id uint64) []byte {
	e, ok := call.Impl.(*expectation)
	switch {
	case !ok:
		return nil
	case len(e.holes) > 0:
		return bodyOf(call, id)
	}
	return bytes.Join(call.Body, nil)
}

// split cuts a body around the elements of its list of messages.
func (c *conn) split(body []byte) (before, own, after []byte, err error) {
	if e := c.target.Endpoint; e == completions || !generates(e) {
		return nil, nil, nil, fmt.Errorf("endpoint %s holds no messages that an answer could be put among", e)
	}
	name := conversation(c.target.Endpoint)
	for s := jsonscan.Strict(body); s.OK(); {
		for s.Enter('{'); s.More('}'); {
			if string(s.Key()) != name || s.Peek() != '[' {
				s.Skip()
				continue
			}
			start := s.Offset()
			list := s.Value()
			own = bytes.TrimSpace(list[1 : len(list)-1])
			before, after = body[:start+1], body[start+len(list)-1:]
		}
		break
	}
	if len(own) == 0 {
		return nil, nil, nil, fmt.Errorf("the request has no list %q with messages", name)
	}
	return before, own, after, nil
}

// Continue implements backends.Continuer.
func (c *conn) Continue(prev, next *backends.Call, reply *backends.Sample) (*backends.Call, error) {
	before, own, after, err := c.split(bodyOf(next, reply.ID))
	if err != nil {
		return nil, err
	}
	e, last := *next.Impl.(*expectation), prev.Impl.(*expectation)
	e.front, e.holes = nil, nil
	said := last.own
	if said == nil {
		if _, said, _, err = c.split(bodyOf(prev, reply.ID)); err != nil {
			return nil, err
		}
	}
	if _, ok := c.frames(reply); !ok {
		return nil, fmt.Errorf("the answer is longer than %d MiB", maxAnswer>>20)
	}
	a := c.answer(reply)
	message, err := a.encode(c.target.Endpoint)
	if err != nil {
		return nil, err
	}
	if e.own, err = a.addressed(own); err != nil {
		return nil, err
	}
	e.history = append(append(last.history, said...), ',')
	e.history = append(append(e.history, message...), ',')
	if len(e.history) > maxHistory {
		return nil, fmt.Errorf("the messages of the conversation are more than %d MiB", maxHistory>>20)
	}
	call := *next
	call.Vary = nil
	call.Impl, call.Body = &e, [][]byte{before, e.history, e.own, after}
	return &call, c.head(&call, &e)
}

// answer is the answer of a reply. Its texts are the insides of JSON strings.
type answer struct {
	text  []byte
	calls []toolCall
}

type toolCall struct{ id, name, arguments, object []byte }

// answer reads the answer that a sample keeps.
func (c *conn) answer(reply *backends.Sample) (a answer) {
	list, _ := c.frames(reply)
	numbers := map[byte]int{}
	for len(list) >= frameHead {
		var tag, number byte
		var value []byte
		switch tag, number, value, list = frame(list); tag {
		case tagText:
			a.text = append(a.text, value...)
			continue
		case tagReasoning, tagOther:
			continue
		}
		at, known := numbers[number]
		if !known {
			at = len(a.calls)
			numbers[number], a.calls = at, append(a.calls, toolCall{})
		}
		switch call := &a.calls[at]; tag {
		case tagID:
			call.id = value
		case tagName:
			call.name = append(call.name, value...)
		case tagArguments:
			call.arguments = append(call.arguments, value...)
		case tagObject:
			call.object = value
		}
	}
	return a
}

// frames returns the frames of the answer that a sample keeps; false: it was too long.
func (c *conn) frames(reply *backends.Sample) (list []byte, ok bool) {
	if !c.target.KeepReplies {
		return reply.Text, len(reply.Text) != 1 || reply.Text[0] != tagTooLong
	}
	ok = true
	for _, text := range reply.Replies() {
		ok = ok && len(text) > 0
		list = appendFrames(list, bytes.TrimSpace(bytes.TrimPrefix(text, eventStart)), true)
	}
	return list, ok
}

// Texts implements backends.Texter.
func (c *conn) Texts(reply *backends.Sample) (texts []string, ok bool) {
	list, ok := c.frames(reply)
	raw := map[[2]byte][]byte{} // by tag and number
	var order [][2]byte
	for len(list) >= frameHead {
		var key [2]byte
		var value []byte
		switch key[0], key[1], value, list = frame(list); key[0] {
		case tagID: // the server makes it
			continue
		case tagText, tagReasoning:
			key[1] = 0
		}
		if _, known := raw[key]; !known {
			order = append(order, key)
		}
		raw[key] = append(raw[key], value...)
	}
	for _, key := range order {
		text := raw[key]
		if key[0] != tagObject {
			plain, whole := jsonscan.Unescape(text)
			if !whole {
				return nil, false
			}
			text = plain
		}
		texts = append(texts, string(text))
	}
	return texts, ok && len(texts) > 0
}

// encode returns the messages that repeat the answer to the server, with commas between them.
func (a *answer) encode(endpoint string) (list []byte, err error) {
	text := quoted(a.text)
	switch endpoint {
	case messages:
		list, err = a.encodeBlocks(text)
	case responses:
		if len(a.text) > 0 || len(a.calls) == 0 {
			list = slices.Concat([]byte(`{"role":"assistant","content":`), text, []byte("}"))
		}
		for _, call := range a.calls {
			if len(list) > 0 {
				list = append(list, ',')
			}
			list = slices.Concat(list, []byte(`{"type":"function_call","call_id":`), quoted(call.id),
				[]byte(`,"name":`), quoted(call.name), []byte(`,"arguments":`), quoted(call.arguments), []byte("}"))
		}
	default:
		list = slices.Concat([]byte(`{"role":"assistant","content":`), text)
		for i, call := range a.calls {
			open := ","
			if i == 0 {
				open = `,"tool_calls":[`
			}
			list = slices.Concat(list, []byte(open+`{"id":`), quoted(call.id),
				[]byte(`,"type":"function","function":{"name":`), quoted(call.name),
				[]byte(`,"arguments":`), quoted(call.arguments), []byte("}}"))
		}
		if len(a.calls) > 0 {
			list = append(list, ']')
		}
		list = append(list, '}')
	}
	return list, err
}

// encodeBlocks returns the answer as a message of the messages endpoint, whose texts may not be empty.
func (a *answer) encodeBlocks(text []byte) ([]byte, error) {
	list := []byte(`{"role":"assistant","content":[`)
	if len(a.text) > 0 {
		list = slices.Concat(list, []byte(`{"type":"text","text":`), text, []byte("}"))
	}
	for i, call := range a.calls {
		input := call.object
		if len(call.arguments) > 0 {
			input, _ = jsonscan.Unescape(call.arguments)
		}
		if !json.Valid(input) {
			input = []byte("{}")
		}
		if i > 0 || len(a.text) > 0 {
			list = append(list, ',')
		}
		list = slices.Concat(list, []byte(`{"type":"tool_use","id":`), quoted(call.id), []byte(`,"name":`),
			quoted(call.name), []byte(`,"input":`), input, []byte("}"))
	}
	if len(a.text)+len(a.calls) == 0 {
		return nil, errors.New("the answer has neither text nor tool calls")
	}
	return append(list, "]}"...), nil
}

// quoted returns the JSON string with this inside, mended if servers have sent what no string may hold.
func quoted(raw []byte) []byte {
	text := slices.Concat([]byte{'"'}, raw, []byte{'"'})
	if json.Valid(text) {
		return text
	}
	plain, ok := jsonscan.Unescape(raw)
	if !ok || len(plain) == 0 {
		plain = raw
	}
	text, _ = encoded(string(plain)) // a string has JSON
	return text
}

// resultIDs are the names under which results of tools name their call.
var resultIDs = []string{"tool_call_id", "tool_use_id", "call_id"}

// addressed returns messages whose results of tools are for the calls of the answer: those that the data
// names, in the order in which they come, become its calls.
func (a *answer) addressed(own []byte) ([]byte, error) {
	if !slices.ContainsFunc(resultIDs, func(name string) bool { return bytes.Contains(own, []byte(`"`+name+`"`)) }) {
		return own, nil
	}
	s := jsonscan.Strict(slices.Concat([]byte("["), own, []byte("]")))
	var out []byte
	known, done := map[string]int{}, 0
	for s.Enter('['); s.More(']'); {
		if said(s.Rest()) { // an answer that was recorded, and what follows it
			break
		}
		if !a.readdress(&s, known, func(start, end int, id []byte) {
			out = append(append(out, own[done:start-1]...), id...)
			done = end - 1
		}) {
			return nil, fmt.Errorf("the turn has the results of %d tool calls, and the answer before it made %d",
				len(known), len(a.calls))
		}
	}
	return append(out, own[done:]...), nil
}

// said reports whether a message is an answer: of the assistant, or a call.
func said(message []byte) bool {
	s := jsonscan.Lenient(message)
	if s.Peek() != '{' {
		return false
	}
	for s.Enter('{'); s.More('}'); {
		switch key := string(s.Key()); {
		case (key == "role" || key == "type") && s.Peek() == '"':
			if word := string(s.Text()); word == "assistant" || word == "function_call" {
				return true
			}
		default:
			s.Skip()
		}
	}
	return false
}

// readdress calls put for each identifier of a call in a message. It returns false if the answer has too
// few calls.
func (a *answer) readdress(s *jsonscan.Scanner, known map[string]int, put func(start, end int, id []byte)) bool {
	ok := true
	switch s.Peek() {
	case '[':
		for s.Enter('['); s.More(']'); {
			ok = a.readdress(s, known, put) && ok
		}
	case '{':
		for s.Enter('{'); s.More('}'); {
			key := string(s.Key())
			switch next := s.Peek(); {
			case slices.Contains(resultIDs, key) && next == '"':
				start := s.Offset()
				id := string(s.Value())
				at, named := known[id]
				if !named {
					at = len(known)
					known[id] = at
				}
				if at >= len(a.calls) {
					ok = false
					continue
				}
				put(start, s.Offset(), quoted(a.calls[at].id))
			case key == "content" && next == '[':
				ok = a.readdress(s, known, put) && ok
			default:
				s.Skip()
			}
		}
	default:
		s.Skip()
	}
	return ok
}
