package language

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Play holds the keys that a stage and `defaults` share.
type Play struct {
	// What the stage is for.
	// Example: What customers see at noon.
	Description *Val[string] `plan:"description"`
	// Copied into the artifacts.
	// Example: {kind: soak}
	Labels *Dict[Val[string]] `plan:"labels" usual:"{}"`
	// stop: stages that need this one are skipped when it fails. continue: they are not.
	// Example: continue
	OnFail  *Val[string] `plan:"on_fail" default:"stop" words:"stop continue"`
	Request Request      `inline:"true"`
	// How hard requests are sent. Every stage needs one, here or in `defaults`.
	// Example: {rate: 200/s, arrivals: poisson}
	Load *Load `plan:"load" required:"true"`
	// How long is measured. Exactly one of for, until.
	// Example: 60s
	For *Val[Span] `plan:"for" one:"extent" above:"0s"`
	// Measured until this holds: stable, until the last windows agree; precise, until bounds are narrow;
	// others, as long as the rest of its group lasts.
	// Example: stable
	Until *Until `plan:"until" one:"extent"`
	// The same load before, not measured.
	// Example: 5s
	Warmup *Val[Span] `plan:"warmup" default:"0s"`
	// How long open requests are waited for at the end; then they are cancelled.
	// Example: 10s
	Drain *Val[time.Duration] `plan:"drain" default:"30s" max:"24h"`
	// What must hold for the stage to pass; judged on every level.
	// Example: [latency.p99 < 50ms, errors.ratio < 0.1%]
	Assert []*Assertion `plan:"assert" usual:"[]"`
	// Pause before it starts.
	// Example: 10s
	Delay *Val[time.Duration] `plan:"delay" default:"0s"`
	// Then it is interrupted.
	// Example: 5m
	MaxDuration *Val[time.Duration] `plan:"max_duration" min:"1ms"`
	// Limits of this client for the stage, over those of the plan.
	// Example: {send_delay: 5ms}
	Validity *Validity `plan:"validity" default:"{}"`
	// How requests form sequences.
	// Example: {live: 64}
	Sequences *Sequences `plan:"sequences"`
	// Tensors lie in memory that the server shares, of the system or of a GPU (cuda): requests carry only
	// their places.
	// Example: system
	Memory *Memory `plan:"shared_memory"`
	// Actions before it.
	// Example: [{load_model: m}]
	Before []*Action `plan:"before" usual:"[]"`
	// Actions after it, on every way out.
	// Example: [{unload_model: m}]
	After []*Action `plan:"after" usual:"[]"`
	// The stage for each combination; include adds points, exclude removes some.
	// Example: {batch: [1, 8]}
	Matrix *Opaque `plan:"matrix"`
	// How often it is played over all points, every second time in reverse.
	// Example: 6
	Repeat *Val[int64] `plan:"repeat" default:"1" min:"1" max:"1000"`
	// Which of its nodes is the best: all are ranked, and `stage("id").best` is its value. Without a node
	// for which `where` holds the run is inconclusive.
	// Example: {max: throughput, where: latency.p99 < 50ms}
	Best *Best `plan:"best"`
	// Bounds that a request must keep to count as good.
	// Example: {ttft: 300ms}
	Goodput *Dict[Val[any]] `plan:"goodput"`
}

// Defaults holds the keys that every stage starts from.
type Defaults struct {
	At   Place `def:"defaults"`
	Play Play  `inline:"true"`
}

// StageEntry is an entry of `stages`: a stage, or a group of them.
type StageEntry struct {
	At    Place  `union:"stage" title:"stage"`
	Group *Group `form:"map" has:"parallel"`
	Stage *Stage `form:"map"`
}

// Group holds the keys of stages that run at the same time.
type Group struct {
	At Place `def:"group" name:"group of stages"`
	// Stages that start together.
	// Example: [{id: a, load: {concurrency: 4}, for: 10s}]
	Parallel []*Stage `plan:"parallel" required:"true" least:"1"`
	// Stages that come before the group.
	// Example: [sweep]
	Needs []*Val[string] `plan:"needs" unique:"true"`
	// Whether the group runs.
	// Example: always
	When *Val[string] `plan:"when" default:"success" words:"success failure always never"`
	// Pause before it starts.
	// Example: 10s
	Delay *Val[time.Duration] `plan:"delay" default:"0s"`
}

// Stage holds the keys of a stage.
type Stage struct {
	At Place `def:"stage_map" name:"stage"`
	// Its name, unique in the plan.
	// Example: steady
	ID *Val[string] `plan:"id" required:"true" is:"id"`
	// Stages that come before; the one above without it.
	// Example: [sweep]
	Needs []*Val[string] `plan:"needs" unique:"true"`
	// Whether it runs, by how those that it needs ended.
	// Example: always
	When *Val[string] `plan:"when" default:"success" words:"success failure always never"`
	Play Play         `inline:"true"`
	// Kinds of request that share the load.
	// Example: {a: {model: a, weight: 3}, b: {model: b, weight: 1}}
	Mix *Dict[Mix] `plan:"mix" names:"given" least:"1"`

	Group *Group // that it is a member of; nil: alone
	Index int    // of its entry in the plan's list
}

