package result

import (
	"encoding/json"
	"slices"
)

// Scope is a part of a node's measurement that has numbers of its own: a phase of a ramp, an entry of a mix, or both.
type Scope struct {
	Phase    string             `json:"phase,omitempty"` // a named hold, "hold" for those without a name, "ramp" for what is between
	Mix      string             `json:"mix,omitempty"`
	Target   string             `json:"target,omitempty"` // of a mix entry
	Model    string             `json:"model,omitempty"`
	Batch    int                `json:"batch,omitempty"`
	Duration float64            `json:"duration"` // s that its rates are over
	Metrics  map[string]*Metric `json:"metrics"`
	Errors   []ErrorClass       `json:"errors"`
}

// Series are the windows of one length of one scope that assertions with `every` or `within` are judged on.
type Series struct {
	Phase   string    `json:"phase,omitempty"`
	Mix     string    `json:"mix,omitempty"`
	Every   float64   `json:"every"` // length of a window, s
	From    float64   `json:"from"`  // of the scope, s since hold start
	To      float64   `json:"to"`
	Windows []Stretch `json:"windows"`
	// Missing is how many windows there were beyond the number that is kept: no verdict can rest on them.
	Missing int `json:"missing,omitempty"`
}

// Stretch is one window of a series with the metrics that its assertions name, and the number of requests. Times in s
// since hold start.
type Stretch struct {
	Repeat  int                `json:"repeat,omitempty"`
	From    float64            `json:"from"`
	To      float64            `json:"to"`
	Metrics map[string]*Metric `json:"metrics"`
}

// UnmarshalJSON reads a window and keeps its distributions small: there may be thousands.
func (s *Stretch) UnmarshalJSON(text []byte) error {
	type plain Stretch
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

// Repeat is one repeat of a node that repeats. The node's own numbers are pooled from those of its repeats.
type Repeat struct {
	Repeat   int                `json:"repeat"` // from 0
	Started  float64            `json:"started"`
	Duration float64            `json:"duration"`
	Outcome  Outcome            `json:"outcome"`
	Reason   string             `json:"reason,omitempty"`
	Metrics  map[string]*Metric `json:"metrics"`
	Scopes   []Scope            `json:"scopes,omitempty"`
	Findings []Finding          `json:"findings,omitempty"`
}

// Trial is one trial of a search.
type Trial struct {
	Level    float64            `json:"level"`   // requests in flight, or 1/s
	Verdict  Verdict            `json:"verdict"` // of the search's `while`: only pass counts as true
	Reason   string             `json:"reason,omitempty"`
	Used     bool               `json:"used"` // the node's numbers are those of this trial
	Started  float64            `json:"started"`
	Duration float64            `json:"duration"`
	Outcome  Outcome            `json:"outcome"`
	Metrics  map[string]*Metric `json:"metrics"`
	While    []Assertion        `json:"while"`
}

// Abort says that an assertion with `abort` ended the node, and with it the run.
type Abort struct {
	Assertion string  `json:"assertion"` // its id
	At        float64 `json:"at"`        // s since hold start
	Reason    string  `json:"reason"`    // why it was certainly false by then
	InFlight  int64   `json:"in_flight"` // requests that were open, or due and not yet sent, for longer than the limit
}

// Scope finds a part of n; nil: it was not measured apart.
func (n *Node) Scope(phase, mix string) *Scope { return scopeOf(n.Scopes, phase, mix) }

func (r *Repeat) scope(phase, mix string) *Scope { return scopeOf(r.Scopes, phase, mix) }

func scopeOf(list []Scope, phase, mix string) *Scope {
	i := slices.IndexFunc(list, func(s Scope) bool { return s.Phase == phase && s.Mix == mix })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// Every finds the series of one length of a scope; "", "" is the node as a whole. nil: it was not kept.
func (n *Node) Every(phase, mix string, every float64) *Series {
	i := slices.IndexFunc(n.Series, func(s Series) bool { return s.Phase == phase && s.Mix == mix && s.Every == every })
	if i < 0 {
		return nil
	}
	return &n.Series[i]
}

// The forms that are written: lists and maps are never null.

func (s Scope) whole() Scope {
	s.Metrics, s.Errors = filled(s.Metrics), list(s.Errors)
	return s
}

func (s Series) whole() Series {
	s.Windows = list(s.Windows)
	return s
}

func (r Repeat) whole() Repeat {
	r.Metrics, r.Scopes = filled(r.Metrics), each(r.Scopes, Scope.whole)
	return r
}

func (t Trial) whole() Trial {
	t.Metrics, t.While = filled(t.Metrics), list(t.While)
	return t
}

// each is f of every element; nil stays nil.
func each[T any](list []T, f func(T) T) []T {
	var out []T
	for _, v := range list {
		out = append(out, f(v))
	}
	return out
}

func filled(m map[string]*Metric) map[string]*Metric {
	if m == nil {
		return map[string]*Metric{}
	}
	return m
}
