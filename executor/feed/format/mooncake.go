package format

import (
	"math"
	"slices"
	"strconv"

	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// Mooncake is the format of a trace of requests to a language model, a row a line:
//
//	row    := { "timestamp": number, prompt [, "output_length": n] [, member …] }
//	prompt := "input_length": n [, "hash_ids": [id, …]] | "text_input": text | "messages": [message, …]
//	        | "payload": whole body
//	member := "tools": … | "session_id": text | "delay": number | "extra": {name: value, …}
//
// input_length counts the tokens of the prompt, and hash_ids names its blocks of 512 tokens, of which the
// last may be shorter: blocks with the same id have the same text. Bailian's traces, whose rows have a
// chat_id, have blocks of 16 tokens and times in s; with `history: verbatim` the rows of a chat, which name
// the one before by its parent_chat_id, are a session. Other members go into the body of a row with a text or
// messages, as GenAI-Perf sends them, and are skipped in rows of lengths.
const Mooncake = "mooncake"

// Sizes of blocks, in tokens.
const (
	mooncakeBlock = 512
	bailianBlock  = 16
)

const (
	inputLength  = "input_length"
	outputLength = "output_length"
	hashIDs      = "hash_ids"
	chatID       = "chat_id"
	payload      = "payload"
)

// Blocks is a prompt of which only the length is known, and which parts it shares with others.
type Blocks struct {
	Tokens int64
	Size   int64    // tokens of a block
	IDs    []uint64 // of the blocks; nil: the prompt shares nothing
}

// traceRows reads the rows of one trace.
type traceRows struct {
	*reader
	chats bool              // the rows are Bailian's
	known bool              // whether they are
	roots map[string]string // first rows of their chats by chat_id
}

func (r *reader) readTrace(data []byte) error {
	r.from.TimeUnit = msec
	t := traceRows{reader: r}
	return r.eachLine(data, t.row)
}

// traceRow is a row that is being read.
type traceRow struct {
	Record
	blocks Blocks
	prompt string // name of the member that is the prompt; "": none is
	length bool   // there is an input_length
	chat   string // chat_id; "": it has none
	parent string // chat_id of the row before; "": there is none
	extra  []Field
	other  []Field
}

func (t *traceRows) row(c *jsonscan.Scanner, number int) {
	if c.Peek() != '{' {
		c.Fail("a row is a map, found %s", jsonscan.Kind(c.Rest()))
		return
	}
	if err := t.room(); err != nil {
		c.Fail("%s", err)
		return
	}
	row := traceRow{Record: Record{From: t.from, Stream: -1, Number: number}}
	for c.Enter('{'); c.More('}'); {
		row.member(c, t.fields.name(c.Key()))
	}
	if row.prompt != "" && row.prompt != payload {
		row.Inputs = append(row.Inputs, row.other...)
	}
	for _, f := range row.extra { // the row's own members win
		if v, _ := Find(row.Inputs, f.Name); v == nil {
			row.Inputs = append(row.Inputs, f)
		}
	}
	t.check(c, &row)
	if t.chats && t.dataset.History == Verbatim {
		row.Session = t.root(&row)
	}
	if body, _ := Find(row.Inputs, payload); t.whole && body != nil {
		row.Body, row.Type, row.Inputs = body.Text, mediaJSON, nil
	}
	t.Records = append(t.Records, row.Record)
}

// member reads a member of a row.
func (row *traceRow) member(c *jsonscan.Scanner, name string) {
	switch name {
	case inputLength:
		row.blocks.Tokens, row.length = tokens(c, name)
	case outputLength:
		if n, ok := tokens(c, name); ok {
			row.put("output_tokens", strconv.AppendInt(nil, n, 10))
		}
	case hashIDs:
		row.blocks.IDs = blocks(c)
	case chatID:
		row.chat = number(c, name)
	case "parent_chat_id":
		row.parent = number(c, name)
	case "text_input", "text", "prompt", "messages", payload:
		if row.put(name, c.Value()) {
			if row.prompt != "" {
				c.Fail("this row has its prompt twice, as %q and as %q", row.prompt, name)
			}
			row.prompt = name
		}
	case "tools":
		row.put(name, c.Value())
	case "extra":
		for c.Enter('{'); c.More('}'); {
			name := string(c.Key())
			row.extra = append(row.extra, Field{Name: name, Value: Value{Form: JSONAny, Text: c.Value()}})
		}
	case TimestampKey, "session_id", "delay", "id":
		row.about(name, Value{Form: JSONAny, Text: c.Value()})
	case "message_mode", "type", "turn": // say how a trace was recorded
		c.Skip()
	default:
		row.other = append(row.other, Field{Name: name, Value: Value{Form: JSONAny, Text: c.Value()}})
	}
}

// put adds a member of the request, unless it is null, and reports whether it did.
func (row *traceRow) put(name string, text []byte) bool {
	if len(text) == 0 || string(text) == "null" {
		return false
	}
	row.Inputs = append(row.Inputs, Field{Name: name, Value: Value{Form: JSONAny, Text: text}})
	return true
}

// check refuses rows without a prompt, with two, and sizes that contradict each other.
func (t *traceRows) check(c *jsonscan.Scanner, row *traceRow) {
	if !t.known {
		t.known, t.chats = true, row.chat != ""
		if t.chats {
			t.from.TimeUnit = 1000 * msec
		}
	}
	b := &row.blocks
	b.Size = mooncakeBlock
	if t.chats {
		b.Size = bailianBlock
	}
	need := (b.Tokens + b.Size - 1) / b.Size
	switch {
	case (row.chat != "") != t.chats:
		c.Fail("some rows of this file have a %q and others have none", chatID)
	case row.prompt != "" && b.IDs != nil:
		c.Fail("this row has %q and %q: one of them is the prompt", row.prompt, hashIDs)
	case t.whole && row.prompt != payload:
		c.Fail("the target takes whole bodies, and this row has no %q", payload)
	case row.prompt != "": // its length is what it is
	case !row.length:
		c.Fail("there is no %q in this row, and no text_input, messages or payload", inputLength)
	case b.IDs != nil && int64(len(b.IDs)) != need:
		c.Fail("%q is %d, which is %d blocks of %d tokens, and %q has %d", inputLength, b.Tokens, need,
			b.Size, hashIDs, len(b.IDs))
	default:
		row.Blocks = &Blocks{Tokens: b.Tokens, Size: b.Size, IDs: slices.Clip(b.IDs)}
	}
}

// root returns the first chat_id of the chat that a row belongs to.
func (t *traceRows) root(row *traceRow) string {
	root, known := t.roots[row.parent]
	if !known {
		root = row.chat
	}
	if t.roots == nil {
		t.roots = map[string]string{}
	}
	t.roots[row.chat] = root
	return root
}

// number reads a whole number, and returns its text.
func number(c *jsonscan.Scanner, key string) string {
	text := string(c.Value())
	if _, err := strconv.ParseInt(text, 10, 64); err != nil {
		c.Fail("%q must be a whole number, found %s", key, text)
	}
	return text
}

// tokens reads a number of tokens, and reports whether there is one.
func tokens(c *jsonscan.Scanner, key string) (n int64, ok bool) {
	text := string(c.Value())
	v, err := strconv.ParseUint(text, 10, 31)
	if err != nil && text != "null" {
		c.Fail("%q must be a whole number from 0 to %d: %s", key, math.MaxInt32, text)
	}
	return int64(v), text != "null"
}

// blocks reads the numbers of a prompt's blocks.
func blocks(c *jsonscan.Scanner) (ids []uint64) {
	if c.Peek() != '[' {
		if text := c.Value(); string(text) != "null" {
			c.Fail(`"hash_ids" must be a list of whole numbers, found %s`, jsonscan.Kind(text))
		}
		return nil
	}
	ids = []uint64{}
	for c.Enter('['); c.More(']'); {
		text := c.Value()
		id, err := strconv.ParseUint(string(text), 10, 64)
		if err != nil {
			c.Fail(`"hash_ids" must be a list of whole numbers from 0 on, found %s`, text)
		}
		ids = append(ids, id)
	}
	return ids
}
