package load

import (
	"fmt"
	"math"
	"strconv"
)

// Search looks for the largest level for which a condition holds. It is a pure function of what was found so far:
//
//	bracket   from From, twice as much each time, until one level does not hold or To is reached
//	halve     what lies between the largest level that holds and the smallest that does not, down to the precision
//	confirm   the largest that holds, until it has held Confirm times
//
// A level that does not hold when it is to be confirmed is the new upper end, and the next smaller one that held is looked
// at. Noise cannot keep this going: each trial narrows what is left or confirms, and each failed confirmation makes the
// precision twice as coarse, as the limit is then not known better.
type Search struct {
	From, To          float64
	Precision, Amount float64 // one of them: a share of the level, or a difference; both 0: 2 %
	Confirm           int     // how often the best level must hold, the first time included
	Whole             bool    // levels are whole numbers
	Unit              string  // behind levels in texts: "/s"
}

// Trial is one level that was tried, and what came out.
type Trial struct {
	Level float64
	Holds bool
}

// Decision is what to try next, or the end.
type Decision struct {
	Level float64
	Done  bool
	Best  float64 // the largest level that was confirmed; 0: none
	Why   string  // one sentence at the end: "the limit lies between 420/s and 428/s"
}

// bracket is what is known after some trials.
type bracket struct {
	low    float64 // the largest level that held and is below high; 0: none
	held   int     // how often it held
	high   float64 // the smallest level that did not hold; +Inf: none
	missed int     // confirmations that failed
}

// Next decides what follows after history, oldest first.
func (s Search) Next(history []Trial) Decision {
	s = s.tidy()
	if !(s.From > 0) || !(s.To >= s.From) || math.IsInf(s.To, 0) {
		return Decision{Done: true, Why: fmt.Sprintf("there is nothing to search from %s to %s", s.text(s.From), s.text(s.To))}
	}
	b := know(history)
	switch {
	case len(history) == 0:
		return Decision{Level: s.From}
	case b.low == 0:
		return Decision{Done: true, Why: fmt.Sprintf("it does not hold at %s, where the search begins", s.text(s.From))}
	case math.IsInf(b.high, 1) && b.low < s.To:
		return Decision{Level: min(2*b.low, s.To)}
	case b.high-b.low > s.tolerance(b) && b.low < s.To:
		return Decision{Level: s.middle(b)}
	case b.held < s.Confirm:
		return Decision{Level: b.low}
	}
	d := Decision{Done: true, Best: b.low, Why: fmt.Sprintf("the limit lies between %s and %s", s.text(b.low), s.text(b.high))}
	if b.low >= s.To {
		d.Why = fmt.Sprintf("it holds at %s, where the search ends", s.text(s.To))
	}
	return d
}

func (s Search) tidy() Search {
	if s.Whole {
		s.From, s.To = math.Round(s.From), math.Round(s.To)
	}
	if !(s.Precision > 0) && !(s.Amount > 0) {
		s.Precision = 0.02
	}
	s.Confirm = max(s.Confirm, 1)
	return s
}

func know(history []Trial) bracket {
	b := bracket{high: math.Inf(1)}
	for i, p := range history {
		if p.Holds {
			continue
		}
		if held(history[:i], p.Level) > 0 {
			b.missed++
		}
		b.high = min(b.high, p.Level)
	}
	for _, p := range history {
		if p.Holds && p.Level < b.high {
			b.low = max(b.low, p.Level)
		}
	}
	b.held = held(history, b.low)
	return b
}

// held is how often a level held.
func held(history []Trial, level float64) (n int) {
	for _, p := range history {
		if p.Holds && p.Level == level {
			n++
		}
	}
	return n
}

// tolerance is how far both ends may lie apart.
func (s Search) tolerance(b bracket) float64 {
	t := s.Amount
	if t == 0 {
		t = s.Precision * b.low
	}
	t = math.Ldexp(t, min(b.missed, 1000))
	if s.Whole {
		return max(t, 1)
	}
	return max(t, 1e-9*b.low) // below it, halves are no longer different numbers
}

// middle is between both ends, with no more digits than it needs.
func (s Search) middle(b bracket) float64 {
	half := (b.low + b.high) / 2
	if s.Whole {
		return math.Floor(half)
	}
	// A quarter of the distance or less: the rounded middle stays inside. Dividing by a power of ten that is a whole number
	// keeps decimal fractions as they are written.
	digits := -math.Floor(math.Log10((b.high - b.low) / 4))
	if digits > 0 {
		scale := math.Pow(10, digits)
		return math.Round(half*scale) / scale
	}
	scale := math.Pow(10, -digits)
	return math.Round(half/scale) * scale
}

func (s Search) text(level float64) string {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(level, 'g', 6, 64), 64)
	return strconv.FormatFloat(short, 'f', -1, 64) + s.Unit
}
