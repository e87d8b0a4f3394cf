package language

import (
	"time"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Amount is a number of requests in flight, or of requests a second.
type Amount interface{ int64 | Rate }

// Load holds the keys of a load: when requests are sent.
type Load struct {
	At Place `def:"load" name:"load"`
	// Closed loop: requests in flight. Exactly one of concurrency, rate, intervals, schedule.
	// Example: [1, 2, 4, 8]
	Concurrency *Slots `plan:"concurrency" one:"load"`
	// Open loop: requests due for each second, not items of a batch.
	// Example: 200/s
	Rate *PerSecond `plan:"rate" one:"load"`
	// Open loop: gaps from a file.
	// Example: {file: gaps.txt, unit: us}
	Intervals *Intervals `plan:"intervals" one:"load"`
	// Open loop: times from a file, or from the data's rows.
	// Example: {speed: 2}
	Schedule *Schedule `plan:"schedule" one:"load"`
	// How the gaps of a rate vary.
	// Example: poisson
	Arrivals *Arrivals `plan:"arrivals" with:"rate" default:"constant"`
	// Open loop: most requests in flight. Reaching it is noted in the result.
	// Example: 256
	MaxInFlight *Val[int64] `plan:"max_in_flight" with:"rate intervals schedule" default:"1024" min:"1" max:"MaxSlots"`
	// What a request does that is due when max_in_flight is reached: wait, which is in its latency, or be
	// dropped, which is counted.
	// Example: drop
	Overflow *Val[string] `plan:"overflow" with:"rate intervals schedule" default:"wait" words:"wait drop"`
	// Closed loop: pause after each reply.
	// Example: 1s
	Think *Dist[time.Duration, time.Duration] `plan:"think" with:"concurrency" default:"0s"`
	// What a rate counts. With users it is the rate of each user's own requests, from start to start: there
	// are `sequences: {live: N}` users, whose own requests never overlap.
	// Example: sessions
	Of *Val[string] `plan:"of" with:"rate" default:"requests" words:"requests sequences sessions users"`
}

// Intervals holds the keys of recorded gaps.
type Intervals struct {
	At Place `def:"intervals"`
	// One gap a line.
	// Example: gaps.txt
	File *Val[Path] `plan:"file" required:"true" is:"file"`
	// Unit of the gaps.
	// Example: us
	Unit *Val[string] `plan:"unit" required:"true" words:"ns us ms s"`
	// Whether the first request comes after the first gap or at once.
	// Example: zero
	First *Val[string] `plan:"first" default:"gap" words:"gap zero"`
	// What happens after the last gap.
	// Example: stop
	AtEnd *Val[string] `plan:"at_end" default:"repeat" words:"repeat stop"`
}

// Schedule holds the keys of recorded times.
type Schedule struct {
	At Place `def:"schedule"`
	// One time a line; the data's timestamps without it.
	// Example: times.txt
	File *Val[Path] `plan:"file" is:"file" with:"unit"`
	// Unit of the times.
	// Example: ms
	Unit *Val[string] `plan:"unit" with:"file" words:"ns us ms s"`
	// How many times faster than recorded.
	// Example: 2
	Speed *Val[Number] `plan:"speed" default:"1" above:"0"`
	// Times before are left out.
	// Example: 10s
	From *Val[time.Duration] `plan:"from" default:"0s"`
	// Times after are left out.
	// Example: 60s
	To *Val[time.Duration] `plan:"to"`
}

// Arrivals is a word, or a spread of the gaps.
type Arrivals struct {
	At   Place        `def:"arrivals_map" title:"word or map"`
	Word *Val[string] `form:"scalar" words:"constant poisson"`
	// Coefficient of variation of the gaps: 0 is constant, 1 is poisson, more comes in bursts.
	// Example: 0.5
	CV *Val[Number] `plan:"cv" required:"true" min:"0" max:"100"`
	// Scales the gaps so that the count is exact.
	// Example: true
	Exact *Val[bool] `plan:"exact" default:"false"`
}

// Quantity is one value, a list of levels, or a map with one form. X holds the forms that not every
// quantity has.
type Quantity[T Amount, X any] struct {
	At   Place            `union:"quantity_$" def:"quantity_$_map" title:"$, list of $, or map"`
	One  *Val[Derived[T]] `form:"scalar" above:"zero" max:"MaxAmount"`
	Many []*Val[T]        `form:"list" least:"1" unique:"true" above:"zero" max:"MaxAmount"`
	// Several values, each measured by itself.
	// Example: {from: 1, to: 64} | {from: 100/s, to: 1000/s}
	Levels *Levels[T] `plan:"levels" one:"quantity"`
	// Steps that the value rises or falls to, from 0.
	// Example: [{to: 64, over: 30s}] | [{to: 1000/s, over: 30s}]
	Ramp []*RampStep[T] `plan:"ramp" one:"quantity" least:"1"`
	// Finds the largest value for which the conditions hold.
	// Example: {from: 1, to: 64, while: latency.p99 < 50ms} | {from: 100/s, to: 1000/s, while:
	// latency.p99 < 50ms}
	Search *Search[T] `plan:"search" one:"quantity"`
	More   X          `inline:"true"`
}

type (
	// Slots is the value of concurrency.
	Slots = Quantity[int64, PeriodicForm]
	// PerSecond is the value of rate.
	PerSecond = Quantity[Rate, struct{}]
)

// PeriodicForm is the form that only concurrency has.
type PeriodicForm struct {
	// Streaming: more requests in flight each time the newest ones have `responses` responses.
	// Example: {from: 1, to: 16}
	Periodic *Periodic `plan:"periodic" one:"quantity"`
}

// Periodic holds the keys of a load that opens slots as responses come.
type Periodic struct {
	At Place `def:"periodic"`
	// Requests in flight at the start.
	// Example: 1
	From *Val[int64] `plan:"from" required:"true" min:"1" max:"MaxSlots"`
	// Requests in flight at the end.
	// Example: 64
	To *Val[int64] `plan:"to" required:"true" min:"1" max:"MaxSlots"`
	// How many more each time.
	// Example: 4
	Step *Val[int64] `plan:"step" default:"1" min:"1" max:"MaxSlots"`
	// Responses that the newest must have before the next step.
	// Example: 10
	Responses *Val[int64] `plan:"responses" default:"10" min:"1"`
}

// Levels holds the keys of several values, from one to another.
type Levels[T Amount] struct {
	At Place `def:"levels_$"`
	// The first level.
	// Example: 1 | 100/s
	From *Val[T] `plan:"from" required:"true" above:"zero" max:"MaxAmount"`
	// The last level; without it, `while` ends the levels.
	// Example: 8 | 1000/s
	To *Val[T] `plan:"to" above:"zero" max:"MaxAmount"`
	// Added for the next level: 1, or `from` for a rate, unless `factor` is given.
	// Example: 1 | 100/s
	Step *Val[T] `plan:"step" one:"step" above:"zero"`
	// Multiplied for the next level, instead of `step`.
	// Example: 2
	Factor *Val[Number] `plan:"factor" one:"step" above:"1"`
	// The first level for which this is false is the last.
	// Example: latency.p99 < 50ms
	While *Conditions `plan:"while"`
}

// RampStep is one step of a ramp.
type RampStep[T Amount] struct {
	At Place `def:"ramp_step_$"`
	// The value at the end of the step.
	// Example: 64 | 500/s
	To *Val[Derived[T]] `plan:"to" required:"true" min:"zero" max:"MaxAmount"`
	// Time to get there.
	// Example: 30s
	Over *Val[time.Duration] `plan:"over" default:"0s"`
	// Time to stay there.
	// Example: 60s
	Hold *Val[time.Duration] `plan:"hold" default:"0s"`
	// Name of the hold, for phase("name").
	// Example: spike
	Name *Val[string] `plan:"name" is:"label"`
}

// Search holds the keys of a search for the largest value that holds.
type Search[T Amount] struct {
	At Place `def:"search_$"`
	// The smallest value tried.
	// Example: 1 | 10/s
	From *Val[Derived[T]] `plan:"from" required:"true" above:"zero" max:"MaxAmount"`
	// The largest value tried.
	// Example: 256 | 2000/s
	To *Val[Derived[T]] `plan:"to" required:"true" above:"zero" max:"MaxAmount"`
	// How close to the limit is close enough.
	// Example: 2%
	Precision *Val[precision[T]] `plan:"precision" default:"2%"`
	// Times that the best value must hold.
	// Example: 2
	Confirm *Val[int64] `plan:"confirm" default:"2" min:"1" max:"20"`
	// What must hold.
	// Example: latency.p99 < 50ms
	While *Conditions `plan:"while" required:"true"`
}

// Conditions is one condition, or a list of them.
type Conditions struct {
	At   Place             `union:"conditions" title:"expression or list of conditions"`
	One  *Val[source.Text] `form:"scalar"`
	Many []*Condition      `form:"list" least:"1"`
}

// Condition is an expression that is true or false.
type Condition struct {
	At   Place             `union:"condition" title:"expression or map"`
	That *Val[source.Text] `form:"scalar"`
	// A name under `slos`.
	// Example: fast
	SLO *Val[string] `plan:"slo" required:"true"`
}
