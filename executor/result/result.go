// Package result holds the outcome of a run as plain data: JSON in, JSON out, and the values that
// assertions are judged on. It computes no measurements.
package result

import "time"

// Schema is the value of Result.Schema.
const Schema = "sluice/result/v1"

// Verdict is the verdict of an assertion or a run.
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

// Outcome is the outcome of a node.
type Outcome string

// The outcomes.
const (
	Done            Outcome = "done"
	SkippedNode     Outcome = "skipped"
	Unstable        Outcome = "unstable"
	Invalid         Outcome = "invalid"
	InterruptedNode Outcome = "interrupted"
	Failed          Outcome = "failed" // set-up failed: the target could not be reached or refused
)

// State says how much of a run a result contains.
type State string

// The states. If the process of a result with StateRunning has ended, it was killed.
const (
	StateRunning State = "running" // no verdict yet; contains the nodes that have ended
	StatePartial State = "partial" // the run ended early: parts are missing
	StateDone    State = "done"
)

// Result is the outcome of one run.
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
	Reason      string      `json:"reason"` // reason for the exit code, one sentence
	// files of this run including this one; during the run those it may write
	Files      []string    `json:"files"`
	Clients    []Client    `json:"clients"`
	Nodes      []*Node     `json:"nodes"`
	Assertions []Assertion `json:"assertions"` // of the plan itself
}

// Tool identifies the program that wrote the result.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
}

