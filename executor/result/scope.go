package result

import "encoding/json"

// Scope is a part of a node's measurement with numbers of its own: a phase of a ramp, an entry of a
// mix, or both.
type Scope struct {
	// name of a hold, "hold" for those without a name, "ramp" for the rest; "steady" for the longest span with
	// at least 90 % of the most requests in flight, a quarter of hold or more
	Phase    string             `json:"phase,omitempty"`
	Mix      string             `json:"mix,omitempty"`
	Target   string             `json:"target,omitempty"` // of a mix entry
	Model    string             `json:"model,omitempty" redact:"yes"`
	Batch    int                `json:"batch,omitempty"`
	From     float64            `json:"from,omitempty"`                // of the steady span, s since hold start; of repeats 0
	Duration float64            `json:"duration"`                      // period of its rates, s
	Reason   string             `json:"reason,omitempty" redact:"yes"` // why there is no steady span, or not in each repeat
	Metrics  map[string]*Metric `json:"metrics"`
	Errors   []ErrorClass       `json:"errors"`
}

// Series are the windows of one length of one scope, for assertions with `every` or `within`.
type Series struct {
	Phase   string         `json:"phase,omitempty"`
	Mix     string         `json:"mix,omitempty"`
	Every   float64        `json:"every"` // length of a window, s
	From    float64        `json:"from"`  // of the scope, s since hold start
	To      float64        `json:"to"`
	Windows []SeriesWindow `json:"windows"`
	// Missing counts the windows beyond the number kept: no verdict can rest on them.
	Missing int `json:"missing,omitempty"`
}

// SeriesWindow is one window of a series with the metrics that its assertions read, and the number
// of requests. Times are in s since hold start.
type SeriesWindow struct {
	Repeat  int                `json:"repeat,omitempty"`
	From    float64            `json:"from"`
	To      float64            `json:"to"`
	Metrics map[string]*Metric `json:"metrics"`
}

// UnmarshalJSON decodes a window and packs its distributions, as there may be thousands.
func (s *SeriesWindow) UnmarshalJSON(text []byte) error {
	type plain SeriesWindow
	if err := json.Unmarshal(text, (*plain)(s)); err != nil {
		return err
	}
	for _, m := range s.Metrics {
		if m != nil && m.Dist != nil {
			m.Dist.Pack()
		}
	}
	return nil
}

// Repeat is one repeat of a node. The node's own numbers are pooled from its repeats.
type Repeat struct {
	Repeat   int                `json:"repeat"` // from 0
	Started  float64            `json:"started"`
	Duration float64            `json:"duration"`
	Outcome  Outcome            `json:"outcome"`
	Reason   string             `json:"reason,omitempty" redact:"yes"`
	Metrics  map[string]*Metric `json:"metrics"`
	Scopes   []Scope            `json:"scopes,omitempty"`
	Findings []Finding          `json:"findings,omitempty"`
}

// Attempt is one of several measurements of a node, or of a repeat of it: those before the last were
// invalid, or left open by the client, and are in no number of the node.
type Attempt struct {
	Repeat   int                `json:"repeat,omitempty"` // index, if the node repeats
	Used     bool               `json:"used"`             // the node reports the numbers of this attempt
	Started  float64            `json:"started"`
	Duration float64            `json:"duration"`
	Outcome  Outcome            `json:"outcome"`
	Reason   string             `json:"reason,omitempty" redact:"yes"` // why it does not count
	Metrics  map[string]*Metric `json:"metrics"`
	Findings []Finding          `json:"findings,omitempty"`
}

// Trial is one trial of a search.
type Trial struct {
	Level    float64            `json:"level"`   // requests in flight, or 1/s
	Verdict  Verdict            `json:"verdict"` // of the search's `while`; only pass counts as true
	Reason   string             `json:"reason,omitempty" redact:"yes"`
	Used     bool               `json:"used"` // the node reports the numbers of this trial
	Started  float64            `json:"started"`
	Duration float64            `json:"duration"`
	Outcome  Outcome            `json:"outcome"`
	Metrics  map[string]*Metric `json:"metrics"`
	While    []Assertion        `json:"while"`
}

// Abort describes how an assertion with `abort` ended the node, and with it the run.
type Abort struct {
	Assertion string  `json:"assertion"`           // id of the assertion
	At        float64 `json:"at"`                  // s since hold start
	Reason    string  `json:"reason" redact:"yes"` // why it was certainly false
	// requests in flight, or due and not sent, for longer than the limit
	InFlight int64 `json:"in_flight"`
}

// Scope returns a part of n, nil if it was not measured separately.
func (n *Node) Scope(phase, mix string) *Scope { return findScope(n.Scopes, phase, mix) }

func findScope(list []Scope, phase, mix string) *Scope {
	return find(list, func(s *Scope) bool { return s.Phase == phase && s.Mix == mix })
}

// FindSeries returns the series of one window length, in s, of a scope ("", "" is the whole node), nil if
// it was not kept.
func (n *Node) FindSeries(phase, mix string, every float64) *Series {
	return find(n.Series,
		func(s *Series) bool { return s.Phase == phase && s.Mix == mix && s.Every == every })
}

// find returns the first element of a list that matches, nil if none does.
func find[T any](list []T, match func(*T) bool) *T {
	for i := range list {
		if match(&list[i]) {
			return &list[i]
		}
	}
	return nil
}