// Sequences holds the keys of requests that belong together.
type Sequences struct {
	At Place `def:"sequences"`
	// Sequences at the same time; open loops only, whose arrivals are steps of them.
	// Example: 64
	Live *Val[int64] `plan:"live" default:"4" min:"1" max:"MaxSlots"`
	// Requests of a sequence; without it as many as the data's own, where it has sequences.
	// Example: 20
	Length *Dist[int64, Number] `plan:"length" default:"20"`
	// Range of the sequence ids.
	// Example: {from: 1, to: 1000}
	IDs *IDs `plan:"ids"`
	// At most one request of a sequence in flight. Without it an open loop whose targets stream over gRPC,
	// where requests keep their order, sends the next step be the one before answered or not: up to
	// max_in_flight / live requests of a sequence. One all the same over other transports, in a closed
	// loop, with `of: sequences` and with `connections: per_request`.
	// Example: true
	Serial *Val[bool] `plan:"serial" default:"false"`
}

// IDs holds the range of sequence ids.
type IDs struct {
	At Place `def:"ids"`
	// The first id.
	// Example: 1
	From *Val[int64] `plan:"from" default:"1" min:"1"`
	// The last id.
	// Example: 1000
	To *Val[int64] `plan:"to" default:"4294967295" min:"1"`
	// Ids are texts of 20 digits, for models that want text; triton finds out by itself.
	// Example: true
	Text *Val[bool] `plan:"text" default:"false"`
}

// Memory is shared memory: its kind, or a map with more.
type Memory struct {
	At Place `def:"shared_memory" title:"word or map"`
	// Where the regions are: system is memory of the machine that both run on, cuda is memory of one of
	// its GPUs, which a binary has that was built with -tags cuda.
	// Example: system
	Kind *Val[string] `plan:"kind" form:"scalar" required:"true" words:"system cuda"`
	// Room for an output whose size the model does not tell, for each inference of a request.
	// Example: 1MiB
	OutputSize *Val[Size] `plan:"output_size" default:"100KiB" min:"1B"`
	// The GPU of kind cuda, by the number that the driver gives it, to client and server alike:
	// CUDA_VISIBLE_DEVICES changes the numbers.
	// Example: 0
	Device *Val[int64] `plan:"device" default:"0" min:"0"`
}

// Action is one step before or after a stage.
type Action struct {
	At Place `def:"action" name:"action"`
	// Loads a model, within the target's `timeout` or `ready`, whichever is longer; before a stage also with
	// another configuration.
	// Example: resnet50
	LoadModel *LoadModel `plan:"load_model" one:"action"`
	// Unloads a model.
	// Example: resnet50
	UnloadModel *Val[string] `plan:"unload_model" one:"action" is:"nonempty"`
	// Sends METHOD PATH to the target; 2xx is expected.
	// Example: POST /reset
	Call *Val[string] `plan:"call" one:"action" is:"call"`
}

// Until says when a stage ends other than by time or number.
type Until struct {
	At   Place        `def:"until_map" title:"word or map"`
	Word *Val[string] `form:"scalar" words:"stable others"`
	// Until the last windows agree.
	// Example: {windows: 3, window: 5s}
	Stable *Stable `plan:"stable" one:"until"`
	// Until the confidence bounds of each of these metrics are within this share of its value. The plan says
	// how precisely is measured, and not for how long; max_duration ends it at the latest.
	// Example: {latency.p99: 5%}
	Precise *Dict[Val[Ratio]] `plan:"precise" one:"until"`
	// Confidence of these bounds, and of all looks at them together.
	// Example: 99%
	Confidence *Val[Ratio] `plan:"confidence" default:"95%" with:"precise"`
}

// Stable holds the keys of windows that must agree.
type Stable struct {
	At Place `def:"stable"`
	// How many windows must agree.
	// Example: 3
	Windows *Val[int64] `plan:"windows" default:"3" min:"2" max:"1000"`
	// How long one is.
	// Example: "50 requests"
	Window *Val[Span] `plan:"window" default:"5s" above:"0s"`
	// How far they may be apart.
	// Example: 10%
	Within *Val[Ratio] `plan:"within" default:"10%" above:"0%"`
	// After this number of windows the stage ends as unstable.
	// Example: 20
	MaxWindows *Val[int64] `plan:"max_windows" default:"10" min:"2" max:"100000"`
	// The metrics that must agree.
	// Example: [throughput]
	Metrics []*Val[source.Text] `plan:"metrics" default:"throughput latency.p95" least:"1"`
}

