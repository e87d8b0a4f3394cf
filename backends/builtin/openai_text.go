package builtin

import (
	"encoding/json"
	"net/http"
	"strings"
)

// textRequest is a request of either text endpoint; other members are ignored.
type textRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Prompt        json.RawMessage `json:"prompt"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		Include    bool `json:"include_usage"`
		Continuous bool `json:"continuous_usage_stats"`
	} `json:"stream_options"`
	MaxTokens           *int `json:"max_tokens"`
	MaxCompletionTokens *int `json:"max_completion_tokens"`
	Choices             *int `json:"n"`
}

// shape is the form of the replies of one endpoint.
type shape interface {
	// prompt returns the words of a request.
	prompt(*textRequest) ([]string, error)
	// start returns the events ahead of the text.
	start(index int) []object
	// part returns the choice of an event; first is the number of the answer's first token.
	part(g *Generation, p piece, index, first int) object
	// finish returns the choice of the event that ends the text.
	finish(index int, reason string) object
	// whole returns the choice of a reply in one piece.
	whole(g *Generation, index, n int, reason string) object
	// names returns the words of `object`, of an event and of a whole reply, and the prefix of ids.
	names() (event, whole, id string)
}

// wordsOf returns the words of a JSON text, of a list of texts, or of a list of parts with texts. The
// numbers of a list of tokens count as words.
func wordsOf(raw json.RawMessage) []string {
	var v any
	_ = json.Unmarshal(raw, &v) // it has been read before
	return appendWords(nil, v)
}

func appendWords(to []string, v any) []string {
	switch v := v.(type) {
	case string:
		return append(to, strings.Fields(v)...)
	case float64:
		return append(to, "0")
	case []any:
		for _, x := range v {
			to = appendWords(to, x)
		}
	case map[string]any:
		return appendWords(to, v["text"])
	}
	return to
}

// chatShape is POST /v1/chat/completions.
type chatShape struct{}

func (chatShape) names() (event, whole, id string) {
	return "chat.completion.chunk", "chat.completion", "chatcmpl-"
}

func (chatShape) prompt(r *textRequest) (words []string, err error) {
	if len(r.Messages) == 0 {
		return nil, badRequest("messages", "Missing required parameter: 'messages'.")
	}
	for _, m := range r.Messages {
		words = append(append(words, m.Role), wordsOf(m.Content)...)
	}
	return words, nil
}

func (chatShape) start(index int) []object {
	return []object{choice(index, "delta", object{"role": "assistant", "content": ""}, nil)}
}

func (chatShape) part(g *Generation, p piece, index, first int) object {
	delta, words := object{}, text(p.from, p.tokens)
	switch {
	case p.tokens == 0:
	case p.part == partReasoning:
		delta["reasoning_content"] = words
	case g.ToolCalls:
		delta["tool_calls"] = []object{call(words, p.from == first, false)}
	default:
		delta["content"] = words
	}
	return choice(index, "delta", delta, nil)
}

// call returns a function call, or a part of its arguments; the first part has its name.
func call(arguments string, first, last bool) object {
	function := object{"arguments": arguments}
	c := object{"index": 0, "function": function}
	if first || last {
		c["id"], c["type"], function["name"] = "call-1", "function", "get_weather"
	}
	return c
}

func (chatShape) finish(index int, reason string) object {
	return choice(index, "delta", object{}, reason)
}

func (chatShape) whole(g *Generation, index, n int, reason string) object {
	thought := min(g.ReasoningTokens, n)
	m, words := object{"role": "assistant", "content": nil}, text(thought, n-thought)
	if thought > 0 {
		m["reasoning_content"] = text(0, thought)
	}
	if g.ToolCalls {
		m["tool_calls"] = []object{call(words, true, true)}
	} else {
		m["content"] = words
	}
	return choice(index, "message", m, reason)
}

func choice(index int, member string, value, reason any) object {
	return object{"index": index, member: value, "logprobs": nil, "finish_reason": reason}
}

// completionShape is POST /v1/completions.
type completionShape struct{}

func (completionShape) names() (event, whole, id string) {
	return "text_completion", "text_completion", "cmpl-"
}

func (completionShape) prompt(r *textRequest) ([]string, error) {
	if len(r.Prompt) == 0 {
		return nil, badRequest("prompt", "you must provide a prompt")
	}
	return wordsOf(r.Prompt), nil
}

func (completionShape) start(int) []object { return nil }

func (completionShape) part(_ *Generation, p piece, index, _ int) object {
	return choice(index, "text", text(p.from, p.tokens), nil)
}

func (completionShape) finish(index int, reason string) object {
	return choice(index, "text", "", reason)
}

func (completionShape) whole(_ *Generation, index, n int, reason string) object {
	return choice(index, "text", text(0, n), reason)
}

// generate serves either text endpoint.
func (t *textServer) generate(w http.ResponseWriter, r *http.Request, form shape) (err error) {
	var req textRequest
	if err := t.read(w, r, &req); err != nil {
		return err
	}
	if err := known(req.Model, chatModel, "chat-a", "chat-b"); err != nil {
		return err
	}
	prompt, err := form.prompt(&req)
	if err != nil {
		return err
	}
	a := textAnswer{textServer: t, form: form, request: &req, prompt: len(prompt), choices: 1}
	if err := a.size(); err != nil {
		return err
	}
	v, err := t.enter(r)
	defer func() { t.leave(v, err) }()
	if err != nil {
		return err
	}
	a.visit = v
	return a.play(w, r, prompt)
}

// size finds how many tokens and choices a request asks for.
func (a *textAnswer) size() error {
	a.tokens, a.reason = a.OutputTokens, "stop"
	if a.tokens == 0 {
		a.tokens = ownTokens
	}
	for _, limit := range []*int{a.request.MaxTokens, a.request.MaxCompletionTokens} {
		if limit != nil {
			a.tokens, a.reason = *limit, "length"
		}
	}
	if a.tokens < 1 || a.tokens > maxTokens {
		return badRequest("max_tokens", "max_tokens must be from 1 to %d, got %d", maxTokens, a.tokens)
	}
	if a.ToolCalls {
		a.reason = "tool_calls"
	}
	if n := a.request.Choices; n != nil {
		a.choices = *n
	}
	if a.choices < 1 || a.choices > 16 {
		return badRequest("n", "n must be from 1 to 16, got %d", a.choices)
	}
	return nil
}
