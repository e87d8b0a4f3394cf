package trial

import (
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/source"
)

// summary is one paragraph: whether the client could have been the bottleneck, by which figures,
// and what to change.
//
//	was      a limit was passed: the numbers may be the client's
//	may be   it came near a limit, or other programs had the CPU
//	was not  far from every limit: the numbers are the server's, or the pool's
func (h *health) summary() string {
	p := h.played
	if p.Sent+p.WarmSent == 0 {
		return "Nothing was sent, so nothing can be said about this client."
	}
	var say []string
	switch broken := h.invalid(); {
	case len(broken) > 0:
		say = append(say, "This client was the bottleneck, so these numbers may be its own: "+h.reasons()+".",
			"What to change: "+h.changes()+".")
	case h.near() != "":
		say = append(say, "This client may be part of these numbers: "+h.near()+".",
			"What to change: "+moreCores+".")
	case h.busyMachine():
		say = append(say, fmt.Sprintf("This machine may be part of these numbers: its programs waited for a CPU "+
			"during %.0f %% of hold.", 100*h.starved()), "What to change: "+quietMachine+".")
	default:
		say = append(say, "This client was not the bottleneck.")
	}
	say = append(say, h.figures())
	if p.WaitedPool+p.DroppedPool > 0 {
		say = append(say, h.poolSentence())
	}
	if s := h.shown(); s != "" {
		say = append(say, s)
	}
	return strings.Join(say, " ")
}

// reasons are the limits that were passed.
func (h *health) reasons() string {
	var list []string
	for _, f := range h.invalid() {
		switch f.Code {
		case result.ClientLate:
			late, what, _ := h.late()
			why, _ := h.cause()
			list = append(list, fmt.Sprintf("it sent late by itself (%s %s, allowed %s), because %s",
				what, ns(late), ns(h.limit), why))
		case result.ClientCPU:
			list = append(list, fmt.Sprintf("it used %.0f %% of its CPU time (allowed %.0f %%)",
				100*h.use.Share, 100*cpuLimit))
		case result.Sockets:
			list = append(list, fmt.Sprintf("it ran out of descriptors, ports or memory for %d requests", h.sockets))
		case result.Paused:
			list = append(list, fmt.Sprintf("it paused sending %d times to process its own samples", h.played.Paused))
		case result.StoodStill:
			list = append(list, fmt.Sprintf("it stood still for %s", source.About(h.still)))
		}
	}
	return strings.Join(list, "; ")
}

// changes are the remedies of what was passed, each once.
func (h *health) changes() string {
	var list []string
	for _, f := range h.invalid() {
		_, text := h.cause()
		switch f.Code {
		case result.ClientCPU, result.Paused:
			text = moreCores
		case result.Sockets:
			text = "raise `ulimit -n` or lower max_in_flight"
		case result.StoodStill:
			text = quietMachine
		}
		if !strings.Contains(strings.Join(list, "; "), text) {
			list = append(list, text)
		}
	}
	return strings.Join(list, "; ")
}

// figures lists what the judgement rests on.
func (h *health) figures() string {
	var list []string
	if late, what, ok := h.late(); ok {
		_, name := h.own()
		list = append(list, fmt.Sprintf("its %s was %s (%s; up to %s is allowed)",
			name, ns(late), what, ns(h.limit)))
	} else if !h.open {
		list = append(list, "a closed loop waits for the server, so only its CPU time and pauses tell")
	}
	if share, ok := h.cpu(); h.inProcess {
		list = append(list, "its CPU time cannot be told from that of the server in this process")
	} else if ok {
		list = append(list, fmt.Sprintf("it used %.1f %% of its CPU time", 100*share))
	} else {
		list = append(list, "its CPU time is not known for so short a time")
	}
	list = append(list, fmt.Sprintf("at most %d of %d requests were in flight", h.played.PeakInFlight, h.slots))
	if n := h.played.Paused; n > 0 {
		list = append(list, fmt.Sprintf("it paused %d times", n))
	} else {
		list = append(list, "nothing paused")
	}
	text := strings.Join(list, ", ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// poolSentence tells the pool from the client and from the server.
func (h *health) poolSentence() string {
	p, what := h.played, "waited for a free slot"
	n := p.WaitedPool
	if p.DroppedPool > 0 {
		n, what = p.DroppedPool, "were dropped for want of a slot"
	}
	return fmt.Sprintf("%d of %d requests %s, which is not the client's doing: %s.",
		n, p.Planned, what, h.pool())
}

// shown compares what a node asked for with what the machine has shown; "" where nothing is known.
func (h *health) shown() string {
	m := h.machine
	if m == nil {
		return ""
	}
	if m.Other != "" {
		return "The calibration that there is says nothing here: " + m.Other + "."
	}
	shown, ok := m.Shown[h.transport]
	switch {
	case !ok || h.open && shown.Rate == 0:
		return ""
	case h.open && h.offered > shown.Rate:
		return fmt.Sprintf("It asked for %s, and this machine has shown no more than %s over %s.",
			result.Format("1/s", h.offered), result.Format("1/s", shown.Rate), h.transport)
	case h.open:
		return fmt.Sprintf("This machine has shown that it sends up to %s over %s on time.",
			result.Format("1/s", shown.Rate), h.transport)
	case h.slots > int64(shown.Slots):
		return fmt.Sprintf("It asked for %d requests in flight, and this machine has shown no more than "+
			"%d over %s.", h.slots, shown.Slots, h.transport)
	}
	return fmt.Sprintf("This machine has shown that it drives up to %s over %s in a closed loop.",
		result.Format("1/s", shown.Highest), h.transport)
}
