package language

import (
	"reflect"
	"testing"
	"time"
)

// TestDefaultsAreValues fills every struct that has defaults: a default that cannot be read panics.
func TestDefaultsAreValues(t *testing.T) {
	p := Plan{
		Target: &Target{
			TLS: &TLS{}, Builtin: &Builtin{Stall: &Stall{}}, Metrics: &Metrics{}, Trace: &Trace{},
			InProcess: &InProcess{},
		},
		Data: &Dataset{
			Generate: &Generate{}, File: &Files{},
			Prompts: &Prompts{Prefixes: &Prefixes{}, Images: &Images{}, Audio: &Audio{}},
		},
		Baseline: &Baseline{},
		Stages: []*StageEntry{
			{Stage: &Stage{Play: Play{
				Load: &Load{Rate: &PerSecond{}}, Until: &Until{Stable: &Stable{}},
				Assert:  []*Assertion{{Every: &Val[time.Duration]{}}},
				Request: Request{Expect: &Expect{}},
			}}},
			{Group: &Group{Parallel: []*Stage{{Play: Play{
				Load: &Load{
					Concurrency: &Slots{More: PeriodicForm{&Periodic{}}, Ramp: []*RampStep[int64]{{}}},
				},
				Memory:    &Memory{},
				Sequences: &Sequences{IDs: &IDs{}},
			}}}}},
			{Stage: &Stage{Play: Play{Load: &Load{Intervals: &Intervals{}}}}},
			{Stage: &Stage{Play: Play{Load: &Load{Schedule: &Schedule{}, Arrivals: &Arrivals{}}}}},
		},
	}
	fill(reflect.ValueOf(&p))
	if got := p.Target.MaxMessage; got != nil { // what it is follows from the model
		t.Errorf("max_message is %d by default", got.V)
	}
	if got := p.Stages[0].Stage.Play.Load.MaxInFlight.V; got != 1024 {
		t.Errorf("max_in_flight is %d by default", got)
	}
}
