package language

import (
	"time"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Amount is a number of requests in flight, or of requests a second.
type Amount interface{ int64 | Rate }

type Load struct {
	At          Place
	Concurrency *Slots                              `plan:"concurrency"`
	Rate        *PerSecond                          `plan:"rate"`
	Intervals   *Intervals                          `plan:"intervals"`
	Schedule    *Schedule                           `plan:"schedule"`
	Arrivals    *Arrivals                           `plan:"arrivals" with:"rate" default:"constant"`
	MaxInFlight *Val[int64]                         `plan:"max_in_flight" with:"rate intervals schedule" default:"1024" min:"1" max:"65536"`
	Overflow    *Val[string]                        `plan:"overflow" with:"rate intervals schedule" default:"wait" words:"wait drop"`
	Think       *Dist[time.Duration, time.Duration] `plan:"think" with:"concurrency" default:"0s"`
	Of          *Val[string]                        `plan:"of" with:"rate" default:"requests" words:"requests sequences sessions"`
}

type Intervals struct {
	At    Place
	File  *Val[Path]   `plan:"file" required:"true"`
	Unit  *Val[string] `plan:"unit" required:"true" words:"ns us ms s"`
	First *Val[string] `plan:"first" default:"gap" words:"gap zero"`
	AtEnd *Val[string] `plan:"at_end" default:"repeat" words:"repeat stop"`
}

type Schedule struct {
	At    Place
	File  *Val[Path]          `plan:"file"`
	Unit  *Val[string]        `plan:"unit" with:"file" words:"ns us ms s"`
	Speed *Val[Number]        `plan:"speed" default:"1"`
	From  *Val[time.Duration] `plan:"from" default:"0s"`
	To    *Val[time.Duration] `plan:"to"`
}

// Arrivals is a word, or a spread of the gaps.
type Arrivals struct {
	At    Place
	Word  *Val[string] `form:"scalar" words:"constant poisson"`
	CV    *Val[Number] `plan:"cv" required:"true"`
	Exact *Val[bool]   `plan:"exact" default:"false"`
}

// Quantity is one value, a list of levels, or a map with one form. X holds the forms that not every quantity has.
type Quantity[T Amount, X any] struct {
	At     Place
	One    *Val[Derived[T]] `form:"scalar"`
	Many   []*Val[T]        `form:"list"`
	Levels *Levels[T]       `plan:"levels"`
	Ramp   []*RampStep[T]   `plan:"ramp"`
	Search *Search[T]       `plan:"search"`
	More   X                `inline:"true"`
}

type (
	Slots     = Quantity[int64, PeriodicForm]
	PerSecond = Quantity[Rate, struct{}]
)

type PeriodicForm struct {
	Periodic *Periodic `plan:"periodic"`
}

type Periodic struct {
	At        Place
	From      *Val[int64] `plan:"from" required:"true" min:"1" max:"65536"`
	To        *Val[int64] `plan:"to" required:"true" min:"1" max:"65536"`
	Step      *Val[int64] `plan:"step" default:"1" min:"1" max:"65536"`
	Responses *Val[int64] `plan:"responses" default:"10" min:"1"`
}

type Levels[T Amount] struct {
	At     Place
	From   *Val[T]      `plan:"from"`
	To     *Val[T]      `plan:"to"`
	Step   *Val[T]      `plan:"step"`
	Factor *Val[Number] `plan:"factor"`
	While  *Conditions  `plan:"while"`
}

// RampStep is one step of a ramp.
type RampStep[T Amount] struct {
	At   Place
	To   *Val[Derived[T]]    `plan:"to" required:"true"`
	Over *Val[time.Duration] `plan:"over" default:"0s"`
	Hold *Val[time.Duration] `plan:"hold" default:"0s"`
	Name *Val[string]        `plan:"name" is:"label"`
}

type Search[T Amount] struct {
	At        Place
	From      *Val[Derived[T]]   `plan:"from" required:"true"`
	To        *Val[Derived[T]]   `plan:"to" required:"true"`
	Precision *Val[precision[T]] `plan:"precision" default:"2%"`
	Confirm   *Val[int64]        `plan:"confirm" default:"2" min:"1" max:"20"`
	While     *Conditions        `plan:"while" required:"true"`
}

type Conditions struct {
	At   Place
	One  *Val[source.Text] `form:"scalar"`
	Many []*Condition      `form:"list"`
}

type Condition struct {
	At   Place
	That *Val[source.Text] `form:"scalar"`
	SLO  *Val[string]      `plan:"slo"`
}
