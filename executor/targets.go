package executor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// target is one open server. err says why it could not be opened; then nothing else is set.
type target struct {
	plan       *scenario.Target
	kind       *backends.Kind
	url        string // with builtin:// resolved
	conn       backends.Conn
	signatures map[string]backends.Signature // by model; "" is the target's own
	err        error
}

// open opens a target once and remembers the outcome.
func (r *runner) open(ctx context.Context, plan *scenario.Target, kind *backends.Kind) *target {
	t := r.targets[plan]
	if t != nil {
		return t
	}
	t = &target{plan: plan, kind: kind, url: plan.URL, signatures: make(map[string]backends.Signature)}
	r.targets[plan] = t
	if t.err = r.connect(ctx, t); t.err == nil {
		t.err = r.await(r.stops.waiting, t)
	}
	if t.err != nil {
		t.err = fmt.Errorf("target %q (%s): %w", plan.Name, plan.URL, t.err)
	}
	return t
}

func (r *runner) connect(ctx context.Context, t *target) error {
	if strings.HasPrefix(t.plan.URL, "builtin://") {
		if r.env.Serve == nil {
			return errors.New("there is no embedded server in this program")
		}
		r.tell(Event{Phase: PhaseOpen, Text: "starting the embedded server"})
		url, stop, err := r.env.Serve(ctx, scheme(t.plan.URL), t.plan.Builtin, r.program.Plan.Seed)
		if err != nil {
			return err
		}
		r.clean.push("stop the embedded server", func(context.Context) error { return stop() })
		t.url = url
	}
	values := targetOf(t.kind, t.plan)
	values.URL = t.url
	conn, err := t.kind.Open(ctx, values, r.clock)
	if err != nil {
		return err
	}
	t.conn = conn
	r.clean.push("close target "+t.plan.Name, conn.Close)
	return nil
}

// await asks for readiness until the server is ready or the plan's patience is over.
func (r *runner) await(ctx context.Context, t *target) error {
	prober, ok := t.conn.(backends.Prober)
	if !ok {
		return nil
	}
	return r.until(ctx, t, "not ready", prober.Ready)
}

// describe asks once for each model what it takes and gives.
func (r *runner) describe(ctx context.Context, t *target, model string) (backends.Signature, error) {
	if sig, ok := t.signatures[model]; ok {
		return sig, nil
	}
	var sig backends.Signature
	d, ok := t.conn.(backends.Describer)
	if ok && (model != "" || t.plan.Model != "") {
		var err error
		ctx, cancel := context.WithTimeout(ctx, t.plan.Timeout)
		defer cancel()
		if sig, err = d.Describe(ctx, model); err != nil {
			return sig, err
		}
	}
	t.signatures[model] = sig
	return sig, nil
}

// statistics decides whether the server's own counters of a stage's model are read.
func (in *inputs) statistics(ctx context.Context, t *target, model string) error {
	o, ok := t.conn.(backends.Observer)
	if !ok || t.plan.Statistics == "none" {
		return nil
	}
	err := errors.New("the server's extensions do not include statistics")
	read := func(ctx context.Context, into []int64) (int64, error) { return o.Stats(ctx, model, into) }
	if in.sig.Statistics {
		ctx, cancel := context.WithTimeout(ctx, t.plan.Timeout)
		defer cancel()
		_, err = read(ctx, make([]int64, len(t.kind.Series)))
	}
	switch {
	case err == nil:
		in.stats = read
	case t.plan.Statistics == "require":
		return fmt.Errorf("statistics are required: %w", err)
	default:
		in.note = err.Error()
	}
	return nil
}

// inputs is what a stage sends.
type inputs struct {
	calls []*backends.Call
	sig   backends.Signature
	// stats reads the server's own counters of the stage's model; nil: there are none. note says why, if they were wanted.
	stats func(ctx context.Context, into []int64) (at int64, err error)
	note  string
	err   error
}

// prepare opens the targets of all stages and encodes all their requests. What does not fit the model is a mistake of
// the plan; what cannot be reached fails its stages only.
func (r *runner) prepare(ctx context.Context) source.Diagnostics {
	var diags source.Diagnostics
	left := int64(maxCalls)
	for _, n := range r.program.Nodes {
		if r.inputs[n.Stage] != nil || r.stops.now() != "" {
			continue
		}
		in := &inputs{}
		r.inputs[n.Stage] = in
		t := r.open(ctx, n.Stage.Request.Target, n.Kind)
		if in.err = t.err; in.err != nil {
			continue
		}
		in.err = r.learn(t, in, n.Stage.Request.Model)
		if in.err != nil {
			in.err = fmt.Errorf("target %q (%s): %w", t.plan.Name, t.plan.URL, in.err)
			continue
		}
		diags = append(diags, r.tensors(t, in.sig)...)
		diags = append(diags, in.encode(t.conn, n.Stage, r.program.Plan.Seed, &left)...)
	}
	if !diags.HasErrors() {
		r.probes(r.stops.waiting)
	}
	return diags
}

// learn asks the server what a stage's model takes and whether its counters can be read.
func (r *runner) learn(t *target, in *inputs, model string) (err error) {
	if in.sig, err = r.describe(r.stops.waiting, t, model); err != nil {
		return err
	}
	return in.statistics(r.stops.waiting, t, model)
}

// probes asks each model once for a real answer; what gives none fails its stages.
func (r *runner) probes(ctx context.Context) {
	type key struct {
		target *target
		model  string
	}
	asked := make(map[key]error)
	for _, n := range r.program.Nodes {
		in := r.inputs[n.Stage]
		if in == nil || in.err != nil || len(in.calls) == 0 {
			continue
		}
		k := key{r.targets[n.Stage.Request.Target], n.Stage.Request.Model}
		if _, ok := asked[k]; !ok {
			asked[k] = r.probe(ctx, k.target, in.calls[0])
		}
		if in.err = asked[k]; in.err != nil {
			in.err = fmt.Errorf("target %q (%s): %w", k.target.plan.Name, k.target.plan.URL, in.err)
		}
	}
}

// tensors warns where a server does not say that it takes tensors as raw bytes over HTTP; some take them all the same.
func (r *runner) tensors(t *target, sig backends.Signature) source.Diagnostics {
	binary := t.plan.Input != "json" || t.plan.Output != "json"
	if sig.Model == "" || sig.BinaryTensors || !binary || transport(t.plan.URL) == "grpc" {
		return nil
	}
	return source.Diagnostics{{
		Severity: source.Warning, Code: codeBinary, Pos: t.plan.Pos,
		Summary: fmt.Sprintf("the server of target %q does not list the binary tensor extension", t.plan.Name),
		Detail:  "if requests fail, send JSON: tensors: {input: json, output: json}",
	}}
}
