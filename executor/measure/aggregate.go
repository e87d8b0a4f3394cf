package measure

import (
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/delay"
	"github.com/sluice-bench/sluice/executor/stats"
)

// classCount counts the error classes, including the two that are no failure.
const classCount = len(backends.ClassNames)

// Aggregate holds the measurements of a set of requests in a period: plain sums and distributions,
// so that Merge is associative and windows, shards and slices all add up in the same way.
type Aggregate struct {
	Window int64 // duration covered by the flow sums, ns; Merge adds it
	// Paused is the time of Window in which the client stood still, and in which the slots of a closed loop
	// were empty because it sent late, ns: meanwhile a closed loop sends nothing.
	Paused int64
	Counts
	Flow
	PlayerCounts
	// earliest due time and latest completion of the counted requests, run clock; 0, 0 if none
	First, Last int64
	Examples    [classCount]string
	// Causes are texts of further causes of failures by class, in addition to Examples; of mismatches
	// see Mismatches.
	Causes [classCount][]string
	// Mismatches are further distinct texts of mismatching replies, in addition to Examples; at
	// most moreMismatches.
	Mismatches []string
	// Closed says that the requests are from a closed loop. They are due when their lane begins
	// with them, so latency and service time are one distribution (due to last byte, shared by both
	// rows). Send delays are those of Config.Waits.
	Closed bool
	// HasGoodput says that goodput was configured, so that Good is a measurement and not merely
	// zero.
	HasGoodput bool
	limited    bool                      // see Config.Limited
	unsent     int64                     // of a high set: what a closed loop would have sent when it was late
	kept       []int                     // rows of extracts with a distribution
	dists      [len(extracts)]stats.Dist // by index into extracts
	low, high  *Aggregate                // sums of the other sets; nil: the same, as all is exact
}

// Counts are counts of the requests due in the window. Sent is the sum of Class.
type Counts struct {
	Sent       int64
	Class      [classCount]int64
	Reconnects int64 // sent a second time
	Ahead      int64 // sent on a connection made after the previous request and for it alone
	Good       int64 // OK and within every bound of goodput
	Coalesced  int64 // OK, with several responses received together
	OtherIDs   int64 // whose reply has another id
	Unnamed    int64 // whose reply does not name its model
	// Of OK requests with text: how many the server counted the tokens of, how many have the number of the
	// target's tokenizer for it, and how many that of their events; the tokens by its usage, and those that were
	// visible; tokens after the first, and the time from the first token to the last, ns.
	// InOneEvent counts those whose text came in one event although it has several tokens.
	FromUsage, FromEvents     int64
	FromTokenizer             int64
	Tokenized                 Tokenized
	FromPrompts               int64 // answered, and InputTokens is that of the prompt as it was written
	InOneEvent                int64
	UsedTokens, VisibleTokens int64
	DecodeTokens, DecodeTime  int64
	CachedTokens, CachedOf    int64 // cached tokens of prompts, and tokens of the same prompts
	// Sequences counts sequences whose last request was OK; StepsDropped counts requests never sent
	// because an earlier one of their sequence failed.
	Sequences, StepsDropped int64
	// BegunSequences counts sequences whose first request was OK.
	BegunSequences int64
}

// PlayerCounts are the counts that only the player has: requests that were due and never sent. The
// caller of the player sets them.
type PlayerCounts struct {
	Planned      int64 // due in the window: sent and dropped
	DroppedPool  int64 // no slot was free
	DroppedLate  int64 // of DroppedPool: those that a client on time may not have dropped
	DroppedMore  int64 // by how many more a client on time may have dropped
	DroppedStop  int64 // the node ended before a slot was free
	Offered      int64 // duration of the schedule's arrivals, ns; 0: unknown
	PeakInFlight int64 // maximum of concurrent requests; 0: unknown. Merge takes the larger
	Arrivals     int64 // arrivals of the schedule where each begins a sequence; 0: other loads, -1: unknown
}

