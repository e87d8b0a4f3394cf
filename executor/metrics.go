package executor

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/sluice-bench/sluice/executor/observe"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/trial"
	"github.com/sluice-bench/sluice/scenario"
)

// metricsURL returns the URL of the metrics of a target: its own, or a path on the target's host.
func metricsURL(t *scenario.Target, at string) (string, error) {
	if !strings.HasPrefix(t.Metrics.URL, "/") {
		return t.Metrics.URL, nil
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
	return strings.TrimSuffix(u.String(), "/") + t.Metrics.URL, nil
}

// openMetrics opens the metrics endpoint of a target and reads it once: one that cannot be read
// fails the target.
func (su *setup) openMetrics(ctx context.Context, t *target) error {
	where, err := metricsURL(t.Plan, t.url)
	if err != nil {
		return err
	}
	e := &trial.Endpoint{Target: t.Plan, URL: where}
	if e.Client, err = observe.ClientFor(where, program.TargetOf(t.Kind, t.Plan).TLS); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	su.clean.push("close the metrics endpoint of target "+t.Plan.Name, func(context.Context) error {
		e.Client.CloseIdleConnections()
		return nil
	})
	if _, err := e.Read(ctx); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	t.Metrics = e
	return nil
}
