package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/metric"
)

func calibrateCommand(a *app) *cobra.Command {
	var quick, asJSON bool
	var file string
	c := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure what this machine can drive",
		Long: "Measure what this machine can drive against the embedded server, over HTTP and gRPC:\n" +
			"in a closed loop the rate and the CPU time of a request at several numbers of slots,\n" +
			"in an open loop how late requests are sent at rising rates, until the p99 of the\n" +
			"client's own send delay passes 1 ms or the server cannot keep up. The server is a\n" +
			"child process and uses a part of this machine, so the machine may be able to drive\n" +
			"more than the figures.\n\n" +
			"They are stored for this machine alone: `run` and `validate` warn of plans that ask\n" +
			"for more.",
		Example: "  sluice calibrate\n  sluice calibrate --quick --json | jq .transports.grpc",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if file == "" {
				var err error
				if file, err = calibrationFile(a.env); err != nil {
					return err
				}
			}
			return a.measureMachine(quick, asJSON, file)
		},
	}
	c.Flags().BoolVar(&quick, "quick", false,
		"a few seconds instead of about two minutes, and rougher figures")
	c.Flags().BoolVar(&asJSON, "json", false, "print what is stored instead of tables")
	c.Flags().StringVar(&file, "file", "", "`FILE` for the figures (default $"+calibrationVariable+
		", else sluice/calibration.json in the user's cache)")
	return c
}

// pace sets how thoroughly a machine is measured.
type pace struct {
	slots  []string
	each   time.Duration // for each level
	from   float64       // first rate, 1/s
	factor float64       // from one rate to the next
	to     float64       // highest rate
	tries  int           // tries of a rate that is not on time
}

func paceFor(quick bool) pace {
	if quick {
		return pace{
			slots: []string{"1", "16"}, each: 400 * time.Millisecond, from: 250, factor: 4, to: 4000,
			tries: 2,
		}
	}
	return pace{
		slots: []string{"1", "4", "16", "64", "256"}, each: 2 * time.Second,
		from: 500, factor: 1.5, to: 200_000, tries: 3,
	}
}

// closedRow holds the figures of one number of slots in a closed loop.
type closedRow struct {
	Slots         int     `json:"slots"`
	Rate          float64 `json:"rate_per_s"`
	CPUPerRequest float64 `json:"cpu_per_request_s"`
	CPUShare      float64 `json:"cpu_share"`
	Errors        float64 `json:"errors"`
}

// openRow holds the figures of one rate of an open loop.
type openRow struct {
	Rate     float64  `json:"rate_per_s"`
	Answered float64  `json:"answered_per_s"`
	DelayP99 *float64 `json:"own_send_delay_p99_s"`
	CPUShare float64  `json:"cpu_share"`
	OnTime   bool     `json:"on_time"`
	Why      string   `json:"why,omitempty"` // not on time
}

// transportResult holds the figures of one transport.
type transportResult struct {
	Closed  []closedRow `json:"closed_loop"`
	Open    []openRow   `json:"open_loop"`
	Rate    float64     `json:"on_time_rate_per_s"` // the highest rate that was sent on time
	Slots   int         `json:"slots"`              // the most slots without an error
	Highest float64     `json:"highest_rate_per_s"` // in a closed loop
}

// measureMachine runs the plans of the calibration and stores the figures.
func (a *app) measureMachine(quick, asJSON bool, file string) error {
	c := &calibration{
		Version: calibrationVersion, Tool: tool().Version, Measured: time.Now().UTC().Truncate(time.Second),
		Quick: quick, Machine: thisMachine(), Transports: make(map[string]transportResult),
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil { // reported before minutes are spent
		return fmt.Errorf("write the calibration: %w", err)
	}
	for _, scheme := range []string{"http", "grpc"} {
		shown, err := a.measureTransport(scheme, paceFor(quick))
		if err != nil {
			return err
		}
		c.Transports[scheme] = shown
	}
	if err := c.write(file); err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(c)
	}
	return a.print(fmt.Sprintf("%s\nstored in %s\n", c.tables(), file))
}

