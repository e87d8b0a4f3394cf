package scenario

import (
	"cmp"
	"math"
	"time"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Load is sealed: Concurrency | Rate | Intervals | Schedule.
type Load interface {
	// parts returns the quantity, nil where a file has the times, and the pool of an open loop.
	parts() (q Quantity, pool Pool, open bool)
}

// Concurrency is a closed loop: requests in flight.
type Concurrency struct {
	Level Quantity
	Think *Dist // pause after each reply, s; nil: none
}

// Rate is an open loop: requests due per second; of users a closed one.
type Rate struct {
	Level    Quantity
	Arrivals Arrivals
	Of       string // what the rate counts: requests sequences sessions users
	Pool     Pool
}

// OfUsers is the Rate.Of of a closed loop in which each user has the rate.
const OfUsers = "users"

// Intervals is an open loop whose gaps are in a file.
type Intervals struct {
	File  Path
	Unit  time.Duration
	First string // gap: the first request comes after the first gap; zero: at once
	AtEnd string // repeat stop
	Pool  Pool
}

// Schedule is an open loop whose times are in a file, or in the data's rows.
type Schedule struct {
	File     *Path         // nil: the timestamps of the data's rows
	Unit     time.Duration // of the file's times; 0 without a file
	Speed    float64       // how many times faster than recorded
	From, To time.Duration // recorded times outside are left out; To 0: none
	Pool     Pool
}

// Pool limits the requests in flight of an open loop; Overflow says what a request does that finds no
// place.
type Pool struct {
	MaxInFlight int
	Overflow    string // wait drop
}

// Arrivals says how the gaps of a rate vary. CV is their coefficient of variation: 0 constant, 1
// Poisson, else gamma gaps. Exact scales the gaps so that the number of arrivals is that of the
// constant rate.
type Arrivals struct {
	Word  string // constant poisson, "" for a CV of its own
	CV    float64
	Exact bool
}

func (l Concurrency) parts() (Quantity, Pool, bool) { return l.Level, Pool{}, false }
func (l Rate) parts() (Quantity, Pool, bool)        { return l.Level, l.Pool, l.Of != OfUsers }
func (l Intervals) parts() (Quantity, Pool, bool)   { return nil, l.Pool, true }
func (l Schedule) parts() (Quantity, Pool, bool)    { return nil, l.Pool, true }

// Open reports whether l is an open loop, and its pool.
func Open(l Load) (pool Pool, open bool) {
	_, pool, open = l.parts()
	return pool, open
}

// QuantityOf is the quantity of a load, nil where it has none (a file has its times).
func QuantityOf(l Load) Quantity {
	q, _, _ := l.parts()
	return q
}

// Quantity is sealed: Fixed | Levels | Ramp | Search | Periodic.
type Quantity interface{ quantity() }

// Fixed is one value: requests in flight, or requests per second.
type Fixed struct {
	Value Level
}

// Levels are values, one node each, in this order. While (nil: none) stops the ladder at the first
// level for which it is not true. Open is a ladder without an end, which While ends: Values are then
// From, and Step or Factor give the rest.
type Levels struct {
	Values []Level
	While  []source.Text
	Open   bool
	Step   float64 // added to get the next value of an open ladder; 0: Factor
	Factor float64
}

// Ramp is one node whose value changes: from 0, step by step.
type Ramp struct{ Steps []RampStep }

// RampStep goes to To in Over and stays there for Hold. Name is that of the hold; "" none.
type RampStep struct {
	To         Level
	Over, Hold time.Duration
	Name       string
}

// Search is one node that looks for the largest value for which While holds.
type Search struct {
	From, To Level
	// Precision is the distance to the limit that is close enough: a share of the value, or an amount. One of
	// them is 0.
	Precision, Amount float64 `plan:"-"`
	Confirm           int     // times that the best value must hold
	While             []source.Text
}

// Periodic is one node of a streaming closed loop: Step more slots each time the newest all have Responses
// responses.
type Periodic struct{ From, To, Step, Responses int }

func (Fixed) quantity()    {}
func (Levels) quantity()   {}
func (Ramp) quantity()     {}
func (Search) quantity()   {}
func (Periodic) quantity() {}

// Level is one value of a quantity and how it was written ("100/s"), for node ids. With Expr the value
// comes from the results of earlier stages: it is the text between ${ and }, and Value is 0 until the
// stage starts.
type Level struct {
	Value float64
	Text  string
	Pos   source.Pos
	Expr  *source.Text
}

// Extent is sealed: For | UntilStable | UntilPrecise | UntilOthers | ByLoad.
type Extent interface{ extent() }

// For lasts for a span. With a load that ends by itself it cuts it, and holds a ramp's last value.
type For struct{ Span Span }

// UntilStable lasts until the last Windows windows agree within Within for every metric, at most
// MaxWindows windows.
type UntilStable struct {
	Windows    int
	Window     Span
	Within     float64 // ratio
	MaxWindows int
	Metrics    []source.Text // leaf names: throughput, latency.p95
}

// UntilPrecise lasts until the bounds of each metric, at Confidence, are within its share of the value.
type UntilPrecise struct {
	Within     []Precision
	Confidence float64
}

// Precision says how near to the value of a metric its bounds must be.
type Precision struct {
	Metric source.Text // leaf name: latency.p99
	Share  float64     // of the value
}

// UntilOthers lasts as long as the other members of the group.
type UntilOthers struct{}

// ByLoad lasts until the load has ended by itself: a ramp, a schedule, intervals that stop.
type ByLoad struct{}

func (For) extent()          {}
func (UntilStable) extent()  {}
func (UntilPrecise) extent() {}
func (UntilOthers) extent()  {}
func (ByLoad) extent()       {}

// Names of the phases of a ramp that the plan does not name itself.
const (
	RampPhase = "ramp" // on the way from one value to the next
	HoldPhase = "hold" // every hold without a name
)

// Endless is the end of a phase that lasts until the stage is over.
const Endless = time.Duration(math.MaxInt64)

// Phase is one part of a ramp, in time since its start. Several may have one name.
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
