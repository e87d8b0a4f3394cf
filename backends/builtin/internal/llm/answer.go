package llm

import (
	"bytes"
	"fmt"
	"time"
)

// Models, and the time at which everything was created.
const (
	chatModel  = "chat" // its adapters answer as it does
	embedModel = "embeddings"
	rankModel  = "rankings"
	imageModel = "images"
	createdAt  = 1700000000
	maxChoices = 16
	// endless is the limit of tokens from which on a request of the messages endpoint, which has to have
	// one, limits nothing.
	endless = 8192
)

// Models returns the names of the models.
func Models() []string {
	return []string{chatModel, "chat-a", "chat-b", embedModel, rankModel, imageModel}
}

// ModelList returns the JSON of the list of models.
func ModelList() []byte {
	var list []object
	for _, name := range Models() {
		list = append(list, object{"id": name, "object": "model", "created": createdAt, "owned_by": "sluice"})
	}
	return encode(object{"object": "list", "data": list})
}

// Answer is the answer to one request for text. Number and Cached are set before the first event.
type Answer struct {
	Prompt []string     // words of the request
	Stream bool         // it is asked for as a stream
	Number uint64       // of the request
	Cached int          // words of Prompt that were cached
	Out    bytes.Buffer // events that were added and not yet sent

	of      Endpoint
	model   string
	g       Generation
	tokens  int // visible ones of each choice
	choices int
	reason  string // for which the text ends, as chat has it
	usage   usageWish
	form    form
}

// usageWish says where a stream of choices has its usage.
type usageWish struct{ growing, last, separate bool }

// form is the form of an endpoint's answers.
type form interface {
	start()      // adds the events ahead of the text
	add(p Piece) // adds the events of a piece; those of the last end the stream
	whole() object
}

// Read reads a request and prepares its answer.
func Read(of Endpoint, g Generation, body []byte) (*Answer, error) {
	var r request
	if err := Parse(body, &r); err != nil {
		return nil, err
	}
	if err := checkModel(r.Model, chatModel, "chat-a", "chat-b"); err != nil {
		return nil, err
	}
	prompt, err := r.words(of)
	if err != nil {
		return nil, err
	}
	a := &Answer{Prompt: prompt, Stream: r.Stream, of: of, model: r.Model, g: g, choices: 1}
	if err := a.limit(&r); err != nil {
		return nil, err
	}
	switch of {
	case Responses:
		a.form = &items{Answer: a}
	case Messages:
		a.form = &blocks{Answer: a}
	default:
		a.form = choices{Answer: a, chat: of == Chat}
		a.wishUsage(&r)
	}
	return a, nil
}

// limit finds how many tokens and choices a request asks for.
func (a *Answer) limit(r *request) error {
	a.tokens, a.reason = a.g.OutputTokens, "stop"
	if a.tokens == 0 {
		a.tokens = ownTokens
	}
	if a.of == Messages && r.MaxTokens == nil {
		return BadRequest("max_tokens", "max_tokens: Field required")
	}
	for _, limit := range []*int{r.MaxTokens, r.MaxCompletionTokens, r.MaxOutputTokens} {
		if limit != nil && (a.of != Messages || *limit < endless) {
			a.tokens, a.reason = *limit, "length"
		}
	}
	if a.tokens < 1 || a.tokens > maxTokens {
		return BadRequest("max_tokens", "max_tokens must be from 1 to %d, got %d", maxTokens, a.tokens)
	}
	if a.g.ToolCalls {
		a.reason = "tool_calls"
	}
	if r.Choices != nil {
		a.choices = *r.Choices
	}
	if a.choices < 1 || a.choices > maxChoices {
		return BadRequest("n", "n must be from 1 to %d, got %d", maxChoices, a.choices)
	}
	return nil
}

// wishUsage finds where a stream of choices has its usage.
func (a *Answer) wishUsage(r *request) {
	asked := a.g.Usage == "" || a.g.Usage == "asked"
	a.usage = usageWish{
		growing:  a.g.Usage == "every" || asked && r.Usage.Continuous,
		last:     a.g.Usage == "last",
		separate: a.g.Usage == "separate" || asked && r.Usage.Include,
	}
}

// Timeline returns the events of the answer. Its first token is there at ttft, each other gap() later.
func (a *Answer) Timeline(ttft time.Duration, gap func() time.Duration) []Piece {
	return a.g.timeline(a.tokens, ttft, gap, a.Stream && a.usage.growing)
}

// Start adds the events ahead of the text.
func (a *Answer) Start() { a.form.start() }

// Add adds the events of a piece; those of the last end the stream.
func (a *Answer) Add(p Piece) { a.form.add(p) }

// Whole returns the JSON of the answer in one piece.
func (a *Answer) Whole() []byte { return encode(a.form.whole()) }

// Fail adds the event that takes the place of the rest of the stream.
func (a *Answer) Fail(err *Error) {
	switch a.of {
	case Responses:
		a.event("error", object{"type": "error", "code": err.Type, "message": err.Message, "param": err.Param})
	case Messages:
		fmt.Fprintf(&a.Out, "event: error\ndata: %s\n\n", err.Body(Messages))
	default:
		fmt.Fprintf(&a.Out, "data: %s\n\n", err.Body(a.of))
	}
}

// idPrefixes begin the ids of answers.
var idPrefixes = [...]string{Chat: "chatcmpl-", Completions: "cmpl-", Responses: "resp_", Messages: "msg_"}

// ID returns the id of the answer.
func (a *Answer) ID() string { return fmt.Sprintf("%s%08d", idPrefixes[a.of], a.Number) }

// event adds an event with a name, of the type that its object has.
func (a *Answer) event(name string, o object) {
	fmt.Fprintf(&a.Out, "event: %s\ndata: %s\n\n", name, encode(o))
}

// split returns the numbers of tokens of reasoning and of all when n are there.
func (a *Answer) split(n int) (reasoning, all int) { return min(a.g.ReasoningTokens, n), n }

// arguments returns the part of a piece in the JSON object that is the arguments of a function.
func (a *Answer) arguments(p Piece) string {
	words := text(p.From, p.Tokens)
	first, _ := a.split(a.tokens)
	if p.From == first {
		words = `{"text":"` + words
	}
	if p.From+p.Tokens == a.tokens {
		words += `"}`
	}
	return words
}

// allArguments returns the arguments of a function in one piece.
func (a *Answer) allArguments() string {
	first, all := a.split(a.tokens)
	return a.arguments(Piece{From: first, Tokens: all - first})
}

// function is the name of the function that tool calls are of, and callID the id of a call.
const (
	function = "get_weather"
	callID   = "call-1"
)
