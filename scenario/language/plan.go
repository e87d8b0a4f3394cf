// Package language is the plan language as Go types: one field for each key, whose tag has the key's name, default,
// bounds and words. It reads the nodes of a plan into these types, with the place of each value.
//
// It is not: what a plan means (package scenario), how files and the command line are laid over each other (package
// layer), the checks of shape that an editor also makes (package schema).
//
// Read plan.go, target.go, data.go, load.go and stage.go for the keys, layout.go for what their tags say, leaf.go for
// the types of scalars, then decode.go with constraint.go, unions.go and fill.go for how a plan is read. type.go and
// part.go are for those who walk a plan without knowing its keys.
package language

import "time"

// Plan is a plan as it is written (see layout.go for the tags). A pointer that is nil after decoding is a key that was
// not written; FillDefaults puts the defaults in.
type Plan struct {
	At          Place
	Version     *Val[int64]         `plan:"version" required:"true"`
	Name        *Val[string]        `plan:"name" is:"name"`
	Description *Val[string]        `plan:"description"`
	Labels      *Dict[Val[string]]  `plan:"labels"`
	Seed        *Val[int64]         `plan:"seed" default:"0" min:"0"`
	Extends     *Val[Path]          `plan:"extends"` // merged before anything is decoded (overlay.go)
	Vars        *Dict[Var]          `plan:"vars"`
	Profiles    *Dict[Plan]         `plan:"profiles"` // too
	Target      *Target             `plan:"target"`
	Targets     *Dict[Target]       `plan:"targets"`
	Data        *Dataset            `plan:"data"`
	Datasets    *Dict[Dataset]      `plan:"datasets"`
	Defaults    *Defaults           `plan:"defaults"`
	SLOs        *Dict[[]*Assertion] `plan:"slos"`
	Stages      []*StageEntry       `plan:"stages" required:"true"`
	Assert      []*Assertion        `plan:"assert"`
	Baseline    *Baseline           `plan:"baseline"`
	MaxDuration *Val[time.Duration] `plan:"max_duration" min:"1ms"`
	Output      *Output             `plan:"output" default:"{}"`

	Flat []*Stage // the stages of Stages and of its groups, in their order
}

type Var struct {
	At          Place
	Default     *Val[any]    `plan:"default" form:"scalar"`
	Type        *Val[string] `plan:"type" words:"text int number bool duration rate ratio size power"`
	Env         *Val[string] `plan:"env"`
	Secret      *Val[bool]   `plan:"secret" default:"false"`
	Required    *Val[bool]   `plan:"required" default:"false"`
	Description *Val[string] `plan:"description"`
}

// Baseline is a path, or a map with more.
type Baseline struct {
	At        Place
	File      *Val[Path]   `plan:"file" form:"scalar" required:"true"`
	IfMissing *Val[string] `plan:"if_missing" default:"inconclusive" words:"inconclusive skip"`
}

type Output struct {
	At          Place
	Dir         *Val[Path]     `plan:"dir"`
	Formats     []*Val[string] `plan:"formats" default:"json csv" words:"json csv junit markdown html perf_analyzer_csv profile_export genai_perf"`
	Percentiles []*Val[Number] `plan:"percentiles" default:"50 90 95 99 99.9"`
	Samples     *Val[string]   `plan:"samples" default:"none" words:"none csv jsonl"`
}
