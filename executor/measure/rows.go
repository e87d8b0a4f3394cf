package measure

import (
	"cmp"
	"math"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario/metric"
)

const nsPerSecond = 1e9

// Indexes of rows that code refers to. Rows without use in a closed loop come last.
const (
	latency     = 0
	responses   = 3
	responseGap = 4
	// extracts[firstOfTokens:endOfTokens] are known of generated text only
	firstOfTokens = 7
	chunkGap      = 19
	perToken      = 17 // latency over the tokens
	tokensOutput  = 21
	endOfTokens   = 24
	// extracts[:closedLoop] are the rows that differ from each other and from zero in a closed loop
	closedLoop  = 25
	serviceTime = 25
	sendDelay   = 26
	clientDelay = 27
)

// extracts reads each catalogue row From Sample from a sample; a test demands exactly one entry per
// row. The order is that of the indexes above. value returns false if the request has no such time;
// it is nil for response_gap, of which a request has many, and for chunk_gap, which is the same. A value
// that is a time over a number of tokens has that number in per.
var extracts = [...]struct {
	row   string
	value func(*backends.Sample) (int64, bool)
	per   func(*backends.Sample) int64
}{
	{"latency", func(s *backends.Sample) (int64, bool) { return s.LastByte - s.Due, answered(s) }, nil},
	{"connect", func(s *backends.Sample) (int64, bool) {
		return s.Connect, s.Connect != 0 && s.Class != backends.Dial && s.Class != backends.TLS
	}, nil},
	{"send_time", func(s *backends.Sample) (int64, bool) {
		return s.SendEnd - s.SendStart, answered(s) && s.SendEnd != 0
	}, nil},
	{"responses", func(s *backends.Sample) (int64, bool) {
		return int64(s.Responses), answered(s) && cap(s.Events) > 0
	}, nil},
	{"response_gap", nil, nil},
	{"first_response", func(s *backends.Sample) (int64, bool) {
		return s.FirstByte - s.SendStart, answered(s) && s.FirstByte != 0
	}, nil},
	{"sequences.latency", func(s *backends.Sample) (int64, bool) {
		return s.LastByte - s.SequenceDue, endsSequence(s)
	}, nil},
	{"latency_content", func(s *backends.Sample) (int64, bool) { return sinceDue(s, s.LastToken) }, nil},
	{"ttft", func(s *backends.Sample) (int64, bool) { return sinceDue(s, s.FirstToken) }, nil},
	{"ttft_answer", func(s *backends.Sample) (int64, bool) { return sinceDue(s, s.FirstAnswer) }, nil},
	{"ttft_cached", func(s *backends.Sample) (int64, bool) {
		n, ok := s.CachedTokens.Get()
		t, known := sinceDue(s, s.FirstToken)
		return t, known && ok && n > 0
	}, nil},
	{"ttft_uncached", func(s *backends.Sample) (int64, bool) {
		n, ok := s.CachedTokens.Get()
		t, known := sinceDue(s, s.FirstToken)
		return t, known && ok && n == 0
	}, nil},
	{"ttst", func(s *backends.Sample) (int64, bool) { return sinceDue(s, s.SecondToken) }, nil},
	{"itl", func(s *backends.Sample) (int64, bool) { return tokenGap(s, s.LastToken, gaps(s)) }, gaps},
	{"itl_stream", func(s *backends.Sample) (int64, bool) { return tokenGap(s, s.LastByte, gaps(s)) }, gaps},
	{
		"itl_chunked",
		func(s *backends.Sample) (int64, bool) { return tokenGap(s, s.LastToken, gapsAfterFirst(s)) },
		gapsAfterFirst,
	},
	{"tpot", func(s *backends.Sample) (int64, bool) {
		return over(s.LastToken-s.Due, tokensOf(s)), answered(s) && s.LastToken != 0 && tokensOf(s) > 0
	}, tokensOf},
	{"ntpot", func(s *backends.Sample) (int64, bool) {
		return over(s.LastByte-s.Due, tokensOf(s)), answered(s) && tokensOf(s) > 0
	}, tokensOf},
	{"progress", func(s *backends.Sample) (int64, bool) {
		return int64(s.Progress), answered(s) && s.FirstToken != 0
	}, nil},
	{"chunk_gap", nil, nil},
	{"tokens.input", func(s *backends.Sample) (int64, bool) { return counted(s, s.InputTokens) }, nil},
	{"tokens.output", func(s *backends.Sample) (int64, bool) {
		return tokensOf(s), answered(s) && tokensOf(s) >= 0
	}, nil},
	{"tokens.cached", func(s *backends.Sample) (int64, bool) { return counted(s, s.CachedTokens) }, nil},
	{"tokens.reasoning", func(s *backends.Sample) (int64, bool) { return counted(s, s.ReasoningTokens) }, nil},
	{"client.turnaround", func(s *backends.Sample) (int64, bool) {
		return s.SendStart - s.Free, s.Flags&backends.Followed != 0 && s.SendStart != 0
	}, nil},
	{"service_time", func(s *backends.Sample) (int64, bool) {
		return s.LastByte - s.SendStart, answered(s)
	}, nil},
	{"send_delay", func(s *backends.Sample) (int64, bool) { return s.SendStart - s.Due, s.SendStart != 0 }, nil},
	{"send_delay.client", func(s *backends.Sample) (int64, bool) {
		return s.SendStart - max(s.Due, s.Free), s.SendStart != 0
	}, nil},
	{"send_delay.pool", func(s *backends.Sample) (int64, bool) {
		return max(s.Free-s.Due, 0), s.SendStart != 0
	}, nil},
}