// Plan describes the plan that was run.
type Plan struct {
	Name        string            `json:"name"`
	File        string            `json:"file"`
	Description string            `json:"description,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Fingerprint string            `json:"fingerprint"`
	Seed        uint64            `json:"seed"`
	Vars        map[string]Var    `json:"vars,omitempty"`
	// Overlays are the merged files and profiles, weakest first. Origins lists the values of
	// Resolved that are not literally in the plan's own file.
	Overlays []string `json:"overlays,omitempty"`
	Origins  []Origin `json:"origins,omitempty"`
	Resolved any      `json:"resolved"`
}

// Origin is the origin of a value of the plan.
type Origin struct {
	Path     string `json:"path"` // JSON pointer into Plan.Resolved
	From     string `json:"from"`
	Variable string `json:"variable,omitempty"`
	At       string `json:"at,omitempty"` // file:line:column
}

// Var is the final value of a variable and its origin.
type Var struct {
	Value string `json:"value"` // *** for secrets
	From  string `json:"from"`
}

// Environment describes the measuring machine and process.
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
	CPUShare   float64 `json:"cpu_share"` // used CPU time over available CPU time during hold
	// Summary says, in one paragraph over all nodes, whether this client could have been the
	// bottleneck.
	Summary string `json:"summary,omitempty"`
}

// Node is one stage at one level.
type Node struct {
	ID    string            `json:"id"`
	Stage string            `json:"stage"`
	Point map[string]string `json:"point,omitempty"`
	// Description is the stage's; Labels are the plan's, overridden by the stage's.
	Description string             `json:"description,omitempty"`
	Labels      map[string]string  `json:"labels,omitempty"`
	Target      string             `json:"target"`
	Load        Load               `json:"load"`
	Outcome     Outcome            `json:"outcome"`
	Reason      string             `json:"reason,omitempty"`
	Started     float64            `json:"started"`  // start of hold, s since the start of the run
	Duration    float64            `json:"duration"` // of the hold window, s
	Metrics     map[string]*Metric `json:"metrics"`
	Scopes      []Scope            `json:"scopes,omitempty"`  // phases of a ramp, entries of a mix
	Models      []Model            `json:"models,omitempty"`  // called by the stage's own model
	Scrapes     []Scrape           `json:"scrapes,omitempty"` // by target
	Series      []Series           `json:"series,omitempty"`  // windows for assertions
	Slices      []Slice            `json:"slices"`
	Windows     []Window           `json:"windows,omitempty"` // of until: stable
	Repeats     []Repeat           `json:"repeats,omitempty"` // Metrics are pooled from them
	Trials      []Trial            `json:"trials,omitempty"`  // of a search
	While       []Assertion        `json:"while,omitempty"`   // conditions of a level
	Aborted     *Abort             `json:"aborted,omitempty"`
	// requests sent before the measurement to check that the models answer
	Probes     int          `json:"probes"`
	Errors     []ErrorClass `json:"errors"`
	Validity   Validity     `json:"validity"`
	Assertions []Assertion  `json:"assertions"`
}

// Load is the configured load of a node.
type Load struct {
	Kind string `json:"kind"` // concurrency, rate, intervals, schedule
	// requests in flight, or 1/s (for a file of gaps the average); 0 if it changes
	Value    float64    `json:"value"`
	Formula  string     `json:"formula,omitempty"` // of a value computed from earlier results
	Ramp     []RampStep `json:"ramp,omitempty"`
	Periodic *Periodic  `json:"periodic,omitempty"`
	File     string     `json:"file,omitempty"`  // of the gaps or times
	Speed    float64    `json:"speed,omitempty"` // relative to the recording
	Arrivals string     `json:"arrivals,omitempty"`
	CV       float64    `json:"cv,omitempty"` // coefficient of variation of the gaps
	// exactly as many arrivals as the rate says, not only on average
	Exact        bool   `json:"exact,omitempty"`
	MaxInFlight  int    `json:"max_in_flight,omitempty"`
	Overflow     string `json:"overflow,omitempty"`
	Batch        int    `json:"batch"`
	ScheduleHash string `json:"schedule_hash,omitempty"`
	Model        string `json:"model,omitempty"`
	// http or grpc; absent if the server runs inside the client
	Transport string `json:"transport,omitempty"`
}

// Setting returns the load as the plan sets it: Value, the end of a periodic load, or the highest
// value of a ramp; 0 if a file or a search decides.
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

// Periodic is a number of requests in flight that grows with the responses.
type Periodic struct {
	From      int `json:"from"`
	To        int `json:"to"`
	Step      int `json:"step"`
	Responses int `json:"responses"` // to each of the newest requests, before more are sent
}

// RampStep is one step of a ramp: the value goes linearly to To within Over, and stays for Hold.
type RampStep struct {
	To   float64 `json:"to"`   // requests in flight, or 1/s
	Over float64 `json:"over"` // in s
	Hold float64 `json:"hold"`
	Name string  `json:"name,omitempty"`
}

// Slice is one second of the node, for charts (less at the end, more in runs over an hour). Sent
// counts by due time, all else by completion. Times are in s since hold start, latencies in s.
type Slice struct {
	Repeat     int      `json:"repeat,omitempty"` // index, if the node repeats
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
	// Server holds the growth of the server's own counters, by name of the metric, in base units.
	Server map[string]float64 `json:"server,omitempty"`
}

// Window is one stability window with the values of the configured metrics by name. Times are in s
// since hold start.
type Window struct {
	From   float64             `json:"from"`
	To     float64             `json:"to"`
	Values map[string]*float64 `json:"values"`
	Used   bool                `json:"used"` // part of the reported measurement
}

// ErrorClass counts one class of failures.
type ErrorClass struct {
	Class   string `json:"class"`
	Count   int64  `json:"count"`
	Example string `json:"example"`
	// More are further examples of mismatching replies.
	More []string `json:"more,omitempty"`
}

// Validity says whether the measurement can be trusted.
type Validity struct {
	OK bool `json:"ok"`
	// Summary says, in one paragraph, whether this client could have been the bottleneck, and what
	// to change then.
	Summary  string    `json:"summary,omitempty"`
	Findings []Finding `json:"findings"`
}

// Severities of a finding. Only Invalidating makes Validity.OK false.
const (
	Invalidating = "invalid"
	Note         = "note"
)

// NoData is the code of a finding on a node that was skipped because a result that its load needs
// has no value. A run with such a node has no complete evidence; other skipped nodes do not matter.
const NoData = "no-data"

// Finding is one observation about the measurement itself.
type Finding struct {
	Code     string `json:"code"`     // see FindingCodes
	Severity string `json:"severity"` // invalid note
	Text     string `json:"text"`
}

// Severities of an assertion. One that warns is shown and decides nothing.
const (
	Gate = "gate"
	Warn = "warn"
)

// Assertion is one judged assertion.
type Assertion struct {
	ID          string  `json:"id"`
	Description string  `json:"description,omitempty"`
	That        string  `json:"that"`
	At          string  `json:"at"` // file:line:column
	SLO         string  `json:"slo,omitempty"`
	Severity    string  `json:"severity"`        // gate warn
	Every       float64 `json:"every,omitempty"` // length of the windows it is judged on, s
	Allow       float64 `json:"allow,omitempty"` // share of the windows that may be false
	// s; observed is then the time until it was true to the end
	Within     float64  `json:"within,omitempty"`
	Verdict    Verdict  `json:"verdict"`
	Unit       string   `json:"unit,omitempty"` // of observed and limit
	Op         string   `json:"op,omitempty"`
	Observed   *float64 `json:"observed"`
	Limit      *float64 `json:"limit"`
	Low        *float64 `json:"low,omitempty"`  // bounds of observed; absent: none, or none requested
	High       *float64 `json:"high,omitempty"` // each holds with Confidence
	Confidence float64  `json:"confidence,omitempty"`
	Samples    int64    `json:"samples"`
	Needed     int64    `json:"needed"`
	Reason     string   `json:"reason"`
}
