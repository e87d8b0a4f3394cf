package language

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Request are the keys that say what one request looks like.
type Request struct {
	Target     *Val[string]       `plan:"target"`
	Data       *Val[string]       `plan:"data"`
	Model      *Val[string]       `plan:"model" is:"nonempty"`
	Batch      *Val[int64]        `plan:"batch" default:"1" min:"1" max:"65536"`
	Shapes     *Dict[Shape]       `plan:"shapes"`
	Outputs    []*OutputWanted    `plan:"outputs"`
	Parameters *Dict[Val[any]]    `plan:"parameters"`
	Headers    *Dict[Val[string]] `plan:"headers"`
	Expect     *Expect            `plan:"expect"`
}

// Shape is a list of dimensions; "3,640,640" is the same as [3, 640, 640].
type Shape struct {
	At   Place
	Text *Val[string]  `form:"scalar"`
	Dims []*Val[int64] `form:"list"`
}

// OutputWanted is an output to ask for: its name, or a map with more.
type OutputWanted struct {
	At             Place
	Name           *Val[string]    `plan:"name" form:"scalar" required:"true"`
	Classification *Val[int64]     `plan:"classification" min:"1" max:"4294967295"`
	Parameters     *Dict[Val[any]] `plan:"parameters"`
}

type Expect struct {
	At       Place
	Outputs  *Val[bool]    `plan:"outputs" default:"true"`
	Relative *Val[Number]  `plan:"relative" default:"0" min:"0"`
	Absolute *Val[Number]  `plan:"absolute" default:"0" min:"0"`
	Status   []*Val[int64] `plan:"status" min:"0" max:"599"`

	Sample *Val[Ratio]     `plan:"sample" default:"100%" max:"100%"`
	Fields *Dict[Val[any]] `plan:"fields"`
}

// Play is what a stage and `defaults` share.
type Play struct {
	Description *Val[string]        `plan:"description"`
	Labels      *Dict[Val[string]]  `plan:"labels"`
	OnFail      *Val[string]        `plan:"on_fail" default:"stop" words:"stop continue"`
	Request     Request             `inline:"true"`
	Load        *Load               `plan:"load" required:"true"`
	For         *Val[Span]          `plan:"for"`
	Until       *Until              `plan:"until"`
	Warmup      *Val[Span]          `plan:"warmup" default:"0s"`
	Drain       *Val[time.Duration] `plan:"drain" default:"30s" max:"24h"`
	Assert      []*Assertion        `plan:"assert"`
	Delay       *Val[time.Duration] `plan:"delay" default:"0s"`
	MaxDuration *Val[time.Duration] `plan:"max_duration" min:"1ms"`
	Sequences   *Sequences          `plan:"sequences"`
	Memory      *Memory             `plan:"shared_memory"`
	Before      []*Action           `plan:"before"`
	After       []*Action           `plan:"after"`
	Matrix      *Opaque             `plan:"matrix"`
	Repeat      *Val[int64]         `plan:"repeat" default:"1" min:"1" max:"1000"`
	Goodput     *Dict[Val[any]]     `plan:"goodput"`
}

type Defaults struct {
	At   Place
	Play Play `inline:"true"`
}

// StageEntry is an entry of `stages`: a stage, or a group of them.
type StageEntry struct {
	At    Place
	Group *Group `form:"map" has:"parallel"`
	Stage *Stage `form:"map"`
}

type Group struct {
	At       Place
	Parallel []*Stage            `plan:"parallel" required:"true"`
	Needs    []*Val[string]      `plan:"needs"`
	When     *Val[string]        `plan:"when" default:"success" words:"success failure always never"`
	Delay    *Val[time.Duration] `plan:"delay" default:"0s"`
}

type Stage struct {
	At    Place
	ID    *Val[string]   `plan:"id" required:"true" is:"id"`
	Needs []*Val[string] `plan:"needs"`
	When  *Val[string]   `plan:"when" default:"success" words:"success failure always never"`
	Play  Play           `inline:"true"`
	Mix   *Dict[Mix]     `plan:"mix"`

	Group *Group // that it is a member of; nil: alone
	Index int    // of its entry in the plan's list
}