// measureTransport measures a closed loop, then rising rates. A rate that was not on time is tried
// again, up to the tries of the pace: the machine may have been busy for a moment.
func (a *app) measureTransport(scheme string, p pace) (transportResult, error) {
	var t transportResult
	a.report("%s, closed loop\n", scheme)
	r, err := a.playText(closedPlan(scheme, p))
	if err != nil {
		return t, err
	}
	for _, n := range r.Nodes {
		t.addClosed(n)
	}
	a.report("%s, open loop\n", scheme)
	for from, failed := p.from, 0; failed < p.tries && from <= p.to; {
		if r, err = a.playText(openPlan(scheme, p, from)); err != nil {
			return t, err
		}
		before := t.Rate
		for _, n := range r.Nodes {
			t.addOpen(n)
		}
		if failed++; t.Rate > before {
			from, failed = t.Rate*p.factor, 0
			if last := t.Open[len(t.Open)-1]; !last.OnTime {
				failed = 1
			}
		}
	}
	if t.Rate == 0 {
		a.report("%s: no rate was sent on time, so the figures of open loops are unknown: calibrate again "+
			"while this machine does nothing else\n", scheme)
	}
	return t, nil
}

const planHead = "version: 1\nname: calibrate-%s\n" +
	"target: {backend: kserve, url: \"builtin://%s\", model: simple}\n" +
	"data: {generate: random, count: 16}\ndefaults: {warmup: 100ms, drain: 5s}\nstages:\n"

// closedPlan returns a plan with a closed loop for each number of slots.
func closedPlan(scheme string, p pace) string {
	return fmt.Sprintf(planHead+"  - id: closed\n    load: {concurrency: [%s]}\n    for: %s\n",
		scheme, scheme, strings.Join(p.slots, ", "), p.each)
}

// openPlan returns a plan with rising rates, up to the first that is not sent on time or not answered.
func openPlan(scheme string, p pace, from float64) string {
	return fmt.Sprintf(planHead+"  - id: open\n    load:\n      max_in_flight: 256\n      rate: {levels: {"+
		"from: %.0f/s, to: %.0f/s, factor: %g, while: [%s.p99 < 1ms, %s == 0, %s >= 0.9 * %s]}}\n"+
		"    for: %s\n",
		scheme, scheme, from, max(p.to, from), p.factor,
		metric.SendDelayClient, metric.ErrorsCount, metric.RequestsRate, metric.OfferedRate, p.each)
}

// playText runs a plan of the calibration.
func (a *app) playText(text string) (*result.Result, error) {
	plan, diags := scenario.Parse("calibrate", []byte(text), scenario.Overrides{Env: a.env})
	if plan == nil || diags.HasErrors() {
		return nil, fmt.Errorf("internal error: the calibration's plan is wrong: %s", diags[0].Summary)
	}
	compiled, diags := program.Compile(plan, all.Kinds())
	if diags.HasErrors() {
		return nil, fmt.Errorf("internal error: the calibration's plan is wrong: %s", diags[0].Summary)
	}
	signals, stop := notifySignals()
	defer stop()
	r, diags := a.play(compiled, nil, outputs{}, nil, signals)
	switch {
	case diags.HasErrors():
		return nil, errors.New("internal error: " + diags[0].Summary)
	case r.ExitCode == verdict.CodeInternal, r.ExitCode == verdict.CodeSetUp:
		a.report("error: %s\n", r.Reason)
		return nil, exitError{r.ExitCode}
	case r.ExitCode == verdict.CodeInterrupt, r.ExitCode == verdict.CodeTerminate:
		a.report("%s; nothing was stored\n", r.Reason)
		return nil, exitError{r.ExitCode}
	}
	return r, nil
}

// value returns a metric of a node, or 0.
func value(n *result.Node, name string) float64 {
	v, _ := n.Metrics[name].Stat(metric.Stat{})
	return v
}

func (t *transportResult) addClosed(n *result.Node) {
	row := closedRow{
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

// addOpen judges a rate: on time, without errors, and answered; an invalid measurement proves nothing.
func (t *transportResult) addOpen(n *result.Node) {
	if n.Outcome == result.SkippedNode {
		return
	}
	row := openRow{
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

// lateLimit is the client's own send delay from which a rate is late.
const lateLimit = time.Millisecond

// tables returns the figures as tables.
func (c *calibration) tables() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, kernel %s\n",
		orUnknown(c.Machine.CPUModel), plural(c.Machine.CPUs, "core"), orUnknown(c.Machine.Kernel))
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
