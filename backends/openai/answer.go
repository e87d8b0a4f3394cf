package openai

import (
	"bytes"
	"encoding/binary"

	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// An answer is kept in Sample.Text, for the next turn of its conversation and to count its tokens, as frames:
//
//	frame   := tag, number (modulo 256), length of value (4 bytes, little-endian), value
//	tag     value                                                   number
//	'c'     a part of the text: the inside of a JSON string
//	'r'     a part of the reasoning: the same
//	'i'     identifier of a tool call: the same                     of the call
//	'n'     name of its function: the same                          of the call
//	'a'     a part of its arguments: the same                       of the call
//	'o'     all of its arguments: a JSON object                     of the call
//	'k'     what belongs to none of these: a part of another        of the part of
//	        choice than the first, or a refusal                     the choice
//
// The next turn is made without reasoning, which servers do not take back, and without 'k'.
const (
	tagText      = 'c'
	tagReasoning = 'r'
	tagOther     = 'k'
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
	whole bool // of replies that are kept whole: those of a stream have no event that ends an item
}

// appendAnswer appends the frames of an event or a whole reply to dst.
func appendAnswer(dst, text []byte) []byte { return appendFrames(dst, text, false) }

func appendFrames(dst, text []byte, whole bool) []byte {
	r := answerReader{Scanner: jsonscan.Lenient(text), dst: dst, whole: whole}
	if r.Peek() == '{' {
		r.top()
	}
	return r.dst
}

// put appends a frame, unless its value is empty.
func (r *answerReader) put(tag byte, number int64, value []byte) {
	if len(value) > 0 {
		r.dst = appendFrame(r.dst, tag, byte(number), value)
	}
}

func appendFrame(dst []byte, tag, number byte, value []byte) []byte {
	dst = append(dst, tag, number)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(value)))
	return append(dst, value...)
}

// frame cuts the first frame off a list that is not empty.
func frame(list []byte) (tag, number byte, value, rest []byte) {
	end := frameHead + int(binary.LittleEndian.Uint32(list[2:]))
	return list[0], list[1], list[frameHead:end], list[end:]
}

// mark changes the frames from from on: their tag and number where these are not 0.
func (r *answerReader) mark(from int, tag, number byte) {
	for at := from; at < len(r.dst); at += frameHead + int(binary.LittleEndian.Uint32(r.dst[at+2:])) {
		if tag != 0 {
			r.dst[at] = tag
		}
		if number != 0 {
			r.dst[at+1] = number
		}
	}
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
	var kind, delta, text []byte
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
			r.mark(block, 0, byte(index))
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
		case "text":
			text = r.raw()
		default:
			r.Skip()
		}
	}
	switch {
	case item >= 0 && string(kind) != "response.output_item.done":
		r.dst = r.dst[:item]
	case item >= 0: // its text came in deltas
		r.dst = withoutText(r.dst, item)
	case kind == nil:
		r.put(tagText, 0, text)
	case string(kind) == "response.output_text.delta":
		r.put(tagText, 0, delta)
	case string(kind) == "response.refusal.delta":
		r.put(tagOther, 0, delta)
	case r.whole && string(kind) == "response.function_call_arguments.delta":
		r.put(tagOther, index, delta)
	case bytes.HasPrefix(kind, ofReasoning) && bytes.HasSuffix(kind, ofDelta):
		r.put(tagReasoning, 0, delta)
	}
}

// ofReasoning begins the types of events of the responses endpoint that hold reasoning.
var ofReasoning = []byte("response.reasoning_")

// withoutText removes the frames of text and reasoning from from on.
func withoutText(list []byte, from int) []byte {
	kept := list[:from]
	for rest := list[from:]; len(rest) > 0; {
		tag, _, _, next := frame(rest)
		if tag != tagText && tag != tagReasoning && tag != tagOther {
			kept = append(kept, rest[:len(rest)-len(next)]...)
		}
		rest = next
	}
	return kept
}

