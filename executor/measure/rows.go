package measure

import (
	"cmp"
	"math"
	"strings"

	"github.com/sluice-bench/sluice/backends"
)

const nsPerSecond = 1e9

// Indexes of rows that code refers to. Rows without use in a closed loop come last.
const (
	latency     = 0
	responses   = 3
	responseGap = 4
	// extracts[:closedLoop] are the rows that differ from each other and from zero in a closed loop
	closedLoop  = 8
	serviceTime = 8
	sendDelay   = 9
)

// extracts reads each catalogue row From Sample from a sample; a test demands exactly one entry per
// row. The order is that of the indexes above. value returns false if the request has no such time;
// it is nil for response_gap, of which a request has many.
var extracts = [...]struct {
	row   string
	value func(*backends.Sample) (int64, bool)
}{
	{"latency", func(s *backends.Sample) (int64, bool) { return s.LastByte - s.Due, answered(s) }},
	{"connect", func(s *backends.Sample) (int64, bool) {
		return s.Connect, s.Connect != 0 && s.Class != backends.Dial && s.Class != backends.TLS
	}},
	{"send_time", func(s *backends.Sample) (int64, bool) {
		return s.SendEnd - s.SendStart, answered(s) && s.SendEnd != 0
	}},
	{"responses", func(s *backends.Sample) (int64, bool) {
		return int64(s.Responses), answered(s) && cap(s.Events) > 0
	}},
	{"response_gap", nil},
	{"first_response", func(s *backends.Sample) (int64, bool) {
		return s.FirstByte - s.SendStart, answered(s) && s.FirstByte != 0
	}},
	{"sequences.latency", func(s *backends.Sample) (int64, bool) {
		return s.LastByte - s.SequenceDue, endsSequence(s)
	}},
	{"client.turnaround", func(s *backends.Sample) (int64, bool) {
		return s.SendStart - s.Free, s.Flags&backends.Followed != 0 && s.SendStart != 0
	}},
	{"service_time", func(s *backends.Sample) (int64, bool) {
		return s.LastByte - s.SendStart, answered(s)
	}},
	{"send_delay", func(s *backends.Sample) (int64, bool) { return s.SendStart - s.Due, s.SendStart != 0 }},
	{"send_delay.client", func(s *backends.Sample) (int64, bool) {
		return s.SendStart - max(s.Due, s.Free), s.SendStart != 0
	}},
	{"send_delay.pool", func(s *backends.Sample) (int64, bool) {
		return max(s.Free-s.Due, 0), s.SendStart != 0
	}},
}

// answered reports whether s belongs in a distribution of reply times: failures never do.
func answered(s *backends.Sample) bool { return s.Class == backends.OK && s.LastByte != 0 }

// endsSequence reports whether s is the last request of a sequence and OK.
func endsSequence(s *backends.Sample) bool {
	return s.Flags&backends.SequenceEnd != 0 && s.Class == backends.OK
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
	replied := a.Sent != a.Stopped()
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
		return float64(a.Sent)
	case "errors.count":
		return given(replied, float64(a.Failed()))
	case "errors.ratio":
		return given(replied, share(a.Failed(), a.Sent))
	case "late.count":
		return given(sent, float64(a.Late()))
	case "late.ratio":
		return share(a.Late(), a.Sent)
	case "coalesced.ratio": // if a reply had responses with times of their own
		return given(a.dists[responses].N() > 0, share(a.Coalesced, a.OK()))
	case "reconnects.count":
		return given(sent, float64(a.Reconnects))
	case "goodput":
		return given(a.HasGoodput, a.perSecond(a.GoodCompleted))
	case "goodput.ratio":
		return given(a.HasGoodput, share(a.Good, a.Planned))
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
			return given(replied, share(a.Class[class], a.Sent))
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