// Mix is an entry of a mix. What it leaves open the stage says (see mergeMixes).
type Mix struct {
	At      Place
	Request Request      `inline:"true"`
	Weight  *Val[Number] `plan:"weight"`
}

type Sequences struct {
	At     Place
	Live   *Val[int64]          `plan:"live" default:"4" min:"1" max:"65536"`
	Length *Dist[int64, Number] `plan:"length" default:"20"`
	IDs    *IDs                 `plan:"ids"`
	Serial *Val[bool]           `plan:"serial" default:"false"`
}

type IDs struct {
	At   Place
	From *Val[int64] `plan:"from" default:"1" min:"1"`
	To   *Val[int64] `plan:"to" default:"4294967295" min:"1"`
	Text *Val[bool]  `plan:"text" default:"false"`
}

// Memory is shared memory: its kind, or a map with more.
type Memory struct {
	At         Place
	Kind       *Val[string] `plan:"kind" form:"scalar" required:"true" words:"system cuda"`
	OutputSize *Val[Size]   `plan:"output_size" default:"100KiB" min:"1B"`
	Device     *Val[int64]  `plan:"device" default:"0" min:"0"`
}

// Action is one step before or after a stage.
type Action struct {
	At     Place
	Load   *Val[string] `plan:"load_model" is:"nonempty"`
	Unload *Val[string] `plan:"unload_model" is:"nonempty"`
	Call   *Val[string] `plan:"call" is:"call"`
}

type Until struct {
	At     Place
	Word   *Val[string] `form:"scalar" words:"stable others"`
	Stable *Stable      `plan:"stable"`
}

type Stable struct {
	At         Place
	Windows    *Val[int64]         `plan:"windows" default:"3" min:"2" max:"1000"`
	Window     *Val[Span]          `plan:"window" default:"5s"`
	Within     *Val[Ratio]         `plan:"within" default:"10%"`
	MaxWindows *Val[int64]         `plan:"max_windows" default:"10" min:"2" max:"100000"`
	Metrics    []*Val[source.Text] `plan:"metrics" default:"throughput latency.p95"`
}

type Assertion struct {
	At          Place
	That        *Val[source.Text] `plan:"that" form:"scalar"`
	SLO         *Val[string]      `plan:"slo"`
	ID          *Val[string]      `plan:"id" is:"label"`
	Description *Val[string]      `plan:"description"`
	Severity    *Val[string]      `plan:"severity" default:"gate" words:"gate warn"`
	MinSamples  *Val[int64]       `plan:"min_samples" min:"1"`
	OnNoData    *Val[string]      `plan:"on_no_data" default:"inconclusive" words:"inconclusive fail pass"`

	Confidence *Val[Ratio]         `plan:"confidence"`
	Every      *Val[time.Duration] `plan:"every" min:"1ms"`
	Allow      *Val[Ratio]         `plan:"allow" default:"0%" with:"every"`
	Within     *Val[time.Duration] `plan:"within"`
	Abort      *Val[bool]          `plan:"abort" default:"false"`

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

// Requests are the kinds of request of a stage: those of its mix, else its own.
func (s *Stage) Requests() []Request {
	if s.Mix == nil {
		return []Request{s.Play.Request}
	}
	var all []Request
	for _, e := range s.Mix.Items() {
		all = append(all, e.Value.Request)
	}
	return all
}

// Searches reports whether the load is looked for.
func (l *Load) Searches() bool {
	return l != nil && (l.Concurrency != nil && l.Concurrency.Search != nil || l.Rate != nil && l.Rate.Search != nil)
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

// Unread reports whether the ids of some stages could not be read, so that an id that is not found may be theirs.
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

// UsedBy is a copy of an slo's assertion as a stage uses it: what the use writes beside the name wins. An id gets the
// stage's name before it, because several stages may use the slo.
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