// choice reads an element of "choices". Only the first choice is the answer that a conversation goes on with.
func (r *answerReader) choice() {
	start, index := len(r.dst), int64(0)
	for r.Enter('{'); r.More('}'); {
		switch string(r.Key()) {
		case "index":
			index = r.Dimension()
		case "delta", "message":
			r.message()
		case "text":
			r.put(tagText, 0, r.raw())
		default:
			r.Skip()
		}
	}
	if index != 0 {
		r.dst = others(r.dst, start, byte(index))
	}
}

// others makes frames of another choice than the first of those from from on: one number for each part of it.
func others(list []byte, from int, choice byte) []byte {
	kept := list[:from]
	for rest := list[from:]; len(rest) > 0; {
		tag, _, _, next := frame(rest)
		if part := bytes.IndexByte(partsOfChoice, tag); part >= 0 {
			rest[0], rest[1] = tagOther, choice*byte(len(partsOfChoice))+byte(part)
			kept = append(kept, rest[:len(rest)-len(next)]...)
		}
		rest = next
	}
	return kept
}

// partsOfChoice are the tags of what is generated; identifiers are not.
var partsOfChoice = []byte{tagText, tagReasoning, tagName, tagArguments, tagOther}

// message reads a message, or a part of one.
func (r *answerReader) message() {
	if r.Peek() != '{' {
		r.Skip()
		return
	}
	var thought []byte // servers send it under two names at once
	details := -1      // or in parts, where these frames begin and end
	end := 0
	for r.Enter('{'); r.More('}'); {
		switch string(r.Key()) {
		case "content":
			r.blocks()
		case "tool_calls":
			r.list(r.call)
		case "reasoning_content", "reasoning":
			if text := r.raw(); len(text) > 0 {
				thought = text
			}
		case "reasoning_details":
			details = len(r.dst)
			r.blocks()
			r.mark(details, tagReasoning, 0)
			end = len(r.dst)
		case "refusal":
			r.put(tagOther, 0, r.raw())
		case "function_call": // of old servers: it makes no turn of a conversation
			from := len(r.dst)
			r.function()
			r.mark(from, tagOther, 0)
		case "audio":
			r.members(func(key string) bool {
				if key != "transcript" {
					return false
				}
				r.put(tagOther, 0, r.raw())
				return true
			})
		default:
			r.Skip()
		}
	}
	if len(thought) > 0 && details >= 0 {
		r.dst = append(r.dst[:details], r.dst[end:]...)
	}
	r.put(tagReasoning, 0, thought)
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
		case "function", "custom":
			r.function()
		default:
			r.Skip()
		}
	}
	r.mark(start, 0, byte(index))
}

// function reads the function of a tool call, or a part of one.
func (r *answerReader) function() {
	r.members(func(key string) bool {
		switch key {
		case "name":
			r.put(tagName, 0, r.raw())
		case "arguments", "input":
			r.put(tagArguments, 0, r.raw())
		default:
			return false
		}
		return true
	})
}

// members reads an object with a function for its members, which returns false without reading those that it does not
// want. Any other value is skipped.
func (r *answerReader) members(member func(key string) bool) {
	if r.Peek() != '{' {
		r.Skip()
		return
	}
	for r.Enter('{'); r.More('}'); {
		if !member(string(r.Key())) {
			r.Skip()
		}
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
	start, summary, end := len(r.dst), -1, 0
	for r.Enter('{'); r.More('}'); {
		switch string(r.Key()) {
		case "type":
			kind = r.raw()
		case "text", "thinking", "refusal":
			text = r.raw()
		case "summary":
			if r.Peek() == '"' {
				text = r.raw()
				continue
			}
			summary = len(r.dst)
			r.blocks()
			end = len(r.dst)
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
	case "refusal":
		r.put(tagOther, 0, text)
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
	default:
		if !isReasoning(kind) {
			r.dst = r.dst[:start]
			return
		}
		if summary >= 0 && end-summary < len(r.dst)-start { // it has the reasoning itself
			r.dst = append(r.dst[:summary], r.dst[end:]...)
		}
		r.put(tagReasoning, 0, text)
		r.mark(start, tagReasoning, 0)
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
