package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor"
	"github.com/sluice-bench/sluice/scenario"
)

// serveFlags holds the flags of serve.
type serveFlags struct {
	config      builtin.Config
	serviceTime time.Duration
	ttft, itl   time.Duration
	tokens      int
	stall       [3]time.Duration // at, for, every
	child       bool
}

func serveCommand(a *app) *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the embedded inference server on loopback",
		Long: "Run the embedded inference server, with simulated queues, service times and faults. Over HTTP and " +
			"gRPC it speaks KServe v2, with Triton's extensions, TensorFlow Serving's API and TorchServe's; over " +
			"HTTP also KServe v1, OpenAI's API and Anthropic's messages; over gRPC also reflection. " +
			"It listens on loopback only, prints its URLs, and serves until it is interrupted.\n\n" +
			"Models: " + strings.Join(builtin.Models(), ", ") +
			". simple adds and subtracts, slow takes 20 ms, " +
			"slow4 has four instances of it. Language models: " +
			strings.Join(builtin.TextModels(), ", ") + ".\n\n" +
			"GET /sim/arrivals on the control URL returns the arrival times of requests.",
		Example: "  sluice serve --http 127.0.0.1:8000 --grpc 127.0.0.1:8001 \\\n" +
			"      --service-time 5ms --instances 2",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.child {
				return builtin.Main(c.Context(), a.in, a.out)
			}
			return a.serveUntilSignal(c.Context(), f)
		},
	}
	fl := c.Flags()
	const address = ": a loopback host:port, or unix:PATH (default any free port)"
	fl.StringVar(&f.config.HTTP, "http", "", "`ADDRESS` for HTTP"+address)
	fl.StringVar(&f.config.GRPC, "grpc", "", "`ADDRESS` for gRPC"+address)
	fl.BoolVar(&f.config.TLS, "tls", false,
		"speak TLS with a certificate made for this run; its CA is printed")
	fl.DurationVar(&f.serviceTime, "service-time", 0, "`TIME` of one execution (default the model's own)")
	fl.IntVar(&f.config.Instances, "instances", 0,
		"`N` executions at the same time (default the model's own)")
	fl.IntVar(&f.config.MaxBatch, "max-batch", 0, "`N` rows that one execution may gather")
	fl.DurationVar(&f.config.QueueDelay, "queue-delay", 0, "`TIME` to wait for a batch to fill")
	fl.Var((*ratioFlag)(&f.config.Errors), "errors", "`RATIO` of requests that fail, such as 0.1%")
	fl.Var((*ratioFlag)(&f.config.Reset), "reset",
		"`RATIO` of requests whose connection is reset, such as 0.1%")
	fl.DurationVar(&f.config.SlowBody, "slow-body", 0, "`TIME` between a reply's head and its body")
	fl.DurationVar(&f.stall[0], "stall-at", 0,
		"`TIME` after the first request at which the server stops answering")
	fl.DurationVar(&f.stall[1], "stall-for", 0, "`TIME` that such a stall lasts (0: no stall)")
	fl.DurationVar(&f.stall[2], "stall-every", 0, "`TIME` from one stall to the next (0: once)")
	fl.DurationVar(&f.ttft, "ttft", 20*time.Millisecond, "`TIME` to the first token of a text")
	fl.DurationVar(&f.itl, "itl", 5*time.Millisecond, "`TIME` from each token to the next")
	fl.IntVar(&f.tokens, "output-tokens", 16, "`N` tokens of a text whose request has no max_tokens")
	fl.StringVar(&f.config.APIKey, "api-key", "", "`KEY` that requests of language models, "+
		"and of TorchServe's API, must have")
	fl.Uint64Var(&f.config.Seed, "seed", 0, "`SEED` of everything drawn")
	fl.BoolVar(&f.child, "child", false, "take the configuration from stdin and end with it")
	_ = fl.MarkHidden("child") // the flag exists
	return c
}

