package executor

import (
	"fmt"

	"github.com/sluice-bench/sluice/executor/result"
)

// Machine is what the machine that runs a program has shown it can drive: what `calibrate` measured there.
type Machine struct {
	// Other says why the calibration that there is does not count: it is another machine's. Shown is empty then.
	Other string
	Shown map[string]Shown // by transport: http, grpc
}

// Shown is what a machine has shown over one transport, against a server on the same machine.
type Shown struct {
	Rate    float64 // open loop: the highest rate at which it sent on time, 1/s
	Slots   int     // closed loop: the most requests in flight
	Highest float64 // closed loop: the most requests a second
}

// sentence compares what a node asked for with what the machine has shown; "" where nothing is known.
func (m *Machine) sentence(h *health) string {
	if m == nil {
		return ""
	}
	if m.Other != "" {
		return "The calibration that there is says nothing here: " + m.Other + "."
	}
	shown, ok := m.Shown[h.transport]
	switch {
	case !ok:
		return ""
	case h.open && h.offered > shown.Rate:
		return fmt.Sprintf("It asked for %s, and this machine has shown no more than %s over %s.", result.Format("1/s", h.offered), result.Format("1/s", shown.Rate), h.transport)
	case h.open:
		return fmt.Sprintf("This machine has shown that it sends up to %s over %s on time.", result.Format("1/s", shown.Rate), h.transport)
	case h.slots > int64(shown.Slots):
		return fmt.Sprintf("It asked for %d requests in flight, and this machine has shown no more than %d over %s.", h.slots, shown.Slots, h.transport)
	}
	return fmt.Sprintf("This machine has shown that it drives up to %s over %s in a closed loop.", result.Format("1/s", shown.Highest), h.transport)
}
