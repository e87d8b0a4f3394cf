package openai

import (
	"bytes"

	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// parser reads the JSON of one event of a stream, or of a whole reply, without allocations. It knows
// the shapes of all endpoints at once, since servers mix them:
//
//	chat         {"choices":[{"index":0,"delta" or "message":{"content":…},"finish_reason":…}],"usage":{…}}
//	completions  {"choices":[{"index":0,"text":…,"finish_reason":…}],"usage":{…}}
//	responses    {"type":"response.output_text.delta","delta":…}, {"type":"response.completed",
//	             "response":{…}}
//	messages     {"type":"content_block_delta","delta":{"text":…}}, {"type":"message_delta","usage":{…}}
//	llama.cpp    {"content":…,"stop":false,"tokens_predicted":1}
//	embeddings   {"data":[…],"usage":{…}}
//	rankings     {"rankings":[…]}, {"results":[…]}, […]
//
// Text is content if it is a string that is not empty, in "content", "text", "refusal", the
// arguments or name of a tool call, or as reasoning in "reasoning_content", "reasoning",
// "reasoning_details" or "thinking". Anything else is skipped.
type parser struct {
	jsonscan.Scanner
	event
	depth  int
	inCall bool // the next object is the function of a tool call, whose name is content
	report bool // the event has a message that is a text, as errors have it; an answer's is an object

	last       pattern // an event that was read: most others differ in their content only
	fitted     bool    // the latest event is one of its kind
	strings    int     // of content
	start, end int     // of the last of them
}

// event holds the facts of one event.
type event struct {
	kind              []byte // its type; nil: none
	answer, reasoning bool   // it has content
	whole             bool   // the text of parts that have ended, which repeats their deltas
	choices           bool   // it is about a choice, if only with an empty delta
	seen, finished    uint64 // choices by index, modulo 64
	failed            bool   // it is an error
	results           int    // elements of a list of embeddings or ranks; -1: it has none
	usage             usage
}

// read reads an event; kind is the type that the stream itself gives it. It reports whether text is
// JSON of a shape that can be read.
func (p *parser) read(text, kind []byte) bool {
	p.fitted = false
	if len(kind) == 0 {
		if end, ok := p.last.fits(text); ok {
			p.event, p.start, p.end, p.fitted = p.last.event, p.last.start, end, true
			return true
		}
	}
	p.Scanner, p.depth, p.inCall, p.report, p.strings = jsonscan.Lenient(text), 0, false, false, 0
	p.event = event{results: -1, usage: noUsage}
	if p.Peek() == '[' {
		p.results = p.elements()
		return p.AtEnd()
	}
	ok := p.readObject(kind)
	if ok && p.strings == 1 && len(p.kind) == 0 {
		p.last.set(text, p.start, p.end, p.event)
		p.fitted = len(p.last.text) > 0
	}
	return ok
}

// readObject reads an event that is no list.
func (p *parser) readObject(kind []byte) bool {
	p.top()
	p.failed = p.failed || string(kind) == "error" || string(p.kind) == "error" || p.reportsOnly()
	if p.kind == nil {
		p.kind = kind
	}
	p.decide()
	return p.AtEnd()
}

// top reads the members of the event itself.
func (p *parser) top() {
	for p.Enter('{'); p.More('}'); {
		switch string(p.Key()) {
		case "choices":
			p.list((*parser).choice)
		case "usage", "usageMetadata", "meta":
			p.readUsage()
		case "x_groq":
			p.object(func(p *parser, key []byte) bool { return string(key) == "usage" && p.readUsage() })
		case "error":
			p.failed = p.isSet() || p.failed
		case "object":
			p.failed = string(p.word()) == "error" || p.failed
		case "type":
			p.kind = p.word()
		case "message":
			if p.Peek() == '"' {
				p.report = len(p.word()) > 0 || p.report
			} else {
				p.content()
			}
		case "delta", "content_block", "text", "content", "output", "output_text", "arguments":
			p.content()
		case "response":
			p.object((*parser).response)
		case "stop":
			p.finish(0, p.isTrue())
		case "stop_reason", "finish_reason":
			p.finish(0, len(p.word()) > 0)
		case "tokens_predicted":
			p.usage.output = p.Dimension()
		case "tokens_evaluated":
			p.usage.input = p.Dimension()
		case "data", "rankings", "results":
			p.results = p.elements()
		default:
			p.Skip()
		}
	}
}

// reportsOnly reports whether the event has a message that is a text and nothing of an answer beside it,
// which would make the text a status such as "success".
func (p *parser) reportsOnly() bool {
	return p.report && !p.choices && !p.answer && !p.reasoning && p.seen == 0 && p.results < 0 &&
		p.usage == noUsage
}

// response reads a member of the whole response that an event of the responses endpoint repeats; its
// output has been in other events.
func (p *parser) response(key []byte) bool {
	switch string(key) {
	case "usage":
		return p.readUsage()
	case "error":
		p.failed = p.isSet() || p.failed
		return true
	}
	return false
}

// choice reads an element of "choices".
func (p *parser) choice() {
	index, finished := int64(0), false
	p.choices = true
	for p.Enter('{'); p.More('}'); {
		switch string(p.Key()) {
		case "index":
			index = p.Dimension()
		case "finish_reason":
			reason := p.word()
			finished = len(reason) > 0
			p.failed = string(reason) == "error" || p.failed
		case "error":
			p.failed = p.isSet() || p.failed
		case "delta", "message", "text":
			p.content()
		case "usage":
			p.readUsage()
		default:
			p.Skip()
		}
	}
	p.finish(index, finished)
}

// finish notes that there is a choice, and whether it is finished.
func (p *parser) finish(index int64, finished bool) {
	bit := uint64(1) << (index & 63)
	p.seen |= bit
	if finished {
		p.finished |= bit
	}
}

// content reads a value that holds content: a string, an object, or a list of them.
func (p *parser) content() {
	if p.depth++; p.depth > jsonscan.MaxDepth {
		p.Skip()
	}
	switch p.Peek() {
	case '"':
		text := p.word()
		p.answer = len(text) > 0 || p.answer
		p.strings++
		p.end = p.Offset() - 1
		p.start = p.end - len(text)
	case '[':
		p.list((*parser).content)
	case '{':
		p.item()
	default:
		p.Skip()
	}
	p.depth--
}

// item reads an object that holds content: a message, a part of one, an item of output, a tool call. The
// content of one that is reasoning by its type is no answer.
func (p *parser) item() {
	answer, reasoning, isFunction := p.answer, p.reasoning, p.inCall
	p.answer, p.reasoning, p.inCall = false, false, false
	var kind []byte
	named := false
	for p.Enter('{'); p.More('}'); {
		switch string(p.Key()) {
		case "type":
			kind = p.word()
		case "name":
			named = len(p.word()) > 0
		case "content", "text", "refusal", "tool_calls", "arguments", "partial_json", "input", "summary",
			"transcript", "audio":
			p.content()
		case "function", "custom", "function_call":
			p.inCall = true
			p.content()
			p.inCall = false
		case "reasoning_content", "reasoning", "reasoning_details", "thinking":
			p.thought()
		case "stop_reason":
			p.finish(0, len(p.word()) > 0)
		case "usage":
			p.readUsage()
		default:
			p.Skip()
		}
	}
	p.answer = p.answer || named && (isFunction || isCall(kind))
	if isReasoning(kind) {
		p.reasoning, p.answer = p.reasoning || p.answer, false
	}
	p.answer, p.reasoning = p.answer || answer, p.reasoning || reasoning
}

// thought reads a value whose content is reasoning.
func (p *parser) thought() {
	answer := p.answer
	p.answer = false
	p.content()
	p.reasoning, p.answer = p.reasoning || p.answer, answer
}

func isCall(kind []byte) bool {
	return bytes.HasSuffix(kind, []byte("_call")) || bytes.HasSuffix(kind, []byte("tool_use"))
}

func isReasoning(kind []byte) bool {
	return bytes.HasPrefix(kind, []byte("reasoning")) || bytes.HasPrefix(kind, []byte("thinking")) ||
		bytes.HasPrefix(kind, []byte("summary"))
}

var (
	ofResponses = []byte("response.")
	ofDelta     = []byte(".delta")
	ofDone      = []byte(".done")
)

// decide applies the types of events of the responses and messages endpoints.
func (p *parser) decide() {
	switch string(p.kind) {
	case "content_block_start", "content_block_delta", "message_delta":
		p.choices = true
	case "response.completed", "response.incomplete":
		p.finish(0, true)
	case "response.failed":
		p.failed = true
	}
	of, ok := bytes.CutPrefix(p.kind, ofResponses)
	if !ok {
		return
	}
	p.choices = true
	if bytes.Contains(of, []byte("reasoning")) {
		p.reasoning, p.answer = p.reasoning || p.answer, false
	}
	switch {
	case bytes.HasSuffix(of, ofDelta):
	case bytes.HasSuffix(of, ofDone):
		p.whole = true
	default:
		p.answer, p.reasoning = false, false
	}
}

// list reads a list with a function for its elements; any other value is skipped.
func (p *parser) list(element func(*parser)) {
	if p.Peek() != '[' {
		p.Skip()
		return
	}
	for p.Enter('['); p.More(']'); {
		element(p)
	}
}

// object reads an object with a function for its members, which returns false without reading those
// that it does not want. Any other value is skipped.
func (p *parser) object(member func(*parser, []byte) bool) {
	if p.Peek() != '{' {
		p.Skip()
		return
	}
	for p.Enter('{'); p.More('}'); {
		if !member(p, p.Key()) {
			p.Skip()
		}
	}
}

// word reads a value and returns its text if it is a string, else nil.
func (p *parser) word() []byte {
	if p.Peek() != '"' {
		p.Skip()
		return nil
	}
	raw, _ := p.Raw()
	return raw
}

// isTrue reads a value and reports whether it is true.
func (p *parser) isTrue() bool {
	yes := p.Peek() == 't'
	p.Skip()
	return yes
}

// isSet reads a value and reports whether it is more than null, false or an empty string.
func (p *parser) isSet() bool {
	switch p.Peek() {
	case '"':
		return len(p.word()) > 0
	case 'n', 'f':
		p.Skip()
		return false
	}
	p.Skip()
	return true
}

// elements reads a list and returns the number of its elements; -1: it is none.
func (p *parser) elements() int {
	if p.Peek() != '[' {
		p.Skip()
		return -1
	}
	n := 0
	for p.Enter('['); p.More(']'); n++ {
		p.Skip()
	}
	return n
}
