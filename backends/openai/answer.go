package openai

import (
	"encoding/binary"

	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// An answer is kept in Sample.Text, for the next turn of its conversation, as frames:
//
//	frame   := tag, number of its tool call (modulo 256), length of value (4 bytes, little-endian), value
//	tag     value
//	'c'     a part of the text: the inside of a JSON string
//	'i'     identifier of a tool call: the same
//	'n'     name of its function: the same
//	'a'     a part of its arguments: the same
//	'o'     all of its arguments: a JSON object
//
// Reasoning is left out: servers do not take it back.
const (
	tagText      = 'c'
	tagID        = 'i'
	tagName      = 'n'
	tagArguments = 'a'
	tagObject    = 'o'
	frameHead    = 6
	// tagTooLong alone stands for an answer of more than maxAnswer bytes.
	tagTooLong = 'x'
)

// maxAnswer bounds an answer that is kept, bytes.
const maxAnswer = 16 << 20

// answerReader appends what one event, or a whole reply, adds to an answer, without allocations once the
// buffer is large enough. See parser for the shapes.
type answerReader struct {
	jsonscan.Scanner
	dst   []byte
	depth int
}

// appendAnswer appends the frames of an event or a whole reply to dst.
func appendAnswer(dst, text []byte) []byte {
	r := answerReader{Scanner: jsonscan.Lenient(text), dst: dst}
	if r.Peek() == '{' {
		r.top()
	}
	return r.dst
}

// put appends a frame, unless its value is empty.
func (r *answerReader) put(tag byte, call int64, value []byte) {
	if len(value) == 0 {
		return
	}
	r.dst = append(r.dst, tag, byte(call))
	r.dst = binary.LittleEndian.AppendUint32(r.dst, uint32(len(value)))
	r.dst = append(r.dst, value...)
}

// raw reads a value and returns the inside of a string, nil for any other.
func (r *answerReader) raw() []byte {
	if r.Peek() != '"' {
		r.Skip()
		return nil
	}
	raw, _ := r.Raw()
	return raw
}

// top reads the members of the event itself.
func (r *answerReader) top() {
	var kind, delta []byte
	index := int64(0)
	item, block := -1, len(r.dst) // where an item of the responses endpoint begins, and a block of messages
	for r.Enter('{'); r.More('}'); {
		switch string(r.Key()) {
		case "choices":
			r.list(func(int64) { r.choice() })
		case "type":
			kind = r.raw()
		case "index", "output_index":
			index = r.Dimension()
			for at := block; at < len(r.dst); at += frameHead + int(binary.LittleEndian.Uint32(r.dst[at+2:])) {
				r.dst[at+1] = byte(index)
			}
		case "delta":
			if r.Peek() == '"' {
				delta = r.raw()
			} else {
				r.block(index)
			}
		case "content_block":
			r.block(index)
		case "item":
			item = len(r.dst)
			r.block(index)
		case "output", "content":
			r.blocks()
		default:
			r.Skip()
		}
	}
	switch {
	case item >= 0 && string(kind) != "response.output_item.done":
		r.dst = r.dst[:item]
	case item >= 0: // its text came in deltas
		r.dst = withoutText(r.dst, item)
	case string(kind) == "response.output_text.delta":
		r.put(tagText, 0, delta)
	}
}

// withoutText removes the frames of text from from on.
func withoutText(list []byte, from int) []byte {
	kept := list[:from]
	for at := from; at < len(list); {
		end := at + frameHead + int(binary.LittleEndian.Uint32(list[at+2:]))
		if list[at] != tagText {
			kept = append(kept, list[at:end]...)
		}
		at = end
	}
	return kept
}

// choice reads an element of "choices". Only the first choice is the answer.
func (r *answerReader) choice() {
	start, index := len(r.dst), int64(0)
	for r.Enter('{'); r.More('}'); {
		switch string(r.Key()) {
		case "index":
			index = r.Dimension()
		case "delta", "message":
			r.message()
		default:
			r.Skip()
		}
	}
	if index != 0 {
		r.dst = r.dst[:start]
	}
}

// message reads a message, or a part of one.
func (r *answerReader) message() {
	if r.Peek() != '{' {
		r.Skip()
		return
	}
	for r.Enter('{'); r.More('}'); {
		switch string(r.Key()) {
		case "content":
			r.blocks()
		case "tool_calls":
			r.list(r.call)
		default:
			r.Skip()
		}
	}
}

// call reads a tool call, or a part of one; at is its place in the list, where it has no index.
func (r *answerReader) call(at int64) {
	index, start := at, len(r.dst)
	for r.Enter('{'); r.More('}'); {
		switch string(r.Key()) {
		case "index":
			index = r.Dimension()
		case "id":
			r.put(tagID, 0, r.raw())
		case "function":
			if r.Peek() != '{' {
				r.Skip()
				continue
			}
			for r.Enter('{'); r.More('}'); {
				switch string(r.Key()) {
				case "name":
					r.put(tagName, 0, r.raw())
				case "arguments":
					r.put(tagArguments, 0, r.raw())
				default:
					r.Skip()
				}
			}
		default:
			r.Skip()
		}
	}
	for ; start < len(r.dst); start += frameHead + int(binary.LittleEndian.Uint32(r.dst[start+2:])) {
		r.dst[start+1] = byte(index)
	}
}

// blocks reads a content: a string, or a list of blocks.
func (r *answerReader) blocks() {
	switch r.Peek() {
	case '"':
		r.put(tagText, 0, r.raw())
	case '[':
		r.list(r.block)
	default:
		r.Skip()
	}
}

// block reads a part of a content, an item of output, or a part of one.
func (r *answerReader) block(index int64) {
	if r.depth++; r.depth > jsonscan.MaxDepth || r.Peek() != '{' {
		r.Skip()
		r.depth--
		return
	}
	var kind, text, id, callID, name, arguments, input, partial []byte
	start := len(r.dst)
	for r.Enter('{'); r.More('}'); {
		switch string(r.Key()) {
		case "type":
			kind = r.raw()
		case "text":
			text = r.raw()
		case "id":
			id = r.raw()
		case "call_id":
			callID = r.raw()
		case "name":
			name = r.raw()
		case "arguments":
			arguments = r.raw()
		case "partial_json":
			partial = r.raw()
		case "input":
			input = r.Value()
		case "content":
			r.blocks()
		default:
			r.Skip()
		}
	}
	r.depth--
	switch string(kind) {
	case "text", "output_text", "text_delta", "":
		r.put(tagText, 0, text)
	case "message":
	case "tool_use":
		r.put(tagID, index, id)
		r.put(tagName, index, name)
		if len(input) > 2 && input[0] == '{' {
			r.put(tagObject, index, input)
		}
	case "input_json_delta":
		r.put(tagArguments, index, partial)
	case "function_call":
		r.put(tagID, index, callID)
		r.put(tagName, index, name)
		r.put(tagArguments, index, arguments)
	default: // reasoning and others
		r.dst = r.dst[:start]
	}
}

// list reads a list with a function for its elements, which are objects; any other value is skipped.
func (r *answerReader) list(element func(at int64)) {
	if r.Peek() != '[' {
		r.Skip()
		return
	}
	at := int64(0)
	for r.Enter('['); r.More(']'); at++ {
		if r.Peek() != '{' {
			r.Skip()
			continue
		}
		element(at)
	}
}
