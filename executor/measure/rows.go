package measure

import (
	"math"

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
		return s.SendEnd - s.SendStart, answered(s) &&
			s.SendEnd != 0
	}},
	{"responses", func(s *backends.Sample) (int64, bool) {
		return int64(s.Responses), answered(s) &&
			cap(s.Events) > 0
	}},
	{"response_gap", nil},
	{"first_response", func(s *backends.Sample) (int64, bool) {
		return s.FirstByte - s.SendStart, answered(s) && s.FirstByte != 0
	}},
	{"sequences.latency", func(s *backends.Sample) (int64, bool) {
		return s.LastByte - s.SequenceDue,
			endsSequence(s)
	}},
	{"client.turnaround", func(s *backends.Sample) (int64, bool) {
		return s.SendStart - s.Free, s.Flags&backends.Followed != 0 && s.SendStart != 0
	}},
	{"service_time", func(s *backends.Sample) (int64, bool) {
		return s.LastByte - s.SendStart,
			answered(s)
	}},
	{"send_delay", func(s *backends.Sample) (int64, bool) { return s.SendStart - s.Due, s.SendStart != 0 }},
	{"send_delay.client", func(s *backends.Sample) (int64, bool) {
		return s.SendStart - max(s.Due, s.Free), s.SendStart != 0
	}},
	{"send_delay.pool", func(s *backends.Sample) (int64, bool) {
		return max(s.Free-s.Due, 0),
			s.SendStart != 0
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

// values computes each catalogue row From Flow, Counts or Driver from an Aggregate, in the row's
// base unit; a test demands exactly one entry per row. NaN and Inf mean no data: nothing was sent,
// or no time has passed.
var values = valueTable()

func valueTable() map[string]func(*Aggregate) float64 {
	t := map[string]func(*Aggregate) float64{
		"throughput":          func(a *Aggregate) float64 { return a.ifSized(a.perSecond(a.Items)) },
		"requests.rate":       func(a *Aggregate) float64 { return a.perSecond(a.Completed) },
		"responses.rate":      func(a *Aggregate) float64 { return a.perSecond(a.Responses) },
		"bytes.sent.rate":     func(a *Aggregate) float64 { return a.perSecond(a.BytesSent) },
		"bytes.received.rate": func(a *Aggregate) float64 { return a.perSecond(a.BytesReceived) },
		"requests.count":      func(a *Aggregate) float64 { return float64(a.Sent) },
		"errors.count":        func(a *Aggregate) float64 { return a.ifAnswered(a.ifSent(a.Failed())) },
		"errors.ratio":        func(a *Aggregate) float64 { return a.ifAnswered(a.shareOfSent(a.Failed())) },
		"late.count":          func(a *Aggregate) float64 { return a.ifSent(a.Late()) },
		"late.ratio":          func(a *Aggregate) float64 { return a.shareOfSent(a.Late()) },
		"coalesced.ratio": func(a *Aggregate) float64 {
			return a.ifStreamed(float64(a.Coalesced) / float64(a.OK()))
		},
		"reconnects.count": func(a *Aggregate) float64 { return a.ifSent(a.Reconnects) },
		"goodput": func(a *Aggregate) float64 {
			return a.ifGoodput(a.perSecond(a.GoodCompleted))
		},
		"goodput.ratio": func(a *Aggregate) float64 {
			return a.ifGoodput(a.ifPlanned(a.Good) / float64(a.Planned))
		},
		"sequences.rate":  func(a *Aggregate) float64 { return a.perSecond(a.EndedSequences) },
		"sequences.count": func(a *Aggregate) float64 { return a.ifSent(a.Sequences) },
		"dropped.sequence.count": func(a *Aggregate) float64 {
			return a.ifSent(a.StepsDropped)
		},
		"offered.rate": func(a *Aggregate) float64 {
			return a.arrivalsOffered() / (float64(a.Offered) / nsPerSecond)
		},
		"dropped.count": func(a *Aggregate) float64 { return a.ifPlanned(a.Dropped()) },
		"dropped.ratio": func(a *Aggregate) float64 {
			return a.ifPlanned(a.Dropped()) / float64(a.Planned)
		},
		"incomplete.count": func(a *Aggregate) float64 { return a.ifPlanned(a.DroppedStop + a.Stopped()) },
		"in_flight.max":    func(a *Aggregate) float64 { return a.ifNonZero(a.PeakInFlight) },
	}
	for i, name := range backends.ClassNames {
		if !backends.ErrorClass(i).Failed() {
			continue
		}
		t["errors."+name+".count"] = func(a *Aggregate) float64 { return a.ifAnswered(a.ifSent(a.Class[i])) }
		t["errors."+name+
			".ratio"] = func(a *Aggregate) float64 { return a.ifAnswered(a.shareOfSent(a.Class[i])) }
	}
	return t
}

// arrivalsOffered returns the number of arrivals of the schedule.
func (a *Aggregate) arrivalsOffered() float64 {
	switch {
	case a.Arrivals < 0:
		return math.NaN()
	case a.Arrivals > 0:
		return float64(a.Arrivals)
	}
	return a.ifPlanned(a.Planned)
}

// ifSized returns v, or no data if the batch size of a request is unknown.
func (a *Aggregate) ifSized(v float64) float64 {
	if a.Unsized > 0 {
		return math.NaN()
	}
	return v
}

// perSecond returns n per second of the window, or no data without any request: then there is
// nothing to be slow.
func (a *Aggregate) perSecond(n int64) float64 {
	if a.Sent == 0 && a.Completed == 0 {
		return math.NaN()
	}
	return float64(n) / (float64(a.Window) / nsPerSecond)
}

// ifSent returns n, or no data if nothing was sent: zero errors of zero requests prove nothing.
func (a *Aggregate) ifSent(n int64) float64 {
	if a.Sent == 0 {
		return math.NaN()
	}
	return float64(n)
}

// ifAnswered returns v, or no data if the client cancelled every request: then none shows whether
// the server fails.
func (a *Aggregate) ifAnswered(v float64) float64 {
	if a.Sent == a.Stopped() {
		return math.NaN()
	}
	return v
}

// ifPlanned returns n, or no data if nothing was due.
func (a *Aggregate) ifPlanned(n int64) float64 {
	if a.Planned == 0 {
		return math.NaN()
	}
	return float64(n)
}

// ifStreamed returns v, or no data if no reply had responses with times of their own.
func (a *Aggregate) ifStreamed(v float64) float64 {
	if a.dists[responses].N() == 0 {
		return math.NaN()
	}
	return v
}

// ifGoodput returns v, or no data if goodput was not configured.
func (a *Aggregate) ifGoodput(v float64) float64 {
	if !a.HasGoodput {
		return math.NaN()
	}
	return v
}

func (a *Aggregate) ifNonZero(n int64) float64 {
	if n == 0 {
		return math.NaN()
	}
	return float64(n)
}

func (a *Aggregate) shareOfSent(n int64) float64 { return float64(n) / float64(a.Sent) }
