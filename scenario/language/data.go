package language

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/scenario/source"
)

type Dataset struct {
	At           Place
	Generate     *Generate            `plan:"generate"`
	File         *Files               `plan:"file"`
	Dir          *Val[Path]           `plan:"dir"`
	Bodies       *Val[string]         `plan:"bodies" is:"nonempty"`
	Rows         []*Opaque            `plan:"rows"`
	Prompts      *Prompts             `plan:"prompts"`
	Command      []*Val[string]       `plan:"command"`
	Format       *Val[string]         `plan:"format" with:"file dir bodies command" words:"perf_analyzer v2 jsonl json csv sharegpt openai_batch mooncake frames textproto npy raw multipart"`
	Columns      *Dict[Val[string]]   `plan:"columns" with:"file rows command"`
	TimeUnit     *Val[string]         `plan:"time_unit" with:"file rows command" words:"ms s us"`
	History      *Val[string]         `plan:"history" with:"file rows prompts command" usual:"append" words:"append verbatim"`
	Order        *Val[string]         `plan:"order" default:"sequential" words:"sequential shuffle random"`
	AtEnd        *Val[string]         `plan:"at_end" default:"repeat" words:"repeat stop"`
	Count        *Val[int64]          `plan:"count" with:"generate" default:"16" min:"1" max:"1000000"`
	StringLength *Dist[int64, Number] `plan:"string_length" with:"generate" default:"128"`
}

type Files struct {
	At   Place
	One  *Val[Path]   `form:"scalar"`
	Many []*Val[Path] `form:"list"`
}

type Generate struct {
	At     Place
	Word   *Val[string]     `form:"scalar" words:"random zero"`
	Inputs *Dict[Generator] `form:"map"`
}

type Generator struct {
	At       Place
	Constant *Val[element]        `form:"scalar"`
	List     []*Elements          `form:"list"`
	Spread   Spread[Number]       `inline:"true"`
	Length   *Dist[int64, Number] `plan:"length"`
	Alphabet *Val[string]         `plan:"alphabet" with:"length" is:"nonempty"`
	OneOf    []*Val[element]      `plan:"one_of"`
	File     *Val[Path]           `plan:"file"`
}

// Elements is an element of a constant tensor, or a nested list of them.
type Elements struct {
	At   Place
	One  *Val[element] `form:"scalar"`
	List []*Elements   `form:"list"`
}

// Prompts is synthetic text.
type Prompts struct {
	At           Place
	Count        *Val[int64]                         `plan:"count" default:"100" min:"1" max:"10000000"`
	InputTokens  *Dist[int64, Number]                `plan:"input_tokens" default:"550"`
	OutputTokens *Dist[int64, Number]                `plan:"output_tokens"`
	ExactOutput  *Val[bool]                          `plan:"exact_output" default:"false"`
	Prefixes     *Prefixes                           `plan:"prefixes"`
	Corpus       *Val[Path]                          `plan:"corpus"`
	Turns        *Dist[int64, Number]                `plan:"turns" default:"1"`
	Delay        *Dist[time.Duration, time.Duration] `plan:"delay" default:"0s"`
	Images       *Images                             `plan:"images"`
	Audio        *Audio                              `plan:"audio"`
}

type Prefixes struct {
	At     Place
	Count  *Val[int64] `plan:"count" required:"true" min:"1"`
	Tokens *Val[int64] `plan:"tokens" default:"100" min:"1"`
}

type Images struct {
	At     Place
	Count  *Val[int64]          `plan:"count" default:"1" min:"1"`
	Width  *Dist[int64, Number] `plan:"width"`
	Height *Dist[int64, Number] `plan:"height"`
	Format *Val[string]         `plan:"format" words:"png jpeg"`
}

type Audio struct {
	At         Place
	Seconds    *Dist[Number, Number] `plan:"seconds"`
	SampleRate *Val[int64]           `plan:"sample_rate" default:"16000" min:"1"`
	Format     *Val[string]          `plan:"format" default:"wav" words:"wav"`
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
func (ds *Dataset) Source() string {
	switch {
	case ds.File != nil:
		return "file"
	case ds.Dir != nil:
		return "dir"
	case ds.Bodies != nil:
		return "bodies"
	case ds.Rows != nil:
		return "rows"
	case ds.Prompts != nil:
		return "prompts"
	case ds.Command != nil:
		return "command"
	}
	return "generate"
}

// Own is the key that makes a generator other than a distribution.
func (g *Generator) Own() string {
	for _, key := range [...]string{"length", "one_of", "file"} {
		if g.At.Node.Entry(key) != nil {
			return key
		}
	}
	return ""
}

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

// Sizes reads a shape. "3,640,640" and [3,640,640] are the same; text after a comma that is no number is a slip, such as
// two shapes in one text.
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
			return nil, Invalid(detail, "%q is no shape", s.Text.V)
		}
		dims = append(dims, n)
	}
	return dims, nil
}

// Dist is a drawn number: a constant of type C, or a map of values of type T.
type Dist[C, T any] struct {
	At       Place
	Constant *Val[C]   `form:"scalar"`
	Spread   Spread[T] `inline:"true"`
}

// Spread is the map form of a drawn number.
type Spread[T any] struct {
	Mean   *Val[T]      `plan:"mean"`
	Std    *Val[T]      `plan:"std"`
	Min    *Val[T]      `plan:"min"`
	Max    *Val[T]      `plan:"max"`
	Shape  *Val[string] `plan:"shape" words:"normal uniform exponential lognormal"`
	Values *Values[T]   `plan:"values"`
}

// Values are equally likely values, or values with weights.
type Values[T any] struct {
	At      Place
	List    []*Val[T]          `form:"list"`
	Weights *Dict[Val[Number]] `form:"map"`
}
