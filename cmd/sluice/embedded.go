package main

import (
	"context"
	"fmt"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor"
	"github.com/sluice-bench/sluice/scenario"
)

// childArgs make this program the embedded server of another one: see serve.
var childArgs = [...]string{"serve", "--child"}

// embedded starts the embedded server as a child of this process, so that the client's CPU time stays its own.
func (a *app) embedded(ctx context.Context, scheme string, b *scenario.Builtin, seed uint64) (executor.Embedded, error) {
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

// serverConfig is the plan's `builtin` as the server reads it. A target without one gets the server as it is.
func serverConfig(b *scenario.Builtin, seed uint64) builtin.Config {
	c := builtin.Config{Seed: seed}
	if b == nil {
		return c
	}
	c.Instances, c.MaxBatch, c.QueueDelay = b.Instances, b.MaxBatch, b.QueueDelay
	c.Errors, c.Reset, c.SlowBody = b.Errors, b.Reset, b.SlowBody
	if s := b.Stall; s != nil {
		c.Stall = &builtin.Stall{At: s.At, For: s.For, Every: s.Every}
	}
	if d := b.ServiceTime; d != nil {
		c.ServiceTime = serverDist(d)
	}
	return c
}

func serverDist(d *scenario.Dist) *builtin.Dist {
	out := &builtin.Dist{Shape: d.Shape, Mean: d.Mean, Std: d.Std, Values: d.Values, Weights: d.Weights}
	if d.HasMin {
		out.Min = &d.Min
	}
	if d.HasMax {
		out.Max = &d.Max
	}
	return out
}
