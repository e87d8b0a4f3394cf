package openai

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// limits are the names of the limit of output tokens.
var limits = map[string]string{
	chat: "max_tokens", completions: "max_tokens", responses: "max_output_tokens", messages: "max_tokens",
}

// newLimit is the limit's newer name at the endpoint chat, which some servers want.
const newLimit = "max_completion_tokens"

// noLimit is the limit of output tokens for an endpoint that requires one, if the row has none.
const noLimit = "16384"

// An answer has exactly as many tokens as asked for if the server neither stops before (min_tokens) nor at
// the model's own end (ignore_eos). vLLM, SGLang and TensorRT-LLM have both; OpenAI refuses them. The first
// reply shows what a server does. With "auto" its requests are then made in the first of these ways that fits:
//
//	max_tokens, or max_completion_tokens where that is wanted or the other is ignored, with both
//	the same without them, where they are refused, or where the model reasons ahead of its answer: made to
//	go on, it leaves its channels
//
// A request that is refused without them for the same reason is refused for another than them: they are kept. Requests with
// tools are left alone: a tool call that goes on is none. With true, requests are always made with both.

// asker is what decides in which way lengths are asked for.
type asker struct {
	model string
	auto  bool // exact_output is "auto", not true
}

// lengthWay is a way to ask a model for exact lengths.
type lengthWay struct {
	newName bool   // max_completion_tokens
	plain   bool   // no more than the limit
	refusal string // of the request with more than the limit, while the one without is tried
	settled bool
}

// exactLength is the length that a call asks for.
type exactLength struct {
	tokens int64 // 0: any
	asker
}

// limit sets the limit of output tokens, and what makes it exact.
func (c *conn) limit(o *object, r *row, model string, e *expectation) error {
	endpoint := c.target.Endpoint
	limit, _ := r.take("output_tokens")
	exact, _ := r.take(backends.ExactOutput)
	tools := r.peek("tools")
	wanted, auto := string(exact) == "true", string(exact) == `"auto"`
	switch {
	case exact != nil && !wanted && !auto && string(exact) != "false":
		return fmt.Errorf(`exact_output must be true, false or "auto", found %s`, exact)
	case wanted && limit == nil:
		return errors.New("exact_output needs output_tokens beside it")
	case wanted && endpoint != chat && endpoint != completions:
		return fmt.Errorf("endpoint %s cannot be asked for an exact number of tokens: remove exact_output", endpoint)
	case limit == nil && endpoint == messages:
		limit = []byte(noLimit)
	case limit == nil:
		return nil
	}
	if !jsonscan.IsNumber(limit) {
		return fmt.Errorf("output_tokens must be a number, found %s", limit)
	}
	tokens, err := strconv.ParseFloat(string(limit), 64)
	if err != nil || tokens < 0 || tokens != math.Trunc(tokens) {
		return fmt.Errorf("output_tokens must be a whole number of at least 0, found %s", limit)
	}
	from := asker{model: model, auto: auto}
	name, way := limits[endpoint], c.ways[from]
	exactly := wanted || auto && tools == nil && (endpoint == chat || endpoint == completions)
	if exactly && way.newName && endpoint == chat {
		name = newLimit
	}
	o.set(name, limit)
	if !exactly {
		return nil
	}
	e.length = exactLength{tokens: int64(tokens), asker: from}
	if !way.plain {
		o.set("min_tokens", limit)
		o.set("ignore_eos", []byte("true"))
	}
	return nil
}

// AsksExactly implements backends.Lengther.
func (c *conn) AsksExactly(call *backends.Call) bool {
	l := call.Impl.(*expectation).length
	return l.tokens > 0 && !c.ways[l.asker].settled
}

// Learn implements backends.Lengther.
func (c *conn) Learn(call *backends.Call, s *backends.Sample) (note string, again bool) {
	l := call.Impl.(*expectation).length
	way := c.ways[l.asker]
	refused := s.Class == backends.Status &&
		(s.Status == http.StatusBadRequest || s.Status == http.StatusUnprocessableEntity)
	refusal := cmp.Or(string(s.Note), "status "+strconv.Itoa(int(s.Status)))
	got, known := s.OutputTokens.Get()
	ok := s.Class == backends.OK
	canRename := l.auto && !way.newName && c.target.Endpoint == chat
	switch {
	case refused && canRename && strings.Contains(string(s.Note), newLimit):
		way.newName, again = true, true
	case refused && l.auto && !way.plain:
		way.plain, way.refusal, again = true, refusal, true
	case refused:
		way.plain = way.plain && way.refusal != refusal
		note = "the server refuses the request: " + refusal
	case ok && l.auto && !way.plain && reasons(s):
		way.plain, again = true, true
		note = "the model reasons ahead of its answers, so they end where it ends them"
	case ok && known && got > l.tokens && canRename:
		way.newName, again = true, true
	case way.refusal != "": // what the trial said, however the request without them ended
		note = "the server refuses min_tokens and ignore_eos, so answers end where the model ends them: " + way.refusal
	case ok && known && got != l.tokens:
		note = fmt.Sprintf("%d tokens were asked for, and the first answer has %d", l.tokens, got)
	}
	if way.settled = !again; way.settled {
		way.refusal = ""
	}
	c.ways[l.asker] = way
	return note, again
}

// reasons reports whether a reply has reasoning.
func reasons(s *backends.Sample) bool {
	n, _ := s.ReasoningTokens.Get()
	return n > 0 || s.FirstToken != 0 && s.FirstAnswer != s.FirstToken
}
