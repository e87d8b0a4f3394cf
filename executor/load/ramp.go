package load

import "math"

// Step is one step of a ramp: the value goes to To within Over (ns; 0: at once) and stays for Hold.
type Step struct {
	To         float64
	Over, Hold int64
}

// Hold is the time from From to To (ns from the start of the ramp) in which step Step holds its value.
type Hold struct {
	From, To int64
	Step     int
}

// Ramp is a value over time in closed form: it begins at 0, follows its steps, and keeps the last value for ever. It is
// a rate (Arrivals) or a number of slots (Profile).
type Ramp struct {
	steps []Step
	lines []line
	warm  int64
}

// line is a stretch in which the value goes straight from one to another; the last one has no end. count is the
// integral of the values from the start of the ramp, for values per second.
type line struct {
	from, length int64 // ns
	a, b         float64
	count        float64
}

// NewRamp makes a ramp. Values below 0 count as 0.
func NewRamp(steps []Step) *Ramp {
	r := &Ramp{steps: steps}
	value, at, count := 0.0, int64(0), 0.0
	add := func(length int64, to float64) {
		if length > 0 {
			r.lines = append(r.lines, line{from: at, length: length, a: value, b: to, count: count})
			at += length
			count += (value + to) / 2 * float64(length) / 1e9
		}
		value = to
	}
	for _, s := range steps {
		to := s.To
		if !(to > 0) {
			to = 0
		}
		add(s.Over, to)
		add(s.Hold, to)
	}
	r.lines = append(r.lines, line{from: at, length: math.MaxInt64 - at, a: value, b: value, count: count})
	return r
}

// After is the ramp preceded by its first value for warm ns: the warm-up of a node. Due times and slots are then from the
// start of the warm-up; Length, Holds, At stay those of the ramp itself.
func (r *Ramp) After(warm int64) *Ramp {
	return &Ramp{steps: r.steps, lines: r.lines, warm: warm}
}

// Length is how long the steps take, ns.
func (r *Ramp) Length() int64 { return r.last().from }

func (r *Ramp) last() *line { return &r.lines[len(r.lines)-1] }

// Holds are the steps' holds, in order, where they have one. A node that lasts until end keeps the last step's value for
// longer (or cuts what is beyond); end 0 is the length of the ramp.
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

// Peak is the largest value.
func (r *Ramp) Peak() float64 {
	peak := 0.0
	for _, l := range r.lines {
		peak = max(peak, l.a, l.b)
	}
	return peak
}

// At is the value at t, ns from the start of the ramp: at a jump, the new one.
func (r *Ramp) At(t int64) float64 {
	l := r.line(t)
	return l.a + (l.b-l.a)*float64(max(t-l.from, 0))/float64(l.length)
}

// line is the one that t is in.
func (r *Ramp) line(t int64) *line {
	i := len(r.lines) - 1
	for i > 0 && r.lines[i].from > t {
		i--
	}
	return &r.lines[i]
}

// first is the value that the warm-up has.
func (r *Ramp) first() float64 {
	if len(r.steps) == 0 {
		return 0
	}
	return max(r.steps[0].To, 0)
}

// Profile is the ramp as a number of slots, rounded to the nearest.
func (r *Ramp) Profile() Profile { return slots{r} }

type slots struct{ *Ramp }

func (s slots) Slots(t int64) int {
	if t < s.warm {
		return int(math.Round(s.first()))
	}
	return int(math.Round(s.At(t - s.warm)))
}
