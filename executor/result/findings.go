package result

import (
	"slices"
	"strings"
)

// FindingCode is one code of Finding: its meaning, and what to do about it.
type FindingCode struct {
	Code     string
	Severity string // invalid, bounded, note
	Meaning  string
	Do       string
}

// Codes of findings about whether the client could have been the bottleneck.
const (
	ClientLate  = "client-late"
	SlotsEmpty  = "slots-empty"
	PausedShare = "paused-share"
	LostDelays  = "lost-delays"
	WhileOpen   = "while-open"
	ClientCPU   = "client-cpu"
	ClientNear  = "client-near-limit"
	// ClientPaused and ClientLate are codes of findings that make numbers intervals.
	ClientPaused = "client-paused"
	Sockets      = "sockets"
	Paused       = "paused"
	StoodStill   = "stood-still"
	PoolFull     = "pool-full"
	BusyMachine  = "busy-machine"
	StolenTime   = "stolen-time"
	// SharedProcess is the code of a note on nodes whose server runs in this process.
	SharedProcess = "server-in-this-process"
	LostSamples   = "lost-samples"
	StrayReplies  = "stray-replies"
	OtherIDs      = "other-ids"
	UnknownBatch  = "unknown-batch"
	ServerEnded   = "embedded-server-ended"
	UnnamedModel  = "unnamed-model"
	HiddenTokens  = "hidden-tokens"
	// TokenCountsDiffer is the code of a note on nodes whose server counts other tokens than the tokenizer.
	TokenCountsDiffer = "token-counts-differ"
	// TokensFromEvents is the code of a note on nodes whose server does not count all tokens.
	TokensFromEvents = "tokens-from-events"
	// CachedTokens is the code of a note on nodes whose server counts other tokens as cached than its answers.
	CachedTokens = "cached-tokens"
	// OutputLength is the code of a note on nodes whose server does not keep to exact lengths of answers.
	OutputLength = "output-length"
	// WarmCache is the code of a note on nodes whose server had seen prompts that the plan did not mean to
	// send again.
	WarmCache = "warm-cache"
	// InOneEvent is the code of a note on nodes whose server does not stream its tokens.
	InOneEvent = "tokens-in-one-event"
	// ClosedByUs is the code of a note on nodes some of whose requests the client closed, as the plan wants.
	ClosedByUs = "closed-by-us"
	// ClosesConnections is the code of a note on nodes whose requests each needed a new connection.
	ClosesConnections = "server-closes-connections"
)

// Codes of findings about sequences.
const (
	LeftOpen     = "sequences-left-open"
	StepsDropped = "steps-dropped"
)

// UsersBehind is the code of a note on nodes whose users did not send at their rate.
const UsersBehind = "users-behind"

// MeasuredAgain is the code of a finding on a node of which the user wanted invalid trials again.
const MeasuredAgain = "measured-again"

// CleanUp is the code of a finding about something that could not be undone.
const CleanUp = "clean-up"

// HoldTrend is the code of a finding on a metric that changes over hold, so that it has no bounds.
const HoldTrend = "hold-trend"

// IsPrecise and NotPrecise are the codes of findings on how a hold with `until: precise` ended.
const (
	IsPrecise  = "precise"
	NotPrecise = "not-precise"
)

// LadderEnd is the code of a finding on a level whose `while` is not true.
const LadderEnd = "ladder-end"

// NotNeeded is the code of a finding on a node that was skipped because it waits for a failure that
// did not happen. A run with other skipped nodes and no failure did not measure what it should.
const NotNeeded = "not-needed"

// OlderCode returns the spelling of a code in older results, with underscores; the code itself if it was
// never spelled otherwise.
func OlderCode(code string) string {
	switch code {
	case HiddenTokens, TokenCountsDiffer, TokensFromEvents, CachedTokens, ClosedByUs, OutputLength, InOneEvent,
		WarmCache, UsersBehind, CleanUp, SlotsEmpty, PausedShare, LostDelays, WhileOpen, ClientPaused, StolenTime, MeasuredAgain:
		return code
	}
	return strings.ReplaceAll(code, "-", "_")
}

// Finding returns the finding of n with a code, nil if there is none.
func (n *Node) Finding(code string) *Finding {
	return find(n.Validity.Findings, func(f *Finding) bool { return f.Code == code })
}

// Cause returns why the measurement of n is not whole or not valid: its reason, else the first finding
// that makes it invalid, else "".
func (n *Node) Cause() string {
	f := find(n.Validity.Findings, func(f *Finding) bool { return f.Severity == Invalidating })
	if n.Reason != "" || f == nil {
		return n.Reason
	}
	return f.Text
}

// SumUpNumbers says in the validity of n whether its numbers are exact, have bounds, or are invalid.
func (n *Node) SumUpNumbers() {
	bounded := func(s Scope) bool { return areBounded(s.Metrics) }
	switch {
	case len(n.Metrics) == 0:
	case n.Outcome == Invalid || !n.Validity.OK:
		n.Validity.Numbers = Invalidating
	case areBounded(n.Metrics) || slices.ContainsFunc(n.Scopes, bounded):
		n.Validity.Numbers = Bounding
	default:
		n.Validity.Numbers = ExactNumbers
	}
}

func areBounded(metrics map[string]*Metric) bool {
	for _, m := range metrics {
		if m.Low != nil {
			return true
		}
	}
	return false
}

// renewCodes replaces older spellings of codes.
func renewCodes(list []Finding) {
	for i := range list {
		list[i].Code = strings.ReplaceAll(list[i].Code, "_", "-")
	}
}
