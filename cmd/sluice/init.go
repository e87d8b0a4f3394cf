package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/all"
)

// initFlags are what init is told.
type initFlags struct {
	backend, url, model, out string
	force                    bool
}

func (a *app) init() *cobra.Command {
	f := initFlags{backend: "triton", url: "builtin://http"}
	var kinds []string
	for _, k := range all.Kinds() {
		if k.Open != nil {
			kinds = append(kinds, k.Name)
		}
	}
	c := &cobra.Command{
		Use:   "init",
		Short: "Write a commented plan for a server, having asked it about the model",
		Long: "Write a first plan: a concurrency sweep and a steady stage with assertions to edit. When the server answers, its\n" +
			"inputs stand in the plan with their shapes; when it does not, the plan says so and is written all the same.",
		Example: "  sluice init --backend triton --url grpc://localhost:8001 --model resnet50 --out plan.yaml",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.writePlan(c.Context(), f)
		},
	}
	c.Flags().StringVar(&f.backend, "backend", f.backend, "`KIND` of server: "+strings.Join(kinds, ", "))
	c.Flags().StringVar(&f.url, "url", f.url, "`URL` of the server; builtin://http needs none")
	c.Flags().StringVar(&f.model, "model", "", "`NAME` of the model (default slow with builtin://)")
	c.Flags().StringVar(&f.out, "out", "", "`FILE` to write (default standard output)")
	c.Flags().BoolVar(&f.force, "force", false, "overwrite FILE")
	return c
}

func (a *app) writePlan(ctx context.Context, f initFlags) error {
	kind := kindOf(f.backend)
	embedded := strings.HasPrefix(f.url, "builtin://")
	switch {
	case kind == nil:
		return fmt.Errorf("there is no backend %q", f.backend)
	case kind.Open == nil:
		return fmt.Errorf("backend %s is part of the language, but this version cannot talk to it yet", f.backend)
	case f.model == "" && !embedded:
		return fmt.Errorf("--model is needed to write a plan for %s", f.url)
	case f.model == "":
		f.model = "slow"
	}
	var sig backends.Signature
	var asked error
	if !embedded {
		sig, asked = ask(ctx, kind, backends.Target{URL: f.url, Model: f.model, ConnectTimeout: patience})
	}
	text := planText(f, sig, asked)
	if f.out == "" {
		_, err := fmt.Fprint(a.out, text)
		return err
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if f.force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(f.out, mode, 0o644)
	if err != nil {
		return fmt.Errorf("write the plan: %w (--force overwrites)", err)
	}
	if _, err := file.WriteString(text); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	fmt.Fprintf(a.err, "%s written; next: sluice validate %s && sluice run %s\n", f.out, f.out, f.out)
	return nil
}

// kindOf is the kind of backend with a name; nil: there is none.
func kindOf(name string) *backends.Kind {
	for _, k := range all.Kinds() {
		if k.Name == name {
			return &k
		}
	}
	return nil
}

// patience is how long a server has to say what its model takes. One that runs in this process loads its models first, and
// cannot be left halfway.
const (
	patience        = 5 * time.Second
	patienceToStart = 10 * time.Minute
)

// ask describes the model of a target.
func ask(ctx context.Context, kind *backends.Kind, t backends.Target) (sig backends.Signature, err error) {
	limit := patience
	if t.InProcess != nil {
		limit = patienceToStart
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	conn, err := kind.Open(ctx, t, backends.Clock{Origin: time.Now()})
	if err != nil {
		return sig, err
	}
	defer func() {
		if closeErr := conn.Close(ctx); err == nil {
			err = closeErr
		}
	}()
	d, ok := conn.(backends.Describer)
	if !ok {
		return sig, nil
	}
	return d.Describe(ctx, "")
}

// planText is the plan as a person would write it.
func planText(f initFlags, sig backends.Signature, asked error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Run with: sluice run FILE       Explain a key: sluice explain KEY\nversion: 1\n\nvars:\n  url: {default: %q, env: SLUICE_URL, description: where the model is served}\n\n", f.url)
	fmt.Fprintf(&b, "target:\n  backend: %s\n  url: ${url}\n  model: %s\n", f.backend, f.model)
	if sig.Decoupled {
		b.WriteString(decoupled(f.url))
	}
	b.WriteByte('\n')
	if asked != nil {
		fmt.Fprintf(&b, "# The server did not describe the model: %s\n\n", strings.ReplaceAll(asked.Error(), "\n", " "))
	}
	var shapes []string
	for _, p := range sig.Inputs {
		fmt.Fprintf(&b, "# input  %s %s %s\n", p.Name, p.Type, dims(p.Shape))
		if free(p.Shape) {
			shapes = append(shapes, fmt.Sprintf("%s: %s", p.Name, dims(fix(p.Shape))))
		}
	}
	for _, p := range sig.Outputs {
		fmt.Fprintf(&b, "# output %s %s %s\n", p.Name, p.Type, dims(p.Shape))
	}
	if len(sig.Inputs) > 0 && sig.MaxBatch > 0 {
		fmt.Fprintf(&b, "# batches of at most %d\n", sig.MaxBatch)
	}
	b.WriteString("data: {generate: random}            # or {file: inputs.json}\n\ndefaults:\n  warmup: 1s\n")
	if sig.Sequence > backends.NoSequences {
		b.WriteString("  sequences: {}                     # the model keeps state: sequences of 20 requests, or as long as the data's\n")
	}
	if len(shapes) > 0 {
		fmt.Fprintf(&b, "  # dimensions of any size: choose\n  shapes: {%s}\n", strings.Join(shapes, ", "))
	}
	b.WriteString(`
stages:
  # Closed loop: how latency and throughput grow with the requests in flight.
  - id: sweep
    load: {concurrency: [1, 2, 4, 8]}
    for: 5s

  # Open loop: requests arrive whatever the server does, so no wait is hidden.
  - id: steady
    load: {rate: 20/s, arrivals: poisson}
    for: 20s
    assert:
      - latency.p99 < 100ms           # edit: what your users need
      - errors.ratio < 0.1%
      - requests.rate >= 0.9 * offered.rate

output: {formats: [json, csv, junit, markdown]}
`)
	return b.String()
}

// decoupled is how a request may have any number of responses.
func decoupled(url string) string {
	if strings.HasPrefix(url, "http") {
		return "  endpoint: generate\n  streaming: true     # a request may have any number of responses: events of generate_stream\n"
	}
	return "  streaming: true     # a request may have any number of responses\n"
}

func dims(shape []int64) string {
	return strings.ReplaceAll(fmt.Sprint(shape), " ", ", ")
}

func free(shape []int64) bool {
	for _, d := range shape {
		if d < 0 {
			return true
		}
	}
	return false
}

// fix gives every free dimension a size to begin with.
func fix(shape []int64) []int64 {
	out := append([]int64(nil), shape...)
	for i := range out {
		if out[i] < 0 {
			out[i] = 16
		}
	}
	return out
}
