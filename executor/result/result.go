// Package result holds the outcome of a run as plain data: JSON in, JSON out, and the values that
// assertions are judged on. It computes no measurements.
package result

import (
	"iter"
	"time"
)

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
	// inconclusive with exit code 0, as the user wants it
	Allowed bool   `json:"allowed,omitempty"`
	Reason  string `json:"reason" redact:"yes"` // reason for the exit code, one sentence
	// files of this run including this one; during the run those it may write
	Files      []string    `json:"files"`
	Clients    []Client    `json:"clients"`
	Nodes      []*Node     `json:"nodes"`
	Best       []Best      `json:"best,omitempty"`
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
	Description string            `json:"description,omitempty" redact:"yes"`
	Labels      map[string]string `json:"labels,omitempty" redact:"yes"`
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
	Summary string `json:"summary,omitempty" redact:"yes"`
}

// Node is one stage at one level.
type Node struct {
	ID    string            `json:"id"`
	Stage string            `json:"stage"`
	Point map[string]string `json:"point,omitempty"`
	// Description is the stage's; Labels are the plan's, overridden by the stage's.
	Description string             `json:"description,omitempty" redact:"yes"`
	Labels      map[string]string  `json:"labels,omitempty" redact:"yes"`
	Target      string             `json:"target"`
	Load        Load               `json:"load"`
	Outcome     Outcome            `json:"outcome"`
	Reason      string             `json:"reason,omitempty" redact:"yes"`
	Started     float64            `json:"started"`        // start of hold, s since the start of the run
	Duration    float64            `json:"duration"`       // of the hold window, s
	Look        *Look              `json:"look,omitempty"` // at which `until: precise` ended hold
	Metrics     map[string]*Metric `json:"metrics"`
	Scopes      []Scope            `json:"scopes,omitempty"`  // phases of a ramp, entries of a mix
	Models      []Model            `json:"models,omitempty"`  // called by the stage's own model
	Scrapes     []Scrape           `json:"scrapes,omitempty"` // by target
	Series      []Series           `json:"series,omitempty"`  // windows for assertions
	Slices      []Slice            `json:"slices"`
	Windows     []Window           `json:"windows,omitempty"`  // of until: stable
	Repeats     []Repeat           `json:"repeats,omitempty"`  // Metrics are pooled from them
	Trials      []Trial            `json:"trials,omitempty"`   // of a search
	Attempts    []Attempt          `json:"attempts,omitempty"` // if it was measured again
	While       []Assertion        `json:"while,omitempty"`    // conditions of a level
	Aborted     *Abort             `json:"aborted,omitempty"`
	TokenCounts *TokenCounts       `json:"token_counts,omitempty"` // of answers that the target's tokenizer counted
	// requests sent before the measurement to check that the models answer
	Probes     int          `json:"probes"`
	Errors     []ErrorClass `json:"errors"`
	Validity   Validity     `json:"validity"`
	Assertions []Assertion  `json:"assertions"`
	// those of the plan's load_model, as the server reported them
	Configurations []Configuration `json:"configurations,omitempty"`
}

// TokenCounts compares the ways to count the tokens of the same answers.
type TokenCounts struct {
	Answers   int64  `json:"answers"`
	Tokenizer int64  `json:"tokenizer"`        // tokens of their texts, by the target's tokenizer
	Usage     *int64 `json:"usage,omitempty"`  // tokens by the server's usage; nil: not all have it
	Events    *int64 `json:"events,omitempty"` // events with text; nil: not all came in events
}

// Configuration is the configuration that a model was loaded with.
type Configuration struct {
	Target string `json:"target"`
	Model  string `json:"model" redact:"yes"`
	Text   string `json:"text" redact:"yes"` // as a file of the server's model repository
}