// Dropped returns the number of requests that were due and never sent.
func (b *PlayerCounts) Dropped() int64 { return b.DroppedPool + b.DroppedStop }

// OK returns the number of requests with a correct answer.
func (c *Counts) OK() int64 { return c.Class[backends.OK] }

// Stopped returns the number of requests that the client cancelled at the end of the drain or at an
// interrupt.
func (c *Counts) Stopped() int64 { return c.Class[backends.Stopped] }

// ByUs returns the number of requests that the client closed as the plan wants.
func (c *Counts) ByUs() int64 { return c.Class[backends.Closed] }

// Failed returns the number of requests that count as errors.
func (c *Counts) Failed() (n int64) {
	for class, count := range c.Class {
		if backends.ErrorClass(class).Failed() {
			n += count
		}
	}
	return n
}

// Flow are sums over the completions in the window: bytes of all completions, the rest of OK ones.
type Flow struct {
	Completed, Items, Responses int64
	Unsized                     int64 // OK ones with an unknown number of items
	EndedSequences              int64
	GoodCompleted               int64
	BytesSent, BytesReceived    int64
	InputTokens, OutputTokens   int64
	NoInput, NoOutput           int64 // OK ones with an unknown number of tokens
}

// finished is a request that has ended, with the facts that are the same for all aggregates.
type finished struct {
	*backends.Sample
	due, completed bool  // in the hold window
	dueAt, ended   int64 // due time since hold began; completion on the run clock
	endedAt        int64 // completion since hold began
	good           bool  // for goodput
	partial        *partialRequest
	delay          delay.Delay
	side           side           // set in which it is counted
	visible        int64          // see visibleTokens
	mayTimeOut     bool           // it was answered, and on time may have taken longer than the timeout
	written        bool           // its input tokens are those of the prompt as it was written
	portion        portion        // of what it adds
	tokenized      backends.Count // tokens of its text by the tokenizer
	byTokenizer    bool           // they are its output tokens, as it has no usage
	gaps           *stats.Dist    // times between its responses; nil: they are in Events and partial
}

// count adds x to the requests due in the window.
func (a *Aggregate) count(x *finished) {
	if x.portion != ofTokens {
		a.countRequest(x)
	}
	if x.portion != withoutTokens {
		if x.good {
			a.Good++
		}
		a.countTokens(x)
	}
	for _, i := range a.kept {
		if i == responseGap {
			a.addGaps(x)
		} else if v, ok := x.value(i); ok {
			a.dists[i].Add(v)
		}
	}
}

// countRequest adds to count what does not need the tokens of an answer.
func (a *Aggregate) countRequest(x *finished) {
	s := x.Sample
	a.Sent++
	if s.Flags&backends.Coalesced != 0 && s.Class == backends.OK {
		a.Coalesced++
	}
	a.Class[x.class()]++
	if s.Flags&backends.Resent != 0 {
		a.Reconnects++
	}
	if s.Flags&backends.Ahead != 0 {
		a.Ahead++
	}
	if s.Flags&backends.OtherID != 0 {
		a.OtherIDs++
	}
	if s.Flags&backends.Unnamed != 0 {
		a.Unnamed++
	}
	a.StepsDropped += int64(s.Dropped)
	if s.Flags&backends.SequenceStart != 0 && s.Class == backends.OK {
		a.BegunSequences++
	}
	if endsSequence(s) {
		a.Sequences++
	}
	if a.First == 0 || s.Due < a.First {
		a.First = s.Due
	}
	if s.Class != backends.Stopped && s.Class != backends.Closed { // cancelled by the client: no completion
		a.Last = max(a.Last, x.ended)
	}
	if s.Class.Failed() && len(s.Note) > 0 {
		a.keepExample(s)
	}
	a.countInput(x)
}

// addGaps adds the times between the responses of x.
func (a *Aggregate) addGaps(x *finished) {
	switch d := &a.dists[responseGap]; {
	case !answered(x.Sample) || x.portion == ofTokens:
	case x.gaps != nil:
		d.Merge(x.gaps.Map(func(v int64) int64 { return x.shift(responseGap, v) }))
	default:
		x.gapsTo(d)
	}
}

