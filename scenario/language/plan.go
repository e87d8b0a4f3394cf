// Package language is the plan language as Go types: one field for each key, whose tag has the key's
// name, default, bounds and words. It reads the nodes of a plan into these types, with the place of
// each value.
//
// It is not: what a plan means (package scenario), how files and the command line are laid over each
// other (package layer), the checks of shape that an editor also makes (package schema).
//
// Read plan.go, target.go, data.go, load.go and stage.go for the keys, layout.go for what their tags
// say, leaf.go for the types of scalars, then decode.go with constraint.go, unions.go and fill.go for
// how a plan is read. type.go and part.go are for those who walk a plan without knowing its keys.
package language

import "time"

// Plan is a plan as it is written (see layout.go for the tags). A pointer that is nil after decoding
// is a key that was not written; FillDefaults puts the defaults in. Validity is merged into stages.
type Plan struct {
	At Place
	// The version of the plan language.
	// Example: 1
	Version *Val[int64] `plan:"version" is:"version" required:"true"`
	// Names the result folder; without one, the file's name does.
	// Example: resnet50-gate
	Name *Val[string] `plan:"name" is:"name"`
	// What the plan is for.
	// Example: Hold 200 requests a second under 50 ms.
	Description *Val[string] `plan:"description"`
	// Copied into every artifact.
	// Example: {team: vision}
	Labels *Dict[Val[string]] `plan:"labels" usual:"{}"`
	// Every draw derives from it, the stage's id, the point and the repeat.
	// Example: 42
	Seed *Val[int64] `plan:"seed" default:"0" min:"0"`
	// One plan that this one is merged over.
	// Example: base.yaml
	Extends *Val[Path] `plan:"extends"` // merged before decoding, as profiles are
	// Values that can be set from outside and are used as ${name}. A scalar is the default.
	// Example: {url: {default: "grpc://localhost:8001", env: TRITON_URL}, limit: 50ms}
	Vars *Dict[Var] `plan:"vars" names:"var" usual:"{}"`
	// Named changes to the plan, chosen with --profile.
	// Example: {ci: {vars: {limit: 80ms}}}
	Profiles *Dict[Plan] `plan:"profiles" names:"given" usual:"{}"`
	// The one server to send to; its name is main. Exactly one of target, targets.
	// Example: {backend: triton, url: "grpc://localhost:8001", model: resnet50}
	Target *Target `plan:"target" one:"target"`
	// Servers to send to, by name.
	// Example: {canary: {backend: kserve, url: "http://canary:8000", model: m}}
	Targets *Dict[Target] `plan:"targets" one:"target" names:"given" least:"1"`
	// Where inputs come from; its name is main. At most one of data, datasets.
	// Example: {file: rows.json}
	Data *Dataset `plan:"data" one:"data" usual:"{generate: random}"`
	// Where inputs come from, by name.
	// Example: {small: {generate: zero}}
	Datasets *Dict[Dataset] `plan:"datasets" one:"data" names:"given" least:"1"`
	// Keys of a stage that every stage has unless it says otherwise.
	// Example: {warmup: 5s}
	Defaults *Defaults `plan:"defaults" usual:"{}"`
	// Named assertions, used as {slo: NAME}.
	// Example: {fast: [latency.p99 < 50ms]}
	SLOs *Dict[[]*Assertion] `plan:"slos" names:"given" least:"1"`
	// What is played, one after the other.
	// Example: [{id: steady, load: {rate: 100/s}, for: 60s}]
	Stages []*StageEntry `plan:"stages" least:"1" required:"true"`
	// What must hold over all stages; metrics are named stage("id").METRIC.
	// Example: ["stage(\"b\").latency.p50 <= 2 * stage(\"a\").latency.p50"]
	Assert []*Assertion `plan:"assert" usual:"[]"`
	// A stored result that assertions compare with.
	// Example: {file: main.json, if_missing: skip}
	Baseline *Baseline `plan:"baseline"`
	// After this time the run is interrupted and marked partial.
	// Example: 30m
	MaxDuration *Val[time.Duration] `plan:"max_duration" min:"1ms"`
	// Limits of this client, over which numbers are intervals (send_delay, pause) or the measurement is
	// invalid (paused); for stages that do not set their own.
	// Example: {send_delay: 5ms, paused: 20%}
	Validity *Validity `plan:"validity" usual:"{send_delay: 1ms, pause: 20ms, paused: 10%}"`
	// What is written where.
	// Example: {formats: [json, junit]}
	Output *Output `plan:"output" default:"{}"`

	Flat []*Stage // the stages of Stages and of its groups, in their order
}

// Var holds the keys of a declared variable.
type Var struct {
	At Place `union:"variable_definition" def:"variable_map" title:"scalar or map"`
	// The value when nothing sets it. Without one, it must be set.
	// Example: 50ms
	Default *Val[any] `plan:"default" form:"scalar"`
	// The type; without one, that of the default's form, else text.
	// Example: duration
	Type *Val[string] `plan:"type" words:"text int number bool duration rate ratio size power energy"`
	// Environment variable that sets it; set but empty is empty text.
	// Example: TRITON_URL
	Env *Val[string] `plan:"env"`
	// Shown as *** everywhere.
	// Example: true
	Secret *Val[bool] `plan:"secret" default:"false"`
	// The value must come from outside: a default does not count, and empty text is missing.
	// Example: true
	Required *Val[bool] `plan:"required" default:"false"`
	// What the variable is for.
	// Example: where the model is served
	Description *Val[string] `plan:"description"`
}

// Baseline is a path, or a map with more.
type Baseline struct {
	At Place `def:"baseline" title:"path or map"`
	// A result.json.
	// Example: baselines/main.json
	File *Val[Path] `plan:"file" form:"scalar" required:"true"`
	// What assertions with baseline are when the file is missing.
	// Example: skip
	IfMissing *Val[string] `plan:"if_missing" default:"inconclusive" words:"inconclusive skip"`
}

// Output holds the keys of what a run writes.
type Output struct {
	At Place `def:"output"`
	// The folder; sluice-results/NAME-TIME without it.
	// Example: results/nightly
	Dir *Val[Path] `plan:"dir"`
	// Files to write; json always.
	// Example: [json, junit]
	Formats []*Val[string] `plan:"formats" default:"json csv" words:"json csv junit markdown perf_analyzer_csv profile_export genai_perf aiperf vllm_bench timeline_csv" unique:"true"`
	// Percentiles in every table and file.
	// Example: [50, 99]
	Percentiles []*Val[Number] `plan:"percentiles" above:"0" max:"100" default:"50 90 95 99 99.9" unique:"true"`
	// A file with every request.
	// Example: csv
	Samples *Val[string] `plan:"samples" default:"none" words:"none csv jsonl"`
}
