package llm

import "encoding/json"

// blocks is the form of the messages endpoint: the content is a list of blocks (thinking, text, the use of
// a tool), and events are about one of them.
type blocks struct {
	*Answer
	index  int  // of the open block, or of the next
	open   part // its kind
	isOpen bool
}

// start implements form.
func (b *blocks) start() {
	b.event("message_start", object{"type": "message_start", "message": b.message([]object{}, nil, 1)})
	b.event("ping", object{"type": "ping"})
}

// about adds an event of the open block.
func (b *blocks) about(kind, member string, o object) {
	event := object{"type": kind, "index": b.index}
	if member != "" {
		event[member] = o
	}
	b.event(kind, event)
}

// add implements form.
func (b *blocks) add(p Piece) {
	if b.isOpen && (p.part == partFinish || p.part != b.open && p.Tokens > 0) {
		b.about("content_block_stop", "", nil)
		b.index, b.isOpen = b.index+1, false
	}
	switch {
	case p.part == partFinish:
		end := object{
			"type": "message_delta", "delta": object{"stop_reason": b.stopReason(), "stop_sequence": nil},
		}
		if b.g.Usage != "none" {
			end["usage"] = object{"output_tokens": p.done}
		}
		b.event("message_delta", end)
		b.event("message_stop", object{"type": "message_stop"})
		return
	case p.Tokens == 0:
		return
	case !b.isOpen:
		b.open, b.isOpen = p.part, true
		b.about("content_block_start", "content_block", b.block(p.part, "", object{}))
	}
	words := text(p.From, p.Tokens)
	switch {
	case p.part == partReasoning:
		b.about("content_block_delta", "delta", object{"type": "thinking_delta", "thinking": words})
	case b.g.ToolCalls:
		b.about("content_block_delta", "delta", object{"type": "input_json_delta", "partial_json": b.arguments(p)})
	default:
		b.about("content_block_delta", "delta", object{"type": "text_delta", "text": words})
	}
}

// block returns a block of the content.
func (b *blocks) block(kind part, words string, input any) object {
	switch {
	case kind == partReasoning:
		return object{"type": "thinking", "thinking": words, "signature": ""}
	case b.g.ToolCalls:
		return object{"type": "tool_use", "id": callID, "name": function, "input": input}
	}
	return object{"type": "text", "text": words}
}

// stopReason returns the reason for which the text ends.
func (b *blocks) stopReason() string {
	return map[string]string{"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}[b.reason]
}

// whole implements form.
func (b *blocks) whole() object {
	thought, n := b.split(b.tokens)
	var content []object
	if thought > 0 {
		content = append(content, b.block(partReasoning, text(0, thought), nil))
	}
	if n > thought {
		words := text(thought, n-thought)
		content = append(content, b.block(partAnswer, words, json.RawMessage(b.allArguments())))
	}
	return b.message(content, b.stopReason(), n+b.g.HiddenTokens)
}

// message returns the whole message, with n tokens.
func (b *blocks) message(content []object, reason any, n int) object {
	o := object{
		"id": b.ID(), "type": "message", "role": "assistant", "model": b.model, "content": content,
		"stop_reason": reason, "stop_sequence": nil,
	}
	if b.g.Usage != "none" {
		o["usage"] = object{
			"input_tokens": len(b.Prompt) - b.Cached, "cache_read_input_tokens": b.Cached,
			"cache_creation_input_tokens": 0, "output_tokens": n,
		}
	}
	return o
}
