// Package calibration holds the figures of a machine: what it sends on time, as `sluice calibrate` measures
// and stores it for later runs.
//
// It is not: the measurement itself, the warning of a plan that asks for more.
package calibration

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Calibration holds the figures of a machine for later runs.
type Calibration struct {
	Version    int                  `json:"version"`
	Tool       string               `json:"tool"`
	Measured   time.Time            `json:"measured"`
	Quick      bool                 `json:"quick"`
	Machine    Machine              `json:"machine"`
	Transports map[string]Transport `json:"transports"` // http, grpc
}

// Machine identifies a machine: a calibration is not valid on another one.
type Machine struct {
	CPUModel string `json:"cpu_model"`
	CPUs     int    `json:"cpus"` // that the process may use
	Kernel   string `json:"kernel"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// ClosedRow holds the figures of one number of slots in a closed loop.
type ClosedRow struct {
	Slots         int     `json:"slots"`
	Rate          float64 `json:"rate_per_s"`
	CPUPerRequest float64 `json:"cpu_per_request_s"`
	CPUShare      float64 `json:"cpu_share"`
	Errors        float64 `json:"errors"`
}

// OpenRow holds the figures of one rate of an open loop.
type OpenRow struct {
	Rate     float64  `json:"rate_per_s"`
	Answered float64  `json:"answered_per_s"`
	DelayP99 *float64 `json:"own_send_delay_p99_s"`
	CPUShare float64  `json:"cpu_share"`
	OnTime   bool     `json:"on_time"`
	Why      string   `json:"why,omitempty"` // not on time
}

// Transport holds the figures of one transport.
type Transport struct {
	Closed  []ClosedRow `json:"closed_loop"`
	Open    []OpenRow   `json:"open_loop"`
	Rate    float64     `json:"on_time_rate_per_s"` // the highest rate that was sent on time
	Slots   int         `json:"slots"`              // the most slots without an error
	Highest float64     `json:"highest_rate_per_s"` // in a closed loop
}

// Differs returns how m differs from this machine, or "".
func (m Machine) Differs(here Machine) string {
	switch {
	case m.OS != here.OS || m.Arch != here.Arch || m.CPUModel != here.CPUModel:
		return fmt.Sprintf("it was made on another machine (%s, %s)", orUnknown(m.CPUModel), m.OS+"/"+m.Arch)
	case m.CPUs != here.CPUs:
		return fmt.Sprintf("it was made with %s, and this process may use %d",
			cores(m.CPUs), here.CPUs)
	case m.Kernel != here.Kernel:
		return fmt.Sprintf("it was made under kernel %s, and this is %s", m.Kernel, here.Kernel)
	}
	return ""
}

func orUnknown(text string) string { return cmp.Or(text, "unknown CPU") }

// cores returns the text of a number of cores.
func cores(n int) string {
	if n == 1 {
		return "1 core"
	}
	return fmt.Sprintf("%d cores", n)
}

// lateLimit is the client's own send delay from which a rate is late.
const lateLimit = time.Millisecond

// value returns a metric of a node, or 0.
func value(n *result.Node, name string) float64 {
	v, _ := n.Metrics[name].Stat(metric.Stat{})
	return v
}

// AddClosed adds the figures of a node with a closed loop.
func (t *Transport) AddClosed(n *result.Node) {
	row := ClosedRow{
		Slots: int(n.Load.Value), Rate: value(n, metric.RequestsRate),
		CPUPerRequest: value(n, metric.ClientPerSent), CPUShare: value(n, metric.ClientCPU),
		Errors: value(n, metric.ErrorsCount),
	}
	t.Closed = append(t.Closed, row)
	t.Highest = max(t.Highest, row.Rate)
	if row.Errors == 0 && row.Rate > 0 {
		t.Slots = max(t.Slots, row.Slots)
	}
}

// AddOpen judges a rate: on time, without errors, and answered; an invalid measurement proves nothing.
func (t *Transport) AddOpen(n *result.Node) {
	if n.Outcome == result.SkippedNode {
		return
	}
	row := OpenRow{
		Rate: n.Load.Value, Answered: value(n, metric.RequestsRate), CPUShare: value(n, metric.ClientCPU),
	}
	if p99, ok := n.Metrics[metric.SendDelayClient].Stat(metric.Stat{Kind: metric.Percentile, P: 99}); ok {
		row.DelayP99 = &p99
	}
	switch {
	case row.DelayP99 == nil:
		row.Why = "nothing was sent"
	case *row.DelayP99 >= lateLimit.Seconds():
		row.Why = "late"
		busy := func(f result.Finding) bool { return f.Code == result.BusyMachine }
		if slices.ContainsFunc(n.Validity.Findings, busy) {
			row.Why = "late, other programs had the CPU"
		}
	case value(n, metric.ErrorsCount) > 0:
		row.Why = "errors"
	case row.Answered < 0.9*value(n, metric.OfferedRate):
		row.Why = "the embedded server cannot keep up"
	case !n.Validity.OK:
		row.Why = "not valid"
	}
	if row.OnTime = row.Why == ""; row.OnTime {
		t.Rate = max(t.Rate, row.Rate)
	}
	t.Open = append(t.Open, row)
}

// Tables returns the figures as tables.
func (c *Calibration) Tables() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, kernel %s\n",
		orUnknown(c.Machine.CPUModel), cores(c.Machine.CPUs), orUnknown(c.Machine.Kernel))
	for _, name := range []string{"http", "grpc"} {
		t, ok := c.Transports[name]
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "\n%s, closed loop\n", name)
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "slots\trequests/s\tCPU per request\tCPU used\t")
		for _, r := range t.Closed {
			fmt.Fprintf(w, "%d\t%s\t%s\t%.0f %%\t\n",
				r.Slots, result.Format("1/s", r.Rate), result.Format("s", r.CPUPerRequest), 100*r.CPUShare)
		}
		_ = w.Flush() // into memory
		fmt.Fprintf(&b, "\n%s, open loop\n", name)
		w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "rate\tanswered\town send delay p99\tCPU used\ton time\t")
		for _, r := range t.Open {
			delay, onTime := "–", "yes"
			if r.DelayP99 != nil {
				delay = result.Format("s", *r.DelayP99)
			}
			if !r.OnTime {
				onTime = "no: " + r.Why
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%.0f %%\t%s\t\n",
				result.Format("1/s", r.Rate), result.Format("1/s", r.Answered), delay, 100*r.CPUShare, onTime)
		}
		_ = w.Flush()
		onTime := "up to " + result.Format("1/s", t.Rate)
		if t.Rate == 0 {
			onTime = "nothing"
		}
		fmt.Fprintf(&b, "\n%s: sends %s on time, up to %s in a closed loop, %d in flight\n",
			name, onTime, result.Format("1/s", t.Highest), t.Slots)
	}
	return b.String()
}