// needsTokens reports whether the value of a row is made of the number of an answer's tokens.
func needsTokens(i int) bool { return extracts[i].per != nil || i == tokensOutput }

// answered reports whether s belongs in a distribution of reply times: failures never do.
func answered(s *backends.Sample) bool { return s.Class == backends.OK && s.LastByte != 0 }

// endsSequence reports whether s is the last request of a sequence and OK.
func endsSequence(s *backends.Sample) bool {
	return s.Flags&backends.SequenceEnd != 0 && s.Class == backends.OK
}

// distOf returns the index of the distribution of a row, which rows that are the same share; -1 without
// one.
func distOf(row string, closed bool) int {
	switch i := extractOf(row); {
	case closed && i == serviceTime:
		return latency
	case i == chunkGap:
		return responseGap
	default:
		return i
	}
}

func extractOf(row string) int {
	for i := range extracts {
		if extracts[i].row == row {
			return i
		}
	}
	return -1
}

// value returns a row From Flow, Counts or Driver in its base unit. NaN and Inf mean no data: another
// row, nothing was sent, or no time has passed.
func (a *Aggregate) value(row string) float64 {
	sent := a.Sent > 0 // zero errors of zero requests prove nothing
	// if the client cancelled every request, none shows whether the server fails
	replied := a.Sent != a.Stopped()+a.ByUs()
	switch row {
	case "throughput":
		return given(a.Unsized == 0, a.perSecond(a.Items))
	case "requests.rate":
		return a.perSecond(a.Completed)
	case "responses.rate":
		return a.perSecond(a.Responses)
	case "bytes.sent.rate":
		return a.perSecond(a.BytesSent)
	case "bytes.received.rate":
		return a.perSecond(a.BytesReceived)
	case "requests.count":
		return float64(a.Sent + a.unsent)
	case "errors.count":
		return given(replied, float64(a.Failed()))
	case "errors.ratio":
		return given(replied, share(a.Failed(), a.judged()))
	case "late.count":
		return given(sent, float64(a.Late()))
	case "late.ratio":
		return share(a.Late(), a.Sent)
	case "coalesced.ratio": // if a reply had responses with times of their own
		return given(a.dists[responses].N() > 0, share(a.Coalesced, a.OK()))
	case metric.TokensCachedShare:
		return share(a.CachedTokens, a.CachedOf)
	case metric.TokensPerUser:
		return perSecond(a.DecodeTokens, a.DecodeTime)
	case metric.Interactivity:
		p90, ok := a.dists[perToken].Rank(90)
		return given(ok, nsPerSecond/float64(p90))
	case "tokens.input.rate":
		return given(a.NoInput == 0, a.perSecond(a.InputTokens))
	case "tokens.output.rate":
		return given(a.NoOutput == 0, a.perSecond(a.OutputTokens))
	case "tokens.total.rate":
		return given(a.NoInput == 0 && a.NoOutput == 0, a.perSecond(a.InputTokens+a.OutputTokens))
	case "reconnects.count":
		return given(sent, float64(a.Reconnects))
	case "goodput":
		return given(a.HasGoodput, a.perSecond(a.GoodCompleted))
	case "goodput.ratio":
		return given(a.HasGoodput, share(a.Good, a.plannedJudged()))
	case metric.CancelledByUs:
		return given(sent, float64(a.ByUs()))
	case "sequences.rate":
		return a.perSecond(a.EndedSequences)
	case "sequences.count":
		return given(sent, float64(a.Sequences))
	case "dropped.sequence.count":
		return given(sent, float64(a.StepsDropped))
	case "offered.rate":
		arrivals := cmp.Or(a.Arrivals, a.Planned)
		return given(arrivals > 0, perSecond(arrivals, a.Offered))
	case "dropped.count":
		return given(a.Planned != 0, float64(a.Dropped()))
	case "dropped.ratio":
		return share(a.Dropped(), a.Planned)
	case "incomplete.count":
		return given(a.Planned != 0, float64(a.DroppedStop+a.Stopped()))
	case "in_flight.max":
		return given(a.PeakInFlight != 0, float64(a.PeakInFlight))
	}
	for class, name := range backends.ClassNames { // errors.CLASS.count, errors.CLASS.ratio
		of, ok := strings.CutPrefix(row, "errors."+name+".")
		switch {
		case !ok || !backends.ErrorClass(class).Failed():
		case of == "count":
			return given(replied, float64(a.Class[class]))
		case of == "ratio":
			return given(replied, share(a.Class[class], a.judged()))
		}
	}
	return math.NaN()
}

// given returns v if it is known, else no data.
func given(known bool, v float64) float64 {
	if !known {
		return math.NaN()
	}
	return v
}

func share(n, of int64) float64 { return float64(n) / float64(of) }

func perSecond(n, ns int64) float64 { return float64(n) / (float64(ns) / nsPerSecond) }

// perSecond returns n per second of the window, or no data without any request: then there is
// nothing to be slow.
func (a *Aggregate) perSecond(n int64) float64 {
	return given(a.Sent > 0 || a.Completed > 0, perSecond(n, a.Window))
}
