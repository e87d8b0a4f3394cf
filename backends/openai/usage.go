package openai

import "github.com/sluice-bench/sluice/backends"

// usage is the server's count of tokens, -1 where it does not say. Servers name the same numbers in
// many ways:
//
//	                 input                          output                        cached, of the input
//	OpenAI, vLLM,    prompt_tokens                  completion_tokens             prompt_tokens_details.
//	SGLang, NIM                                                                   cached_tokens
//	responses        input_tokens                   output_tokens                 input_tokens_details.
//	                                                                              cached_tokens
//	Anthropic        input_tokens + both cache_*    output_tokens                 cache_read_input_tokens
//	Bedrock          inputTokens + both cache*      outputTokens                  cacheReadInputTokens
//	Gemini           promptTokenCount               candidatesTokenCount          cachedContentTokenCount
//	DeepSeek         prompt_tokens                  completion_tokens             prompt_cache_hit_tokens
//	Cohere           tokens.input_tokens            tokens.output_tokens
//	watsonx          input_token_count              generated_token_count
//	llama.cpp        tokens_evaluated               tokens_predicted
//
// Reasoning tokens are a part of the output: completion_tokens_details.reasoning_tokens,
// output_tokens_details.reasoning_tokens, thoughtsTokenCount.
type usage struct {
	input, output, cached, reasoning int64
	read, written                    int64 // of a cache, which the input of some does not contain
}

var noUsage = usage{input: -1, output: -1, cached: -1, reasoning: -1, read: -1, written: -1}

// readUsage reads a usage object; any other value is skipped. It returns true.
func (p *parser) readUsage() bool {
	p.object((*parser).usageMember)
	return true
}

// usageMember reads a member of a usage object.
func (p *parser) usageMember(key []byte) bool {
	switch string(key) {
	case "prompt_tokens_details", "input_tokens_details", "completion_tokens_details",
		"output_tokens_details", "tokens":
		p.object((*parser).tokens)
		return true
	}
	return p.tokens(key)
}

// tokens reads a number of tokens.
func (p *parser) tokens(key []byte) bool {
	u, to := &p.usage, (*int64)(nil)
	switch string(key) {
	case "prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount", "input_token_count":
		to = &u.input
	case "completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount",
		"generated_token_count":
		to = &u.output
	case "cached_tokens", "prompt_cache_hit_tokens", "cachedContentTokenCount":
		to = &u.cached
	case "reasoning_tokens", "thoughtsTokenCount":
		to = &u.reasoning
	case "cache_read_input_tokens", "cacheReadInputTokens":
		to = &u.read
	case "cache_creation_input_tokens", "cacheWriteInputTokens":
		to = &u.written
	default:
		return false
	}
	if n := p.Dimension(); n >= 0 {
		*to = n
	}
	return true
}

// apply enters the numbers that the server says into a sample, over those of an earlier usage.
func (u *usage) apply(s *backends.Sample) {
	if u.read >= 0 {
		u.cached = u.read
	}
	if u.input >= 0 {
		u.input += max(u.read, 0) + max(u.written, 0)
	}
	for _, v := range [...]struct {
		n  int64
		to *backends.Count
	}{
		{u.input, &s.InputTokens},
		{u.output, &s.OutputTokens},
		{u.cached, &s.CachedTokens},
		{u.reasoning, &s.ReasoningTokens},
	} {
		if v.n >= 0 {
			*v.to = backends.CountOf(v.n)
		}
	}
}

// dropZero makes the tokens of a reply with content unknown where its usage says 0, as servers that do
// not count write it.
func dropZero(s *backends.Sample) {
	for _, c := range [...]*backends.Count{&s.InputTokens, &s.OutputTokens} {
		if n, _ := c.Get(); n == 0 {
			*c = 0
		}
	}
}
