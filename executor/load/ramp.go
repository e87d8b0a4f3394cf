package load

import "math"

// Step is one step of a ramp: the value goes linearly to To within Over (ns; 0: at once) and stays
// for Hold (ns).
type Step struct {
	To         float64
	Over, Hold int64
}

// Hold is the period from From to To, in ns from the start of the ramp, in which step Step holds
// its value.
type Hold struct {
	From, To int64
	Step     int
}

// Ramp is a value over time in closed form: it begins at 0, follows its steps, and keeps the last
// value. It is used as a rate (Arrivals) or a number of slots (as a Profile).
type Ramp struct {
	steps    []Step
	segments []segment
	warm     int64
}

// segment is a period of linear change from a to b; the last one has no end. count is the integral
// of the values, per second, from the start of the ramp.
type segment struct {
	from, length int64 // in ns
	a, b         float64
	count        float64
}

// NewRamp returns a ramp of the steps. Values below 0 count as 0.
func NewRamp(steps []Step) *Ramp {
	r := &Ramp{steps: steps}
	value, at, count := 0.0, int64(0), 0.0
	add := func(length int64, to float64) {
		if length > 0 {
			r.segments = append(r.segments, segment{from: at, length: length, a: value, b: to, count: count})
			at += length
			count += (value + to) / 2 * float64(length) / 1e9
		}
		value = to
	}
	for _, s := range steps {
		to := max(s.To, 0)
		add(s.Over, to)
		add(s.Hold, to)
	}
	add(math.MaxInt64-at, value)
	return r
}

// AfterWarmUp returns the ramp preceded by its first value for warm ns. Due times then count from the
// start of the warm-up; all else stays that of the ramp itself.
func (r *Ramp) AfterWarmUp(warm int64) *Ramp {
	return &Ramp{steps: r.steps, segments: r.segments, warm: warm}
}

// Length returns the duration of all steps in ns.
func (r *Ramp) Length() int64 { return r.segments[len(r.segments)-1].from }

// Holds returns the holds of the steps that have one, in order. A node that lasts until end keeps
// the last step's value until then, or cuts the steps that exceed it; end 0 is the length of the
// ramp.
func (r *Ramp) Holds(end int64) []Hold {
	if end <= 0 {
		end = r.Length()
	}
	var holds []Hold
	at := int64(0)
	for i, s := range r.steps {
		h := Hold{From: at + s.Over, To: at + s.Over + s.Hold, Step: i}
		at = h.To
		if i == len(r.steps)-1 {
			h.To = end
		}
		if h.To = min(h.To, end); h.From < h.To {
			holds = append(holds, h)
		}
	}
	return holds
}

// Peak returns the largest value.
func (r *Ramp) Peak() float64 {
	peak := 0.0
	for _, l := range r.segments {
		peak = max(peak, l.a, l.b)
	}
	return peak
}

// At returns the value at t, in ns from the start of the ramp; at a jump the new one.
func (r *Ramp) At(t int64) float64 {
	l := r.segmentAt(t)
	return l.a + (l.b-l.a)*float64(max(t-l.from, 0))/float64(l.length)
}

// segmentAt returns the segment that contains t.
func (r *Ramp) segmentAt(t int64) *segment {
	i := len(r.segments) - 1
	for i > 0 && r.segments[i].from > t {
		i--
	}
	return &r.segments[i]
}

// first returns the value during the warm-up.
func (r *Ramp) first() float64 {
	if len(r.steps) == 0 {
		return 0
	}
	return max(r.steps[0].To, 0)
}

// Slots implements Profile: the value, rounded to the nearest.
func (r *Ramp) Slots(t int64) int { return int(math.Round(r.At(t))) }
