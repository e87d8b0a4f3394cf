package load

import (
	"fmt"
	"math"
	"strconv"
)

// Search finds the largest level that meets a condition. It is a pure function of the trials so
// far:
//
//	bracket   from From, doubling, until a level does not meet the condition or To is reached
//	halve     between the largest level that met it and the smallest that did not, down to the precision
//	confirm   the largest level that met it, until it has met it Confirm times
//
// A level that fails its confirmation becomes the new upper end, and the next smaller one that met
// the condition is tried. Noise cannot prolong this for ever: each trial narrows the bracket or
// confirms, and each failed confirmation doubles the precision, as the limit is then not known
// better.
type Search struct {
	From, To          float64
	Precision, Amount float64 // one is set: a share of the level, or a difference; both 0: 2 %
	Confirm           int     // number of times the best level must meet the condition, including the first
	Whole             bool    // levels are integers
	Unit              string  // suffix of levels in texts: "/s"
}

// Trial is one level that was tried, and whether it met the condition.
type Trial struct {
	Level float64
	Met   bool
}

// Decision is the next level to try, or the end.
type Decision struct {
	Level  float64
	Done   bool
	Best   float64 // largest confirmed level; 0: none
	Reason string  // at the end, one sentence: "the limit lies between 420/s and 428/s"
}

// bracket summarizes the trials so far.
type bracket struct {
	low            float64 // largest level below high that met the condition; 0: none
	metCount       int     // trials in which low met it
	high           float64 // smallest level that did not meet it; +Inf: none
	failedConfirms int
}

// Next returns the decision after history, oldest first.
func (s Search) Next(history []Trial) Decision {
	s = s.withDefaults()
	if !(s.From > 0) || !(s.To >= s.From) || math.IsInf(s.To, 0) {
		return Decision{Done: true, Reason: fmt.Sprintf("there is nothing to search from %s to %s",
			s.format(s.From), s.format(s.To))}
	}
	b := summarize(history)
	switch {
	case len(history) == 0:
		return Decision{Level: s.From}
	case b.low == 0:
		return Decision{Done: true, Reason: fmt.Sprintf("it does not hold at %s, where the search begins",
			s.format(s.From))}
	case math.IsInf(b.high, 1) && b.low < s.To:
		return Decision{Level: min(2*b.low, s.To)}
	case b.high-b.low > s.tolerance(b) && b.low < s.To:
		return Decision{Level: s.midpoint(b)}
	case b.metCount < s.Confirm:
		return Decision{Level: b.low}
	}
	d := Decision{
		Done: true, Best: b.low,
		Reason: fmt.Sprintf("the limit lies between %s and %s", s.format(b.low), s.format(b.high)),
	}
	if b.low >= s.To {
		d.Reason = fmt.Sprintf("it holds at %s, where the search ends", s.format(s.To))
	}
	return d
}

func (s Search) withDefaults() Search {
	if s.Whole {
		s.From, s.To = math.Round(s.From), math.Round(s.To)
	}
	if !(s.Precision > 0) && !(s.Amount > 0) {
		s.Precision = 0.02
	}
	s.Confirm = max(s.Confirm, 1)
	return s
}

func summarize(history []Trial) bracket {
	b := bracket{high: math.Inf(1)}
	for i, p := range history {
		if p.Met {
			continue
		}
		if countMet(history[:i], p.Level) > 0 {
			b.failedConfirms++
		}
		b.high = min(b.high, p.Level)
	}
	for _, p := range history {
		if p.Met && p.Level < b.high {
			b.low = max(b.low, p.Level)
		}
	}
	b.metCount = countMet(history, b.low)
	return b
}

// countMet counts the trials in which a level met the condition.
func countMet(history []Trial, level float64) (n int) {
	for _, p := range history {
		if p.Met && p.Level == level {
			n++
		}
	}
	return n
}

// tolerance returns the distance between both ends at which halving stops.
func (s Search) tolerance(b bracket) float64 {
	t := s.Amount
	if t == 0 {
		t = s.Precision * b.low
	}
	t = math.Ldexp(t, min(b.failedConfirms, 1000))
	if s.Whole {
		return max(t, 1)
	}
	return max(t, 1e-9*b.low) // below that, midpoints are no longer distinct numbers
}

// midpoint returns a level between both ends with no more digits than needed.
func (s Search) midpoint(b bracket) float64 {
	half := (b.low + b.high) / 2
	if s.Whole {
		return math.Floor(half)
	}
	// A quarter of the distance or less: the rounded midpoint stays inside. Dividing by an integral
	// power of ten keeps decimal fractions as they are written.
	digits := -math.Floor(math.Log10((b.high - b.low) / 4))
	if digits > 0 {
		scale := math.Pow(10, digits)
		return math.Round(half*scale) / scale
	}
	scale := math.Pow(10, -digits)
	return math.Round(half/scale) * scale
}

func (s Search) format(level float64) string {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(level, 'g', 6, 64), 64)
	return strconv.FormatFloat(short, 'f', -1, 64) + s.Unit
}