// Load is the configured load of a node.
type Load struct {
	Kind string `json:"kind"` // concurrency, rate, intervals, schedule
	// requests in flight, or 1/s (for a file of gaps the average); 0 if it changes
	Value    float64    `json:"value"`
	Formula  string     `json:"formula,omitempty" redact:"yes"` // of a value computed from earlier results
	Ramp     []RampStep `json:"ramp,omitempty"`
	Periodic *Periodic  `json:"periodic,omitempty"`
	File     string     `json:"file,omitempty"`  // of the gaps or times
	Speed    float64    `json:"speed,omitempty"` // relative to the recording
	Of       string     `json:"of,omitempty"`    // what a rate counts, unless requests
	Users    int        `json:"users,omitempty"` // of `of: users`: each has the rate
	Arrivals string     `json:"arrivals,omitempty"`
	CV       float64    `json:"cv,omitempty"` // coefficient of variation of the gaps
	// exactly as many arrivals as the rate says, not only on average
	Exact        bool   `json:"exact,omitempty"`
	MaxInFlight  int    `json:"max_in_flight,omitempty"`
	Overflow     string `json:"overflow,omitempty"`
	Batch        int    `json:"batch"`
	ScheduleHash string `json:"schedule_hash,omitempty"`
	Model        string `json:"model,omitempty" redact:"yes"`
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

// Total returns Setting, of users the rate that all of them have together.
func (l Load) Total() float64 { return l.Setting() * float64(max(l.Users, 1)) }

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

// Judged returns every assertion and its node, those of the plan, whose node is nil, last.
func (r *Result) Judged() iter.Seq2[*Node, Assertion] {
	return func(yield func(*Node, Assertion) bool) {
		for _, n := range r.Nodes {
			for _, a := range n.Assertions {
				if !yield(n, a) {
					return
				}
			}
		}
		for _, a := range r.Assertions {
			if !yield(nil, a) {
				return
			}
		}
	}
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
	// Tokens counts those of the answers; without streams of text there are no times to the first.
	Tokens  int64    `json:"tokens,omitempty"`
	TTFTP50 *float64 `json:"ttft_p50,omitempty"`
	TTFTP99 *float64 `json:"ttft_p99,omitempty"`
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
	Example string `json:"example" redact:"yes"`
	// More are further examples: of mismatching replies, or one of each further cause.
	More []string `json:"more,omitempty" redact:"yes"`
}

// Validity says whether the measurement can be trusted.
type Validity struct {
	OK      bool   `json:"ok"`
	Numbers string `json:"numbers,omitempty"` // exact bounded invalid; "": nothing was measured, or an older result
	// Summary says, in one paragraph, whether this client could have been the bottleneck, and what
	// to change then.
	Summary  string          `json:"summary,omitempty" redact:"yes"`
	Limits   *ValidityLimits `json:"limits,omitempty"` // of the plan; nil: an older result
	Findings []Finding       `json:"findings"`
}

// ValidityLimits are the limits of the client over which numbers are intervals, or invalid.
type ValidityLimits struct {
	SendDelay float64 `json:"send_delay"` // s; 1 % of the median service time if that is longer
	Pause     float64 `json:"pause"`      // s; what is shorter is none
	Paused    float64 `json:"paused"`     // share of hold
}

// Severities of a finding. Only Invalidating makes Validity.OK false; Bounding makes numbers intervals. The
// numbers of a node are either, or ExactNumbers.
const (
	Invalidating = "invalid"
	Bounding     = "bounded"
	Note         = "note"

	ExactNumbers = "exact"
)

// NoData is the code of a finding on a node that was skipped because a result that its load needs
// has no value. A run with such a node has no complete evidence; other skipped nodes do not matter.
const NoData = "no-data"

// Finding is one observation about the measurement itself.
type Finding struct {
	Code     string `json:"code"`     // see FindingCodes
	Severity string `json:"severity"` // invalid bounded note
	Text     string `json:"text" redact:"yes"`
}

// Severities of an assertion. One that warns is shown and decides nothing.
const (
	Gate = "gate"
	Warn = "warn"
)

// Cause says why an assertion is inconclusive.
type Cause string

// The causes.
const (
	CauseClient      Cause = "client"      // the limit lies within what this client's delay leaves open
	CauseInvalid     Cause = "invalid"     // the measurement, its own or one that it reads, is not valid
	CauseSamples     Cause = "samples"     // too few
	CauseBounds      Cause = "bounds"      // the limit lies between the bounds of its confidence
	CauseNoData      Cause = "no-data"     // or none that can be trusted
	CauseUnstable    Cause = "unstable"    // `until: stable` was never reached
	CauseInterrupted Cause = "interrupted" // its node was
	CauseNoLevel     Cause = "no-level"    // the `while` of its load holds on no level
)

// Assertion is one judged assertion.
type Assertion struct {
	ID          string  `json:"id"`
	Description string  `json:"description,omitempty" redact:"yes"`
	That        string  `json:"that" redact:"yes"`
	At          string  `json:"at"` // file:line:column
	SLO         string  `json:"slo,omitempty"`
	Severity    string  `json:"severity"`        // gate warn
	Every       float64 `json:"every,omitempty"` // length of the windows it is judged on, s
	Allow       float64 `json:"allow,omitempty"` // share of the windows that may be false
	// s; observed is then the time until it was true to the end
	Within     float64  `json:"within,omitempty"`
	Verdict    Verdict  `json:"verdict"`
	Cause      Cause    `json:"cause,omitempty"` // of an inconclusive verdict
	Unit       string   `json:"unit,omitempty"`  // of observed and limit
	Op         string   `json:"op,omitempty"`
	Observed   *float64 `json:"observed"`
	Infinite   bool     `json:"infinite,omitempty"` // observed is larger than any number
	Limit      *float64 `json:"limit"`
	Low        *float64 `json:"low,omitempty"`  // bounds of observed; absent: it is exact, or none requested
	High       *float64 `json:"high,omitempty"` // each holds with Confidence
	Confidence float64  `json:"confidence,omitempty"`
	Samples    int64    `json:"samples"`
	Effective  int64    `json:"effective,omitempty"` // independent samples worth as much; 0: unknown
	// its bounds take the samples as independent, as hold is in no parts that say what they are worth
	AsIndependent bool   `json:"as_independent,omitempty"`
	Needed        int64  `json:"needed"`
	Reason        string `json:"reason" redact:"yes"`
}
