package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/program"
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
	metrics    *endpoint                     // nil: the plan names none
	ended      func() string                 // how the embedded server ended by itself, "" while it runs; nil: it is another one
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
	if t.err == nil {
		t.err = r.adjust(r.stops.waiting, t)
	}
	if t.err == nil && plan.Metrics != nil {
		t.err = r.openMetrics(r.stops.waiting, t)
	}
	if t.err != nil {
		t.err = about(plan, t.err)
	}
	return t
}

// about says which target an error is about, and what to do where that is known.
func about(t *scenario.Target, err error) error {
	if t.URL == "" { // it is in this process
		return fmt.Errorf("target %q: %w%s", t.Name, err, unknownHint(err))
	}
	return fmt.Errorf("target %q (%s): %w%s", t.Name, t.URL, err, cmp.Or(unknownHint(err), connectHint(err, t.TLS)))
}

// mostKnown is how many models of a server are shown.
const mostKnown = 20

// unknownHint is what a server has in place of a model, or a version, that it does not know.
func unknownHint(err error) string {
	var unknown *backends.UnknownModelError
	if !errors.As(err, &unknown) || len(unknown.Known) == 0 {
		return ""
	}
	text, wanted, what := "; ", unknown.Model, "it has "
	if unknown.Version != "" {
		wanted, what = unknown.Version, "it has version "
	}
	if near := source.Nearest(wanted, unknown.Known); near != "" {
		text, what = text+fmt.Sprintf("did you mean %q? ", near), "I"+what[1:]
	}
	known := unknown.Known
	if len(known) > mostKnown {
		known = append(slices.Clone(known[:mostKnown]), fmt.Sprintf("and %d more", len(unknown.Known)-mostKnown))
	}
	return text + what + strings.Join(known, ", ")
}

// connectHint is what to do where connections cannot be had: what to write into the plan when a server's certificate is not
// trusted, or the limit of this machine's that is too low. gRPC passes on only the text of certificates.
func connectHint(err error, o *scenario.TLS) string {
	text := err.Error()
	switch {
	case errors.Is(err, syscall.EMFILE):
		return "; each connection is an open file: raise `ulimit -n`; over gRPC requests can share them with `connections: N`"
	case strings.Contains(text, "signed by unknown authority") && o != nil && o.CA != "":
		return "; the file of `tls.ca` does not hold the authority that signed the server's certificate"
	case strings.Contains(text, "signed by unknown authority"):
		return "; name the server's own authority with `tls: {ca: FILE}`"
	case strings.Contains(text, "x509: certificate is valid for"), strings.Contains(text, "x509: cannot validate certificate for"):
		return "; name the host that the certificate is for with `tls: {server_name: NAME}`"
	}
	return ""
}

func (r *runner) connect(ctx context.Context, t *target) error {
	if t.plan.Embedded() {
		if r.env.Serve == nil {
			return errors.New("there is no embedded server in this program")
		}
		r.tell(Event{Phase: PhaseOpen, Text: "starting the embedded server"})
		s, err := r.env.Serve(ctx, t.plan.Scheme(), t.plan.Builtin, r.program.Plan.Seed)
		if err != nil {
			return err
		}
		r.clean.push("stop the embedded server", func(context.Context) error { return s.Stop() })
		t.url, t.ended = s.URL, s.Ended
	}
	values := program.TargetOf(t.kind, t.plan)
	values.URL, values.KeepReplies = t.url, r.env.Replies
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
	model := t.plan.Model
	if r.program.Loads(t.plan, model) {
		model = "" // its stage asks for it
	}
	return r.until(ctx, t, "not ready", func(ctx context.Context) error { return prober.Ready(ctx, model) })
}

// describeLimit is the least time that a server has to describe a model: a plan's timeout may be shorter, as it is about requests.
const describeLimit = 2 * time.Second

// describe asks once for each model what it takes and gives.
func (r *runner) describe(ctx context.Context, t *target, model string) (backends.Signature, error) {
	if sig, ok := t.signatures[model]; ok {
		return sig, nil
	}
	var sig backends.Signature
	d, ok := t.conn.(backends.Describer)
	if ok && (model != "" || t.plan.Model != "") {
		var err error
		ctx, cancel := context.WithTimeout(ctx, max(t.plan.Timeout, describeLimit))
		defer cancel()
		if sig, err = d.Describe(ctx, model); err != nil {
			return sig, err
		}
	}
	t.signatures[model] = sig
	return sig, nil
}
