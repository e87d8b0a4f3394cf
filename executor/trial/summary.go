package trial

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
)

// summary returns one paragraph: whether the client could have been the bottleneck, by which figures,
// and what to change.
//
//	was      a limit was passed: the numbers may be the client's
//	was late numbers have bounds
//	may be   it was near a limit, or other programs had the CPU
//	was not  far from every limit: the numbers are the server's, or the pool's
func (h *health) summary(broken, late []breach, near string) string {
	if h.Sent+h.WarmSent == 0 {
		return "Nothing was sent, so nothing can be said about this client."
	}
	var say, reasons, changes []string
	for _, b := range slices.Concat(broken, late) {
		reasons = append(reasons, b.reason)
		if !slices.Contains(changes, b.change) {
			changes = append(changes, b.change)
		}
	}
	switch {
	case len(broken) > 0:
		say = append(say,
			"This client was the bottleneck, so these numbers may be its own: "+
				strings.Join(reasons, "; ")+".",
			"What to change: "+strings.Join(changes, "; ")+".")
	case len(late) > 0:
		say = append(say,
			"This client was late, so these numbers have bounds: "+strings.Join(reasons, "; ")+".",
			"What to change: "+strings.Join(changes, "; ")+".")
	case near != "":
		say = append(say, "This client may be part of these numbers: "+near+".",
			"What to change: "+moreCores+".")
	case h.busyMachine():
		say = append(say,
			fmt.Sprintf("This machine may be part of these numbers: its programs waited for a CPU "+
				"during %.0f %% of hold.", 100*h.starved()), "What to change: "+quietMachine+".")
	case h.stolen() > stolenShare:
		say = append(say,
			fmt.Sprintf("This machine may be part of these numbers: %.1f %% of its CPU time went to other "+
				"virtual machines.", 100*h.stolen()), "What to change: "+ownMachine+".")
	default:
		say = append(say, "This client was not the bottleneck.")
	}
	say = append(say, h.figures())
	if n, what := h.WaitedPool, "waited for a free slot"; n+h.DroppedPool > 0 {
		if h.DroppedPool > 0 {
			n, what = h.DroppedPool, "were dropped for want of a slot"
		}
		say = append(say, fmt.Sprintf("%d of %d requests %s, which is not the client's doing: %s.",
			n, h.Planned, what, h.pool()))
	}
	if s := h.shown(); s != "" {
		say = append(say, s)
	}
	return strings.Join(say, " ")
}

// figures lists what the judgement rests on.
func (h *health) figures() string {
	var list []string
	if l, ok := h.late(); ok {
		list = append(list, fmt.Sprintf("its %s was %s (%s; up to %s is allowed)",
			l.name, ns(l.delay), l.rank, ns(h.limit)))
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
	list = append(list,
		fmt.Sprintf("at most %d of %d requests were in flight", h.PeakInFlight, h.slots))
	if n := h.Paused; n > 0 {
		list = append(list, fmt.Sprintf("it paused %d times", n))
	} else {
		list = append(list, "nothing paused")
	}
	text := strings.Join(list, ", ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
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

// pool says why all slots were busy: as many requests as the rate and the server's service time
// make are more than there are slots (Little's law), or they came at once, or sequences hold them.
func (h *health) pool() string {
	if h.begins {
		return h.heldSlots()
	}
	need := h.offered * h.service.Mean() / 1e9
	if h.service.N() == 0 || h.offered <= 0 {
		return "the server answered none of them"
	}
	text := fmt.Sprintf("at %s and a mean service time of %s about %.0f are in flight",
		result.Format("1/s", h.offered), ns(int64(h.service.Mean())), math.Ceil(need))
	if need > float64(h.slots) {
		more := "max_in_flight"
		if h.steps {
			more = "`live`, as a sequence has one request in flight,"
		}
		return text + ": the server is too slow for this rate in so few; raise " + more +
			" if it should see them"
	}
	return text + ": they came at once, or the server stopped answering for a while"
}

// heldSlots says what holds slots where each is that of a sequence.
func (h *health) heldSlots() string {
	text := "a sequence or session keeps its slot from its first request to the end of its last"
	if n := h.HeldByPauses; n > 0 {
		text += fmt.Sprintf(", and up to %d of the slots were those of sessions that paused between two turns, "+
			"as the data says, and waited for no server", n)
	}
	return text + ": raise max_in_flight if the server should see more at a time"
}
