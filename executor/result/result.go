// Package result is a run's outcome as plain data: JSON in, JSON out, and the values that assertions are judged on.
//
// It is not: a computer of numbers; it is data with a merge.
package result

import "time"

// Schema is the value of Result.Schema in this version.
const Schema = "sluice/result/v1"

// Verdict of an assertion or a run.
type Verdict string

// The verdicts.
const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	Inconclusive Verdict = "inconclusive"
	ErrorVerdict Verdict = "error"
	Skipped      Verdict = "skipped"
	Interrupted  Verdict = "interrupted"
)

// Outcome of a node.
type Outcome string

// The outcomes.
const (
	Done            Outcome = "done"
	SkippedNode     Outcome = "skipped"
	Unstable        Outcome = "unstable"
	Invalid         Outcome = "invalid"
	InterruptedNode Outcome = "interrupted"
	Failed          Outcome = "failed" // set-up failure: the target could not be reached or refused
)

// State says how much of a run a result holds.
type State string

// The states. A result that says Running, of a process that has ended, is of a run that was killed.
const (
	StateRunning State = "running" // no verdict yet; the nodes that have ended
	StatePartial State = "partial" // the run ended early: something is missing
	StateDone    State = "done"
)

// Result is the whole of one run.
type Result struct {
	Schema      string      `json:"schema"`
	Tool        Tool        `json:"tool"`
	Plan        Plan        `json:"plan"`
	Environment Environment `json:"environment"`
	Started     time.Time   `json:"started"` // UTC
	Ended       time.Time   `json:"ended"`
	State       State       `json:"state"`
	Verdict     Verdict     `json:"verdict"`
	ExitCode    int         `json:"exit_code"`
	Reason      string      `json:"reason"` // one sentence: why this exit code
	Files       []string    `json:"files"`  // names of the files of this run, this one included; while it runs, those it may write
	Clients     []Client    `json:"clients"`
	Nodes       []*Node     `json:"nodes"`
	Assertions  []Assertion `json:"assertions"` // the plan's own
}

// Tool is what made the result.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
}