// Assertion is an expression that must hold, with its own keys.
type Assertion struct {
	At Place `union:"assertion" def:"assertion_map" name:"assertion" title:"expression or map"`
	// What must be true. Exactly one of that, slo.
	// Example: latency.p99 < 50ms
	That *Val[source.Text] `plan:"that" one:"assertion" form:"scalar"`
	// A name under `slos`, whose assertions apply here.
	// Example: fast
	SLO *Val[string] `plan:"slo" one:"assertion"`
	// A stable name in results and JUnit; stage/N without it.
	// Example: p99
	ID *Val[string] `plan:"id" is:"label"`
	// Why it must hold.
	// Example: What the contract says.
	Description *Val[string] `plan:"description"`
	// warn is shown and fails nothing.
	// Example: warn
	Severity *Val[string] `plan:"severity" default:"gate" words:"gate warn"`
	// Samples needed; by percentile without it.
	// Example: 1000
	MinSamples *Val[int64] `plan:"min_samples" min:"1"`
	// The verdict without data.
	// Example: fail
	OnNoData *Val[string] `plan:"on_no_data" default:"inconclusive" words:"inconclusive fail pass"`

	// The bounds of this confidence decide, not the point.
	// Example: 95%
	Confidence *Val[Ratio] `plan:"confidence"`
	// Judged on each window of this length.
	// Example: 1m
	Every *Val[time.Duration] `plan:"every" min:"1ms"`
	// Share of the windows that may be false.
	// Example: 1%
	Allow *Val[Ratio] `plan:"allow" default:"0%" with:"every"`
	// Must be true from then on.
	// Example: 10s
	Within *Val[time.Duration] `plan:"within" above:"0s"`
	// Stops the run once it is certainly false; where `while` steers, only the level or the trial, which
	// then does not hold.
	// Example: true
	Abort *Val[bool] `plan:"abort" default:"false"`

	FromSLO string     // the name that it came from; "" when it was written in place
	UsedAt  source.Pos // where that name was used
}

// Flatten lists the stages with the members of groups in their places, each with its group.
func (p *Plan) Flatten() {
	for i, e := range p.Stages {
		switch {
		case e.Stage != nil:
			e.Stage.Index = i
			p.Flat = append(p.Flat, e.Stage)
		case e.Group != nil:
			for _, s := range e.Group.Parallel {
				s.Group, s.Index = e.Group, i
				if s.When == nil && e.Group.When != nil {
					s.When = e.Group.When
				}
				p.Flat = append(p.Flat, s)
			}
		}
	}
}

// Never reports whether the stage is as if absent.
func (s *Stage) Never() bool { return s.When != nil && s.When.V == "never" }

// Searches reports whether the load is looked for.
func (l *Load) Searches() bool {
	return l != nil &&
		(l.Concurrency != nil && l.Concurrency.Search != nil || l.Rate != nil && l.Rate.Search != nil)
}

// StageIDs lists the ids of the stages in document order, and says of each whether it never runs.
func (p *Plan) StageIDs() (ids []string, never map[string]bool) {
	never = map[string]bool{}
	for _, s := range p.Flat {
		if s.ID == nil {
			continue
		}
		if _, point := never[s.ID.V]; !point { // else it is one of a matrix
			ids = append(ids, s.ID.V)
		}
		never[s.ID.V] = s.Never()
	}
	return ids, never
}

// Unread reports whether the ids of some stages could not be read, so that an id that is not found may
// be theirs.
func (p *Plan) Unread() bool {
	list := p.At.Node.Get("stages")
	unread := list == nil || len(list.Items) != len(p.Stages) ||
		slices.ContainsFunc(p.Flat, func(s *Stage) bool { return s.ID == nil })
	for _, e := range p.Stages {
		if g := e.Group; g != nil {
			members := g.At.Node.Get("parallel")
			unread = unread || members == nil || len(members.Items) != len(g.Parallel)
		}
	}
	return unread
}

// StableID is the assertion's stable name: as written, else by its place.
func (a *Assertion) StableID(owner string, index int) string {
	if a.ID != nil {
		return a.ID.V
	}
	return fmt.Sprintf("%s/%d", owner, index+1)
}

// UsedBy is a copy of an slo's assertion as a stage uses it: what the use writes beside the name wins.
// An id gets the stage's name before it, because several stages may use the slo.
func (a *Assertion) UsedBy(use *Assertion, owner string) *Assertion {
	copied := *a
	if a.ID != nil {
		copied.ID = &Val[string]{owner + "/" + a.ID.V, a.ID.At}
	}
	copied.SLO, copied.FromSLO, copied.UsedAt = nil, use.SLO.V, use.SLO.At.Pos()
	from, to := reflect.ValueOf(use).Elem(), reflect.ValueOf(&copied).Elem()
	for _, f := range fields(from.Type()) {
		if v := from.FieldByIndex(f.index); f.key != "slo" && f.key != "that" && !v.IsNil() {
			to.FieldByIndex(f.index).Set(v)
		}
	}
	return &copied
}
