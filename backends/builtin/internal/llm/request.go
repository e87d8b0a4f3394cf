package llm

import (
	"encoding/json"
	"strings"
)

// Endpoint is an endpoint that generates text.
type Endpoint int

// The endpoints; Other has no form of its own.
const (
	Other       Endpoint = iota
	Chat                 // OpenAI's chat completions
	Completions          // OpenAI's completions
	Responses            // OpenAI's responses
	Messages             // Anthropic's messages
)

// Paths returns the endpoints by path.
func Paths() map[string]Endpoint {
	return map[string]Endpoint{
		"/v1/chat/completions": Chat, "/v1/completions": Completions, "/v1/responses": Responses,
		"/v1/messages": Messages,
	}
}

// request is a request of any endpoint; other members are ignored.
type request struct {
	Model        string          `json:"model"`
	Prompt       json.RawMessage `json:"prompt"`       // completions
	Messages     []message       `json:"messages"`     // chat, messages
	System       json.RawMessage `json:"system"`       // messages
	Instructions json.RawMessage `json:"instructions"` // responses
	Input        json.RawMessage `json:"input"`        // responses: a text, or a list of messages and results
	Stream       bool            `json:"stream"`
	Usage        struct {
		Include    bool `json:"include_usage"`
		Continuous bool `json:"continuous_usage_stats"`
	} `json:"stream_options"`
	MaxTokens           *int `json:"max_tokens"`
	MaxCompletionTokens *int `json:"max_completion_tokens"`
	MaxOutputTokens     *int `json:"max_output_tokens"`
	Choices             *int `json:"n"`
}

// message is one of a conversation, or the result of a function.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Output  json.RawMessage `json:"output"`
}

// words returns the words of the prompt.
func (r *request) words(of Endpoint) ([]string, error) {
	if of == Completions {
		if len(r.Prompt) == 0 {
			return nil, BadRequest("prompt", "you must provide a prompt")
		}
		return wordsOf(r.Prompt), nil
	}
	if of == Responses {
		var list []message
		switch {
		case len(r.Input) == 0:
			return nil, BadRequest("input", "Missing required parameter: 'input'.")
		case json.Unmarshal(r.Input, &list) != nil: // a text
			return append(wordsOf(r.Instructions), wordsOf(r.Input)...), nil
		}
		return conversation(wordsOf(r.Instructions), list), nil
	}
	if len(r.Messages) == 0 {
		return nil, BadRequest("messages", "Missing required parameter: 'messages'.")
	}
	return conversation(wordsOf(r.System), r.Messages), nil
}

// conversation appends the words of a list of messages; a role is one.
func conversation(words []string, list []message) []string {
	for _, m := range list {
		if m.Role != "" {
			words = append(words, m.Role)
		}
		words = append(append(words, wordsOf(m.Content)...), wordsOf(m.Output)...)
	}
	return words
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

// Parse parses the JSON of a request.
func Parse(body []byte, to any) error {
	if err := json.Unmarshal(body, to); err != nil {
		return BadRequest("", "We could not parse the JSON body of your request: %v", err)
	}
	return nil
}
