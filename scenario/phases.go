package scenario

import (
	"cmp"
	"math"
	"time"
)

// Names of the phases of a ramp that the plan does not name itself.
const (
	RampPhase = "ramp" // on the way from one value to the next
	HoldPhase = "hold" // every hold without a name
)

// Endless is the end of a phase that lasts until the stage is over.
const Endless = time.Duration(math.MaxInt64)

// Phase is one stretch of a ramp, in time since its start. Several may have one name.
type Phase struct {
	Name     string
	From, To time.Duration
}

// Phases cuts a ramp in its holds and what lies between, in their order. held: the stage says how long
// it lasts, so the last value is held until then.
func (r Ramp) Phases(held bool) (list []Phase) {
	at := time.Duration(0)
	add := func(name string, to time.Duration) {
		if at < to {
			list = append(list, Phase{name, at, to})
			at = to
		}
	}
	for i, s := range r.Steps {
		add(RampPhase, at+s.Over)
		end := at + s.Hold
		if held && i == len(r.Steps)-1 {
			end = Endless
		}
		add(cmp.Or(s.Name, HoldPhase), end)
	}
	return list
}
