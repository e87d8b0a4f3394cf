package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/executor/calibration"
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
		Long: "Measure what this machine can drive against the embedded server, over HTTP and gRPC: " +
			"in a closed loop the rate and the CPU time of a request at several numbers of slots, " +
			"in an open loop how late requests are sent at rising rates, until the p99 of the " +
			"client's own send delay passes 1 ms or the server cannot keep up. The server is a " +
			"child process and uses a part of this machine, so the machine may be able to drive " +
			"more than the figures.\n\n" +
			"They are stored for this machine alone: `run` and `validate` warn of plans that ask " +
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

// measureMachine runs the plans of the calibration and stores the figures.
func (a *app) measureMachine(quick, asJSON bool, file string) error {
	c := &calibration.Calibration{
		Version: calibration.Version, Tool: tool().Version, Measured: time.Now().UTC().Truncate(time.Second),
		Quick: quick, Machine: thisMachine(), Transports: make(map[string]calibration.Transport),
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
	if err := c.Write(file); err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(c)
	}
	return a.print(fmt.Sprintf("%s\nstored in %s\n", c.Tables(), file))
}

// measureTransport measures a closed loop, then rising rates. A rate that was not on time is tried
// again, up to the tries of the pace: the machine may have been busy for a moment.
func (a *app) measureTransport(scheme string, p pace) (calibration.Transport, error) {
	var t calibration.Transport
	a.report("%s, closed loop\n", scheme)
	r, err := a.playText(closedPlan(scheme, p))
	if err != nil {
		return t, err
	}
	for _, n := range r.Nodes {
		t.AddClosed(n)
	}
	a.report("%s, open loop\n", scheme)
	for from, failed := p.from, 0; failed < p.tries && from <= p.to; {
		if r, err = a.playText(openPlan(scheme, p, from)); err != nil {
			return t, err
		}
		before := t.Rate
		for _, n := range r.Nodes {
			t.AddOpen(n)
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