// gapsTo adds the times between the responses to d, including those that came in earlier parts.
func (x *finished) gapsTo(d *stats.Dist) {
	last := int64(0)
	if x.partial != nil {
		d.Merge(&x.partial.gaps)
		last = x.partial.last
	}
	addGaps(d, last, x.Events)
}

// countFlow adds x to the completions in the window.
func (a *Aggregate) countFlow(x *finished) {
	if x.portion != ofTokens {
		a.countCompletion(x)
	}
	if x.portion != withoutTokens && x.Class == backends.OK {
		if x.good {
			a.GoodCompleted++
		}
		a.countTokenFlow(x.Sample)
	}
}

// countCompletion adds to countFlow what does not need the tokens of an answer.
func (a *Aggregate) countCompletion(x *finished) {
	s := x.Sample
	a.BytesSent += s.BytesSent
	a.BytesReceived += s.BytesReceived
	if s.Class != backends.OK {
		return
	}
	a.Completed++
	if endsSequence(s) {
		a.EndedSequences++
	}
	if s.Items == 0 {
		a.Unsized++
	}
	a.Items += int64(s.Items)
	a.Responses += int64(s.Responses)
	if n, ok := s.InputTokens.Get(); ok {
		a.InputTokens += n
	} else {
		a.NoInput++
	}
}

// Merge adds o, which must cover other requests and another period.
func (a *Aggregate) Merge(o *Aggregate) {
	a.mergeSets(o)
	a.Closed, a.HasGoodput = a.Closed || o.Closed, a.HasGoodput || o.HasGoodput
	sums := a.sums()
	for i, n := range o.sums() {
		*sums[i] += *n
	}
	if a.Arrivals += o.Arrivals; o.Arrivals < 0 {
		a.Arrivals = -1
	}
	a.PeakInFlight = max(a.PeakInFlight, o.PeakInFlight)
	for i, n := range o.Class {
		a.Class[i] += n
		if text := o.Examples[i]; text != "" && backends.ErrorClass(i) == backends.Mismatch {
			a.addMismatch([]byte(text))
		} else if text != "" {
			addCause(a, backends.ErrorClass(i), text)
		}
		for _, text := range o.Causes[i] {
			addCause(a, backends.ErrorClass(i), text)
		}
	}
	for _, text := range o.Mismatches {
		a.addMismatch([]byte(text))
	}
	if o.First != 0 && (a.First == 0 || o.First < a.First) {
		a.First = o.First
	}
	a.Last = max(a.Last, o.Last)
	for i := range a.dists {
		a.dists[i].Merge(&o.dists[i])
	}
}

// sums returns what Merge adds.
func (a *Aggregate) sums() []*int64 {
	return []*int64{
		&a.Window, &a.Paused, &a.Sent, &a.Reconnects, &a.Ahead, &a.Good, &a.Coalesced, &a.OtherIDs,
		&a.Unnamed, &a.Sequences, &a.BegunSequences, &a.StepsDropped, &a.Planned, &a.DroppedPool,
		&a.DroppedLate, &a.DroppedMore, &a.DroppedStop, &a.Offered,
		&a.Completed, &a.GoodCompleted, &a.EndedSequences, &a.Items, &a.Unsized, &a.Responses,
		&a.BytesSent, &a.BytesReceived, &a.InputTokens, &a.OutputTokens, &a.NoInput, &a.NoOutput,
		&a.FromUsage, &a.FromEvents, &a.FromTokenizer, &a.FromPrompts, &a.InOneEvent, &a.UsedTokens,
		&a.VisibleTokens, &a.DecodeTokens, &a.DecodeTime,
		&a.CachedTokens, &a.CachedOf,
		&a.Tokenized.Requests, &a.Tokenized.Tokens, &a.Tokenized.Events, &a.Tokenized.Streamed, &a.Tokenized.Used,
		&a.Tokenized.Usage,
	}
}
