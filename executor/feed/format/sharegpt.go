package format

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/scenario/source"
)

// ShareGPT is the format of recorded conversations, in a list or one a line:
//
//	conversation := { "conversations": [turn, …] [, "id": text] }
//	turn         := { "from": who, "value": text } | { "role": who, "content": text }
//	who          := system | human | user | gpt | chatgpt | bing | bard | assistant | model
//
// Each question that was answered is a turn of a session. With `history: verbatim` it has the recorded turns
// before it, with `history: append` those without an answer. Without either the first question of each
// conversation is a request by itself.
const ShareGPT = "sharegpt"

// Roles of turns in a request.
const (
	roleSystem    = "system"
	roleUser      = "user"
	roleAssistant = "assistant"
)

// speakers are the roles by the names that conversations have for them.
var speakers = map[string]string{
	"system": roleSystem, "human": roleUser, "user": roleUser, "gpt": roleAssistant, "chatgpt": roleAssistant,
	"bing": roleAssistant, "bard": roleAssistant, "assistant": roleAssistant, "model": roleAssistant,
}

// spoken is one turn: the role, and the text as JSON.
type spoken struct {
	role string
	text []byte
}

// conversations reads the conversations of one file.
type conversations struct {
	*reader
	left  int    // conversations that make no request …
	first string // … the first of them, and why
}

func (r *reader) readShareGPT(data []byte) error {
	if r.whole {
		return errors.New("conversations are for targets that take text, this one takes whole bodies")
	}
	s := conversations{reader: r}
	before := len(r.Records)
	err := s.read(data)
	switch {
	case err != nil:
		return err
	case len(r.Records) == before:
		return fmt.Errorf("no conversation makes a request: %s", s.first)
	case s.left > 0:
		r.Diags = append(r.Diags, source.Warnf(codeFile, "%s: conversations that are left out: %d, first %s",
			r.from.Name, s.left, s.first).At("", r.from.Pos, 0))
	}
	return nil
}

func (s *conversations) read(data []byte) error {
	if b := bytes.TrimSpace(data); len(b) == 0 || b[0] != '[' {
		return s.eachLine(data, s.row)
	}
	s.from.Unit = "conversation"
	c := jsonscan.Strict(data)
	number := 0
	for c.Enter('['); c.More(']'); number++ {
		s.row(&c, number)
	}
	c.End()
	if c.OK() && number == 0 {
		return errors.New("there are no conversations in this file")
	}
	return c.Mistake()
}

// row reads a conversation.
func (s *conversations) row(c *jsonscan.Scanner, number int) {
	if c.Peek() != '{' {
		c.Fail("a conversation is a map, found %s", jsonscan.Kind(c.Rest()))
		return
	}
	rec := Record{From: s.from, Stream: -1, Number: number}
	var turns []spoken
	found, unknown := false, ""
	for c.Enter('{'); c.More('}'); {
		switch string(c.Key()) {
		case "id":
			rec.about("id", Value{Form: JSONAny, Text: c.Value()})
		case "conversations", "conversation", "messages":
			found = true
			turns, unknown = readTurns(c)
		default:
			c.Skip()
		}
	}
	switch {
	case !c.OK():
	case !found:
		c.Fail(`there is no "conversations" in this row`)
	case unknown != "":
		s.leave(rec.Name() + ", which has a turn of " + strconv.Quote(unknown))
	default:
		if !s.requests(c, &rec, turns) {
			s.leave(rec.Name() + ", without a question that was answered")
		}
	}
}

func (s *conversations) leave(why string) {
	if s.left++; s.left == 1 {
		s.first = why
	}
}

// readTurns reads the turns of a conversation. unknown is the name of a speaker that is none; "": all are.
func readTurns(c *jsonscan.Scanner) (turns []spoken, unknown string) {
	for c.Enter('['); c.More(']'); {
		var t spoken
		for c.Enter('{'); c.More('}'); {
			switch string(c.Key()) {
			case "from", "role":
				who := string(c.Text())
				if t.role = speakers[who]; t.role == "" {
					unknown = who
				}
			case "value", "content":
				if c.Peek() != '"' {
					c.Fail("the text of a turn is a string, found %s", jsonscan.Kind(c.Rest()))
				}
				t.text = c.Value()
			default:
				c.Skip()
			}
		}
		if c.OK() && (t.text == nil || t.role == "" && unknown == "") {
			c.Fail(`a turn is {"from": who, "value": text}`)
		}
		turns = append(turns, t)
	}
	return turns, unknown
}

// requests adds a record for each question that was answered, and reports whether there is one.
func (s *conversations) requests(c *jsonscan.Scanner, rec *Record, turns []spoken) bool {
	session, verbatim := s.dataset.History != "", s.dataset.History == Verbatim
	found := false
	var said []byte // the messages up to now, without brackets
	for i, t := range turns {
		if t.role == roleAssistant && (said == nil || !verbatim) {
			continue // an answer without a question, or not to be sent
		}
		if len(said) > 0 {
			said = append(said, ',')
		}
		said = append(said, `{"role":"`+t.role+`","content":`...)
		said = append(append(said, t.text...), '}')
		if t.role != roleUser || i+1 == len(turns) || turns[i+1].role != roleAssistant {
			continue
		}
		if err := s.room(); err != nil {
			c.Fail("%s", err)
			return true
		}
		one := *rec
		one.Inputs = question(said, t)
		if session {
			one.Session = s.from.Name + " " + strconv.Itoa(rec.Number)
		}
		s.Records = append(s.Records, one)
		if found = true; !session {
			break
		}
		if !verbatim {
			said = nil
		}
	}
	return found
}

// question returns the member of a request: the text of a question that nothing was said before, which every
// endpoint takes, else all messages.
func question(said []byte, t spoken) []Field {
	if alone := len(said) == len(`{"role":"user","content":}`)+len(t.text); alone {
		return []Field{{Name: "prompt", Value: Value{Form: JSONAny, Text: t.text}}}
	}
	text := append(append(append(make([]byte, 0, len(said)+2), '['), said...), ']')
	return []Field{{Name: "messages", Value: Value{Form: JSONAny, Text: text}}}
}