func (a *app) serveUntilSignal(ctx context.Context, f serveFlags) error {
	if f.serviceTime > 0 {
		f.config.ServiceTime = &builtin.Dist{Mean: f.serviceTime.Seconds()}
	}
	f.config.TTFT, f.config.ITL = &builtin.Dist{Mean: f.ttft.Seconds()}, &builtin.Dist{Mean: f.itl.Seconds()}
	f.config.Generation = &builtin.Generation{OutputTokens: f.tokens}
	if f.stall[1] > 0 {
		f.config.Stall = &builtin.Stall{At: f.stall[0], For: f.stall[1], Every: f.stall[2]}
	}
	s, err := builtin.Start(ctx, f.config)
	if err != nil {
		return fmt.Errorf("start the embedded server: %w", err)
	}
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	if err := e.Encode(s.URLs()); err != nil {
		return err
	}
	if a.terminal {
		fmt.Fprintf(a.err, "serving until Ctrl-C; try: sluice init --url %s --model simple > plan.yaml\n",
			s.HTTPURL())
	}
	signals, stop := notifySignals()
	defer stop()
	var got os.Signal
	select {
	case got = <-signals:
	case <-ctx.Done():
	}
	if err := s.Close(); err != nil {
		return fmt.Errorf("stop the embedded server: %w", err)
	}
	if got != nil && a.terminal {
		fmt.Fprintf(a.err, "%s: stopped\n", got)
	}
	return nil
}

// ratioFlag is a share from 0 to 1, written as in plans, 0.1%, or as a number.
type ratioFlag float64

func (r *ratioFlag) String() string {
	if *r == 0 {
		return "" // no default in the help
	}
	return strconv.FormatFloat(100*float64(*r), 'g', -1, 64) + "%"
}

func (r *ratioFlag) Type() string { return "ratio" }

func (r *ratioFlag) Set(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		return fmt.Errorf("%q is not a share from 0%% to 100%%", text)
	}
	*r = ratioFlag(v)
	return nil
}

// childArgs are the arguments of the child process that is the embedded server: see serve.
var childArgs = [...]string{"serve", "--child"}

// embedded starts the embedded server as a child process, so that its CPU time is not the client's.
func (a *app) embedded(
	ctx context.Context, scheme string, b *scenario.Builtin, seed uint64,
) (executor.Embedded, error) {
	exe, err := a.exe()
	if err != nil {
		return executor.Embedded{}, fmt.Errorf("find this program: %w", err)
	}
	child, err := builtin.Spawn(ctx, exe, childArgs[:], serverConfig(b, seed))
	if err != nil {
		return executor.Embedded{}, err
	}
	s := executor.Embedded{URL: child.HTTP, Stop: child.Stop, Ended: child.Ended}
	if scheme == "grpc" {
		s.URL = child.GRPC
	}
	return s, nil
}

// serverConfig converts the plan's `builtin` to the configuration of the server; nil gives the defaults.
func serverConfig(b *scenario.Builtin, seed uint64) builtin.Config {
	c := builtin.Config{Seed: seed}
	if b == nil {
		return c
	}
	c.Instances, c.MaxBatch, c.QueueDelay = b.Instances, b.MaxBatch, b.QueueDelay
	c.Errors, c.Reset, c.SlowBody = b.Errors, b.Reset, b.SlowBody
	if s := b.Stall; s != nil {
		c.Stall = &builtin.Stall{At: s.Start, For: s.For, Every: s.Every}
	}
	c.ServiceTime, c.TTFT, c.ITL = serverDist(b.ServiceTime), serverDist(b.TTFT), serverDist(b.ITL)
	c.APIKey = b.APIKey
	if g := b.Generation; g != nil {
		own := builtin.Generation(*g)
		c.Generation = &own
	}
	return c
}

func serverDist(d *scenario.Dist) *builtin.Dist {
	if d == nil {
		return nil
	}
	out := &builtin.Dist{Shape: d.Shape, Mean: d.Mean, Std: d.Std, Values: d.Values, Weights: d.Weights}
	if d.HasMin {
		out.Min = &d.Min
	}
	if d.HasMax {
		out.Max = &d.Max
	}
	return out
}
