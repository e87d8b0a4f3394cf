package llm

import "fmt"

// items is the form of the responses endpoint: the output is a list of items (reasoning, a message, a call
// of a function), and events are about one of them.
type items struct {
	*Answer
	sent   int      // events so far
	output []object // items that have ended
	open   part     // kind of the open item
	from   int      // its first token
	isOpen bool
}

// start implements form.
func (r *items) start() {
	r.tell("response.created", object{"response": r.response("in_progress", nil, 0)})
	r.tell("response.in_progress", object{"response": r.response("in_progress", nil, 0)})
}

// tell adds an event.
func (r *items) tell(kind string, o object) {
	o["type"], o["sequence_number"] = kind, r.sent
	r.sent++
	r.event(kind, o)
}

// about adds an event of the open item.
func (r *items) about(kind string, o object) {
	o["output_index"], o["item_id"] = len(r.output), r.itemID(r.open)
	if !r.isCall() {
		o["content_index"] = 0
	}
	r.tell(kind, o)
}

// add implements form.
func (r *items) add(p Piece) {
	if r.isOpen && (p.part == partFinish || p.part != r.open && p.Tokens > 0) {
		r.end(p.From)
	}
	switch {
	case p.part == partFinish:
		kind, status := "response.completed", "completed"
		if r.reason == "length" {
			kind, status = "response.incomplete", "incomplete"
		}
		r.tell(kind, object{"response": r.response(status, r.output, p.done)})
		return
	case p.Tokens == 0:
		return
	case !r.isOpen:
		r.begin(p)
	}
	words := text(p.From, p.Tokens)
	if r.isCall() {
		words = r.arguments(p)
	}
	r.about(r.textEvent("delta"), object{"delta": words})
}

// isCall reports whether the open item is a call of a function.
func (r *items) isCall() bool { return r.open == partAnswer && r.g.ToolCalls }

// textEvent returns the type of an event of the text of the open item.
func (r *items) textEvent(what string) string {
	switch {
	case r.open == partReasoning:
		return "response.reasoning_text." + what
	case r.g.ToolCalls:
		return "response.function_call_arguments." + what
	}
	return "response.output_text." + what
}

// begin opens an item.
func (r *items) begin(p Piece) {
	r.open, r.from, r.isOpen = p.part, p.From, true
	r.tell("response.output_item.added", object{
		"output_index": len(r.output), "item": r.item(p.part, "in_progress", nil),
	})
	if p.part == partAnswer && !r.isCall() {
		r.about("response.content_part.added", object{"part": outputText("")})
	}
}

// end closes the open item, which goes up to a token.
func (r *items) end(to int) {
	words := text(r.from, to-r.from)
	done := object{"text": words}
	if r.isCall() {
		words = r.allArguments()
		done = object{"arguments": words, "name": function}
	}
	r.about(r.textEvent("done"), done)
	if r.open == partAnswer && !r.isCall() {
		r.about("response.content_part.done", object{"part": outputText(words)})
	}
	item := r.item(r.open, "completed", &words)
	r.tell("response.output_item.done", object{"output_index": len(r.output), "item": item})
	r.output, r.isOpen = append(r.output, item), false
}

func outputText(words string) object {
	return object{"type": "output_text", "text": words, "annotations": []object{}}
}

// itemID returns the id of an item.
func (r *items) itemID(kind part) string {
	prefix := "msg"
	switch {
	case kind == partReasoning:
		prefix = "rs"
	case r.g.ToolCalls:
		prefix = "fc"
	}
	return fmt.Sprintf("%s_%08d", prefix, r.Number)
}

// item returns an item with its text; nil: it has none yet.
func (r *items) item(kind part, status string, words *string) object {
	o := object{"id": r.itemID(kind), "status": status}
	content := []object{}
	switch {
	case kind == partReasoning:
		o["type"], o["summary"] = "reasoning", []object{}
		if words != nil {
			content = append(content, object{"type": "reasoning_text", "text": *words})
		}
	case r.g.ToolCalls:
		o["type"], o["call_id"], o["name"], o["arguments"] = "function_call", callID, function, ""
		if words != nil {
			o["arguments"] = *words
		}
		return o
	default:
		o["type"], o["role"] = "message", "assistant"
		if words != nil {
			content = append(content, outputText(*words))
		}
	}
	o["content"] = content
	return o
}

// whole implements form.
func (r *items) whole() object {
	thought, n := r.split(r.tokens)
	var output []object
	if thought > 0 {
		words := text(0, thought)
		output = append(output, r.item(partReasoning, "completed", &words))
	}
	if n > thought {
		words := text(thought, n-thought)
		if r.g.ToolCalls {
			words = r.allArguments()
		}
		output = append(output, r.item(partAnswer, "completed", &words))
	}
	status := "completed"
	if r.reason == "length" {
		status = "incomplete"
	}
	return r.response(status, output, n+r.g.HiddenTokens)
}

// response returns the whole response, with n tokens.
func (r *items) response(status string, output []object, n int) object {
	if output == nil {
		output = []object{}
	}
	o := object{
		"id": r.ID(), "object": "response", "created_at": createdAt, "status": status, "model": r.model,
		"output": output, "error": nil, "incomplete_details": nil, "usage": nil,
		"parallel_tool_calls": true, "tool_choice": "auto", "tools": []object{},
	}
	if status == "incomplete" {
		o["incomplete_details"] = object{"reason": "max_output_tokens"}
	}
	if status != "in_progress" && r.g.Usage != "none" {
		thought, _ := r.split(n)
		o["usage"] = object{
			"input_tokens": len(r.Prompt), "output_tokens": n, "total_tokens": len(r.Prompt) + n,
			"input_tokens_details":  object{"cached_tokens": r.Cached},
			"output_tokens_details": object{"reasoning_tokens": thought},
		}
	}
	return o
}
