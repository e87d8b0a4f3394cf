package load

// Search looks for the largest level for which a condition holds. It is a pure function of what was found so far: from
// From it doubles until the condition fails or To is reached, halves what is left until the limit is known to Precision
// (a share of it) or Amount, and confirms the best level.
type Search struct {
	From, To          float64
	Precision, Amount float64 // one of them; 0, 0 is a share of 2 %
	Confirm           int     // how often the best level must hold, the first time included
	Whole             bool    // levels are whole numbers
	Unit              string  // behind levels in texts: "/s"
}

// Probe is one level that was tried, and what came out.
type Probe struct {
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

// Next decides what follows after history, oldest first.
func (s Search) Next(history []Probe) Decision { return Decision{Done: true} }
