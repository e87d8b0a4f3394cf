package language

import (
	"cmp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Dataset holds the keys of one set of data, or of the plan's own.
type Dataset struct {
	At Place `def:"dataset" name:"dataset"`
	// Inputs are drawn: all of them random or zero, or each by its name; those not listed are random,
	// optional ones left out.
	// Example: {ids: {min: 0, max: 30521}, mask: 1}
	Generate *Generate `plan:"generate" one:"source"`
	// Inputs are the rows of these files; see format. Rows may also hold timestamp, session_id, delay, id,
	// expected outputs and parameters.
	// Example: rows.json
	File *Files `plan:"file" one:"source"`
	// A folder with one file for each tensor, named after it: raw bytes, .npy, or text for BYTES.
	// Example: tensors
	Dir *Val[Path] `plan:"dir" one:"source" is:"folder"`
	// A pattern of files, each sent as the whole body of one request; over HTTP with the media type of its
	// extension, where the backend takes any.
	// Example: bodies/*.json
	Bodies *Val[string] `plan:"bodies" one:"source" is:"nonempty"`
	// Rows written here, as in a file.
	// Example: [{prompt: hello}]
	Rows []*Opaque `plan:"rows" one:"source" least:"1"`
	// Synthetic prompts.
	// Example: {count: 100, input_tokens: 200}
	Prompts *Prompts `plan:"prompts" one:"source"`
	// A program whose output holds the rows, in the form of a file, with its arguments. It runs once, in the
	// folder of the plan, before anything is sent, and only with --allow-exec.
	// Example: [./rows.py]
	Command []*Val[string] `plan:"command" one:"source" least:"1"`
	// Form of the files; by extension and content without it. npy and raw: a file is one tensor, named
	// after its input. multipart: a form, of a file of `bodies` as its field data, or of a row of files by
	// field, a JSON object a line. textproto and frames: protobuf messages, one in text format, or encoded
	// ones after their lengths in 4 bytes, little-endian. sharegpt: recorded conversations. openai_batch:
	// files of OpenAI's batch API. mooncake: traces of lengths and shared blocks, Bailian's too.
	// har and vegeta: recorded HTTP requests.
	// Example: perf_analyzer
	Format *Val[string] `plan:"format" with:"file dir bodies command" words:"perf_analyzer v2 jsonl json csv sharegpt openai_batch mooncake har vegeta frames textproto npy raw multipart"`
	// Which column holds which field of a row: inputs.NAME, outputs.NAME, parameters.NAME, timestamp,
	// session_id, delay, id. Only these columns are read.
	// Example: {prompt: question}
	Columns *Dict[Val[string]] `plan:"columns" with:"file rows command"`
	// Numbers that differ from request to request, by the field that holds them, named as in `expect`: what the
	// first request of a measurement has, each after it one more. In a text field the digits follow the text of
	// the row. For messages of backend grpc, and JSON that is sent as it is.
	// Example: {order.id: 1, order.user: {from: 1, to: 500}}
	Counters *Dict[Counter] `plan:"counters" with:"file bodies rows command"`
	// Unit of the rows' timestamps and delays. perf_analyzer and mooncake have ms, Bailian's traces s;
	// timestamps of other forms need it.
	// Example: ms
	TimeUnit *Val[string] `plan:"time_unit" with:"file rows command" words:"ms s us"`
	// Sessions (rows with one session_id, or recorded conversations): append puts the turns before and the
	// answers that came to them ahead of each turn's own messages; verbatim sends the rows as they are, of
	// recorded conversations with the recorded answers before them.
	// Example: verbatim
	History *Val[string] `plan:"history" with:"file rows prompts command" usual:"append" words:"append verbatim"`
	// Sessions, when a turn is due: open, at its recorded time, or when the turn before it has ended if that
	// is later; closed, its delay after the turn before it has ended; strict, at its recorded time, each row
	// for itself. open where a schedule plays the rows' timestamps, else closed.
	// Example: closed
	Timing *Val[string] `plan:"timing" with:"file rows prompts command" words:"open closed strict"`
	// Sessions: a longer time between two turns is cut to this.
	// Example: 30s
	IdleCap *Val[time.Duration] `plan:"idle_cap" with:"file rows prompts command"`
	// Sessions: share of whole sessions that is used, drawn by the plan's seed.
	// Example: 10%
	Sample *Val[Ratio] `plan:"sample" with:"file rows prompts command" usual:"100%" above:"0%" max:"100%"`
	// Order of the rows; of whole sequences or sessions where the rows form some.
	// Example: shuffle
	Order *Val[string] `plan:"order" default:"sequential" words:"sequential shuffle random"`
	// What happens after the last row.
	// Example: stop
	AtEnd *Val[string] `plan:"at_end" default:"repeat" words:"repeat stop"`
	// Rows that generate draws; then they repeat in order.
	// Example: 100
	Count *Val[int64] `plan:"count" with:"generate" default:"16" min:"1" max:"1000000"`
	// Length of random BYTES elements.
	// Example: {min: 1, max: 64}
	StringLength *Dist[int64, Number] `plan:"string_length" with:"generate" default:"128"`
}

// Counter holds the keys of a number that differs from request to request.
type Counter struct {
	At Place `def:"counter" title:"int or map"`
	// The number in the first request.
	// Example: 1
	From *Val[int64] `plan:"from" form:"scalar" default:"0" min:"0"`
	// The largest number, after which it starts again; without it, the largest that the field takes.
	// Example: 500
	To *Val[int64] `plan:"to" min:"1"`
}

// Files names files by pattern.
type Files struct {
	At   Place        `title:"path or list of path"`
	One  *Val[Path]   `form:"scalar" is:"file"`
	Many []*Val[Path] `form:"list" least:"1" is:"file"`
}

// Generate holds the generators of inputs.
type Generate struct {
	At     Place            `title:"random, zero, or map of generator"`
	Word   *Val[string]     `form:"scalar" words:"random zero"`
	Inputs *Dict[Generator] `form:"map"`
}

// Generator says how one input is generated.
type Generator struct {
	At       Place         `union:"generator" def:"generator_map" title:"scalar, list or map"`
	Constant *Val[element] `form:"scalar"`
	List     []*Elements   `form:"list"`
	// Length of strings, in characters.
	// Example: {min: 5, max: 80}
	Length *Dist[int64, Number] `plan:"length" one:"generator"`
	// Characters that strings are made of; with length.
	// Example: abc
	Alphabet *Val[string] `plan:"alphabet" with:"length" is:"nonempty"`
	// Values that are equally likely.
	// Example: [cat, dog]
	OneOf []*Val[element] `plan:"one_of" one:"generator" least:"1"`
	// A file that holds the whole tensor.
	// Example: image.bin
	File   *Val[Path]     `plan:"file" one:"generator" is:"file"`
	Spread Spread[Number] `inline:"true"`
}

// Elements is an element of a constant tensor, or a nested list of them.
type Elements struct {
	At   Place         `union:"element" title:"scalar or list"`
	One  *Val[element] `form:"scalar"`
	List []*Elements   `form:"list"`
}

// Prompts is synthetic text.
type Prompts struct {
	At Place `def:"prompts"`
	// How many prompts; with turns, how many sessions.
	// Example: 100
	Count *Val[int64] `plan:"count" default:"100" min:"1" max:"10000000"`
	// Tokens of a prompt; of a session, those that are new with a turn.
	// Example: {mean: 550, std: 150}
	InputTokens *Dist[int64, Number] `plan:"input_tokens" usual:"550"`
	// Tokens asked for; the server decides without it.
	// Example: 128
	OutputTokens *Dist[int64, Number] `plan:"output_tokens"`
	// Lengths of prompts and answers that belong together, in place of input_tokens and output_tokens.
	// Example: [{input: 128, output: 32, weight: 60}, {input: 2000, output: 400}]
	Lengths []*Lengths `plan:"lengths" least:"1"`
	// Asks for exactly as many tokens, by the server's minimum and by ignoring the model's end. auto lets the
	// first reply decide, and leaves models alone that reason ahead of their answers.
	// Example: auto
	ExactOutput *Val[ExactOutput] `plan:"exact_output" with:"output_tokens lengths"`
	// Tokens of a system prompt that all prompts share.
	// Example: 1000
	System *Val[int64] `plan:"system" min:"1" max:"16777216"`
	// Tokens of a context in front of the prompt, of a session in front of its first one: each has its own.
	// Example: 2000
	Context *Val[int64] `plan:"context" min:"1" max:"16777216"`
	// Prefixes that prompts share; each prompt begins with one of them.
	// Example: {count: 10}
	Prefixes *Prefixes `plan:"prefixes"`
	// What may send the same prompts again. none: each request begins with words of its own, so that no
	// cache has seen it. stage: the levels, repeats and warm-up of a stage. all: all stages.
	// Example: all
	Reuse *Val[string] `plan:"reuse" default:"none" words:"none stage all"`
	// Text that prompts are cut from; without it, pages of Newton's Opticks.
	// Example: corpus.txt
	Corpus *Val[Path] `plan:"corpus" is:"file"`
	// Turns of a session; with several, each of the prompts is a session, whose turns hold those before
	// them and their answers.
	// Example: {mean: 4, std: 1}
	Turns *Dist[int64, Number] `plan:"turns" default:"1"`
	// Time from the answer to a turn to the next turn.
	// Example: {mean: 2s, std: 500ms}
	Delay *Dist[time.Duration, time.Duration] `plan:"delay" default:"0s" with:"turns"`
	// Images in each prompt: drawn, of tiles of few colours. Endpoints chat, responses and messages.
	// Example: {count: 1, width: 640, height: 480}
	Images *Images `plan:"images"`
	// Audio in each prompt: a drawn melody. Endpoint chat.
	// Example: {seconds: 2.5}
	Audio *Audio `plan:"audio"`
}

// Lengths holds the keys of one pair of lengths.
type Lengths struct {
	At Place `def:"lengths"`
	// Tokens of the prompt.
	// Example: 128
	Input *Dist[int64, Number] `plan:"input" required:"true"`
	// Tokens asked for; the server decides without it.
	// Example: 32
	Output *Dist[int64, Number] `plan:"output"`
	// Share of the prompts, against the other weights.
	// Example: 60
	Weight *Val[Number] `plan:"weight" default:"1"`
}

// Prefixes holds the keys of shared prefixes.
type Prefixes struct {
	At Place `def:"prefixes"`
	// How many prefixes there are.
	// Example: 10
	Count *Val[int64] `plan:"count" required:"true" min:"1"`
	// How long each is.
	// Example: 100
	Tokens *Val[int64] `plan:"tokens" default:"100" min:"1"`
}

// Images holds the keys of generated images.
type Images struct {
	At Place `def:"images"`
	// Images in a prompt.
	// Example: 1
	Count *Val[int64] `plan:"count" default:"1" min:"1" max:"64"`
	// Width in pixels, at most 8192.
	// Example: 640
	Width *Dist[int64, Number] `plan:"width" required:"true"`
	// Height in pixels, at most 8192.
	// Example: 480
	Height *Dist[int64, Number] `plan:"height" required:"true"`
	// Encoding.
	// Example: jpeg
	Format *Val[string] `plan:"format" default:"png" words:"png jpeg"`
}

// Audio holds the keys of generated audio.
type Audio struct {
	At Place `def:"audio"`
	// Length in seconds, 0.1 to 600.
	// Example: 2.5
	Seconds *Dist[Number, Number] `plan:"seconds" required:"true"`
	// Samples for each second.
	// Example: 16000
	SampleRate *Val[int64] `plan:"sample_rate" default:"16000" min:"1" max:"192000"`
	// Encoding: PCM of 16 bits in one channel.
	// Example: wav
	Format *Val[string] `plan:"format" default:"wav" words:"wav"`
}

// All are the files of a dataset.
func (f *Files) All() []*Val[Path] {
	switch {
	case f == nil:
		return nil
	case f.One != nil:
		return []*Val[Path]{f.One}
	}
	return f.Many
}

// Source is the key that says where a dataset's rows come from.
func (ds *Dataset) Source() string { return cmp.Or(chosen[Dataset](ds.At.Node), "generate") }

// Own is the key that makes a generator other than a distribution.
func (g *Generator) Own() string { return chosen[Generator](g.At.Node) }

// Flatten lists the elements of nested lists in row-major order.
func Flatten(list []*Elements) []any {
	var all []any
	for _, e := range list {
		if e.One != nil {
			all = append(all, e.One.V)
		}
		all = append(all, Flatten(e.List)...)
	}
	return all
}

// Sizes reads a shape. "3,640,640" and [3,640,640] are the same; text after a comma that is no number
// is a slip, such as two shapes in one text.
func (s *Shape) Sizes() ([]int64, *source.Diagnostic) {
	if s.Text == nil {
		var dims []int64
		for _, d := range s.Dims {
			dims = append(dims, d.V)
		}
		return dims, nil
	}
	const detail = "a shape is a list of integers, such as [3, 640, 640]"
	var dims []int64
	for _, part := range strings.Split(s.Text.V, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
		if err != nil || utf8.RuneCountInString(part) > 20 {
			return nil, source.Errorf(source.CodeValue, "%q is no shape", s.Text.V).Help(detail)
		}
		dims = append(dims, n)
	}
	return dims, nil
}

// Dist is a drawn number: a constant of type C, or a map of values of type T.
type Dist[C, T any] struct {
	At       Place     `union:"dist_$" def:"dist_$_map" title:"$ or dist"`
	Constant *Val[C]   `form:"scalar"`
	Spread   Spread[T] `inline:"true"`
}

// Spread is the map form of a drawn number.
type Spread[T any] struct {
	// Mean; with std a normal shape.
	// Example: 1 | 5ms
	Mean *Val[T] `plan:"mean"`
	// Standard deviation.
	// Example: 1 | 5ms
	Std *Val[T] `plan:"std"`
	// Smallest value; with max alone a uniform shape.
	// Example: 1 | 5ms
	Min *Val[T] `plan:"min"`
	// Largest value.
	// Example: 100 | 20ms
	Max *Val[T] `plan:"max"`
	// Shape of the distribution.
	// Example: lognormal
	Shape *Val[string] `plan:"shape" words:"normal uniform exponential lognormal"`
	// Values that are equally likely, or a map from value to weight.
	// Example: [1, 100] | [5ms, 20ms]
	Values *Values[T] `plan:"values"`
}

// Values are equally likely values, or values with weights.
type Values[T any] struct {
	At      Place              `title:"list, or map of value to weight"`
	List    []*Val[T]          `form:"list"`
	Weights *Dict[Val[Number]] `form:"map"`
}
