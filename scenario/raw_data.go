package scenario

import (
	"time"
)

type rawDataset struct {
	At           place
	Generate     *rawGenerate            `plan:"generate"`
	File         *rawFiles               `plan:"file"`
	Dir          *val[path]              `plan:"dir"`
	Bodies       *val[string]            `plan:"bodies" is:"nonempty"`
	Rows         []*opaque               `plan:"rows"`
	Prompts      *rawPrompts             `plan:"prompts"`
	Command      []*val[string]          `plan:"command"`
	Format       *val[string]            `plan:"format" with:"file dir bodies command" words:"perf_analyzer v2 jsonl json csv sharegpt openai_batch mooncake frames textproto npy raw multipart"`
	Columns      *dict[val[string]]      `plan:"columns" with:"file rows command"`
	TimeUnit     *val[string]            `plan:"time_unit" with:"file rows command" words:"ms s us"`
	History      *val[string]            `plan:"history" with:"file rows prompts command" usual:"append" words:"append verbatim"`
	Order        *val[string]            `plan:"order" default:"sequential" words:"sequential shuffle random"`
	AtEnd        *val[string]            `plan:"at_end" default:"repeat" words:"repeat stop"`
	Count        *val[int64]             `plan:"count" with:"generate" default:"16" min:"1" max:"1000000"`
	StringLength *rawDist[int64, number] `plan:"string_length" with:"generate" default:"128"`
}

type rawFiles struct {
	At   place
	One  *val[path]   `form:"scalar"`
	Many []*val[path] `form:"list"`
}

type rawGenerate struct {
	At     place
	Word   *val[string]        `form:"scalar" words:"random zero"`
	Inputs *dict[rawGenerator] `form:"map"`
}

type rawGenerator struct {
	At       place
	Constant *val[element]           `form:"scalar"`
	List     []*rawElement           `form:"list"`
	Spread   rawSpread[number]       `inline:"true"`
	Length   *rawDist[int64, number] `plan:"length"`
	Alphabet *val[string]            `plan:"alphabet" with:"length" is:"nonempty"`
	OneOf    []*val[element]         `plan:"one_of"`
	File     *val[path]              `plan:"file"`
}

// rawElement is an element of a constant tensor, or a nested list of them.
type rawElement struct {
	At   place
	One  *val[element] `form:"scalar"`
	List []*rawElement `form:"list"`
}

// rawPrompts is synthetic text.
type rawPrompts struct {
	At           place
	Count        *val[int64]                            `plan:"count" default:"100" min:"1" max:"10000000"`
	InputTokens  *rawDist[int64, number]                `plan:"input_tokens" default:"550"`
	OutputTokens *rawDist[int64, number]                `plan:"output_tokens"`
	ExactOutput  *val[bool]                             `plan:"exact_output" default:"false"`
	Prefixes     *rawPrefixes                           `plan:"prefixes"`
	Corpus       *val[path]                             `plan:"corpus"`
	Turns        *rawDist[int64, number]                `plan:"turns" default:"1"`
	Delay        *rawDist[time.Duration, time.Duration] `plan:"delay" default:"0s"`
	Images       *rawImages                             `plan:"images"`
	Audio        *rawAudio                              `plan:"audio"`
}

type rawPrefixes struct {
	At     place
	Count  *val[int64] `plan:"count" required:"true" min:"1"`
	Tokens *val[int64] `plan:"tokens" default:"100" min:"1"`
}

type rawImages struct {
	At     place
	Count  *val[int64]             `plan:"count" default:"1" min:"1"`
	Width  *rawDist[int64, number] `plan:"width"`
	Height *rawDist[int64, number] `plan:"height"`
	Format *val[string]            `plan:"format" words:"png jpeg"`
}

type rawAudio struct {
	At         place
	Seconds    *rawDist[number, number] `plan:"seconds"`
	SampleRate *val[int64]              `plan:"sample_rate" default:"16000" min:"1"`
	Format     *val[string]             `plan:"format" default:"wav" words:"wav"`
}
