package scenario

import (
	"time"

	"github.com/sluice-bench/sluice/scenario/source"
)

// amount is a number of requests in flight, or of requests a second.
type amount interface{ int64 | rate }

type rawLoad struct {
	At          place
	Concurrency *rawSlots                              `plan:"concurrency"`
	Rate        *rawRate                               `plan:"rate"`
	Intervals   *rawIntervals                          `plan:"intervals"`
	Schedule    *rawSchedule                           `plan:"schedule"`
	Arrivals    *rawArrivals                           `plan:"arrivals" with:"rate" default:"constant"`
	MaxInFlight *val[int64]                            `plan:"max_in_flight" with:"rate intervals schedule" default:"1024" min:"1" max:"65536"`
	Overflow    *val[string]                           `plan:"overflow" with:"rate intervals schedule" default:"wait" words:"wait drop"`
	Think       *rawDist[time.Duration, time.Duration] `plan:"think" with:"concurrency" default:"0s"`
	Of          *val[string]                           `plan:"of" with:"rate" default:"requests" words:"requests sequences sessions"`
}

type rawIntervals struct {
	At    place
	File  *val[path]   `plan:"file" required:"true"`
	Unit  *val[string] `plan:"unit" required:"true" words:"ns us ms s"`
	First *val[string] `plan:"first" default:"gap" words:"gap zero"`
	AtEnd *val[string] `plan:"at_end" default:"repeat" words:"repeat stop"`
}

type rawSchedule struct {
	At    place
	File  *val[path]          `plan:"file"`
	Unit  *val[string]        `plan:"unit" with:"file" words:"ns us ms s"`
	Speed *val[number]        `plan:"speed" default:"1"`
	From  *val[time.Duration] `plan:"from" default:"0s"`
	To    *val[time.Duration] `plan:"to"`
}

// rawArrivals is a word, or a spread of the gaps.
type rawArrivals struct {
	At    place
	Word  *val[string] `form:"scalar" words:"constant poisson"`
	CV    *val[number] `plan:"cv" required:"true"`
	Exact *val[bool]   `plan:"exact" default:"false"`
}

// rawQuantity is one value, a list of levels, or a map with one form. X holds the forms that not every quantity has.
type rawQuantity[T amount, X any] struct {
	At     place
	One    *val[derived[T]] `form:"scalar"`
	Many   []*val[T]        `form:"list"`
	Levels *rawLevels[T]    `plan:"levels"`
	Ramp   []*rawStep[T]    `plan:"ramp"`
	Search *rawSearch[T]    `plan:"search"`
	More   X                `inline:"true"`
}

type (
	rawSlots = rawQuantity[int64, rawPeriodicForm]
	rawRate  = rawQuantity[rate, struct{}]
)

type rawPeriodicForm struct {
	Periodic *rawPeriodic `plan:"periodic"`
}

type rawPeriodic struct {
	At        place
	From      *val[int64] `plan:"from" required:"true" min:"1" max:"65536"`
	To        *val[int64] `plan:"to" required:"true" min:"1" max:"65536"`
	Step      *val[int64] `plan:"step" default:"1" min:"1" max:"65536"`
	Responses *val[int64] `plan:"responses" default:"10" min:"1"`
}

type rawLevels[T amount] struct {
	At     place
	From   *val[T]        `plan:"from"`
	To     *val[T]        `plan:"to"`
	Step   *val[T]        `plan:"step"`
	Factor *val[number]   `plan:"factor"`
	While  *rawConditions `plan:"while"`
}

// rawStep is one step of a ramp.
type rawStep[T amount] struct {
	At   place
	To   *val[derived[T]]    `plan:"to" required:"true"`
	Over *val[time.Duration] `plan:"over" default:"0s"`
	Hold *val[time.Duration] `plan:"hold" default:"0s"`
	Name *val[string]        `plan:"name" is:"label"`
}

type rawSearch[T amount] struct {
	At        place
	From      *val[derived[T]]   `plan:"from" required:"true"`
	To        *val[derived[T]]   `plan:"to" required:"true"`
	Precision *val[precision[T]] `plan:"precision" default:"2%"`
	Confirm   *val[int64]        `plan:"confirm" default:"2" min:"1" max:"20"`
	While     *rawConditions     `plan:"while" required:"true"`
}

type rawConditions struct {
	At   place
	One  *val[source.Text] `form:"scalar"`
	Many []*rawCondition   `form:"list"`
}

type rawCondition struct {
	At   place
	That *val[source.Text] `form:"scalar"`
	SLO  *val[string]      `plan:"slo"`
}
