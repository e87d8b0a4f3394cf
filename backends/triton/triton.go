// Package triton is the KServe v2 protocol with what Triton Inference Server adds to it: statistics.
//
// It is not: a second encoder of requests (kserve has the only one), an interpreter of statistics (the executor takes
// differences and means).
package triton

import (
	"context"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/kserve"
)

// Kind is the backend "triton".
func Kind() backends.Kind {
	return backends.Kind{
		Name:    "triton",
		Help:    "Triton Inference Server over HTTP or gRPC, with its statistics",
		Schemes: kserve.Schemes(),
		Keys:    append(kserve.Keys(), "statistics"),
		Abilities: func(t backends.Target) backends.Ability {
			return kserve.Abilities(t) | backends.ServerStats
		},
		Check:  kserve.Check,
		Series: series(),
		Open:   open,
	}
}

// conn is a KServe target whose model's statistics can be read.
type conn struct {
	kserve.Conn
	target backends.Target
	clock  backends.Clock
	read   func(ctx context.Context, model, version string) ([]statistics, error)
}

// wired is a conn whose protocol has a Wire.
type wired struct {
	conn
	backends.Wirer
}

func open(ctx context.Context, t backends.Target, clock backends.Clock) (backends.Conn, error) {
	k, err := kserve.Open(ctx, t, clock)
	if err != nil {
		return nil, err
	}
	c := conn{Conn: k, target: t, clock: clock}
	switch k := k.(type) {
	case *kserve.HTTP:
		c.read = func(ctx context.Context, model, version string) ([]statistics, error) {
			return readHTTP(ctx, k, model, version)
		}
		return &wired{conn: c, Wirer: k}, nil
	case *kserve.GRPC:
		c.read = func(ctx context.Context, model, version string) ([]statistics, error) {
			return readGRPC(ctx, k, model, version)
		}
	}
	return &c, nil
}
