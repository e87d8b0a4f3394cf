package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/sluice-bench/sluice/executor/result"
)

// tables are what was measured, for people.
func (c *calibration) tables() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, kernel %s\n", orUnknown(c.Machine.CPUModel), plural(c.Machine.CPUs, "core"), orUnknown(c.Machine.Kernel))
	for _, name := range []string{"http", "grpc"} {
		t, ok := c.Transports[name]
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "\n%s, closed loop\n", name)
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "slots\trequests/s\tCPU per request\tCPU used\t")
		for _, r := range t.Closed {
			fmt.Fprintf(w, "%d\t%s\t%s\t%.0f %%\t\n", r.Slots, result.Format("1/s", r.Rate), result.Format("s", r.CPUPerRequest), 100*r.CPUShare)
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
			fmt.Fprintf(w, "%s\t%s\t%s\t%.0f %%\t%s\t\n", result.Format("1/s", r.Rate), result.Format("1/s", r.Answered), delay, 100*r.CPUShare, onTime)
		}
		_ = w.Flush()
		onTime := "up to " + result.Format("1/s", t.Rate)
		if t.Rate == 0 {
			onTime = "nothing"
		}
		fmt.Fprintf(&b, "\n%s: sends %s on time, up to %s in a closed loop, %d in flight\n", name, onTime, result.Format("1/s", t.Highest), t.Slots)
	}
	return b.String()
}
