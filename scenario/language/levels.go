package language

import (
	"math"
	"strconv"
)

// whole reports whether the levels are whole numbers.
func (l *Levels[T]) whole() bool {
	_, whole := any(l.From.V).(int64)
	return whole
}

// level is level i, by the closed form, so that no error adds up.
func (l *Levels[T]) level(i int) float64 {
	from := Magnitude(l.From.V)
	if l.Factor == nil {
		return Round(from + float64(i)*l.Increment())
	}
	v := from * math.Pow(float64(l.Factor.V), float64(i))
	if l.whole() {
		return math.Round(v)
	}
	return v
}

// Increment is added from level to level: as written, else 1, for rates else from.
func (l *Levels[T]) Increment() float64 {
	switch {
	case l.Step != nil:
		return Magnitude(l.Step.V)
	case l.Factor != nil:
		return 0
	case l.whole():
		return 1
	}
	return Magnitude(l.From.V)
}

// Text is a level as a plan writes it.
func (l *Levels[T]) Text(v float64) string {
	if l.whole() {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(Round(v), 'f', -1, 64) + "/s"
}

// Values are the levels up to and including `to`; without one, the first. It stops one above the limit,
// which Count tells.
func (l *Levels[T]) Values() []float64 {
	if l.To == nil {
		return []float64{Magnitude(l.From.V)}
	}
	to := Magnitude(l.To.V) * (1 + 1e-9)
	var all []float64
	for i := 0; len(all) <= MaxValues; i++ {
		v := l.level(i)
		if v > to {
			break
		}
		if len(all) == 0 || v > all[len(all)-1] {
			all = append(all, v)
		}
		if i > 1<<20 {
			break
		}
	}
	return all
}

// Count returns how many values the levels have, without listing those of a fixed step.
func (l *Levels[T]) Count() int {
	if l.Factor == nil {
		return int(min((Magnitude(l.To.V)-Magnitude(l.From.V))/l.Increment()+1, math.MaxInt32))
	}
	return len(l.Values())
}

// Round removes the noise of binary fractions from a number that a person reads.
func Round(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	scale := math.Pow(10, 12-math.Ceil(math.Log10(math.Abs(v))))
	if math.IsInf(scale, 0) || math.IsInf(v*scale, 0) {
		return v
	}
	return math.Round(v*scale) / scale
}