// Plan is what was run.
type Plan struct {
	Name        string            `json:"name"`
	File        string            `json:"file"`
	Description string            `json:"description,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Fingerprint string            `json:"fingerprint"`
	Seed        uint64            `json:"seed"`
	Vars        map[string]Var    `json:"vars,omitempty"`
	// Overlays are the files and profiles that were merged, weakest first. Origins are the values of Resolved that do not
	// stand plainly in the plan's own file.
	Overlays []string `json:"overlays,omitempty"`
	Origins  []Origin `json:"origins,omitempty"`
	Resolved any      `json:"resolved"`
}

// Origin is where a value of the plan comes from.
type Origin struct {
	Path     string `json:"path"` // JSON pointer into Plan.Resolved
	From     string `json:"from"`
	Variable string `json:"variable,omitempty"`
	At       string `json:"at,omitempty"` // file:line:column
}

// Var is a variable's final value and where it came from.
type Var struct {
	Value string `json:"value"` // *** for secrets
	From  string `json:"from"`
}

// Environment is the machine and process that measured.
type Environment struct {
	OS         string            `json:"os"`
	Arch       string            `json:"arch"`
	Kernel     string            `json:"kernel,omitempty"`
	Hostname   string            `json:"hostname,omitempty"`
	CPUs       int               `json:"cpus"`
	CPUModel   string            `json:"cpu_model,omitempty"`
	GOMAXPROCS int               `json:"gomaxprocs"`
	Settings   map[string]string `json:"settings,omitempty"` // GOGC, timer slack …
}

// Client is the health of one measuring process over the whole run.
type Client struct {
	CPUSeconds float64 `json:"cpu_seconds"`
	MaxRSS     int64   `json:"max_rss_bytes"`
	CPUShare   float64 `json:"cpu_share"` // of what it may use, while holding
	// Summary is one paragraph over all nodes: whether this client could have been the bottleneck.
	Summary string `json:"summary,omitempty"`
}

// Node is one stage at one level.
type Node struct {
	ID    string            `json:"id"`
	Stage string            `json:"stage"`
	Point map[string]string `json:"point,omitempty"`
	// Description is the stage's; Labels are the plan's with the stage's over them.
	Description string             `json:"description,omitempty"`
	Labels      map[string]string  `json:"labels,omitempty"`
	Target      string             `json:"target"`
	Load        Load               `json:"load"`
	Outcome     Outcome            `json:"outcome"`
	Reason      string             `json:"reason,omitempty"`
	Started     float64            `json:"started"`  // s since the run's origin; hold start
	Duration    float64            `json:"duration"` // s; the hold window
	Metrics     map[string]*Metric `json:"metrics"`
	Scopes      []Scope            `json:"scopes,omitempty"`  // phases of a ramp, entries of a mix
	Models      []Model            `json:"models,omitempty"`  // that the stage's own model calls
	Scrapes     []Scrape           `json:"scrapes,omitempty"` // by target
	Series      []Series           `json:"series,omitempty"`  // windows that assertions are judged on
	Slices      []Slice            `json:"slices"`
	Windows     []Window           `json:"windows,omitempty"` // of until: stable
	Repeats     []Repeat           `json:"repeats,omitempty"` // the repeats that Metrics are pooled from
	Trials      []Trial            `json:"trials,omitempty"`  // the trials of a search
	While       []Assertion        `json:"while,omitempty"`   // the conditions of a level
	Aborted     *Abort             `json:"aborted,omitempty"`
	Probes      int                `json:"probes"` // requests that were sent ahead of the clock to see that the stage's models answer
	Errors      []ErrorClass       `json:"errors"`
	Validity    Validity           `json:"validity"`
	Assertions  []Assertion        `json:"assertions"`
}

// Load is what was asked of the node.
type Load struct {
	Kind         string     `json:"kind"`              // concurrency, rate, intervals, schedule
	Value        float64    `json:"value"`             // requests in flight, or 1/s, of a file of gaps on average; 0 where it changes
	Formula      string     `json:"formula,omitempty"` // where the value comes from earlier results: what it was computed by
	Ramp         []RampStep `json:"ramp,omitempty"`
	Periodic     *Periodic  `json:"periodic,omitempty"`
	File         string     `json:"file,omitempty"`  // of the gaps or times
	Speed        float64    `json:"speed,omitempty"` // of a schedule, against what was recorded
	Arrivals     string     `json:"arrivals,omitempty"`
	CV           float64    `json:"cv,omitempty"`    // coefficient of variation of the gaps
	Exact        bool       `json:"exact,omitempty"` // as many arrivals as the rate says, and not only on average
	MaxInFlight  int        `json:"max_in_flight,omitempty"`
	Overflow     string     `json:"overflow,omitempty"`
	Batch        int        `json:"batch"`
	ScheduleHash string     `json:"schedule_hash,omitempty"`
	Model        string     `json:"model,omitempty"`
	Transport    string     `json:"transport,omitempty"` // http grpc; absent where the server runs inside the client
}

// Setting is the load as the plan sets it: Value, the end of a periodic load, or the highest value of a ramp; 0 where a file
// or a search decides.
func (l Load) Setting() float64 {
	v := l.Value
	if l.Periodic != nil {
		v = float64(l.Periodic.To)
	}
	for _, step := range l.Ramp {
		v = max(v, step.To)
	}
	return v
}

// Periodic is a number of requests in flight that grows as responses come.
type Periodic struct {
	From      int `json:"from"`
	To        int `json:"to"`
	Step      int `json:"step"`
	Responses int `json:"responses"` // of each of the newest requests, before there are more
}

// RampStep is one step of a ramp: the value goes to To in Over, and stays there for Hold.
type RampStep struct {
	To   float64 `json:"to"`   // requests in flight, or 1/s
	Over float64 `json:"over"` // s
	Hold float64 `json:"hold"`
	Name string  `json:"name,omitempty"`
}

// Slice is one second (or less; more in runs over an hour) of the node, for charts. Sent counts by due time, all else by
// completion. Times in s since hold start; latencies in s.
type Slice struct {
	Repeat     int      `json:"repeat,omitempty"` // of a node that repeats, from 0
	From       float64  `json:"from"`
	To         float64  `json:"to"`
	Sent       int64    `json:"sent"`
	OK         int64    `json:"ok"`
	Failed     int64    `json:"failed"`
	Items      int64    `json:"items"`
	InFlight   int64    `json:"in_flight"`
	LatencyP50 *float64 `json:"latency_p50"`
	LatencyP99 *float64 `json:"latency_p99"`
	LatencyMax *float64 `json:"latency_max"`
	// Server is what the server's own counters say of it, by name of the metric, in base units.
	Server map[string]float64 `json:"server,omitempty"`
}

// Window is one stability window: the values of the metrics asked for, by name. Times in s since hold start.
type Window struct {
	From   float64             `json:"from"`
	To     float64             `json:"to"`
	Values map[string]*float64 `json:"values"`
	Used   bool                `json:"used"` // part of the reported measurement
}

// ErrorClass is one class of failures.
type ErrorClass struct {
	Class   string `json:"class"`
	Count   int64  `json:"count"`
	Example string `json:"example"`
	// More are the next ones, of replies that differ from what was expected.
	More []string `json:"more,omitempty"`
}

// Validity says whether the measurement can be trusted.
type Validity struct {
	OK bool `json:"ok"`
	// Summary is one paragraph: whether this client could have been the bottleneck, and what to change then.
	Summary  string    `json:"summary,omitempty"`
	Findings []Finding `json:"findings"`
}

// Severities of a finding: only Invalidating makes Validity.OK false.
const (
	Invalidating = "invalid"
	Note         = "note"
)

// NoData is the code of the finding at a node that was skipped because a result that its load is made of has no value. A
// run with such a node has not shown what it was to show; other nodes that were skipped do not matter to it.
const NoData = "no_data"

// Finding is one observation about the measurement itself.
type Finding struct {
	Code     string `json:"code"`     // see FindingCodes
	Severity string `json:"severity"` // invalid note
	Text     string `json:"text"`
}

// Severities of an assertion: one that warns is shown and decides nothing.
const (
	Gate = "gate"
	Warn = "warn"
)

// Assertion is one judged assertion.
type Assertion struct {
	ID          string   `json:"id"`
	Description string   `json:"description,omitempty"`
	That        string   `json:"that"`
	At          string   `json:"at"` // file:line:column
	SLO         string   `json:"slo,omitempty"`
	Severity    string   `json:"severity"`         // gate warn
	Every       float64  `json:"every,omitempty"`  // s; judged on windows of that length
	Allow       float64  `json:"allow,omitempty"`  // share of the windows that may be false
	Within      float64  `json:"within,omitempty"` // s; observed is then the time that it took until it held to the end
	Verdict     Verdict  `json:"verdict"`
	Unit        string   `json:"unit,omitempty"` // of observed and limit
	Op          string   `json:"op,omitempty"`
	Observed    *float64 `json:"observed"`
	Limit       *float64 `json:"limit"`
	Low         *float64 `json:"low,omitempty"`  // bounds of observed; absent: there are none, or none were asked for
	High        *float64 `json:"high,omitempty"` // each holds with Confidence
	Confidence  float64  `json:"confidence,omitempty"`
	Samples     int64    `json:"samples"`
	Needed      int64    `json:"needed"`
	Reason      string   `json:"reason"`
}
