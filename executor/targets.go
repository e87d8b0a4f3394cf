package executor

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/observe"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/trial"
	"github.com/sluice-bench/sluice/scenario"
)

// target is one open server. err says why it could not be opened; then nothing else is set.
type target struct {
	trial.Target
	url        string                        // with builtin:// resolved
	signatures map[string]backends.Signature // by model; "" is the target's own
	err        error
}

// open opens a target once and remembers the outcome.
func (su *setup) open(ctx context.Context, plan *scenario.Target, kind *backends.Kind) *target {
	t := su.targets[plan]
	if t != nil {
		return t
	}
	t = &target{
		Target: trial.Target{Plan: plan, Kind: kind}, url: plan.URL,
		signatures: make(map[string]backends.Signature),
	}
	su.targets[plan] = t
	if err := su.connect(ctx, t); err != nil {
		t.err = trial.About(plan, err)
	}
	return t
}

// connect starts the server if it is embedded, connects to it, and waits until it can be measured.
func (su *setup) connect(ctx context.Context, t *target) error {
	if t.Plan.Embedded() {
		su.tell(Event{Phase: PhaseOpen, Text: "starting the embedded server"})
		s, err := su.env.Serve(ctx, t.Plan.Scheme(), t.Plan.Builtin, su.program.Plan.Seed)
		if err != nil {
			return err
		}
		su.clean.push("stop the embedded server", func(context.Context) error { return s.Stop() })
		t.url, t.Ended = s.URL, s.Ended
	}
	values := program.TargetOf(t.Kind, t.Plan)
	values.URL, values.KeepReplies = t.url, su.env.Replies
	conn, err := t.Kind.Open(ctx, values, su.clock)
	if err != nil {
		return err
	}
	t.Conn = conn
	su.clean.push("close target "+t.Plan.Name, conn.Close)
	for _, step := range []func(*target) error{su.await, su.adjust, su.openMetrics} {
		if err := step(t); err != nil {
			return err
		}
	}
	return nil
}

// await asks for readiness until the server is ready or the plan's patience is over.
func (su *setup) await(t *target) error {
	prober, ok := t.Conn.(backends.Prober)
	if !ok {
		return nil
	}
	model := t.Plan.Model
	if su.program.Loads(t.Plan, model) {
		model = "" // its stage asks for it
	}
	return su.until(t, "not ready", func(ctx context.Context) error { return prober.Ready(ctx, model) })
}

// describeLimit is the least time that a server has to describe a model: a plan's timeout may be
// shorter, as it is about requests.
const describeLimit = 2 * time.Second

// describe asks once for each model what it takes and gives.
func describe(ctx context.Context, t *target, model string) (sig backends.Signature, err error) {
	sig, known := t.signatures[model]
	d, ok := t.Conn.(backends.Describer)
	bodies := program.Abilities(t.Kind, t.Plan).WholeBodies() // then there need be no model
	if !known && ok && (model != "" || t.Plan.Model != "" || bodies) {
		ctx, cancel := context.WithTimeout(ctx, max(t.Plan.Timeout, describeLimit))
		defer cancel()
		if sig, err = d.Describe(ctx, model); err == nil {
			t.signatures[model] = sig
		}
	}
	return sig, err
}

// openMetrics opens the metrics endpoints of a target, if it has any, and reads each once: one that cannot
// be read fails the target.
func (su *setup) openMetrics(t *target) error {
	if t.Plan.Metrics == nil {
		return nil
	}
	for _, address := range t.Plan.Metrics.URLs {
		if err := su.openEndpoint(t, address); err != nil {
			return err
		}
	}
	return nil
}

func (su *setup) openEndpoint(t *target, address string) error {
	where, err := metricsURL(t.Plan, address, t.url)
	if err != nil {
		return err
	}
	values := program.TargetOf(t.Kind, t.Plan)
	e := &trial.Endpoint{Target: t.Plan, URL: where}
	if ownPath(address) {
		e.Headers = values.Headers
	}
	if e.Client, err = observe.ClientFor(where, values.TLS); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	su.clean.push("close the metrics endpoint of target "+t.Plan.Name, func(context.Context) error {
		e.Client.CloseIdleConnections()
		return nil
	})
	if _, err := e.Read(su.stops.waiting); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	t.Metrics = append(t.Metrics, e)
	return nil
}

// ownPath reports whether an address of metrics is a path on the target's own server, which is asked with
// the target's headers: its API key may be wanted there as well.
func ownPath(address string) bool { return strings.HasPrefix(address, "/") }

// metricsURL returns the URL of metrics at an address of the plan: its own, or a path on the target's host.
func metricsURL(t *scenario.Target, address, at string) (string, error) {
	if !ownPath(address) {
		return address, nil
	}
	u, err := url.Parse(at)
	if err != nil {
		return "", err
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("the metrics of target %q are at a path, and its URL is not of HTTP: "+
			"give a whole URL", t.Name)
	}
	u.Path, u.RawQuery = "", ""
	return strings.TrimSuffix(u.String(), "/") + address, nil
}
